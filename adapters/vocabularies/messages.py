"""Reads lists of messages: the standard form in one typed pass, every deviation part by part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import msgspec

from adapters.shapes import content
from adapters.shapes.blocks import answer_of
from adapters.shapes.parts import HIDDEN, call_id, media_digest, tool_call
from adapters.shapes.parts import first as _first
from adapters.shapes.remembered import Remembered
from monitor.model import JsonValue, Message, ToolCall, ToolResult

__all__ = ["Messages", "call_id", "media_digest", "read_messages", "read_parts_text", "tool_call"]

Messages: TypeAlias = tuple[tuple[Message, ...] | None, bool]
"""What an attribute held, None when nothing could be read; and whether its JSON is cut.

Cut JSON inside a complete attribute was cut before it came to the exporter, by the model or the
tool: a call's `arguments_state` tells it.
"""


class _Part(msgspec.Struct, gc=False):
    type: str
    content: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: Any = None
    response: Any = msgspec.UNSET
    result: Any = msgspec.UNSET
    is_error: bool = False


class _Message(msgspec.Struct, gc=False):
    role: str
    parts: list[_Part]
    name: str | None = None


_decoder = msgspec.json.Decoder(list[_Message])
_message_decoder = msgspec.json.Decoder(_Message)
_raws_decoder = msgspec.json.Decoder(list[msgspec.Raw])
_parts_decoder = msgspec.json.Decoder(list[_Part])


_HISTORY: Final = 4
"""Messages from which on it pays to look each of them up before it is decoded."""
_remembered: Final[Remembered[Message]] = Remembered()


class _NotStandard(Exception):
    """A part deviates from the convention, so the whole value is read the patient way."""


def read_messages(value: JsonValue, default_role: str) -> Messages:
    """Messages from a JSON string or a structured value; none from None.

    Raises PayloadTooLarge when the value is beyond a limit.
    """
    if value is None:
        return None, False
    if isinstance(value, str):
        standard = _standard(value)
        if standard is not None:
            return standard, False
        try:
            value = content.decode(value)
            if isinstance(value, str) and value[:1] in ("[", "{"):
                value = content.decode(value)
        except content.Undecodable as error:
            return None, error.cut
    return _patient(value, default_role), False


def _standard(text: str) -> tuple[Message, ...] | None:
    """The messages of a text in the standard form; None for any other."""
    try:
        if text.count('"parts"') >= _HISTORY:
            raws = content.decode_shape(text, _raws_decoder)
            levels = content.nesting()
            return None if raws is None else tuple([_known(raw, levels) for raw in raws])
        messages = content.decode_shape(text, _decoder)
        return None if messages is None else tuple(map(_standard_message, messages))
    except _NotStandard:
        return None


def _known(raw: msgspec.Raw, levels: int) -> Message:
    """A message of a history, which repeats with every call."""
    key = (levels, bytes(raw))
    found = _remembered.known(key)
    if found is None:
        try:
            found = _standard_message(_message_decoder.decode(raw))
        except (msgspec.MsgspecError, ValueError) as error:
            raise _NotStandard from error
        _remembered.keep(key, found, len(key[1]))
    return found


def read_parts_text(text: str) -> str | None:
    """The joined text of a JSON list of text parts, when it is just that; else None."""
    parts = content.decode_shape(text, _parts_decoder)
    if parts and len(parts) == 1 and parts[0].type == "text":
        return parts[0].content
    if not parts or any(part.type != "text" or part.content is None for part in parts):
        return None
    return "\n".join([part.content or "" for part in parts])


def _standard_message(message: _Message) -> Message:
    parts = message.parts
    if len(parts) == 1:
        only = parts[0]
        if only.type == "text" and only.content is not None:
            return Message(message.role, _shown(only.content), (), (), message.name)
    texts: list[str] = []
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    for part in parts:
        kind = part.type
        if kind == "text" and part.content is not None:
            texts.append(part.content)
        elif kind == "tool_call" and part.name:
            calls.append(_standard_call(part))
        elif kind == "tool_call_response":
            results.append(_standard_result(part))
        elif kind not in ("reasoning", "thinking"):
            raise _NotStandard
    return Message(
        message.role,
        "\n".join(texts) if texts else None,
        tuple(calls),
        tuple(results),
        message.name,
    )


def _shown(text: str) -> str | None:
    return None if text in HIDDEN else text


def _standard_call(part: _Part) -> ToolCall:
    given = part.arguments
    if type(given) is dict and content.is_flat(given):
        return ToolCall(part.name or "", given, call_id(part.id))
    return tool_call(part.name or "", given, part.id)


def _standard_result(part: _Part) -> ToolResult:
    given = part.response
    if given is msgspec.UNSET:
        given = None if part.result is msgspec.UNSET else part.result
    if type(given) is list:
        given = answer_of(given)
    return ToolResult(content.result(given), call_id(part.id), part.name, part.is_error)


def _patient(value: JsonValue, default_role: str) -> tuple[Message, ...] | None:
    if isinstance(value, dict):
        inner = value.get("messages")
        value = inner if isinstance(inner, list) else [value]
    if isinstance(value, str):
        return (Message(default_role, value),)
    if not isinstance(value, list):
        return None
    found = tuple(message for item in value if (message := _message(item, default_role)))
    return found if found or not value else None


def _message(item: JsonValue, default_role: str) -> Message | None:
    if isinstance(item, str):
        return Message(default_role, item)
    if not isinstance(item, dict):
        return None
    role = item.get("role")
    collected = _Collected()
    parts = item.get("parts")
    if parts is None:
        parts = item.get("content")
    if parts is None and "role" not in item:
        parts = [item]
    collected.add_all(parts)
    collected.add_openai(item)
    name = item.get("name")
    return Message(
        role if isinstance(role, str) and role else default_role,
        "\n".join(collected.texts) if collected.texts else None,
        tuple(collected.calls),
        tuple(collected.results),
        name if isinstance(name, str) else None,
        tuple(collected.media),
        collected.compacted,
    )


class _Collected:
    """The parts of one message, sorted by kind as they come."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.calls: list[ToolCall] = []
        self.results: list[ToolResult] = []
        self.media: list[str] = []
        self.compacted = False

    def add_all(self, parts: JsonValue) -> None:
        if isinstance(parts, str):
            self.texts.append(parts)
        elif isinstance(parts, dict):
            self.add(parts)
        elif isinstance(parts, list):
            for part in parts:
                if isinstance(part, str):
                    self.texts.append(part)
                elif isinstance(part, dict):
                    self.add(part)

    def add(self, part: Mapping[str, Any]) -> None:
        kind = part.get("type")
        reader = _READERS.get(kind) if isinstance(kind, str) else None
        if reader is not None:
            reader(self, part)
        else:
            self._add_untyped(part)

    def _add_untyped(self, part: Mapping[str, Any]) -> None:
        for key in ("functionCall", "function_call"):
            if isinstance(part.get(key), dict):
                return self.add_call(part[key])
        for key in ("functionResponse", "function_response"):
            if isinstance(part.get(key), dict):
                return self.add_result(part[key])
        if isinstance(part.get("text"), str):
            self.texts.append(part["text"])
        elif "type" not in part and isinstance(part.get("content"), str):
            self.texts.append(part["content"])
        return None

    def add_text(self, part: Mapping[str, Any]) -> None:
        text = _first(part, ("content", "text"))
        if isinstance(text, str):
            self.texts.append(text)
        elif isinstance(text, list | dict):
            self.add_all(text)

    def add_call(self, part: Mapping[str, Any]) -> None:
        name = part.get("name")
        given = _first(part, ("arguments", "args", "input"))
        id_ = _first(part, ("id", "call_id", "tool_call_id"))
        self.calls.append(tool_call(name if isinstance(name, str) else "", given, id_))

    def add_server_call(self, part: Mapping[str, Any]) -> None:
        inner = part.get("server_tool_call")
        given = inner
        if isinstance(inner, dict):
            given = {key: value for key, value in inner.items() if key != "type"}
        self.add_call({"name": part.get("name"), "id": part.get("id"), "arguments": given})

    def add_result(self, part: Mapping[str, Any]) -> None:
        given = _first(
            part, ("response", "result", "server_tool_call_response", "content", "output")
        )
        name = part.get("name")
        self.results.append(
            ToolResult(
                content.result(answer_of(given)),
                call_id(_first(part, ("id", "call_id", "tool_call_id", "tool_use_id"))),
                name if isinstance(name, str) else None,
                part.get("is_error") is True or part.get("status") == "error",
            )
        )

    def add_compaction(self, part: Mapping[str, Any]) -> None:
        self.compacted = True

    def add_media(self, part: Mapping[str, Any]) -> None:
        self.media.append(media_digest(part))

    def skip(self, part: Mapping[str, Any]) -> None:
        """Reasoning is neither said to the user nor done."""

    def add_openai(self, item: Mapping[str, Any]) -> None:
        """Calls and the answer as OpenAI's own messages carry them, beside the text."""
        calls = item.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                function = call.get("function")
                shape = function if isinstance(function, dict) else call
                self.add_call({**shape, "id": call.get("id")})
        if item.get("role") == "tool" and not self.results and not self.calls and self.texts:
            self.add_result(
                {
                    "content": "\n".join(self.texts),
                    "id": _first(item, ("tool_call_id", "id")),
                    "name": item.get("name"),
                }
            )
            self.texts = []


_READERS: Final[dict[str, Callable[[_Collected, Mapping[str, Any]], None]]] = {
    "text": _Collected.add_text,
    "input_text": _Collected.add_text,
    "output_text": _Collected.add_text,
    "tool_call": _Collected.add_call,
    "tool_use": _Collected.add_call,
    "tool_call_response": _Collected.add_result,
    "tool_result": _Collected.add_result,
    "server_tool_call": _Collected.add_server_call,
    "server_tool_call_response": _Collected.add_result,
    "reasoning": _Collected.skip,
    "thinking": _Collected.skip,
    "compaction": _Collected.add_compaction,
    "blob": _Collected.add_media,
    "file": _Collected.add_media,
    "uri": _Collected.add_media,
}
