"""A message in the few parts that most have, without a look at all the others that it may have."""

from __future__ import annotations

from typing import Final

from adapters.shapes import content
from adapters.shapes.parts import call_id, tool_call
from monitor.model import JsonValue, Message, ToolCall, ToolResult

ROLES: Final = ("user", "assistant", "system", "developer")
"""The roles whose messages may be nothing but a text."""
_CALL: Final = {"id", "name", "arguments"}
_WRAPPED: Final = {"id", "type", "function"}


def calling(role: str, text: str | None, calls: list[JsonValue]) -> Message | None:
    """An assistant's message with calls, each `{id, name, arguments}`; None for other calls.

    The name and the arguments may stand in a `function` of their own, as OpenAI writes them.
    """
    found: list[ToolCall] = []
    for call in calls:
        if type(call) is dict and call.keys() == _WRAPPED and type(call["function"]) is dict:
            call = {"id": call["id"], **call["function"]}
        if not isinstance(call, dict) or call.keys() != _CALL:
            return None
        name = call["name"]
        if type(name) is not str or call["id"] is None or call["arguments"] is None:
            return None
        found.append(tool_call(name, call["arguments"], call["id"]))
    return Message(role, text, tuple(found))


def answering(text: str, id_: JsonValue) -> Message:
    """A tool's message: nothing but the answer and whose it is."""
    return Message("tool", None, (), (ToolResult(content.result(text), call_id(id_)),))


def read_plain(item: dict[str, JsonValue]) -> Message | None:
    """A message of OpenAI's clients with nothing but its usual parts; None for any other."""
    role, text = item.get("role"), item.get("content")
    if role in ROLES:
        if len(item) == 2 and type(text) is str:
            return Message(role, text)
        calls = item.get("tool_calls")
        if len(item) == 3 and "content" in item and type(calls) is list and calls:
            return calling(role, text, calls) if text is None or type(text) is str else None
    elif role == "tool" and len(item) == 3 and type(text) is str and item.get("tool_call_id"):
        return answering(text, item["tool_call_id"])
    return None
