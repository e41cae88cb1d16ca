"""What the monitor observes: spans, and the turns and conversations cut from them.

Everything here is frozen and encodes with msgspec. `None` always means "not known"; an empty
string, list or object means that the source said so. Times are integer nanoseconds of the trace.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Any, Final, Literal, TypeAlias

import msgspec

JsonValue: TypeAlias = Any
"""A decoded JSON value: None, bool, int, float, str, list or dict with string keys."""

SpanKind: TypeAlias = Literal["agent", "model", "tool", "other"]
Aside: TypeAlias = Literal["guardrail", "evaluator"]
ArgumentsState: TypeAlias = Literal["parsed", "raw", "truncated", "absent"]
IdRemark: TypeAlias = Literal["resource", "response", "constant", "service", "length"]


PLACEHOLDER: Final = re.compile(r"<[A-Z][A-Z_]{1,31}:[0-9a-f]{4,32}>|\[REDACTED:[A-Z_]{2,32}\]")
"""What redaction leaves in a value's place: its kind, and nothing else of it."""


class ToolCall(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One call of a tool, as a model asked for it or as a tool span recorded it."""

    name: str
    """The tool as the trace names it; `tool_id.action` where a source writes both."""
    arguments: JsonValue = None
    """Decoded arguments, normally an object. `arguments_state` says how far decoding went."""
    call_id: str | None = None
    """Unique within one turn at best; sources reuse ids across turns."""
    arguments_state: ArgumentsState = "parsed"
    """`absent`: the source carries none. `raw`: kept as the undecodable text. `truncated`: cut."""


class ToolResult(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A tool's answer, as a later message repeats it."""

    result: JsonValue = None
    call_id: str | None = None
    name: str | None = None
    is_error: bool = False


class Message(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One message of a model call, its parts sorted by kind in their order."""

    role: str
    text: str | None = None
    """All text parts joined by a newline; None when the message has no text part."""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    name: str | None = None
    media: tuple[str, ...] = ()
    """`modality:mime:sha256:bytes` of each part that is not text; never the bytes themselves."""
    compacted: bool = False
    """The history before this message was summarised away."""


class ToolDefinition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A tool's contract, from a trace or from a configured file."""

    name: str
    """The tool as traces name it."""
    tool_id: str | None = None
    action: str | None = None
    parameters: dict[str, JsonValue] | None = None
    """JSON Schema of the arguments; None when the source gives none."""
    description: str | None = None
    writes: bool | None = None
    """Whether a call changes the world; None when the source does not say."""


class Usage(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Tokens of one model call; None is unknown, never zero."""

    input_tokens: int | None = None
    output_tokens: int | None = None


class AgentSpan(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One span in the monitor's own words, redacted. Identity is (trace_id, span_id).

    Ids are lower-case hex. A `detail` span carries content that a log event gave for the span of
    the same identity: it starts at the event's time and is merged into that span.
    """

    trace_id: str
    span_id: str
    kind: SpanKind
    name: str = ""
    parent_id: str | None = None
    start_ns: int = 0
    end_ns: int = 0
    conversation_id: str | None = None
    """The span's own tag only; inheritance is assembly's work."""
    agent: str | None = None
    release: str | None = None
    """The declared release id: configured attribute, Langfuse release or `service.version`."""
    model: str | None = None
    system: str | None = None
    messages_in: tuple[Message, ...] | None = None
    """What the model call was given; may repeat the whole history. None: content unknown."""
    messages_out: tuple[Message, ...] | None = None
    call: ToolCall | None = None
    """Only on a tool span."""
    result: JsonValue = None
    has_result: bool = False
    """Tells a JSON null result from an unknown one."""
    error_type: str | None = None
    """Set when the span failed: `error.type`, else `error`."""
    tool_definitions: tuple[ToolDefinition, ...] | None = None
    usage: Usage | None = None
    expected: JsonValue = None
    """A reference that the trace itself carries (attribute `agent_monitor.expected`)."""
    truncated: bool = False
    """The exporter dropped attributes or cut a value: what rests on them is ungradable."""
    detail: bool = False
    scope: str = ""
    vocabulary: str = ""
    """Which vocabulary read the span; provenance."""
    response_id: str | None = None
    """The provider's id of a model call's response: what some sources pass for a conversation."""
    id_remark: IdRemark | None = None
    """`resource`: the conversation id is that of the whole process, and gives way to any span's.
    Else why the id that the source gave is refused, and `conversation_id` is None."""
    user_id: str | None = None
    """Whose conversation it is, redacted. Tells equal words apart; never a label."""
    service: str | None = None
    """The process's `service.name`, behind its namespace and a slash where it has one."""
    cut_short: bool = False
    """The model stopped before its reply was whole, by its own account: a limit, a filter."""
    aside: Aside | None = None
    """It guards or evaluates: what runs below it is no turn of the agent's own."""
    outcome: float | None = None
    """How the task ended, by who can tell: an environment's reward, a score; 1 is success."""


class ActionTurn(msgspec.Struct, frozen=True, array_like=True, tag="action", gc=False):
    """The agent called a tool once."""

    turn_id: str
    call: ToolCall
    exchange: int = 0
    """Index into `Conversation.queries`: the user message that this turn serves."""
    result: JsonValue = None
    has_result: bool = False
    error_type: str | None = None
    agent: str | None = None
    model: str | None = None
    span_ids: tuple[str, ...] = ()
    trace_id: str = ""
    depth: int = 0
    """0 for the outermost agent, 1 for a call made inside a sub-agent, and so on."""
    attempt: int = 1
    """2 and more: a retry of the same call after an error."""
    start_ns: int = 0
    end_ns: int = 0
    truncated: bool = False


class ResponseTurn(msgspec.Struct, frozen=True, array_like=True, tag="response", gc=False):
    """The agent replied to the user, in the outermost agent's words."""

    turn_id: str
    text: str | None
    """None: the content was not captured, so the turn is unscorable."""
    exchange: int = 0
    agent: str | None = None
    model: str | None = None
    span_ids: tuple[str, ...] = ()
    trace_id: str = ""
    start_ns: int = 0
    end_ns: int = 0
    """The exchange's own start and end, so that their difference is what the user waited."""
    truncated: bool = False
    media: tuple[str, ...] = ()


Turn: TypeAlias = ActionTurn | ResponseTurn


class Conversation(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """All turns of one conversation in order, with what they can be held against."""

    conversation_id: str
    turns: tuple[Turn, ...] = ()
    queries: tuple[str | None, ...] = ()
    """User text by exchange; None when an exchange has no captured user text."""
    release: str = "unknown"
    """Declared id and the model of the first answered turn, see `release_name`."""
    model: str | None = None
    system: str | None = None
    tools: tuple[ToolDefinition, ...] = ()
    """Definitions that the trace carries, without repeats."""
    expected: JsonValue = None
    synthetic_id: bool = False
    """No conversation id was found and the trace id stands in for it."""
    usage: Usage | None = None
    """Tokens of the leaf model calls; None where no call told."""
    broken_off: tuple[int, ...] = ()
    """Exchanges whose run failed or never ended: what they lack may not be held against them."""
    outcome: float | None = None
    """How the task ended, by the last that told; 1 is success."""
    unheard: int = 0
    """User messages before the first exchange, as its history tells: what was said and found then
    stands in no turn, so that nothing is proved invented. A branch begins so, or a lost opening."""
    service: str | None = None
    """Of the process that began it: `service.name`, behind its namespace where it has one."""


def release_name(declared: str | None, model: str | None) -> str:
    """The one name of a release: `declared@model`, or whichever of the two is known."""
    if declared and model:
        return f"{declared}@{model}"
    return declared or model or "unknown"


def turn_id(conversation_id: str, span_or_call_id: str) -> str:
    """A turn's identity: the same however its spans arrive. 16 hex digits."""
    return _identity(b"turn", conversation_id, span_or_call_id)


def omitted_turn_id(conversation_id: str, reference_index: int) -> str:
    """The identity of an expected turn (index from 0) that was never taken. 16 hex digits."""
    return _identity(b"omitted", conversation_id, str(reference_index))


def _identity(kind: bytes, conversation_id: str, part: str) -> str:
    # The length keeps ("a", "bc") apart from ("ab", "c"), whatever the ids contain.
    text = f"{len(conversation_id)}:{conversation_id}{part}"
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, person=kind).hexdigest()
