"""The tools an agent holds: looked up by name, a trace's definitions laid over configured ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeVar

import msgspec

from monitor.model import ToolDefinition

OVERLAY_MEMO_LIMIT: Final = 64
"""Distinct tool sets that one `ToolContracts` remembers its overlay for."""

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class ToolContracts:
    """An immutable set of tool definitions. Of two with one name the later counts.

    The set is taken as complete: where it is not empty, a call of any other tool breaks it. A
    definition of which only `name` and `writes` are known is no contract, it marks a tool: it
    answers `writes` and `marks`, and says nothing of which tools there are.
    """

    __slots__ = ("_contracts", "_marks", "_overlays", "_seen")

    def __init__(self, definitions: Iterable[ToolDefinition] = ()) -> None:
        """Keep the definitions, in their order."""
        given = tuple(definitions)
        self._contracts = _Names(d for d in given if not _is_mark(d))
        self._marks = _Names(d for d in given if _is_mark(d))
        self._overlays: dict[bytes, ToolContracts] = {}
        self._seen: dict[int, tuple[tuple[ToolDefinition, ...], ToolContracts]] = {}

    @property
    def empty(self) -> bool:
        """Whether no tool is defined, so that no call can break a contract."""
        return not self._contracts.by_name

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """All contracts, in their order; marks are none."""
        return tuple(self._contracts.by_name.values())

    def find(
        self, name: str, tool_id: str | None = None, action: str | None = None
    ) -> ToolDefinition | None:
        """The contract that a call means.

        By its name, else by tool and action, else by an action that only one tool has.
        """
        return self._contracts.find(name, tool_id, action)

    def marks(self, name: str) -> bool:
        """Whether the tool is known by a mark, which is all that is known of it."""
        return self._marks.find(name) is not None

    def writes(self, name: str) -> bool | None:
        """Whether a call changes the world; None when neither contract nor mark says so."""
        for names in (self._contracts, self._marks):
            found = names.find(name)
            if found is not None and found.writes is not None:
                return found.writes
        return None

    def split(self, name: str) -> tuple[str | None, str | None]:
        """Tool and action of a name: as the contract says, else split at the last dot."""
        found = self.find(name)
        if found is not None and found.action is not None:
            return found.tool_id, found.action
        return _split(name)

    def with_definitions(self, tools: tuple[ToolDefinition, ...]) -> ToolContracts:
        """These contracts with a trace's definitions laid over them.

        The trace wins for what it tells; what it leaves out (`writes`, tool, action, schema)
        stays as configured. The same tuple, or one of equal content, costs nothing twice.
        """
        if not tools:
            return self
        seen = self._seen.get(id(tools))
        if seen is not None and seen[0] is tools:
            return seen[1]
        key = msgspec.msgpack.encode(tools)
        overlay = self._overlays.get(key)
        if overlay is None:
            overlay = ToolContracts()
            # What a trace lists, the agent holds: even a definition that is only a name counts.
            overlay._contracts = _Names((*self.definitions, *map(self._completed, tools)))
            overlay._marks = self._marks
            _remember(self._overlays, key, overlay)
        _remember(self._seen, id(tools), (tools, overlay))
        return overlay

    def _completed(self, told: ToolDefinition) -> ToolDefinition:
        known = self.find(told.name, told.tool_id, told.action) or self._marks.find(told.name)
        if known is None:
            return told
        return ToolDefinition(
            name=told.name,
            tool_id=told.tool_id if told.tool_id is not None else known.tool_id,
            action=told.action if told.action is not None else known.action,
            parameters=told.parameters if told.parameters is not None else known.parameters,
            description=told.description if told.description is not None else known.description,
            writes=told.writes if told.writes is not None else known.writes,
        )


class _Names:
    """Definitions by each of the names that a call may have."""

    __slots__ = ("by_action", "by_name", "by_pair")

    def __init__(self, definitions: Iterable[ToolDefinition]) -> None:
        self.by_name: dict[str, ToolDefinition] = {d.name: d for d in definitions}
        self.by_pair: dict[tuple[str, str], ToolDefinition] = {}
        self.by_action: dict[str, ToolDefinition | None] = {}
        for definition in self.by_name.values():
            tool_id, action = _parts(definition)
            if tool_id is not None:
                self.by_pair[tool_id, action] = definition
            # An action of several tools names none of them.
            self.by_action[action] = None if action in self.by_action else definition

    def find(
        self, name: str, tool_id: str | None = None, action: str | None = None
    ) -> ToolDefinition | None:
        found = self.by_name.get(name)
        if found is not None or not self.by_name:
            return found
        if tool_id is None or action is None:
            tool_id, action = _split(name) if action is None else (tool_id, action)
        if tool_id is not None:
            return self.by_pair.get((tool_id, action)) or self.by_name.get(f"{tool_id}.{action}")
        return self.by_action.get(action)


def _is_mark(definition: ToolDefinition) -> bool:
    told = (definition.tool_id, definition.action, definition.parameters, definition.description)
    return definition.writes is not None and all(part is None for part in told)


def _remember(memo: dict[_Key, _Value], key: _Key, value: _Value) -> None:
    if len(memo) >= OVERLAY_MEMO_LIMIT:
        memo.clear()
    memo[key] = value


def _parts(definition: ToolDefinition) -> tuple[str | None, str]:
    if definition.action is not None:
        return definition.tool_id, definition.action
    tool_id, action = _split(definition.name)
    return definition.tool_id or tool_id, action


def _split(name: str) -> tuple[str | None, str]:
    tool_id, _, action = name.rpartition(".")
    return (tool_id, action) if tool_id and action else (None, name)
