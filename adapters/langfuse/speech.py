"""What a model or an agent was given and said, out of an observation's input and output."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from itertools import islice
from typing import Final

import msgspec

from adapters.langfuse.rows import CUT
from adapters.shapes import content, openai
from adapters.shapes.blocks import role_of
from adapters.shapes.parts import Parts
from adapters.shapes.payload import Given, Said, opened, read_given, read_said
from monitor.model import JsonValue, Message

MASKED: Final = "__REDACTED__"
"""What OpenInference puts in the place of a value that was to be hidden."""
_HIDDEN: Final = frozenset({"null", "None", "undefined", MASKED})
_RENDERED: Final = re.compile(
    r"^(system|developer|user|human|assistant|ai|tool|function): ", re.MULTILINE
)
_RENDERED_MESSAGES: Final = 4_096
_OPENERS: Final = ("system: ", "developer: ", "user: ", "human: ")
_MESSAGE_REPR: Final = re.compile(
    r"role='(\w{1,16})' content=(None|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")", re.DOTALL
)
_MEDIA_MARK: Final = "@@@langfuseMedia:"
_MEDIA: Final = re.compile(
    r"@@@langfuseMedia:type=([\w.+-]{1,60}/[\w.+-]{1,60})\|id=([\w.-]{1,100})\|source=\w{1,40}@@@"
)
_CALL_TYPES: Final = frozenset({"tool_call", "tool-call"})


def given_in(value: JsonValue) -> Given:
    """What was given. Raises PayloadTooLarge at a limit."""
    given = _given_in(value)
    return given._replace(messages=_with_media_apart(given.messages))


def _given_in(value: JsonValue) -> Given:
    value, cut = shown(value)
    if value is None or value == "":
        return Given(cut=cut)
    if isinstance(value, str) and value.startswith(_OPENERS):
        rendered = _rendered_messages(value)
        return Given(rendered or (Message("user", value),))
    value, cut = opened(value)
    if cut:
        return Given(cut=True)
    return read_given(_with_reprs_read(value))


def said_in(value: JsonValue) -> Said:
    """What was said; an empty text is known to be empty. Raises PayloadTooLarge at a limit."""
    said = _said_in(value)
    return said._replace(messages=_with_media_apart(said.messages))


def _said_in(value: JsonValue) -> Said:
    value, cut = shown(value)
    if value is None:
        return Said(cut=cut)
    value, cut = opened(value)
    if cut:
        return Said(cut=True)
    if isinstance(value, list) and value and all(_is_call(item) for item in value):
        parts = Parts()
        openai.add_calls(parts, value)
        return Said((parts.message("assistant"),))
    return Said() if value is None else read_said(value)


def shown(value: JsonValue) -> tuple[JsonValue, bool]:
    """The value, None where it was hidden or never was; and whether it was left out for size."""
    if isinstance(value, str):
        text = value.strip()
        if text in _HIDDEN or text == CUT:
            return None, text == CUT
    return value, False


def _with_media_apart(messages: tuple[Message, ...] | None) -> tuple[Message, ...] | None:
    """Messages whose texts no longer hold the marks by which the server refers to media."""
    if not messages or not any(_MEDIA_MARK in (found.text or "") for found in messages):
        return messages
    return tuple(_media_apart(found) for found in messages)


def _media_apart(message: Message) -> Message:
    if message.text is None or _MEDIA_MARK not in message.text:
        return message
    parts = Parts()
    for match in _MEDIA.finditer(message.text):
        mime = match[1]
        source = {"mime_type": mime, "uri": match[2]}
        parts.add_media(mime.partition("/")[0], source)
    text = _MEDIA.sub("", message.text).strip()
    media = (*message.media, *parts.media)
    return msgspec.structs.replace(message, text=text or None, media=media)


def prompt_as_system(messages: tuple[Message, ...] | None) -> tuple[Message, ...] | None:
    """The messages with an opening system prompt that was recorded as the user's put right.

    It is told by a second message of the user right behind it. For sources that record prompts
    so; from others, two messages that a user sent in a row would lose the first.
    """
    if not messages or len(messages) < 2 or any(found.role == "system" for found in messages):
        return messages
    opening, second = messages[0], messages[1]
    if opening.role != "user" or second.role != "user" or not opening.text or not second.text:
        return messages
    return (msgspec.structs.replace(opening, role="system"), *messages[1:])


def derived_calls(calls: tuple[JsonValue, ...]) -> tuple[Message, ...]:
    """Calls that stand in a column of their own, as the message that asked for them."""
    parts = Parts()
    openai.add_calls(parts, list(calls))
    parts.calls = [call for call in parts.calls if call.name]
    return (parts.message("assistant"),) if parts.calls else ()


def _is_call(item: JsonValue) -> bool:
    """Whether this is a call that stands alone, outside of any message."""
    if not isinstance(item, Mapping) or "role" in item:
        return False
    if isinstance(item.get("toolName"), str) and item.get("type") in (None, "tool-call"):
        return "result" not in item and "output" not in item
    function = item.get("function")
    if isinstance(function, Mapping):
        return "arguments" in function and "parameters" not in function
    kind = item.get("type")
    return isinstance(kind, str) and kind in _CALL_TYPES and isinstance(item.get("name"), str)


def _rendered_messages(text: str) -> tuple[Message, ...]:
    """Messages that were rendered into one text, each behind its role; none beyond a limit."""
    places = [*islice(_RENDERED.finditer(text), _RENDERED_MESSAGES + 1)]
    if len(places) > _RENDERED_MESSAGES:
        return ()
    ends = [*[match.start() for match in places[1:]], len(text)]
    return tuple(
        _rendered(match[1], text[match.end() : end].removesuffix("\n"))
        for match, end in zip(places, ends, strict=True)
    )


def _rendered(role: str, text: str) -> Message:
    role = role_of(role, role)
    if role == "tool":
        parts = Parts()
        parts.add_result(text, None)
        return parts.message(role)
    return Message(role, None if text == "None" else text)


def _with_reprs_read(value: JsonValue) -> JsonValue:
    """The value with messages read that a client wrote as the repr of its own class."""
    if isinstance(value, Mapping) and isinstance(value.get("messages"), list):
        return {**value, "messages": [_from_repr(item) for item in value["messages"]]}
    return [_from_repr(item) for item in value] if isinstance(value, list) else value


def _from_repr(item: JsonValue) -> JsonValue:
    if not isinstance(item, str) or not item.startswith("role='"):
        return item
    match = _MESSAGE_REPR.match(item[: content.REPR_CHARACTERS])
    if match is None:
        return item
    try:
        said = ast.literal_eval(match[2])
    except (ValueError, SyntaxError, MemoryError):
        return item
    clean = said.encode("utf-8", "replace").decode() if isinstance(said, str) else None
    return {"role": match[1], "content": clean}
