"""The `inspect` command: files in, what was understood of them out."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from monitor.assembly.spans import SpanSet
from monitor.errors import MonitorError, UnsupportedPayload
from monitor.model import AgentSpan, Conversation
from monitor.pipeline import Pipeline
from monitor.pipeline.pipeline import Evaluate
from monitor.ports import Decoded, SpanDecoder
from monitor.roles.encodings import JSON, OPENING, PROTOBUF, media_of
from monitor.roles.files import payloads
from monitor.roles.inspecting.inspection import Seen, seen_conversation, unread
from monitor.verdict import Effects, Report

_EXPORTS: Final = (b"resourceSpans", b"resourceLogs", b"resourceMetrics")


def inspect(
    paths: Sequence[Path],
    decoders: Sequence[SpanDecoder],
    evaluate: Evaluate,
    build: Callable[[Evaluate], Pipeline],
    redact: Callable[[Sequence[AgentSpan]], Sequence[AgentSpan]] = list,
) -> Seen:
    """Everything in the files, whichever of the decoders reads a payload first.

    Files belong together: a conversation may be spread over them. `build` makes an empty pipeline,
    so that what is shown is what the service would make of the same spans. `redact` sees them
    first. Raises InvalidInput for a file that cannot be opened.
    """
    kept: dict[str, tuple[Conversation, Report]] = {}

    def keep(conversation: Conversation, *, closed: bool, revision: int) -> Report:
        report = evaluate(conversation, closed=closed, revision=revision)
        kept[conversation.conversation_id] = conversation, report
        return report

    pipeline = build(keep)
    spans: list[AgentSpan] = []
    refused: Counter[str] = Counter()
    effects = Effects()
    for path in paths:
        for number, payload in payloads(path):
            where = f"{path.name}, payload {number}"
            found = _decoded(payload, decoders, refused, where)
            read = redact(found.spans)
            spans += read
            effects = effects.plus(Effects(counts=pipeline.observe(read, 0.0).counts))
            for why, message in found.rejections:
                refused[f"{why}: {message}"] += 1
    effects = effects.plus(Effects(counts=pipeline.flush(0.0).counts))
    return _seen(spans, refused, effects.counts, kept)


def _decoded(
    payload: bytes, decoders: Sequence[SpanDecoder], refused: Counter[str], where: str
) -> Decoded:
    """By the first decoder that finds a span; where none does, the first one's faults count."""
    faults: list[Decoded | MonitorError] = []
    for decoder in decoders:
        for kind in _kinds(payload):
            try:
                found = decoder.decode(payload, kind)
            except UnsupportedPayload:
                continue
            except MonitorError as error:
                faults.append(error)
                continue
            if found.spans:
                return found
            faults.append(found)
    fault = next(iter(faults), None)
    if isinstance(fault, Decoded):
        if not fault.rejections and _is_foreign(payload):
            refused[f"{where}: JSON without a span of any format that was tried"] += 1
        return fault
    refused[f"{where}: {fault or 'no content type fits it'}"] += 1
    return Decoded([], [])


def _is_foreign(payload: bytes) -> bool:
    """Whether JSON that holds no span is no empty export either."""
    text = payload.removeprefix(codecs.BOM_UTF8).strip()
    return text[:1] in OPENING and len(text) > 2 and not any(key in text for key in _EXPORTS)


def _kinds(payload: bytes) -> tuple[str, str]:
    """The likelier encoding first: a protobuf message may begin as JSON text does."""
    likely = media_of(payload)
    return likely, PROTOBUF if likely == JSON else JSON


def _seen(
    spans: Sequence[AgentSpan],
    refused: Mapping[str, int],
    counts: Mapping[str, int],
    kept: Mapping[str, tuple[Conversation, Report]],
) -> Seen:
    traces: dict[str, list[AgentSpan]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(span)
    of_traces = {trace_id: SpanSet(found).merged() for trace_id, found in sorted(traces.items())}
    conversations = []
    placed: set[str] = set()
    for name, (conversation, report) in sorted(kept.items()):
        own = {turn.trace_id for turn in conversation.turns} & of_traces.keys()
        placed |= own
        made_of = [
            span
            for trace_id in sorted(own)
            for span in of_traces[trace_id]
            if span.conversation_id in (None, name)
        ]
        conversations.append(seen_conversation(conversation, report, made_of))
    outside = [
        span for trace_id, found in of_traces.items() if trace_id not in placed for span in found
    ]
    return Seen(
        conversations=tuple(conversations),
        refused=tuple(f"{count} x {text}" for text, count in refused.items()),
        outside=tuple(unread(outside)),
        counts=dict(sorted(counts.items())),
    )
