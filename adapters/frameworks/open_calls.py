"""Calls that wait for their answers, found without looking through all of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator

from adapters.frameworks.transcript import Step
from monitor.model import ToolCall, ToolResult


class OpenCall:
    """A call in the making; its answer comes later, in any order."""

    __slots__ = ("answer", "answered_by", "call", "parent", "step")

    def __init__(self, call: ToolCall, parent: str, step: Step) -> None:
        self.call = call
        self.parent = parent
        self.step = step
        self.answer: ToolResult | None = None
        self.answered_by: Step | None = None

    def take(self, answer: ToolResult | None, step: Step) -> None:
        """Become answered."""
        self.answer, self.answered_by = answer, step


class OpenCalls:
    """Calls by who made them, id and name; each is answered once, the earliest first."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, deque[OpenCall]] = {}

    def add(self, asked: OpenCall) -> None:
        """Let a call wait."""
        for key in _keys_of(asked):
            self._waiting.setdefault(key, deque()).append(asked)

    def answered(self, result: ToolResult, parent: str) -> OpenCall | None:
        """The call that a result belongs to: the same agent's before another's.

        By id where both have one, else by name, else by order.
        """
        for key in _keys_for(result, parent):
            waiting = self._waiting.get(key)
            while waiting:
                found = waiting.popleft()
                if found.answered_by is None:
                    return found
        return None


def _keys_of(asked: OpenCall) -> Iterator[Hashable]:
    call = asked.call
    for parent in (asked.parent, None):
        if call.call_id is not None:
            yield parent, "id", call.call_id
        kind = "named" if call.call_id is None else "with id"
        yield parent, kind, call.name
        yield parent, kind, None


def _keys_for(result: ToolResult, parent: str) -> Iterator[Hashable]:
    for agent in (parent, None):
        if result.call_id is not None:
            yield agent, "id", result.call_id
        yield agent, "named", result.name
        if result.call_id is None:
            yield agent, "with id", result.name
