"""What a run was given, what it said, and what a tool took and gave, from the one value kept of it.

Sources keep requests, replies, states of a graph, arguments of a function or plain text in the
same place; each is told by what it looks like.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from adapters.shapes import content, gemini, langchain, mixed
from adapters.shapes.blocks import add_blocks, answer_of
from adapters.shapes.listed import read_listed
from adapters.shapes.parts import Parts, call_id, first
from monitor.model import ArgumentsState, JsonValue, Message, Usage

_ROUNDS: Final = 4
_JSON: Final = ("{", "[", '"')
_REQUEST_KEYS: Final = ("messages", "contents", "input", "prompt", "prompts")
_QUESTION_KEYS: Final = (
    *("inputs", "query", "question", "user_input", "user_message", "user_query", "message"),
    *("chat_input", "human_input", "text", "content", "request", "task", "kwargs", "args"),
)
_REPLY_KEYS: Final = ("output", "message", "content")
_ANSWER_KEYS: Final = (
    *("answer", "final_answer", "response", "reply", "result", "final_output", "output_text"),
    *("text", "completion", "generated_text", "combined_chunk_content", "outputs", "raw"),
)
_SYSTEM_KEYS: Final = (
    *("system", "instructions", "system_instruction", "systemInstruction", "system_prompt"),
)
_MODEL_KEYS: Final = ("model", "model_version", "modelVersion", "model_name", "modelId")
_USAGE_KEYS: Final = ("usage", "usage_metadata", "usageMetadata", "token_usage")
_CALL_WRAPPINGS: Final = frozenset({"input", "input_str", "inputs"})
_FUNCTION_KEYS: Final = frozenset({"args", "kwargs", "sanitize_inputs_outputs"})


class Given(NamedTuple):
    """What a model or an agent was given; None is not known."""

    messages: tuple[Message, ...] | None = None
    system: str | None = None
    """Instructions that stand apart from the messages."""
    tools: JsonValue = None
    """Tool definitions as the provider writes them."""
    model: str | None = None
    cut: bool = False
    """The value is the beginning of something longer."""


class Said(NamedTuple):
    """What a model or an agent answered; None is not known."""

    messages: tuple[Message, ...] | None = None
    model: str | None = None
    usage: Usage | None = None
    cut: bool = False


class Answer(NamedTuple):
    """What a tool gave back, and what its wrapping says of the call."""

    result: JsonValue
    call_id: str | None = None
    name: str | None = None
    failed: bool = False


def opened(value: JsonValue) -> tuple[JsonValue, bool]:
    """The value inside JSON text, or the text where there is none; and whether it is cut."""
    for _ in range(_ROUNDS):
        if not isinstance(value, str) or value.lstrip()[:1] not in _JSON:
            break
        try:
            value = content.decode(value)
        except content.Undecodable as error:
            literal = content.result(value)
            return literal, error.cut and isinstance(literal, str)
    content.check_depth(value)
    return value, False


def read_given(value: JsonValue) -> Given:
    """A request, a state, the arguments of a function, messages or plain text."""
    if type(value) is str and value[:1] == "[":
        listed = read_listed(value, "user")
        if listed is not None:
            messages, definitions = _without_definitions(listed)
            return Given(messages, tools=definitions)
    value, cut = opened(value)
    if cut or value is None:
        return Given(cut=cut)
    messages, definitions = _without_definitions(_messages_given(value, _ROUNDS))
    if not isinstance(value, dict):
        return Given(messages, tools=definitions)
    config = value.get("config")
    config = config if isinstance(config, dict) else {}
    return Given(
        messages,
        _system(value) or _system(config),
        _tools(value) or _tools(config) or definitions,
        _text_of(first(value, _MODEL_KEYS)),
    )


def read_said(value: JsonValue, *, structured: bool = True) -> Said:
    """A reply, a completion, a state, or plain text.

    `structured`: what looks like none of these is the answer itself, and stands as JSON text.
    """
    value, cut = opened(value)
    if cut or value is None:
        return Said(cut=cut)
    messages = _messages_said(value, _ROUNDS)
    if not messages and structured:
        messages = (Message("assistant", _json(value)),)
    if not isinstance(value, dict):
        return Said(messages)
    told = _generation_told(value)
    return Said(
        messages,
        _text_of(first(value, _MODEL_KEYS)) or told.model,
        _usage(value) or told.usage,
    )


def read_arguments(value: JsonValue) -> tuple[JsonValue, ArgumentsState]:
    """A tool's arguments without the wrapping of the function that called it.

    Positional arguments have no names: they stay as they came, with the state `raw`.
    """
    given, state = content.arguments(value)
    for _ in range(_ROUNDS):
        if not isinstance(given, dict) or not given:
            break
        if given.keys() <= _FUNCTION_KEYS and isinstance(given.get("kwargs"), dict):
            if given.get("args"):
                return (value if isinstance(value, str) else _json(value)), "raw"
            return given["kwargs"], state
        inner = _unwrapped(given)
        if inner is None:
            break
        given = inner
    return given, state


def read_answer(value: JsonValue) -> Answer:
    """A tool's result, out of a message, of content blocks or of `output`."""
    given = content.result(value)
    if isinstance(given, dict) and given.keys() == {"output"} and _is_tool(given["output"]):
        given = given["output"]
    if not _is_tool(given):
        return Answer(content.result(answer_of(given)))
    fields = langchain.fields_of(given) or {}
    name = fields.get("name")
    return Answer(
        content.result(answer_of(fields.get("content"))),
        call_id(fields.get("tool_call_id")),
        name if isinstance(name, str) and name else None,
        fields.get("status") == "error",
    )


def _is_tool(value: JsonValue) -> bool:
    if not isinstance(value, dict):
        return False
    fields = langchain.fields_of(value)
    return fields is not None and "content" in fields and "tool_call_id" in fields


def _unwrapped(given: Mapping[str, Any]) -> dict[str, JsonValue] | None:
    """The object in `{"input": {..}}`, also when it is written as text."""
    if len(given) != 1 or not given.keys() <= _CALL_WRAPPINGS:
        return None
    (inner,) = given.values()
    if isinstance(inner, str):
        inner, state = content.arguments(inner)
        inner = inner if state == "parsed" else None
    return inner if isinstance(inner, dict) else None


def _messages_given(value: JsonValue, rounds: int) -> tuple[Message, ...] | None:
    if isinstance(value, dict):
        return _object_given(value, rounds) if rounds else None
    if isinstance(value, list):
        return _list(value, "user")
    return _lone_text(value, "user") if isinstance(value, str) and value.strip() else None


def _object_given(value: Mapping[str, Any], rounds: int) -> tuple[Message, ...] | None:
    if _is_message(value):
        return _list([value], "user")
    for key in (*_REQUEST_KEYS, *_QUESTION_KEYS):
        inner = value.get(key)
        if inner and (found := _messages_given(inner, rounds - 1)):
            return found
    return _lone_text(_only(value), "user")


def _messages_said(value: JsonValue, rounds: int) -> tuple[Message, ...] | None:
    if isinstance(value, dict):
        return _object_said(value, rounds)
    if isinstance(value, list):
        return _new(_list(value, "assistant"))
    return _lone_text(value, "assistant")


def _object_said(value: Mapping[str, Any], rounds: int) -> tuple[Message, ...] | None:
    if _is_message(value):
        return _list([value], "assistant")
    found = _new(mixed.read_messages(value, "assistant"))
    if found:
        return found
    for key in (*_REPLY_KEYS, *_ANSWER_KEYS) if rounds else ():
        inner = value.get(key)
        if (isinstance(inner, str) or inner) and (found := _messages_said(inner, rounds - 1)):
            return found
    return _lone_text(_only(value), "assistant")


def _lone_text(value: JsonValue, role: str) -> tuple[Message, ...] | None:
    return (Message(role, value),) if isinstance(value, str) else None


def _only(value: Mapping[str, Any]) -> JsonValue:
    """The value of an object that has but one."""
    return next(iter(value.values())) if len(value) == 1 else None


def _list(items: list[JsonValue], role: str) -> tuple[Message, ...] | None:
    if items and all(_is_block(item) for item in items):
        return mixed.read_messages([{"role": role, "content": items}], role)
    return mixed.read_messages(items, role)


def _new(messages: tuple[Message, ...] | None) -> tuple[Message, ...] | None:
    """The messages after the user's last: a state repeats what was said before."""
    for at in range(len(messages or ()) - 1, -1, -1):
        if messages and messages[at].role == "user" and not messages[at].results:
            return messages[at + 1 :]
    return messages


def _is_message(value: Mapping[str, Any]) -> bool:
    return "lc" in value or (isinstance(value.get("role"), str) and "messages" not in value)


def _is_block(item: JsonValue) -> bool:
    if not isinstance(item, dict) or "role" in item or "lc" in item:
        return False
    kind = item.get("type")
    if isinstance(kind, str):
        return kind in mixed.BLOCKS.typed
    return len(item) == 1 and any(key in mixed.BLOCKS.keyed for key in item)


def _without_definitions(
    messages: tuple[Message, ...] | None,
) -> tuple[tuple[Message, ...] | None, JsonValue]:
    """Some recorders hide the tools' definitions in messages of tools."""
    found = [
        result.result
        for message in messages or ()
        if message.role == "tool"
        for result in message.results
        if _is_definition(result.result)
    ]
    if not found or messages is None:
        return messages, None
    left = tuple(
        message
        for message in messages
        if not (message.results and all(_is_definition(told.result) for told in message.results))
    )
    return left, found


def _is_definition(value: JsonValue) -> bool:
    return (
        isinstance(value, dict)
        and value.get("type") == "function"
        and isinstance(value.get("function"), dict)
    )


def _system(source: Mapping[str, Any]) -> str | None:
    given = first(source, _SYSTEM_KEYS)
    if isinstance(given, dict):
        given = first(given, ("parts", "content", "text"))
    parts = Parts()
    add_blocks(parts, given, mixed.BLOCKS)
    return parts.message("system").text


def _tools(source: Mapping[str, Any]) -> JsonValue:
    """Every provider's tools in the form that has a name and a schema at its top."""
    config = first(source, ("toolConfig", "tool_config"))
    given = first(config if isinstance(config, dict) else source, ("tools", "functions"))
    if not isinstance(given, list) or not given:
        return None
    declared = gemini.declarations(given)
    if declared:
        return [gemini.lower_types(item) for item in declared]
    return [
        item["toolSpec"]
        if isinstance(item, dict) and isinstance(item.get("toolSpec"), dict)
        else item
        for item in given
    ]


def _generation_told(value: JsonValue) -> langchain.Told:
    """What LangChain's message inside `generations` says of the call that made it."""
    for _ in range(_ROUNDS):
        given = value.get("generations") if isinstance(value, dict) else value
        if not isinstance(given, list) or not given:
            break
        value = given[0]
    return langchain.told(value.get("message")) if isinstance(value, dict) else langchain.Told()


def _usage(source: Mapping[str, Any]) -> Usage | None:
    inner = source.get("llm_output")
    return langchain.usage_of(first(source, _USAGE_KEYS)) or langchain.usage_of(
        first(inner, _USAGE_KEYS) if isinstance(inner, dict) else None
    )


def _text_of(value: JsonValue) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _json(value: JsonValue) -> str:
    return msgspec.json.encode(value).decode()
