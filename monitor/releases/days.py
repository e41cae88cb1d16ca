"""How much days differ, beyond what chance within a day explains.

A release that replaces another is compared with other days than its own, and days differ: that
variance belongs to the comparison. It is estimated from the days of both, and taken for zero
unless they differ more than chance would let them: an estimate of nothing would only cost time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

LEAST_DAY_TURNS: Final = 200
LEAST_DAYS: Final = 5
DAY_S: Final = 86_400.0
_LIKELY: Final = 2.3263
"""Normal quantile of 1 %: days that differ more are taken to differ, by the best estimate."""
_CERTAIN: Final = 3.0902
"""Of .1 %: the difference is then taken at its upper quartile."""
_LOWER_QUARTILE: Final = -0.6745


class Day:
    """The sums of one day's conversations."""

    __slots__ = ("sums",)

    def __init__(
        self, x: float = 0.0, y: int = 0, xx: float = 0.0, xy: float = 0.0, yy: int = 0
    ) -> None:
        """Damped roots, turns at risk and their products."""
        self.sums: list[float] = [x, y, xx, xy, yy]

    def add(self, x: float, y: int) -> None:
        """Take in a conversation."""
        sums = self.sums
        sums[0] += x
        sums[1] += y
        sums[2] += x * x
        sums[3] += x * y
        sums[4] += y * y

    @property
    def turns(self) -> int:
        """Turns at risk."""
        return int(self.sums[1])


def day_variance(*releases: Iterable[Day]) -> float | None:
    """Variance of the hazard from day to day; None where too few days are known to tell.

    The days of each release are held against its own mean.
    """
    known = [_Spread(days) for days in releases]
    free = sum(each.free for each in known)
    turns = sum(each.turns for each in known)
    roots = sum(each.roots for each in known)
    if free < LEAST_DAYS - 1 or not roots:
        return None
    mean = roots / turns
    per_turn = max(sum(each.within for each in known) / turns, mean * (1.0 - mean))
    heterogeneity = sum(each.between for each in known) / per_turn
    size = sum(each.size for each in known)
    if heterogeneity <= _chi_square(free, _LIKELY):
        return 0.0
    if heterogeneity <= _chi_square(free, _CERTAIN):
        return (heterogeneity - free) * per_turn / size
    return (heterogeneity / _chi_square(free, _LOWER_QUARTILE) - 1.0) * free * per_turn / size


class _Spread:
    """How the days of one release spread about its mean."""

    def __init__(self, days: Iterable[Day]) -> None:
        used = [day.sums for day in days if day.turns >= LEAST_DAY_TURNS]
        self.free = max(len(used) - 1, 0)
        if not self.free:
            used = []
        self.turns = sum(sums[1] for sums in used)
        self.roots = sum(sums[0] for sums in used)
        mean = self.roots / self.turns if self.turns else 0.0
        self.within = sum(xx - 2.0 * mean * xy + mean * mean * yy for _, _, xx, xy, yy in used)
        self.between = sum(y * (x / y - mean) ** 2 for x, y, *_ in used)
        self.size = self.turns - sum(y * y for _, y, *_ in used) / max(self.turns, 1.0)


def _chi_square(free: int, quantile: float) -> float:
    """Quantile of the chi-square distribution, by the cube-root normal approximation."""
    ratio = 2.0 / (9.0 * free)
    return float(free * (1.0 - ratio + quantile * math.sqrt(ratio)) ** 3)
