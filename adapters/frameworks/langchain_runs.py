"""The runs of a LangChain tracer: a tree of chains, models and tools that was traced already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any, Final

from msgspec.structs import replace

from adapters.frameworks.documents import (
    UnreadableDocument,
    conversation_id,
    object_in,
    text_or_none,
)
from adapters.frameworks.times import time_ns
from adapters.shapes import content, langchain, mixed
from adapters.shapes.parts import first, tool_call
from monitor.model import AgentSpan, JsonValue, Message, SpanKind, Usage

_KINDS: Final[dict[str, SpanKind]] = {
    "llm": "model",
    "chat_model": "model",
    "tool": "tool",
}
_THREAD_KEYS: Final = ("thread_id", "session_id", "conversation_id")
_INPUTS: Final = ("messages", "input", "question", "query")
_OUTPUTS: Final = ("messages", "generations", "output", "answer", "text")


def spans_of_runs(document: Mapping[str, Any], source: str) -> Iterator[AgentSpan]:
    """Spans of all runs, nested or listed flat; a chain without a parent is the agent's.

    A run's `session_id` names the tracer's project and is no conversation; the document's is one.
    """
    runs = list(_flat(document["runs"]))
    if not runs:
        raise UnreadableDocument("`runs` holds no run with an `id`")
    named = conversation_id(*(document.get(key) for key in _THREAD_KEYS))
    for run, parent, root in runs:
        yield _span(run, parent, root, named, source)


def _flat(
    runs: JsonValue,
) -> Iterator[tuple[Mapping[str, Any], str | None, str]]:
    """Each run with its parent's id and its root's, parents first."""
    waiting: list[tuple[JsonValue, str | None, str | None]] = [
        (run, None, None) for run in (runs if isinstance(runs, list) else ())
    ]
    waiting.reverse()
    while waiting:
        run, parent, root = waiting.pop()
        id_ = _id(run)
        if not isinstance(run, Mapping) or id_ is None:
            continue
        own_parent = text_or_none(run.get("parent_run_id"))
        own_root = root or text_or_none(run.get("trace_id")) or own_parent or id_
        yield run, parent or own_parent, own_root
        children = run.get("child_runs")
        for child in reversed(children if isinstance(children, list) else []):
            waiting.append((child, id_, own_root))


def _id(run: JsonValue) -> str | None:
    return text_or_none(first(run, ("id", "run_id"))) if isinstance(run, Mapping) else None


def _span(
    run: Mapping[str, Any], parent: str | None, root: str, named: str | None, source: str
) -> AgentSpan:
    kind = _kind(run, parent)
    extra = object_in(run, "extra")
    metadata = object_in(extra, "metadata") or object_in(run, "metadata")
    own = conversation_id(*(metadata.get(key) for key in _THREAD_KEYS))
    span = AgentSpan(
        trace_id=_hex(root, 16),
        span_id=_hex(_id(run) or "", 8),
        kind=kind,
        name=text_or_none(run.get("name")) or "",
        parent_id=None if parent is None else _hex(parent, 8),
        start_ns=time_ns(run.get("start_time")),
        end_ns=time_ns(run.get("end_time")),
        conversation_id=own or named,
        error_type="error" if run.get("error") else None,
        vocabulary=source,
    )
    return _with_content(span, run, metadata)


def _with_content(
    span: AgentSpan, run: Mapping[str, Any], metadata: Mapping[str, Any]
) -> AgentSpan:
    inputs, outputs = run.get("inputs"), run.get("outputs")
    if span.kind == "tool":
        given = first(inputs, ("input",)) if isinstance(inputs, Mapping) else inputs
        call = tool_call(span.name, inputs if given is None else given, None)
        answer = outputs.get("output", outputs) if isinstance(outputs, Mapping) else outputs
        message = langchain.read_message(answer) if isinstance(answer, Mapping) else None
        if message is not None and message.results:
            answer = message.results[0].result
        known = outputs is not None and span.error_type is None
        result = content.result(answer) if known else None
        return replace(span, call=call, result=result, has_result=known)
    if span.kind == "other":
        return span
    out = _said(outputs, "assistant", _OUTPUTS)
    model = text_or_none(first(metadata, ("ls_model_name", "model", "model_name")))
    usage: Usage | None = None
    if span.kind == "model":
        usage = langchain.usage_of(
            first(object_in(outputs, "llm_output"), ("token_usage", "usage"))
        )
    return replace(
        span,
        model=model if span.kind == "model" else None,
        messages_in=_said(inputs, "user", _INPUTS),
        messages_out=out if span.kind == "model" or out is None else out[-1:],
        usage=usage,
    )


def _said(source: JsonValue, role: str, keys: tuple[str, ...]) -> tuple[Message, ...] | None:
    given = first(source, keys) if isinstance(source, Mapping) else source
    return None if given is None else mixed.read_messages(given, role)


def _kind(run: Mapping[str, Any], parent: str | None) -> SpanKind:
    kind = run.get("run_type")
    if isinstance(kind, str) and kind in _KINDS:
        return _KINDS[kind]
    return "agent" if parent is None else "other"


def _hex(text: str, size: int) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()
