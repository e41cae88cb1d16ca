"""How far a turn is from an expected one, cheaply: what alignment weighs, not what is judged."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import islice, pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from monitor.model import ActionTurn, Conversation, JsonValue, Turn
from monitor.references.contracts import ToolContracts
from monitor.scoring.structure import Names, structural_finding
from monitor.scoring.values import canonical, leaves, plain, same
from monitor.scoring.words import tokens
from monitor.verdict import ExpectedAction, ExpectedTurn

GAP: Final = 0.5
"""Cost of an expected turn that nothing answers, and of a turn that answers nothing."""
FREE: Final = 0.05
"""Cost of leaving out a call that cannot have a partner."""
NEEDLESS: Final = 0.45
"""Cost of leaving out a call that needs no partner; it can still stand in another's place."""
NEVER: Final = 1e6
"""Cost of pairing a call with a reply; finite, so that sums stay ordered."""
_ARGUMENTS: Final = (0.1, 0.4)
"""Range for the right action with wrong arguments; all of it lies below a gap."""
_ACTION: Final = (0.6, 0.9)
_TOOL: Final = (0.7, 0.95)
_REPLY: Final = (0.0, 0.7)
_SURPLUS: Final = 0.02
_VERB: Final = re.compile(r"[A-Za-z][a-z]*")
"""Another action or tool is nearer the more argument values it shares; below two gaps."""
_READING_VERBS: Final = """
    get list search find view show read fetch lookup look query check count describe calculate
    compute estimate display retrieve browse inspect status ls pwd cat grep head tail diff wc du
    think
"""
_READING: Final = frozenset(_READING_VERBS.split())
FEATURE_LIMIT: Final = 64
"""Argument leaves or words of one turn by which turns are recognised."""

_Features = frozenset[str]
_Costs = npt.NDArray[np.float64]


class Distance:
    """Distances between the turns of one conversation and those expected of it."""

    def __init__(
        self,
        conversation: Conversation,
        expected: Sequence[ExpectedTurn],
        contracts: ToolContracts,
    ) -> None:
        """Nothing is computed before a pair is asked for."""
        self._turns = conversation.turns
        self._expected = expected
        self._contracts = contracts

    def matrix(self, rows: Sequence[int], columns: Sequence[int]) -> _Costs:
        """Distances of expected turns (rows) to actual turns (columns), in [0, 1] or NEVER."""
        if not rows or not columns:
            return np.empty((len(rows), len(columns)))
        wanted = [_wanted(self._expected[row]) for row in rows]
        given = [_given(self._turns[column]) for column in columns]
        common = _common(wanted, given)
        sizes = np.array([len(features) for features in wanted], dtype=float).reshape(-1, 1)
        held = np.array([len(features) for features in given], dtype=float).reshape(1, -1)
        share = np.where(sizes > 0, common / np.maximum(sizes, 1.0), 1.0)
        surplus = np.where(held > 0, 1.0 - common / np.maximum(held, 1.0), 0.0)
        low, high = self._ranges(rows, columns)
        costs = high - (high - low) * share
        # The same action with all that was expected is at no distance, else at least at `low`.
        costs[(low == _ARGUMENTS[0]) & (share >= 1.0)] = 0.0
        return np.where(high >= NEVER, NEVER, costs + _SURPLUS * surplus)

    def gaps(self, columns: Sequence[int]) -> _Costs:
        """What it costs to leave each of the turns without a partner."""
        return np.array([self.needless.get(column, GAP) for column in columns])

    @cached_property
    def needless(self) -> dict[int, float]:
        """What it costs to leave out the calls that need no partner.

        These are a sub-agent's calls, calls that were retried after an error, repeated reads.
        """
        calls = [(i, turn) for i, turn in enumerate(self._turns) if isinstance(turn, ActionTurn)]
        costs = {i: FREE for i, turn in calls if turn.depth > 0}
        for (i, turn), (_, after) in pairwise(calls):
            again = (after.call.name, after.exchange) == (turn.call.name, turn.exchange)
            if turn.error_type is not None and again:
                alike = same(turn.call.arguments, after.call.arguments)
                costs.setdefault(i, FREE if alike else NEEDLESS)
        seen: set[tuple[str, JsonValue]] = set()
        for i, turn in calls:
            key = (turn.call.name, canonical(turn.call.arguments))
            if key in seen and reads(turn.call.name, self._contracts):
                costs.setdefault(i, NEEDLESS)
            seen.add(key)
        return costs

    def _ranges(self, rows: Sequence[int], columns: Sequence[int]) -> tuple[_Costs, _Costs]:
        """Lowest and highest distance of each pair, by the names alone."""
        kinds = {self._kind(self._turns[column]) for column in columns}
        index_of = {kind: at for at, kind in enumerate(sorted(kinds, key=str))}
        at = np.array([index_of[self._kind(self._turns[c])] for c in columns], dtype=np.int64)
        low, high = np.empty((len(rows), len(columns))), np.empty((len(rows), len(columns)))
        table: dict[tuple[str | None, str | None] | None, _Costs] = {}
        for row, index in enumerate(rows):
            expected = self._expected[index]
            key = None
            if isinstance(expected, ExpectedAction):
                key = expected.tool_id, expected.action
            if key not in table:
                table[key] = np.array([self._range(expected, kind) for kind in index_of])
            low[row], high[row] = table[key][at].T
        return low, high

    def _range(self, expected: ExpectedTurn, name: str | None) -> tuple[float, float]:
        if not isinstance(expected, ExpectedAction):
            return _REPLY if name is None else (NEVER, NEVER)
        if name is None:
            return NEVER, NEVER
        finding = structural_finding(expected, Names(*self._contracts.split(name), name))
        if finding is None:
            return _ARGUMENTS
        return _TOOL if finding.reason == "tool_mismatch" else _ACTION

    @staticmethod
    def _kind(turn: Turn) -> str | None:
        return turn.call.name if isinstance(turn, ActionTurn) else None


def reads(name: str, contracts: ToolContracts) -> bool:
    """Whether a call changes nothing: as the contract says, else by the verb it is named with."""
    told = contracts.writes(name)
    if told is not None:
        return not told
    action = contracts.split(name)[1] or name
    verb = _VERB.match(action)
    return verb is not None and verb[0].casefold() in _READING


def _wanted(expected: ExpectedTurn) -> _Features:
    if isinstance(expected, ExpectedAction):
        return _argument_features(expected.args)
    return _word_features(expected.text)


def _given(turn: Turn) -> _Features:
    if isinstance(turn, ActionTurn):
        return _argument_features(turn.call.arguments)
    return _word_features(turn.text or "")


def _argument_features(arguments: JsonValue) -> _Features:
    if not isinstance(arguments, dict):
        return frozenset()
    pairs = islice(leaves(arguments), FEATURE_LIMIT)
    return frozenset(f"{path}={plain(value)}" for path, value in pairs)


def _word_features(text: str) -> _Features:
    return frozenset(tokens(text)[:FEATURE_LIMIT])


def _common(wanted: list[_Features], given: list[_Features]) -> _Costs:
    """How many features each pair shares."""
    shared = frozenset().union(*wanted) & frozenset().union(*given)
    column_of = {feature: index for index, feature in enumerate(sorted(shared))}
    left, right = (
        np.zeros((len(side), max(len(column_of), 1)), dtype=np.float32) for side in (wanted, given)
    )
    for matrix, side in ((left, wanted), (right, given)):
        for row, features in enumerate(side):
            matrix[row, [column_of[feature] for feature in features & shared]] = 1.0
    return (left @ right.T).astype(np.float64)
