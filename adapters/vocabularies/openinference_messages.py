"""OpenInference's numbered messages, tools, prompts and choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, Final, NamedTuple

from adapters.shapes import content, plain
from adapters.shapes.blocks import answer_of, role_of
from adapters.shapes.parts import Parts
from adapters.shapes.remembered import Remembered
from adapters.vocabularies.definitions import read_schemas
from adapters.vocabularies.numbered import Numbered, row
from monitor.model import JsonValue, Message, ToolCall, ToolDefinition

MESSAGES_IN: Final = "llm.input_messages."
MESSAGES_OUT: Final = "llm.output_messages."
TOOLS: Final = "llm.tools."
PROMPTS: Final = "llm.prompts."
CHOICES: Final = "llm.choices."
KEYS: Final = frozenset({MESSAGES_IN, MESSAGES_OUT, TOOLS, PROMPTS, CHOICES})
HIDDEN: Final = "__REDACTED__"
"""Stands in every value that the recorder was told to hide."""
_ROLES: Final[dict[str, str]] = {"tool-call": "assistant", "tool-response": "tool"}
_ASKING: Final = "Calling tools:"


class Told(NamedTuple):
    """Messages, None where nothing of them is known; and whether some were dropped."""

    messages: tuple[Message, ...] | None
    gaps: bool


def shown(value: JsonValue) -> JsonValue:
    """The value; None when it was hidden."""
    return None if value == HIDDEN else value


def read_numbered(numbered: Numbered, prefix: str, role: str) -> Told:
    """The messages below a prefix. One of which only the role is known counts as not known."""
    read, remembered = _READERS[role]
    found, gaps = numbered.read(prefix, read, remembered)
    return Told(tuple(found) or None, gaps)


def lost_results(messages: tuple[Message, ...]) -> bool:
    """Whether a tool's result looks like the user's words.

    Some recorders write down nothing but the text of the message that brings it. No provider
    takes words of the user right after calls.
    """
    return any(_is_result(*pair) for pair in pairwise(messages))


def with_results(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages with such results as what they are; of several, which is whose is lost."""
    found = list(messages)
    for at, (before, message) in enumerate(pairwise(messages), 1):
        if _is_result(before, message):
            answer = Parts()
            if len(before.calls) == 1:
                answer.add_result(message.text, before.calls[0].call_id)
            found[at] = answer.message("tool")
    return tuple(found)


def _is_result(before: Message, message: Message) -> bool:
    return (
        bool(before.calls)
        and before.role == "assistant"
        and message.role == "user"
        and not message.results
    )


def read_completion(
    numbered: Numbered, prefix: str, inner: str, role: str
) -> tuple[Message, ...] | None:
    """The prompts or choices of a completion without roles."""
    texts = []
    for item in numbered.row(prefix).items:
        fields = item.get(inner) if isinstance(item, dict) else None
        text = shown(fields.get("text")) if isinstance(fields, dict) else None
        if isinstance(text, str):
            texts.append(text)
    return tuple([Message(role, text) for text in texts]) or None


def read_tools(numbered: Numbered) -> tuple[ToolDefinition, ...] | None:
    """The tools that the model was offered; None when none are told."""
    tools = [
        item["tool"].get("json_schema")
        for item in numbered.row(TOOLS).items
        if isinstance(item, dict) and isinstance(item.get("tool"), dict)
    ]
    return read_schemas(tools) if tools else None


def _given(item: JsonValue) -> Message | None:
    fields = item.get("message") if isinstance(item, dict) else None
    return _message(fields, "user") if isinstance(fields, dict) else None


def _said(item: JsonValue) -> Message | None:
    fields = item.get("message") if isinstance(item, dict) else None
    return _message(fields, "assistant") if isinstance(fields, dict) else None


_READERS: Final[dict[str, tuple[Callable[[JsonValue], Message | None], Remembered[Message]]]] = {
    "user": (_given, Remembered()),
    "assistant": (_said, Remembered()),
}
"""By the role of a message that tells none."""


def _message(fields: Mapping[str, Any], default_role: str) -> Message | None:
    given, said = fields.get("role"), fields.get("content")
    if len(fields) == 2 and given in plain.ROLES and type(said) is str and said != HIDDEN:
        return Message(given, said)
    own = given.lower() if isinstance(given, str) else ""
    role = _ROLES.get(own) or role_of(given, default_role)
    parts = Parts()
    parts.calls = _calls(fields)
    text = _text(fields.get("content"))
    if text is None:
        _add_contents(parts, fields)
    else:
        parts.texts.append(text)
        _add_contents(parts, fields, texts=False)
    if own == "tool-call":
        _split_asked(parts)
    answers = fields.get("tool_call_id") if role != "assistant" else None
    if (role == "tool" or answers) and not parts.calls and parts.texts:
        answer = parts.texts
        parts.texts = []
        parts.add_result(answer_of("\n".join(answer)), answers, fields.get("name"))
    if not (parts.texts or parts.calls or parts.results or parts.media):
        return None
    return parts.message(role, fields.get("name"))


def _text(value: JsonValue) -> str | None:
    """The text; some recorders number its blocks below the name of the text."""
    if isinstance(value, dict):
        texts = [text for text in row(value).items if isinstance(shown(text), str)]
        return "\n".join(texts) if texts else None
    value = shown(value)
    if isinstance(value, list):
        return "\n".join([text for text in value if isinstance(text, str)]) or None
    return value if isinstance(value, str) else None


def _calls(fields: Mapping[str, Any]) -> list[ToolCall]:
    if "tool_calls" not in fields and "function_call_name" not in fields:
        return []
    found = Parts()
    for item in row(fields.get("tool_calls")).items:
        _add_call(found, item)
    name = fields.get("function_call_name")
    if isinstance(name, str) and not found.calls:
        found.add_call(name, shown(fields.get("function_call_arguments_json")), None)
    return found.calls


def _add_call(parts: Parts, item: JsonValue) -> None:
    call = item.get("tool_call") if isinstance(item, dict) else None
    function = call.get("function") if isinstance(call, dict) else None
    if isinstance(call, dict) and isinstance(function, dict):
        parts.add_call(function.get("name"), shown(function.get("arguments")), call.get("id"))


def _add_contents(parts: Parts, fields: Mapping[str, Any], *, texts: bool = True) -> None:
    """The blocks of a message. A call in a block may repeat one beside the blocks."""
    if "contents" not in fields:
        return
    beside = {call.call_id for call in parts.calls}
    for item in row(fields.get("contents")).items:
        if not isinstance(item, dict):
            continue
        block = item.get("message_content")
        kind = block.get("type") if isinstance(block, dict) else None
        if isinstance(block, dict) and (kind == "text" or (kind is None and "text" in block)):
            if texts:
                parts.add_text(shown(block.get("text")))
        elif kind in ("image", "audio"):
            parts.add_media(str(kind), _media(block, str(kind)))
        elif "tool_call" in item:
            repeated = Parts()
            _add_call(repeated, item)
            parts.calls += [call for call in repeated.calls if not _is_in(call, beside)]


def _is_in(call: ToolCall, beside: set[str | None]) -> bool:
    return call.call_id in beside or (call.call_id is None and bool(beside))


def _media(block: JsonValue, kind: str) -> Mapping[str, Any]:
    outer = block.get(kind) if isinstance(block, dict) else None
    inner = outer.get(kind, outer) if isinstance(outer, dict) else None
    return inner if isinstance(inner, dict) else {}


def _split_asked(parts: Parts) -> None:
    """A call that smolagents writes down as the assistant's text."""
    text = "\n".join(parts.texts)
    asked = text.partition(_ASKING)[2].strip() if _ASKING in text else text.strip()
    parts.texts = []
    calls = content.result(asked)
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            parts.add_call(function.get("name"), function.get("arguments"), call.get("id"))
