"""One JSON list of message events in an attribute, as Logfire and early Pydantic AI write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from adapters.shapes import mixed
from adapters.shapes.payload import opened
from monitor.model import JsonValue, Message

EVENT_LIST: Final = "events"
NAME: Final = "event.name"
CHOICE: Final = "gen_ai.choice"
_ROLES: Final[dict[str, str]] = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}


class EventList(NamedTuple):
    """The messages that the events tell; None where there are none of the kind."""

    system: str | None = None
    messages_in: tuple[Message, ...] | None = None
    messages_out: tuple[Message, ...] | None = None
    cut: bool = False


def read_event_list(value: JsonValue) -> EventList:
    """Messages before the choices, and the choices; a whole run may have neither at its end."""
    items, cut = opened(value)
    if not isinstance(items, list):
        return EventList(cut=cut)
    given: list[Message] = []
    said: list[Message] = []
    for item in items:
        if not isinstance(item, dict):
            continue
        choice = item.get(NAME) == CHOICE
        message = _message(item, choice=choice)
        if message is not None:
            (said if choice else given).append(message)
    system = next((message.text for message in given if message.role == "system"), None)
    return EventList(system, tuple(given) or None, tuple(said) or None, cut)


def _message(item: Mapping[str, Any], *, choice: bool) -> Message | None:
    inner = item.get("message") if choice else item
    if not isinstance(inner, dict):
        inner = {"content": inner} if isinstance(inner, str) else item
    default = "assistant" if choice else _ROLES.get(str(item.get(NAME)), "user")
    fields = {key: inner[key] for key in inner if key != NAME}
    fields.setdefault("role", default)
    return mixed.read_message(fields, default)
