"""OpenTelemetry's GenAI conventions in their three generations.

Content stands in attributes (a JSON string or a structured value) or in events named
`gen_ai.client.inference.operation.details`, several of which may share one span. Where there is
none of these, in one event per message; else in numbered attributes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from adapters.vocabularies import content, indexed, message_events
from adapters.vocabularies.definitions import read_definitions, read_instructions
from adapters.vocabularies.messages import call_id, read_messages
from adapters.vocabularies.numbered import Numbered
from monitor.model import (
    AgentSpan,
    JsonValue,
    Message,
    SpanKind,
    ToolCall,
    ToolDefinition,
    Usage,
)

OPERATION: Final = "gen_ai.operation.name"
INPUT: Final = "gen_ai.input.messages"
OUTPUT: Final = "gen_ai.output.messages"
SYSTEM: Final = "gen_ai.system_instructions"
DEFINITIONS: Final = "gen_ai.tool.definitions"
TOOL_NAME: Final = "gen_ai.tool.name"
CALL_ID: Final = "gen_ai.tool.call.id"
ARGUMENTS: Final = "gen_ai.tool.call.arguments"
RESULT: Final = "gen_ai.tool.call.result"
TOOL_STATUS: Final = "gen_ai.tool.status"
AGENT: Final = "gen_ai.agent.name"
REQUEST_MODEL: Final = "gen_ai.request.model"
RESPONSE_MODEL: Final = "gen_ai.response.model"
INPUT_TOKENS: Final = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
OUTPUT_TOKENS: Final = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
DETAILS_EVENT: Final = "gen_ai.client.inference.operation.details"
EXCEPTION_EVENT: Final = "exception"
REQUEST_TYPE: Final = "llm.request.type"
CONTENT_EVENTS: Final = frozenset({DETAILS_EVENT, *message_events.EVENTS, *indexed.EVENTS})
"""The events that carry content, on spans or as log records."""

_KINDS: Final[dict[str, SpanKind]] = {
    "chat": "model",
    "generate_content": "model",
    "text_completion": "model",
    "llm_call": "model",
    "invoke_agent": "agent",
    "invoke_workflow": "agent",
    "execute_tool": "tool",
    "embeddings": "other",
    "retrieval": "other",
    "create_agent": "other",
    "plan": "other",
    "create_memory": "other",
    "search_memory": "other",
    "update_memory": "other",
    "upsert_memory": "other",
    "delete_memory": "other",
    "create_memory_store": "other",
    "delete_memory_store": "other",
    # A loop step repeats the messages of the model call inside it.
    "execute_event_loop_cycle": "other",
    "agent_step": "other",
    "agent_handoff": "other",
    "chain": "other",
}
_TOOL_PREFIXES: Final = ("execute_tool ", "running tool: ")


class GenAi:
    """The vocabulary `genai`."""

    name = "genai"
    keys = frozenset(
        {
            OPERATION,
            INPUT,
            OUTPUT,
            SYSTEM,
            DEFINITIONS,
            TOOL_NAME,
            CALL_ID,
            ARGUMENTS,
            RESULT,
            TOOL_STATUS,
            AGENT,
            REQUEST_MODEL,
            RESPONSE_MODEL,
            *INPUT_TOKENS,
            *OUTPUT_TOKENS,
            REQUEST_TYPE,
            *message_events.FIELDS,
            *indexed.KEYS,
        }
    )

    def read(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
    ) -> AgentSpan | None:
        """None when the span carries nothing of these conventions."""
        kind = kind_of(attributes, events)
        if kind is None:
            return None
        if kind == "tool":
            return read_tool(attributes, events, span, self.name)
        if kind == "other":
            return told(span, kind, self.name, attributes)
        return read_call(attributes, events, span, kind, self.name)


def kind_of(
    attributes: Mapping[str, JsonValue], events: Sequence[tuple[str, Mapping[str, JsonValue]]]
) -> SpanKind | None:
    """What the span is, by its operation, else by what it carries; None when nothing tells."""
    operation = attributes.get(OPERATION)
    if isinstance(operation, str):
        kind = _KINDS.get(operation)
        if kind is not None:
            return kind
    if TOOL_NAME in attributes:
        return "tool"
    if INPUT in attributes or OUTPUT in attributes:
        return "model"
    if events and any(name in CONTENT_EVENTS for name, _ in events):
        return "model"
    return "other" if operation is not None else _kind_of_older(attributes)


def _kind_of_older(attributes: Mapping[str, JsonValue]) -> SpanKind | None:
    asked = attributes.get(REQUEST_TYPE)
    if asked is not None:
        return "model" if asked in ("chat", "completion") else "other"
    return "model" if indexed.tells(attributes) else None


def told(
    span: AgentSpan,
    kind: SpanKind,
    vocabulary: str,
    attributes: Mapping[str, JsonValue],
    system: str | None = None,
    messages_in: tuple[Message, ...] | None = None,
    messages_out: tuple[Message, ...] | None = None,
    truncated: bool = False,
    usage: Usage | None = None,
    call: ToolCall | None = None,
    result: JsonValue = None,
    has_result: bool = False,
    error_type: str | None = None,
    definitions: tuple[ToolDefinition, ...] | None = None,
) -> AgentSpan:
    """The span with kind, agent, model and content; field by field, since `replace` is slow."""
    return AgentSpan(
        span.trace_id,
        span.span_id,
        kind,
        span.name,
        span.parent_id,
        span.start_ns,
        span.end_ns,
        span.conversation_id,
        text_or_none(attributes.get(AGENT)),
        span.release,
        text_or_none(attributes.get(RESPONSE_MODEL)) or text_or_none(attributes.get(REQUEST_MODEL)),
        system,
        messages_in,
        messages_out,
        call,
        result,
        has_result,
        error_type or span.error_type,
        read_definitions(attributes[DEFINITIONS]) if DEFINITIONS in attributes else definitions,
        usage,
        span.expected,
        truncated or span.truncated,
        span.detail,
        span.scope,
        vocabulary,
        span.response_id,
        span.id_remark,
        span.user_id,
        span.service,
    )


def read_call(
    attributes: Mapping[str, JsonValue],
    events: Sequence[tuple[str, Mapping[str, JsonValue]]],
    span: AgentSpan,
    kind: SpanKind,
    vocabulary: str,
) -> AgentSpan:
    """A model call or an agent's run: messages, system prompt, definitions, tokens."""
    if events:
        attributes = _with_details(attributes, events)
    given, said = attributes.get(INPUT), attributes.get(OUTPUT)
    if given is None and said is None:
        return _read_older(attributes, events, span, kind, vocabulary)
    messages_in, cut_in = read_messages(given, "user")
    messages_out, cut_out = read_messages(said, "assistant")
    return told(
        span,
        kind,
        vocabulary,
        attributes,
        system_of(attributes, messages_in),
        messages_in,
        messages_out,
        cut_in or cut_out,
        usage_of(attributes) if kind == "model" else None,
    )


def _read_older(
    attributes: Mapping[str, JsonValue],
    events: Sequence[tuple[str, Mapping[str, JsonValue]]],
    span: AgentSpan,
    kind: SpanKind,
    vocabulary: str,
) -> AgentSpan:
    """The same from the older generations: whichever tells anything tells all of it."""
    found = message_events.read_events(events) if events else message_events.Content()
    numbered = Numbered(attributes)
    family = f"{vocabulary}_events"
    if found.given is None and found.said is None:
        found = indexed.read_content(attributes, events, numbered)
        family = f"{vocabulary}_indexed"
    if found.given is None and found.said is None:
        family = vocabulary
    return told(
        span,
        kind,
        family,
        attributes,
        system_of(attributes, found.given),
        found.given,
        found.said,
        found.cut,
        usage_of(attributes) if kind == "model" else None,
        definitions=indexed.read_functions(numbered),
    )


def system_of(
    attributes: Mapping[str, JsonValue], messages: tuple[Message, ...] | None
) -> str | None:
    """The system prompt: its own attribute, else the first system message."""
    if SYSTEM in attributes:
        told_apart = read_instructions(attributes[SYSTEM])
        if told_apart is not None:
            return told_apart
    for message in messages or ():
        if message.role in ("system", "developer"):
            return message.text
    return None


def _with_details(
    attributes: Mapping[str, JsonValue], events: Sequence[tuple[str, Mapping[str, JsonValue]]]
) -> Mapping[str, JsonValue]:
    """The attributes with what the detail events add; an attribute of the span goes first."""
    merged = dict(attributes)
    inputs: list[JsonValue] = []
    outputs: list[JsonValue] = []
    for name, fields in events:
        if name != DETAILS_EVENT:
            continue
        for key, value in fields.items():
            found = _as_list(value) if key in (INPUT, OUTPUT) else None
            if found is None:
                # Also a list of messages that was cut: reading it will tell.
                merged.setdefault(key, value)
            elif key == INPUT:
                inputs.extend(found)
            else:
                outputs[: len(found)] = found
    if inputs:
        merged.setdefault(INPUT, inputs)
    if outputs:
        merged.setdefault(OUTPUT, outputs)
    return merged


def _as_list(value: JsonValue) -> list[JsonValue] | None:
    if isinstance(value, str):
        try:
            value = content.decode(value)
        except content.Undecodable:
            return None
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def read_tool(
    attributes: Mapping[str, JsonValue],
    events: Sequence[tuple[str, Mapping[str, JsonValue]]],
    span: AgentSpan,
    vocabulary: str,
    arguments_key: str = ARGUMENTS,
    result_key: str = RESULT,
) -> AgentSpan:
    """A tool's run: the call, and its result when the span carries one."""
    arguments, state = content.arguments(attributes.get(arguments_key))
    has_result = result_key in attributes
    call = ToolCall(
        text_or_none(attributes.get(TOOL_NAME)) or _tool_of(span.name),
        arguments,
        call_id(attributes.get(CALL_ID)),
        state,
    )
    return told(
        span,
        "tool",
        vocabulary,
        attributes,
        truncated=state == "truncated",
        call=call,
        result=content.result(attributes.get(result_key)),
        has_result=has_result,
        error_type=_tool_error(attributes, events, span, has_result),
    )


def _tool_of(span_name: str) -> str:
    for prefix in _TOOL_PREFIXES:
        if span_name.startswith(prefix):
            return span_name[len(prefix) :]
    return span_name


def _tool_error(
    attributes: Mapping[str, JsonValue],
    events: Sequence[tuple[str, Mapping[str, JsonValue]]],
    span: AgentSpan,
    has_result: bool,
) -> str | None:
    if span.error_type is not None:
        return span.error_type
    if attributes.get(TOOL_STATUS) == "error":
        return "error"
    # A recorded exception may have been handled; without a result it was not.
    if not has_result and any(name == EXCEPTION_EVENT for name, _ in events):
        return "error"
    return None


def usage_of(attributes: Mapping[str, JsonValue]) -> Usage | None:
    """Tokens of a model call; None where none are told. Agents repeat the sum of theirs."""
    given = attributes.get(INPUT_TOKENS[0])
    said = attributes.get(OUTPUT_TOKENS[0])
    if type(given) is not int or given < 0:
        given = tokens_of(attributes, INPUT_TOKENS)
    if type(said) is not int or said < 0:
        said = tokens_of(attributes, OUTPUT_TOKENS)
    return None if given is None and said is None else Usage(given, said)


def tokens_of(attributes: Mapping[str, JsonValue], keys: Sequence[str]) -> int | None:
    """The count under the first key that tells one."""
    for key in keys:
        count = count_or_none(attributes.get(key))
        if count is not None:
            return count
    return None


def count_or_none(value: JsonValue) -> int | None:
    """A number of tokens, also as the text that some stores make of it; None for what is none."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 19:
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**63:
        return None
    return int(value) if value == int(value) else None


def text_or_none(value: JsonValue) -> str | None:
    """The text, or None for what is no text or says nothing."""
    return value.strip() or None if type(value) is str else None
