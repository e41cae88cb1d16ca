"""Message events of a span, which the server keeps as input and output, turned back into events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from adapters.shapes.payload import opened
from monitor.model import JsonValue

Events: TypeAlias = list[tuple[str, Mapping[str, JsonValue]]]
_SCOPES: Final = ("strands",)
_ROLES: Final = frozenset({"system", "user", "assistant", "tool"})
_CHOICE: Final = "gen_ai.choice"


def told_as_events(scope: str) -> bool:
    """Whether spans of this scope carry their content in events, whose fields are texts."""
    return scope.startswith(_SCOPES)


def events_of(given: JsonValue, said: JsonValue) -> Events:
    """The events; none where the fields hold something else."""
    inputs, _ = opened(given)
    outputs, _ = opened(said)
    events: Events = []
    for item in inputs if isinstance(inputs, list) else ():
        role = item.get("role") if isinstance(item, Mapping) else None
        if isinstance(role, str) and role in _ROLES:
            events.append((f"gen_ai.{role}.message", _without_role(item)))
    for item in outputs if isinstance(outputs, list) else (outputs,):
        if isinstance(item, Mapping) and "message" in item:
            events.append((_CHOICE, item))
    return events


def _without_role(item: Mapping[str, Any]) -> dict[str, JsonValue]:
    return {key: value for key, value in item.items() if key != "role"}
