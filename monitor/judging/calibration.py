"""How often a cheap verdict is right, learnt from the turns that were judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

PRIOR_TURNS: Final = 20.0
"""Judged turns that a first guess is worth."""
FIRST_GUESS: Final[Mapping[str, float]] = {
    "gold:pass": 0.97,
    "gold:fail": 0.05,
    "contract:pass": 0.90,
    "contract:fail": 0.05,
    "evidence:pass": 0.92,
    "evidence:fail": 0.20,
    "judge:pass": 0.90,
    "judge:fail": 0.10,
    "unscored": 0.85,
}
UNKNOWN: Final = 0.8


class Calibration(msgspec.Struct, frozen=True):
    """Judged turns and correct ones among them, by the kind of the cheap verdict."""

    seen: dict[str, tuple[int, int]] = {}

    def probability(self, cell: str) -> float:
        """The chance that a turn of this kind is correct, strictly between 0 and 1."""
        turns, correct = self.seen.get(cell, (0, 0))
        guess = FIRST_GUESS.get(cell, UNKNOWN)
        return (PRIOR_TURNS * guess + correct) / (PRIOR_TURNS + turns)

    def with_turns(self, judged: list[tuple[str, bool]]) -> Calibration:
        """Having seen more judged turns: the kind of each, and whether the judge passed it."""
        seen = dict(self.seen)
        for cell, correct in judged:
            turns, passed = seen.get(cell, (0, 0))
            seen[cell] = (turns + 1, passed + correct)
        return Calibration(seen)
