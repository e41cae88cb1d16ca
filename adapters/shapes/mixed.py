"""Messages of any shape, each read by what gives it away; for sources that hold several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from adapters.shapes import aisdk, langchain, openai, plain, responses
from adapters.shapes.blocks import (
    Blocks,
    add_blocks,
    add_text,
    answer_of,
    role_of,
    skip,
)
from adapters.shapes.parts import Parts, first
from monitor.model import JsonValue, Message

_ROLE_TYPES: Final = frozenset({"human", "ai", "system", "developer", "tool", "function"})
_MESSAGE_KEYS: Final = (
    *("role", "content", "parts", "tool_calls", "toolCalls", "function_call", "kwargs"),
    *("toolInvocations", "text"),
)
_ENVELOPES: Final = ("messages", "choices", "generations", "output", "contents", "candidates")
_ROUNDS: Final = 4


def read_messages(value: JsonValue, default_role: str) -> tuple[Message, ...] | None:
    """The messages in a list, an object around a list, a single message, or a text.

    None when nothing in the value looks like a message.
    """
    if isinstance(value, str):
        return (Message(role_of(default_role, default_role), value),)
    items = _items(value)
    if items is None:
        return None
    messages: list[Message] = []
    row: list[JsonValue] = []
    for item in items:
        if isinstance(item, dict) and responses.is_item(item):
            row.append(item)
            continue
        messages += responses.read_items(row)
        row = []
        found = read_message(item, default_role)
        if found is not None:
            messages.append(found)
    messages += responses.read_items(row)
    return tuple(messages) if messages or not items else None


def read_message(item: JsonValue, default_role: str) -> Message | None:
    """One message; None for what does not look like one."""
    if isinstance(item, str):
        return Message(default_role, item)
    plainly = plain.read_plain(item) if type(item) is dict else None
    if plainly is not None:
        return plainly
    fields = langchain.fields_of(item)
    if fields is None or not any(key in fields for key in _MESSAGE_KEYS):
        return None
    kind = fields.get("type")
    role = fields.get("role") or (kind if kind in _ROLE_TYPES else None)
    return _read(fields, role_of(role, default_role))


def _read(fields: Mapping[str, Any], role: str) -> Message:
    parts = Parts()
    given = first(fields, ("parts", "content", "text"))
    add_blocks(parts, aisdk.renamed(given), BLOCKS)
    if role == "tool" and not parts.results and not parts.calls:
        answer = Parts()
        if given is not None:
            answer.add_result(
                answer_of(given),
                first(fields, ("tool_call_id", "toolCallId", "id")),
                fields.get("name"),
                failed=fields.get("status") == "error" or fields.get("is_error") is True,
            )
        answer.media = parts.media
        return answer.message(role, fields.get("name"))
    beside = langchain.calls_beside(fields)
    if not beside.calls:
        openai.add_calls(beside, fields.get("toolCalls"))
    if beside.calls:
        parts.calls = beside.calls
    elif not parts.calls:
        add_blocks(parts, fields.get("toolInvocations"), aisdk.INVOCATIONS)
    parts.add_text(fields.get("refusal"))
    return parts.message(role, fields.get("name"))


def _items(value: JsonValue) -> list[JsonValue] | None:
    """The list inside the envelopes of requests, completions and generations."""
    for _ in range(_ROUNDS):
        if isinstance(value, list):
            if value and isinstance(value[0], list) and not langchain.fields_of(value[0]):
                value = [item for inner in value if isinstance(inner, list) for item in inner]
            return [_bare(item) for item in value]
        if not isinstance(value, dict):
            return None
        envelope = next((value[key] for key in _ENVELOPES if _holds(value.get(key))), None)
        if envelope is None:
            return [_bare(value)]
        value = envelope
    return None


def _holds(value: JsonValue) -> bool:
    return isinstance(value, list) or (isinstance(value, dict) and "messages" in value)


def _bare(item: JsonValue) -> JsonValue:
    """A choice's, generation's or candidate's own message."""
    if isinstance(item, dict):
        for key in ("message", "content"):
            inner = item.get(key)
            if isinstance(inner, dict) and "role" not in item:
                return inner
    return item


def _add_genai_call(parts: Parts, part: Mapping[str, Any]) -> None:
    given = first(part, ("arguments", "args", "input"))
    parts.add_call(part.get("name"), given, first(part, ("id", "call_id", "tool_call_id")))


def _add_genai_result(parts: Parts, part: Mapping[str, Any]) -> None:
    given = first(part, ("response", "result", "content", "output"))
    parts.add_result(given, part.get("id"), part.get("name"), failed=part.get("is_error") is True)


GENAI: Final = Blocks(
    {
        "text": add_text,
        "tool_call": _add_genai_call,
        "tool_call_response": _add_genai_result,
        "reasoning": skip,
    }
)
BLOCKS: Final = langchain.BLOCKS | aisdk.BLOCKS | GENAI
"""The blocks of every shape; their types and keys are disjoint but for texts and media."""
