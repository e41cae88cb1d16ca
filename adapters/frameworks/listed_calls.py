"""Calls that a record lists apart from its messages, put where they belong."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from typing import Final

import msgspec

from adapters.frameworks.transcript import Step
from monitor.model import Message, ToolCall

_CANONICAL: Final = msgspec.json.Encoder(order="sorted")


def with_listed_calls(said: Sequence[Step], ran: Sequence[Step]) -> list[Step]:
    """The messages with the calls that ran, each counted once.

    A call that a message asks for too only brings its answer, unless the messages have answers of
    their own. Others go where their times say, else before the last reply. `ran` are `tool` steps
    with one call each.
    """
    asked = _Asked(said)
    answers: dict[int, list[Step]] = {}
    others: list[Step] = []
    for step in ran:
        place = asked.place_of(step.message.calls[0])
        if place is None:
            others.append(step)
        elif step.message.results and not asked.are_answered:
            answers.setdefault(place[0], []).append(_answer(step, place[1]))
    merged: list[Step] = []
    for at, step in enumerate(said):
        merged += [step, *answers.get(at, ())]
    return _placed(merged, others)


class _Asked:
    """The calls of the messages, by what tells them apart."""

    def __init__(self, said: Sequence[Step]) -> None:
        self.are_answered = any(step.message.results for step in said)
        self._open: dict[Hashable, deque[tuple[int, ToolCall]]] = {}
        self._taken: set[int] = set()
        for at, step in enumerate(said):
            for call in step.message.calls:
                for key in _keys(call):
                    self._open.setdefault(key, deque()).append((at, call))

    def place_of(self, call: ToolCall) -> tuple[int, ToolCall] | None:
        """The message that asked for it, and how; each asked call is given out once."""
        for key in _keys(call):
            waiting = self._open.get(key)
            while waiting:
                at, asked = waiting.popleft()
                if id(asked) not in self._taken:
                    self._taken.add(id(asked))
                    return at, asked
        return None


def _keys(call: ToolCall) -> list[Hashable]:
    same: Hashable = (call.name, _CANONICAL.encode(call.arguments))
    return [same] if call.call_id is None else [call.call_id, same]


def _answer(step: Step, asked: ToolCall) -> Step:
    results = tuple(
        msgspec.structs.replace(result, call_id=asked.call_id, name=asked.name)
        for result in step.message.results
    )
    return msgspec.structs.replace(step, message=Message("tool", None, (), results))


def _placed(said: list[Step], others: list[Step]) -> list[Step]:
    if not others:
        return said
    if all(step.start_ns for step in (*said, *others)):
        return sorted([*said, *others], key=lambda step: step.start_ns)
    last = next((at for at in range(len(said) - 1, -1, -1) if _is_reply(said[at])), len(said))
    return [*said[:last], *others, *said[last:]]


def _is_reply(step: Step) -> bool:
    return step.message.role == "assistant" and not step.message.calls
