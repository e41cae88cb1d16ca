"""Runs payloads through decoder and pipeline and tells what was understood, as text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from assembly_builders import fake_evaluate
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from otlp_building import JSON, PROTOBUF, body, logs, span

from adapters.otlp.decoder import OtlpDecoder
from adapters.otlp.logs import OtlpLogDecoder
from monitor.model import ActionTurn, AgentSpan, Conversation, Turn
from monitor.pipeline import Pipeline
from monitor.verdict import Report


def decoded(*payloads: bytes) -> list[AgentSpan]:
    """The spans of trace exports in either encoding."""
    return _decoded(OtlpDecoder(), payloads)


def decoded_logs(*payloads: bytes) -> list[AgentSpan]:
    """The details of log exports in either encoding."""
    return _decoded(OtlpLogDecoder(), payloads)


def _decoded(decoder: OtlpDecoder | OtlpLogDecoder, payloads: Iterable[bytes]) -> list[AgentSpan]:
    spans = []
    for payload in payloads:
        found = decoder.decode(payload, JSON if payload.lstrip()[:1] == b"{" else PROTOBUF)
        assert found.rejections == []
        spans += found.spans
    return spans


def conversations_of(spans: Sequence[AgentSpan]) -> list[Conversation]:
    """What the pipeline makes of the spans, by the start of each conversation."""
    found: dict[str, Conversation] = {}

    def keep(conversation: Conversation, *, closed: bool, revision: int) -> Report:
        found[conversation.conversation_id] = conversation
        return fake_evaluate(conversation, closed=closed, revision=revision)

    pipeline = Pipeline(keep, {})
    pipeline.observe(spans, 0.0)
    pipeline.flush(1.0)
    return sorted(found.values(), key=lambda told: (_start(told), told.conversation_id))


def _start(conversation: Conversation) -> int:
    return min((turn.start_ns for turn in conversation.turns), default=0)


def told(conversations: Iterable[Conversation]) -> str:
    """Every conversation with its turns, calls, arguments and results, one line each."""
    lines: list[str] = []
    for conversation in conversations:
        usage = conversation.usage
        synthetic = " (synthetic)" if conversation.synthetic_id else ""
        lines += [
            f"conversation {conversation.conversation_id}{synthetic}",
            f"  release {conversation.release}, model {conversation.model}",
            f"  tokens {None if usage is None else (usage.input_tokens, usage.output_tokens)}",
            f"  tools {[tool.name for tool in conversation.tools]}",
        ]
        for number, query in enumerate(conversation.queries):
            lines.append(f"  exchange {number}: {_shown(query)}")
            lines += [
                f"    {_line(turn)}" for turn in conversation.turns if turn.exchange == number
            ]
    return "\n".join(lines) + "\n"


def _line(turn: Turn) -> str:
    seconds = (turn.end_ns - turn.start_ns) / 1e9
    cut = ", cut" if turn.truncated else ""
    if not isinstance(turn, ActionTurn):
        return f"reply {_shown(turn.text)} [{turn.agent}, {turn.model}, {seconds:.3f} s{cut}]"
    call = turn.call
    result = _shown(turn.result) if turn.has_result else "unknown"
    error = f", error {turn.error_type}" if turn.error_type else ""
    told_arguments = "unknown" if call.arguments_state == "absent" else _shown(call.arguments)
    return (
        f"{'  ' * turn.depth}call {call.name} {told_arguments} -> {result} "
        f"[id {call.call_id}, {call.arguments_state}, {seconds:.3f} s{error}{cut}]"
    )


def _shown(value: Any) -> str:
    return "unknown" if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)


def flat_export(path: Path) -> list[bytes]:
    """A flat list of span objects as trace exports, one for each scope."""
    exports = []
    items = json.loads(path.read_text())
    for scope in dict.fromkeys(item["scope"]["name"] for item in items):
        spans = [
            span(
                item["attributes"],
                trace_id=hex_of(item["trace_id"], 32),
                span_id=hex_of(item["span_id"], 16),
                parent_id=hex_of(item["parent_span_id"] or "", 16),
                name=item["name"],
                start=item["start_time"],
                end=item["end_time"],
                failed=item["status"]["code"] == "ERROR",
                events=[
                    (event["event_name"], event["attributes"]) for event in item["span_events"]
                ],
            )
            for item in items
            if item["scope"]["name"] == scope
        ]
        exports.append(body(*spans, scope=scope))
    return exports


def moved_logs(path: Path) -> ExportLogsServiceRequest:
    """The span events of a flat list of span objects as the log records that they were."""
    return logs(
        *[
            {
                "attributes": event["attributes"],
                "body": event["body"],
                "trace_id": hex_of(item["trace_id"], 32),
                "span_id": hex_of(item["span_id"], 16),
                "time": event["timestamp"],
            }
            for item in json.loads(path.read_text())
            for event in item["span_events"]
        ]
    )


def hex_of(name: str, digits: int) -> str:
    """A sample's id, or hex digits that stand for it where it is no hex number."""
    if not name:
        return ""
    try:
        return name if len(name) == digits and int(name, 16) >= 0 else _digits(name, digits)
    except ValueError:
        return _digits(name, digits)


def _digits(name: str, digits: int) -> str:
    return name.encode().hex().zfill(digits)[-digits:]


def otlp_files(path: Path, names: Iterable[str]) -> list[bytes]:
    return [(path / name).read_bytes() for name in names]
