"""The comparator: rungs asked in order, objects and lists taken apart to their leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from monitor.comparison.embedding import Embedding
from monitor.comparison.exact import EXACT, identical
from monitor.comparison.kinds import kind_of
from monitor.comparison.lexical import Lexical
from monitor.comparison.rung import Pair, Rung, unsure
from monitor.comparison.structure import Leaves, opened
from monitor.comparison.typed import Typed
from monitor.model import JsonValue
from monitor.ports import Encoder, Hint
from monitor.verdict import Similarity

_SCALARS: Final = (str, int, float, bool, type(None))


class Ladder:
    """Compares any two JSON values; the first rung with an opinion decides.

    Symmetric but for objects, which are held to the expected side's keys: what the actual side
    adds is no fault of the value.
    """

    def __init__(self, rungs: Sequence[Rung] | None = None, encoder: Encoder | None = None) -> None:
        """`rungs` from the surest up, after raw equality; None takes the standard ones.

        An encoder adds the embedding rung at the end.
        """
        chosen: list[Rung] = [Typed(), Lexical()] if rungs is None else list(rungs)
        if encoder is not None:
            chosen.append(Embedding(encoder))
        self.rungs: tuple[Rung, ...] = tuple(chosen)
        self.version = "+".join(["ladder-1", "exact", *(rung.version for rung in chosen)])
        self._leaves = Leaves(self.compare)

    def compare(self, expected: JsonValue, actual: JsonValue, hint: Hint) -> Similarity:
        """Similarity in [0, 1], or None where no rung could say."""
        if type(expected) is type(actual) and expected == actual and identical(expected, actual):
            return EXACT
        if not isinstance(expected, _SCALARS) or not isinstance(actual, _SCALARS):
            return self._leaves.compare(expected, actual, hint)
        whole = opened(expected, actual)
        if whole is not None:
            return self.compare(*whole, hint)
        pair = Pair(expected, actual, kind_of(hint), hint)
        for rung in self.rungs:
            found = rung.compare(pair)
            if found is not None:
                return found
        return unsure()
