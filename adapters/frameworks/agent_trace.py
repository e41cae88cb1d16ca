"""UAEF's AgentTrace as JSON: read into spans, and written back from them without loss."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from adapters.frameworks.documents import (
    DocumentDecoder,
    UnreadableDocument,
    conversation_id,
    object_in,
)
from adapters.frameworks.listed_calls import with_listed_calls
from adapters.frameworks.synthesis import spans_of, trace_id_of
from adapters.frameworks.times import duration_ns, time_ns
from adapters.frameworks.transcript import Step, Transcript, with_one_voice
from adapters.shapes import content
from adapters.shapes.parts import tool_call
from monitor.model import AgentSpan, JsonValue, Message, ToolResult, Usage

REMAINDER: Final = "uaef.agent_trace"
"""Names the span beside a trace's others that holds what no span has a place for."""
_SOURCE: Final = "agent_trace"


class TracedCall(msgspec.Struct, kw_only=True):
    """UAEF's ToolCall. Times are kept as they are written."""

    name: str
    arguments: JsonValue = None
    result: JsonValue = None
    timestamp: JsonValue = None
    execution_time: float | int | None = None
    error: str | None = None


class TracedMessage(msgspec.Struct, kw_only=True):
    """UAEF's Message."""

    role: str
    content: str = ""
    tool_calls: list[TracedCall] = []
    metadata: dict[str, JsonValue] = {}
    timestamp: JsonValue = None


class AgentTrace(msgspec.Struct, kw_only=True):
    """UAEF's canonical form of one run. A trace id that is no UUID is kept verbatim."""

    trace_id: str
    session_id: str | None = None
    messages: list[TracedMessage] = []
    tool_calls: list[TracedCall] = []
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency: float | int | None = None
    cost: float | int | None = None
    metadata: dict[str, JsonValue] = {}
    framework: str | None = None
    timestamp: JsonValue = None


class AgentTraceDecoder(DocumentDecoder):
    """AgentTraces, MultiAgentTraces, sessions of per-turn traces, and lists of any of these."""

    name = "agent_trace"

    def records(self, document: JsonValue) -> Iterable[Any]:
        """Traces with their place in their session."""
        for item in document if isinstance(document, list) else (document,):
            turns = item.get("per_turn_traces") if isinstance(item, Mapping) else None
            if isinstance(turns, list):
                yield from ((turn, at, item.get("session_id")) for at, turn in enumerate(turns))
            else:
                yield item, 0, None

    def spans(self, record: Any) -> Iterable[AgentSpan]:
        """See DocumentDecoder."""
        item, position, session = record
        if isinstance(item, Mapping) and isinstance(item.get("agent_traces"), Mapping):
            return spans_of(_several(item, position, session))
        return spans_of_trace(read_trace(item), position, session)


def read_trace(document: JsonValue) -> AgentTrace:
    """A trace from its JSON. Raises UnreadableDocument that names the first fault."""
    try:
        return msgspec.convert(document, AgentTrace)
    except msgspec.ValidationError as error:
        raise UnreadableDocument(f"it is no AgentTrace: {error}") from None


def spans_of_trace(
    trace: AgentTrace, position: int = 0, session: JsonValue = None
) -> list[AgentSpan]:
    """The spans of a trace, and one beside them with all that has no place in a span."""
    transcript = _transcript(trace, position, session)
    spans = spans_of(transcript)
    if not spans:
        return []
    held = AgentSpan(
        trace_id=trace_id_of(transcript, 0),
        span_id="f" * 16,
        kind="other",
        name=REMAINDER,
        conversation_id=spans[0].conversation_id,
        result=_remainder(trace, spans),
        has_result=True,
        vocabulary=_SOURCE,
    )
    return [*spans, held]


def traces_of(spans: Sequence[AgentSpan]) -> list[AgentTrace]:
    """The AgentTraces whose spans these are, in order of their remainders."""
    texts, calls = _kept(spans)
    found = []
    for span in spans:
        if span.kind == "other" and span.name == REMAINDER and isinstance(span.result, dict):
            fields = dict(span.result)
            fields["messages"] = [_restored(item, texts, calls) for item in fields["messages"]]
            fields["tool_calls"] = [_restored(item, texts, calls) for item in fields["tool_calls"]]
            found.append(msgspec.convert(fields, AgentTrace))
    return found


def _transcript(trace: AgentTrace, position: int, session: JsonValue) -> Transcript:
    steps = with_listed_calls(list(_messages(trace)), [_ran(call) for call in trace.tool_calls])
    start_ns, waited_ns = 0, duration_ns(trace.latency)
    starts = [step.start_ns for step in steps if step.start_ns]
    if starts and waited_ns is not None:
        start_ns = starts[0]
    model = trace.metadata.get("model")
    return Transcript(
        source=_SOURCE,
        key=trace.trace_id,
        steps=tuple(steps),
        conversation_id=conversation_id(trace.session_id, session),
        position=position,
        agent=trace.framework,
        model=model if isinstance(model, str) else None,
        usage=_usage(trace.input_tokens, trace.output_tokens),
        start_ns=start_ns,
        end_ns=start_ns + waited_ns if start_ns and waited_ns is not None else 0,
    )


def _messages(trace: AgentTrace) -> Iterator[Step]:
    """The messages without those that only repeat what listed calls answered.

    Such a repetition may stand under the role of the user, who did not say it.
    """
    answers = [call.error if call.result is None else call.result for call in trace.tool_calls]
    repeated = {text for text in answers if isinstance(text, str)}
    after_calls = False
    for message in trace.messages:
        role = message.role.lower()
        lines = message.content.split("\n")
        is_answer = message.content in repeated or repeated.issuperset(lines)
        if role == "tool" and any(answer is not None for answer in answers):
            continue
        if not (role == "user" and after_calls and is_answer):
            yield _said(message)
        after_calls = role == "assistant" and bool(message.tool_calls)


def _said(message: TracedMessage) -> Step:
    at_ns = time_ns(message.timestamp)
    calls = tuple(tool_call(call.name, call.arguments, None) for call in message.tool_calls)
    results = tuple(
        ToolResult(content.result(call.result), None, call.name, call.error is not None)
        for call in message.tool_calls
        if call.result is not None or call.error is not None
    )
    role = message.role.lower()
    if role == "tool":
        results = (ToolResult(content.result(message.content)),)
        return Step(message=Message(role, None, (), results), start_ns=at_ns, end_ns=at_ns)
    text = message.content if message.content or not calls else None
    return Step(message=Message(role, text, calls, results), start_ns=at_ns, end_ns=at_ns)


def _ran(call: TracedCall) -> Step:
    start_ns, took_ns = time_ns(call.timestamp), duration_ns(call.execution_time) or 0
    failed = call.error is not None
    results: tuple[ToolResult, ...] = ()
    if failed or call.result is not None:
        given = call.error if call.result is None else call.result
        results = (ToolResult(content.result(given), None, None, failed),)
    return Step(
        message=Message("tool", None, (tool_call(call.name, call.arguments, None),), results),
        start_ns=start_ns,
        end_ns=start_ns + took_ns if start_ns else 0,
    )


def _several(item: Mapping[str, Any], position: int, session: JsonValue) -> Transcript:
    """A MultiAgentTrace: its agents one after the other, the last of them speaking to the user."""
    steps: list[Step] = []
    for number, (name, document) in enumerate(object_in(item, "agent_traces").items()):
        told = _transcript(read_trace(document), 0, None)
        for step in told.steps:
            role = step.message.role
            own = role == "assistant" or bool(step.message.calls)
            task = number > 0 and role == "user"
            steps.append(msgspec.structs.replace(step, agent=name if own else None, inner=task))
    if not steps:
        raise UnreadableDocument("its `agent_traces` hold no messages")
    failed = str(item.get("workflow_status", "")).upper() == "FAILED"
    return Transcript(
        source=_SOURCE,
        key=str(item.get("trace_id")),
        steps=with_one_voice(steps),
        conversation_id=conversation_id(item.get("session_id"), session),
        position=position,
        error_type="error" if failed else None,
    )


def _usage(into: int | None, out: int | None) -> Usage | None:
    # Beyond 63 bits a number is no count of tokens, and no store would take it.
    into, out = (n if n is not None and 0 <= n < 2**63 else None for n in (into, out))
    return None if into is None and out is None else Usage(into, out)


def _remainder(trace: AgentTrace, spans: Sequence[AgentSpan]) -> dict[str, JsonValue]:
    """The trace with every text and value that a span holds replaced by where it is held."""
    texts, calls = _kept(spans)
    places = {text: place for place, text in reversed(texts.items())}
    known = {
        _same_call(span.call.name, span.call.arguments): place
        for place, span in reversed(calls.items())
        if span.call is not None
    }
    fields: dict[str, JsonValue] = msgspec.to_builtins(trace)
    for message in fields["messages"]:
        place = places.get(message["content"])
        if place is not None and len(message["content"]) > len(place):
            message["content_at"] = place
            del message["content"]
        message["tool_calls"] = [_reduced(call, known, calls) for call in message["tool_calls"]]
    fields["tool_calls"] = [_reduced(call, known, calls) for call in fields["tool_calls"]]
    return fields


def _reduced(
    call: dict[str, JsonValue], known: Mapping[bytes, str], calls: Mapping[str, AgentSpan]
) -> dict[str, JsonValue]:
    place = known.get(_same_call(call["name"], call["arguments"]))
    if place is None:
        return call
    span = calls[place]
    held = ["arguments"]
    if call["result"] is not None and _equal(span.result, call["result"]):
        held.append("result")
    rest = {key: value for key, value in call.items() if key not in held}
    return {**rest, "call_at": place, "held": held}


def _same_call(name: str, arguments: JsonValue) -> bytes:
    return msgspec.json.encode([name, arguments])


def _equal(one: JsonValue, other: JsonValue) -> bool:
    """As JSON: 1 is not 1.0 and not true."""
    return msgspec.json.encode(one) == msgspec.json.encode(other)


def _restored(
    item: JsonValue, texts: Mapping[str, str], calls: Mapping[str, AgentSpan]
) -> JsonValue:
    restored = dict(item)
    if "content_at" in restored:
        restored["content"] = texts[restored.pop("content_at")]
    if "call_at" in restored:
        span = calls[restored.pop("call_at")]
        for key in restored.pop("held"):
            restored[key] = span.result if key == "result" else getattr(span.call, key)
    if "tool_calls" in restored:
        restored["tool_calls"] = [_restored(call, texts, calls) for call in restored["tool_calls"]]
    return restored


def _kept(spans: Sequence[AgentSpan]) -> tuple[dict[str, str], dict[str, AgentSpan]]:
    """The texts and the calls that spans hold, by where they stand."""
    texts: dict[str, str] = {}
    calls: dict[str, AgentSpan] = {}
    for span in spans:
        if span.kind == "tool":
            calls[f"{span.trace_id[:8]}:{span.span_id}"] = span
        for side, messages in (("in", span.messages_in), ("out", span.messages_out)):
            for at, message in enumerate(messages or ()):
                if message.text is not None:
                    texts[f"{span.trace_id[:8]}:{span.span_id}:{side}:{at}"] = message.text
    return texts, calls
