"""How much days differ, beyond what chance within a day explains."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

LEAST_DAY_TURNS: Final = 200
LEAST_DAYS: Final = 3
DAY_S: Final = 86_400.0


class Day:
    """The sums of one day's conversations."""

    __slots__ = ("sums",)

    def __init__(self, r: int = 0, a: int = 0, rr: int = 0, ra: int = 0, aa: int = 0) -> None:
        """Roots, turns at risk and their products."""
        self.sums = [r, a, rr, ra, aa]

    def add(self, roots: int, at_risk: int) -> None:
        """Take in a conversation."""
        sums = self.sums
        sums[0] += roots
        sums[1] += at_risk
        sums[2] += roots * roots
        sums[3] += roots * at_risk
        sums[4] += at_risk * at_risk

    @property
    def turns(self) -> int:
        """Turns at risk."""
        return int(self.sums[1])


def relative_day_variance(days: Iterable[Day]) -> float:
    """Variance of the daily hazards beyond sampling, relative to the square of their mean.

    Method of moments over days with enough turns, the sampling variance clustered by
    conversation; 0 where too few days are known.
    """
    used = [day.sums for day in days if day.turns >= LEAST_DAY_TURNS]
    turns = sum(sums[1] for sums in used)
    roots = sum(sums[0] for sums in used)
    if len(used) < LEAST_DAYS or not roots:
        return 0.0
    mean = roots / turns
    within = sum(rr - 2.0 * mean * ra + mean * mean * aa for _, _, rr, ra, aa in used)
    per_turn = max(within / turns, mean * (1.0 - mean))
    between = sum(a * (r / a - mean) ** 2 for r, a, *_ in used)
    squares = sum(a * a for _, a, *_ in used)
    excess = between - (len(used) - 1) * per_turn
    found = max(0.0, excess / (turns - squares / turns))
    return found / (mean * mean)


def weight_of_days(days: Iterable[Day]) -> float:
    """Sum of squared shares: 1 for one day, 1/k for k even ones."""
    turns = [day.turns for day in days]
    total = sum(turns)
    return sum(each * each for each in turns) / (total * total) if total else 1.0
