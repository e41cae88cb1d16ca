"""Correctness by people's lights: the monitor's verdicts on all turns, mended by a few labels."""

from __future__ import annotations

from math import sqrt
from typing import Final, NamedTuple

LABELS_MIN: Final = 30
CONFIDENCE_Z: Final = 1.959964


class Pairs(NamedTuple):
    """Labelled turns by what the monitor said and what people said."""

    both_pass: int
    only_monitor: int
    """The monitor passed what people failed."""
    only_people: int
    both_fail: int

    @property
    def total(self) -> int:
        """All labelled turns."""
        return sum(self)


class Corrected(NamedTuple):
    """Share of correct turns, with a 95 % interval."""

    estimate: float
    lower: float
    upper: float


def corrected_by_people(passed: int, scored: int, pairs: Pairs) -> Corrected | None:
    """People as gold and the monitor as their predictor, weighted so that the variance is least.

    Labels must be of turns that were picked whatever the verdict was. None below thirty labels,
    or with nothing scored. The interval never collapses: at the edges it is Wilson's of the labels.
    """
    m = pairs.total
    if m < LABELS_MIN or scored <= 0:
        return None
    rate = passed / scored
    by_people = (pairs.both_pass + pairs.only_people) / m
    by_monitor = (pairs.both_pass + pairs.only_monitor) / m
    spread = by_monitor * (1 - by_monitor)
    together = pairs.both_pass / m - by_people * by_monitor
    weight = together / (spread * (1 + m / scored)) if spread > 0 else 0.0
    value = weight * rate + by_people - weight * by_monitor
    own = by_people * (1 - by_people) - 2 * weight * together + weight * weight * spread
    variance = max(own, 0.0) / m + weight * weight * rate * (1 - rate) / scored
    half = CONFIDENCE_Z * sqrt(variance)
    low, high = _wilson(round(by_people * m), m) if half == 0 else (value - half, value + half)
    return Corrected(min(1.0, max(0.0, value)), max(0.0, low), min(1.0, high))


def _wilson(passed: int, n: int) -> tuple[float, float]:
    z = CONFIDENCE_Z
    share = passed / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return middle - half, middle + half
