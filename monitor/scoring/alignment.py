"""Which actual turn answers which expected turn: given, by order, or by the cheapest assignment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from monitor.model import ActionTurn, Conversation
from monitor.scoring.assignment import assign
from monitor.scoring.distance import GAP, NEVER, Distance
from monitor.scoring.placement import Slot, placed
from monitor.verdict import ExpectedAction, ExpectedTurn, Reference

UNORDERED_LIMIT: Final = 0.75
"""From this distance on, two calls of an unordered reference are no answer to each other."""

_Costs = npt.NDArray[np.float64]


def align(
    conversation: Conversation,
    reference: Reference,
    distance: Distance,
    covers: Callable[[ActionTurn], bool],
) -> list[Slot]:
    """All turns and all expected turns, each in one slot.

    Turns keep their order. An expected turn that nothing answers stands where it was due, as far
    as the reference tells an order, else at the end. `covers` says whether the reference speaks
    about a call at all.
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
    partners = _found(conversation, reference, distance, sorted(covered))
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


def _found(
    conversation: Conversation, reference: Reference, distance: Distance, calls: list[int]
) -> list[int | None]:
    """Pairs by order where the reference has one, else by assignment."""
    partners: list[int | None] = [None] * len(conversation.turns)
    expected = reference.turns
    actions = [i for i, turn in enumerate(expected) if isinstance(turn, ExpectedAction)]
    replies = [i for i, turn in enumerate(expected) if not isinstance(turn, ExpectedAction)]
    said = [i for i, turn in enumerate(conversation.turns) if not isinstance(turn, ActionTurn)]
    if reference.ordered and reference.interleaved:
        _in_order(partners, expected, [*range(len(expected))], sorted(calls + said), distance)
        return partners
    _in_order(partners, expected, replies, said, distance)
    if reference.ordered:
        _in_order(partners, expected, actions, calls, distance)
    else:
        costs = distance.matrix(actions, calls)
        for row, column in assign(costs):
            if costs[row, column] < UNORDERED_LIMIT:
                partners[calls[column]] = actions[row]
    return partners


def _in_order(
    partners: list[int | None],
    expected: Sequence[ExpectedTurn],
    rows: list[int],
    columns: list[int],
    distance: Distance,
) -> None:
    """The cheapest alignment that crosses nowhere, save inside an order-free group."""
    if not rows or not columns:
        return
    costs = distance.matrix(rows, columns)
    groups = _groups([expected[row] for row in rows])
    for members in groups.values():
        costs[members] = costs[members].min(axis=0)
    gaps = distance.gaps(columns)
    for row, column in _monotone(costs, gaps):
        partners[columns[column]] = rows[row]
    for members in groups.values():
        inside = {rows[member] for member in members}
        turns = [index for index, partner in enumerate(partners) if partner in inside]
        for index in turns:
            partners[index] = None
        chosen = sorted(inside)
        for row, column in assign(distance.matrix(chosen, turns)):
            partners[turns[column]] = chosen[row]


def _monotone(costs: _Costs, gaps: _Costs) -> list[tuple[int, int]]:
    """Pairs of the cheapest crossing-free alignment. At equal cost a pair beats two gaps."""
    rows, columns = costs.shape
    best = np.empty((rows + 1, columns + 1))
    spent = np.concatenate(([0.0], np.cumsum(gaps)))
    best[0] = spent
    for row in range(1, rows + 1):
        # Skipping turns is a running minimum once the gaps spent so far are taken off.
        take = np.minimum(best[row - 1] + GAP, np.inf)
        take[1:] = np.minimum(take[1:], best[row - 1, :-1] + costs[row - 1])
        best[row] = np.minimum.accumulate(take - spent) + spent
    return _traced(costs, gaps, best)


def _traced(costs: _Costs, gaps: _Costs, best: _Costs) -> list[tuple[int, int]]:
    pairs = []
    row, column = costs.shape
    while row and column:
        here = best[row, column] + 1e-9
        if costs[row - 1, column - 1] < NEVER and (
            best[row - 1, column - 1] + costs[row - 1, column - 1] <= here
        ):
            row, column = row - 1, column - 1
            pairs.append((row, column))
        elif best[row, column - 1] + gaps[column - 1] <= here:
            column -= 1
        else:
            row -= 1
    return pairs
