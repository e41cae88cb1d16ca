"""The GenAI conventions up to 1.36: one event per message, on the span or as a log record.

The fields stand in the event's attributes (as JSON text), in the log record's body (structured),
or all in one attribute `gen_ai.event.content`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from adapters.shapes import content, mixed
from adapters.shapes.parts import HIDDEN, first
from monitor.model import JsonValue, Message

CHOICE: Final = "gen_ai.choice"
ROLES: Final[dict[str, str]] = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
EVENTS: Final = frozenset({*ROLES, CHOICE})
CONTENT: Final = "gen_ai.event.content"
FIELDS: Final = frozenset(
    {
        *("content", "role", "id", "name", "tool_calls", "message", "index", "finish_reason"),
        *("tool_call_id", CONTENT),
    }
)
"""The event attributes that are read."""
_LAST: Final = 1 << 30


class Content(NamedTuple):
    """What a span was given and what it said; None is not known."""

    given: tuple[Message, ...] | None = None
    said: tuple[Message, ...] | None = None
    cut: bool = False


def read_events(events: Sequence[tuple[str, Mapping[str, JsonValue]]]) -> Content:
    """The messages in the order of their events; the choices by their index."""
    given: list[Message] = []
    said: list[tuple[int, Message]] = []
    cut = False
    for name, fields in events:
        if name not in EVENTS:
            continue
        whole, broken = _opened(fields.get(CONTENT))
        cut = cut or broken
        if isinstance(whole, dict):
            fields = {**fields, **whole}
        if name == CHOICE:
            message, broken = _choice(fields)
            index = fields.get("index")
            if message is not None:
                said.append((index if type(index) is int else _LAST, message))
        else:
            message, broken = _message(fields, ROLES[name])
            if message is not None:
                given.append(message)
        cut = cut or broken
    said.sort(key=lambda choice: choice[0])
    return Content(
        tuple(given) if given else None,
        tuple([message for _, message in said]) if said else None,
        cut,
    )


def _choice(fields: Mapping[str, JsonValue]) -> tuple[Message | None, bool]:
    inner, cut = _opened(fields.get("message"))
    if isinstance(inner, dict):
        return _with_fields(inner, fields, cut)
    if inner is not None:
        return _with_fields({"content": inner}, fields, cut)
    return _message(fields, "assistant")


def _with_fields(
    inner: Mapping[str, Any], fields: Mapping[str, JsonValue], cut: bool
) -> tuple[Message | None, bool]:
    if "tool_calls" not in inner and "tool_calls" in fields:
        inner = {**inner, "tool_calls": fields["tool_calls"]}
    message, broken = _message(inner, "assistant")
    return message, cut or broken


def _message(fields: Mapping[str, JsonValue], role: str) -> tuple[Message | None, bool]:
    """None for an event without content: its recorder was told to leave the content out."""
    given, cut_content = _blocks(fields.get("content"))
    calls, cut_calls = _opened(fields.get("tool_calls"))
    if isinstance(calls, dict):
        calls = [calls]
    cut = cut_content or cut_calls
    if isinstance(given, str) and given in HIDDEN:
        given = None
    if given is None and not calls:
        return None, cut
    own = fields.get("role")
    item = {
        "role": own if isinstance(own, str) and own else role,
        "content": given,
        "tool_calls": calls,
        "tool_call_id": first(fields, ("tool_call_id", "id")),
        "name": fields.get("name"),
    }
    return mixed.read_message(item, role), cut


def _blocks(value: JsonValue) -> tuple[JsonValue, bool]:
    """Content blocks out of their JSON text; any other text is the content itself."""
    if not isinstance(value, str) or value.lstrip()[:1] != "[":
        return value, False
    decoded = content.result(value)
    if isinstance(decoded, list) and decoded and all(isinstance(b, dict) for b in decoded):
        return decoded, False
    return value, False


def _opened(value: JsonValue) -> tuple[JsonValue, bool]:
    """The value inside JSON text, else the text; and whether it is cut."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        content.check_depth(value)
        return value, False
    try:
        decoded = content.decode(value)
    except content.Undecodable as error:
        return content.result(value), error.cut
    content.check_depth(decoded)
    return decoded, False
