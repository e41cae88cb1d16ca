"""What was understood of a conversation and what was not, told turn by turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

import msgspec

from monitor.model import ActionTurn, AgentSpan, Conversation, JsonValue, ResponseTurn, Turn
from monitor.verdict import Report, UnscoredWhy, Verdict

RECORD_ID: Final = "record:"
"""So begins the id of a conversation whose record names none."""
WHYS: Final[dict[UnscoredWhy, str]] = {
    "no_reference": "nothing to hold it against, neither a reference nor a contract of the tool",
    "content_missing": "its content was not captured or cannot be read; is capture of content on?",
    "truncated": "it is not whole: an attribute was cut (raise the limits), or the run broke off",
    "no_reply": "the run ended without a reply",
    "unsure": "the comparison could not say",
    "not_text": "it is not text",
}
_FEW: Final = 5


class SeenTurn(msgspec.Struct, frozen=True, kw_only=True):
    """One turn, with what is in doubt about it."""

    turn_no: int | None
    kind: Literal["call", "reply"]
    text: str | None = None
    tool: str | None = None
    arguments: JsonValue = None
    result: JsonValue = None
    has_result: bool = False
    call_id: str | None = None
    agent: str | None = None
    depth: int = 0
    model: str | None = None
    duration_s: float | None = None
    verdict: str = "unscored"
    reason: str | None = None
    field: str | None = None
    basis: str | None = None
    why: str | None = None
    inherited_from: int | None = None
    flags: tuple[str, ...] = ()
    read_by: tuple[str, ...] = ()
    """The vocabularies or formats that read the turn's spans."""
    span_ids: tuple[str, ...] = ()


class SeenExchange(msgspec.Struct, frozen=True, kw_only=True):
    """What the user said, and the turns for it. The query is None where it was not captured."""

    query: str | None
    turns: tuple[SeenTurn, ...]


class SeenConversation(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation as the monitor sees it."""

    conversation_id: str
    id_from: str
    synthetic_id: bool
    release: str
    model: str | None
    system: str | None
    tools: tuple[str, ...]
    input_tokens: int | None
    output_tokens: int | None
    traces: int
    spans: dict[str, int]
    """Number of spans by kind."""
    read_by: dict[str, int]
    """Number of spans by the vocabulary or format that read them."""
    exchanges: tuple[SeenExchange, ...]
    omitted: tuple[SeenTurn, ...]
    """Expected turns that were never taken."""
    not_read: tuple[str, ...]
    """Spans that no vocabulary knows, by name and scope."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a source held."""

    conversations: tuple[SeenConversation, ...]
    refused: tuple[str, ...]
    """What was refused and why, each with its number."""
    outside: tuple[str, ...]
    """Spans of no conversation: nothing in their trace is an agent's work."""
    counts: dict[str, int] = {}
    """What became of the spans, by the names of the pipeline's counts."""


def seen_conversation(
    conversation: Conversation, report: Report, spans: Sequence[AgentSpan]
) -> SeenConversation:
    """The conversation with its report's verdicts; `spans` are those that it was made of."""
    by_id = {span.span_id: span for span in spans}
    verdicts = {verdict.turn_id: verdict for verdict in report.turns}
    taken = [_turn(turn, verdicts.get(turn.turn_id), by_id) for turn in conversation.turns]
    known = {turn.turn_id for turn in conversation.turns}
    exchanges = tuple(
        SeenExchange(
            query=query,
            turns=tuple(
                seen
                for turn, seen in zip(conversation.turns, taken, strict=True)
                if turn.exchange == number
            ),
        )
        for number, query in enumerate(conversation.queries)
    )
    usage = conversation.usage
    return SeenConversation(
        conversation_id=conversation.conversation_id,
        id_from=_id_from(conversation, spans),
        synthetic_id=conversation.synthetic_id,
        release=conversation.release,
        model=conversation.model,
        system=conversation.system,
        tools=tuple(tool.name for tool in conversation.tools),
        input_tokens=None if usage is None else usage.input_tokens,
        output_tokens=None if usage is None else usage.output_tokens,
        traces=len({span.trace_id for span in spans}),
        spans=dict(sorted(Counter(span.kind for span in spans).items())),
        read_by=dict(sorted(Counter(span.vocabulary or "none" for span in spans).items())),
        exchanges=exchanges,
        omitted=tuple(_omitted(v) for v in report.turns if v.turn_id not in known),
        not_read=tuple(unread(spans)),
    )


def unread(spans: Sequence[AgentSpan]) -> Iterator[str]:
    """Spans that no vocabulary knows, by name and scope, the most frequent first."""
    names = Counter(
        (span.name, span.scope) for span in spans if span.kind == "other" and not span.vocabulary
    )
    for (name, scope), count in sorted(names.items(), key=lambda item: (-item[1], item[0])):
        yield f"{count} x {name or '(no name)'}" + (f" of {scope}" if scope else "")


def _turn(turn: Turn, verdict: Verdict | None, spans: Mapping[str, AgentSpan]) -> SeenTurn:
    made_of = [spans[span_id] for span_id in turn.span_ids if span_id in spans]
    common = SeenTurn(
        turn_no=None if verdict is None else verdict.turn_no,
        kind="reply",
        agent=turn.agent,
        model=turn.model,
        duration_s=(turn.end_ns - turn.start_ns) / 1e9
        if 0 < turn.start_ns <= turn.end_ns
        else None,
        flags=tuple(_flags(turn, made_of)),
        read_by=tuple(dict.fromkeys(span.vocabulary for span in made_of if span.vocabulary)),
        span_ids=turn.span_ids,
    )
    common = common if verdict is None else _judged(common, verdict)
    if isinstance(turn, ResponseTurn):
        return msgspec.structs.replace(common, text=turn.text)
    return msgspec.structs.replace(
        common,
        kind="call",
        tool=turn.call.name,
        arguments=turn.call.arguments,
        result=turn.result,
        has_result=turn.has_result,
        call_id=turn.call.call_id,
        depth=turn.depth,
    )


def _judged(seen: SeenTurn, verdict: Verdict) -> SeenTurn:
    return msgspec.structs.replace(
        seen,
        verdict=verdict.verdict,
        reason=verdict.failure_reason,
        field=verdict.field,
        basis=verdict.basis,
        why=verdict.why,
        inherited_from=verdict.inherited_from,
    )


def _omitted(verdict: Verdict) -> SeenTurn:
    expected = next((finding.expected for finding in verdict.findings), None)
    text = expected if isinstance(expected, str) else None
    is_call = verdict.turn_type == "action"
    seen = SeenTurn(
        turn_no=verdict.turn_no,
        kind="call" if is_call else "reply",
        tool=text if is_call else None,
        text=None if is_call else text,
    )
    return _judged(seen, verdict)


def _flags(turn: Turn, made_of: Sequence[AgentSpan]) -> Iterator[str]:
    """What is in doubt, in words."""
    if turn.truncated:
        yield "truncated: the exporter dropped attributes or cut a value"
    if isinstance(turn, ResponseTurn):
        if turn.text is None:
            yield "content missing" if not turn.media else "not text"
    else:
        yield from _call_flags(turn)
    if any(span.end_ns and span.end_ns < span.start_ns for span in made_of):
        yield "ends before it starts"


def _call_flags(turn: ActionTurn) -> Iterator[str]:
    state = turn.call.arguments_state
    if state == "absent":
        yield "arguments not captured"
    elif state == "raw":
        yield "arguments are no JSON"
    elif state == "truncated":
        yield "arguments cut"
    if turn.error_type is not None:
        yield f"failed: {turn.error_type}"
    elif not turn.has_result:
        yield "result not captured"
    if turn.attempt > 1:
        yield f"attempt {turn.attempt}"


def _id_from(conversation: Conversation, spans: Sequence[AgentSpan]) -> str:
    """In words, where the conversation id came from."""
    if conversation.synthetic_id:
        return "synthetic: no span names a conversation, so the trace id stands in"
    if conversation.conversation_id.startswith(RECORD_ID):
        return "synthetic: the record names no conversation"
    tagged = [span for span in spans if span.conversation_id == conversation.conversation_id]
    if not tagged:
        return "worked out by the monitor"
    readers = dict.fromkeys(span.vocabulary or "the span's attributes" for span in tagged)
    named = ", ".join([*readers][:_FEW])
    left = len(spans) - len(tagged)
    inherited = f"; {left} inherit it" if left else ""
    return f"named by {len(tagged)} of {len(spans)} spans ({named}){inherited}"
