"""Which actual turn answers which expected turn: given, by order, or by the cheapest assignment."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from monitor.model import ActionTurn, Conversation
from monitor.scoring.assignment import assign
from monitor.scoring.distance import GAP, Distance
from monitor.scoring.placement import Slot, placed
from monitor.scoring.sequence import crossing_free
from monitor.verdict import ExpectedAction, ExpectedTurn, Reference

UNORDERED_LIMIT: Final = 0.75
"""From this distance on, two calls of an unordered reference are no answer to each other."""

_Costs = npt.NDArray[np.float64]


def align(
    conversation: Conversation,
    reference: Reference,
    distance: Distance,
    covers: Callable[[ActionTurn], bool],
    *,
    closed: bool = True,
) -> list[Slot]:
    """All turns and all expected turns, each in one slot.

    Turns keep their order. An expected turn that nothing answers stands where it was due, as far
    as the reference tells an order, else at the end. `covers` says whether the reference speaks
    about a call at all. Unless `closed`, what is expected after the last turn is still to come.
    """
    if reference.pairs is not None:
        partners = _given(conversation, reference, distance)
        covered = {
            index
            for index, turn in enumerate(conversation.turns)
            if partners[index] is not None
            or (reference.scope == "writes" and isinstance(turn, ActionTurn) and covers(turn))
        }
        return placed(conversation, reference, partners, covered)
    covered = {
        index
        for index, turn in enumerate(conversation.turns)
        if isinstance(turn, ActionTurn) and covers(turn)
    }
    search = _Search(conversation, reference, distance, closed)
    partners = search.partners(sorted(covered))
    # Surplus calls that cost nothing: retried after an error, a repeated read, a sub-agent's.
    covered -= {i for i in covered if partners[i] is None and i in distance.needless}
    return placed(conversation, reference, partners, covered)


def _given(
    conversation: Conversation, reference: Reference, distance: Distance
) -> list[int | None]:
    """The source's own pairs, with order-free groups paired anew."""
    count = len(conversation.turns)
    pairs = [*(reference.pairs or ())][:count]
    known = len(reference.turns)
    partners = [p if p is not None and 0 <= p < known else None for p in pairs]
    partners += [None] * (count - len(partners))
    for members in _groups(reference.turns).values():
        inside = set(members)
        turns = [i for i, partner in enumerate(partners) if partner in inside]
        for index in turns:
            partners[index] = None
        for row, column in assign(distance.matrix(members, turns)):
            partners[turns[column]] = members[row]
    return partners


def _groups(expected: Sequence[ExpectedTurn]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for index, turn in enumerate(expected):
        if turn.group is not None:
            groups.setdefault(turn.group, []).append(index)
    return groups


class _Search(NamedTuple):
    """Finds pairs where the source gives none."""

    conversation: Conversation
    reference: Reference
    distance: Distance
    closed: bool

    def partners(self, calls: list[int]) -> list[int | None]:
        """For each turn its expected turn: by order where there is one, else by assignment."""
        turns, expected = self.conversation.turns, self.reference.turns
        found: list[int | None] = [None] * len(turns)
        actions = [i for i, turn in enumerate(expected) if isinstance(turn, ExpectedAction)]
        replies = [i for i, turn in enumerate(expected) if not isinstance(turn, ExpectedAction)]
        said = [i for i, turn in enumerate(turns) if not isinstance(turn, ActionTurn)]
        if self.reference.ordered and self.reference.interleaved:
            self._in_order(found, [*range(len(expected))], sorted(calls + said))
            return found
        if not self._by_exchange(found, replies, said):
            self._in_order(found, replies, said)
        if self.reference.ordered:
            self._in_order(found, actions, calls)
        else:
            self._assigned(found, actions, calls, UNORDERED_LIMIT)
        return found

    def _by_exchange(self, found: list[int | None], rows: list[int], columns: list[int]) -> bool:
        """Where each exchange has one expected reply, that is its own, however it differs.

        The exchanges are those with a reply, else all. False when the numbers tell nothing.
        """
        turns, expected = self.conversation.turns, self.reference.turns
        if not self.closed or any(expected[row].group is not None for row in rows):
            return False
        said: dict[int, list[int]] = {}
        for column in columns:
            said.setdefault(turns[column].exchange, []).append(column)
        exchanges = sorted(said)
        if len(rows) != len(exchanges):
            exchanges = sorted({turn.exchange for turn in turns})
        if len(rows) != len(exchanges):
            return False
        for row, exchange in zip(rows, exchanges, strict=True):
            # Of several replies to one message the nearest counts, of equally near ones the last.
            own = said.get(exchange, [])[::-1]
            if own:
                found[own[int(self.distance.matrix([row], own).argmin())]] = row
        return True

    def _in_order(self, found: list[int | None], rows: list[int], columns: list[int]) -> None:
        """The cheapest alignment that crosses nowhere, save inside an order-free group."""
        if not rows or not columns:
            return
        costs = self.distance.matrix(rows, columns)
        groups = _groups([self.reference.turns[row] for row in rows])
        for members in groups.values():
            costs[members] = costs[members].min(axis=0)
        # What is still to come costs nothing, so a surplus turn costs its due share of it too.
        gaps = self.distance.gaps(columns) + (0.0 if self.closed else GAP)
        for row, column in crossing_free(costs, gaps, closed=self.closed):
            found[columns[column]] = rows[row]
        for members in groups.values():
            inside = {rows[member] for member in members}
            turns = [index for index, partner in enumerate(found) if partner in inside]
            for index in turns:
                found[index] = None
            self._assigned(found, sorted(inside), turns, math.inf)

    def _assigned(
        self, found: list[int | None], rows: list[int], columns: list[int], limit: float
    ) -> None:
        costs = self.distance.matrix(rows, columns)
        for row, column in assign(costs):
            if costs[row, column] < limit:
                found[columns[column]] = rows[row]
