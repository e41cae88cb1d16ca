"""Intervals around shares and figures, at 95 per cent."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

Z: Final = 1.959963984540054
"""The normal distribution's 97.5 per cent point."""
RESAMPLES: Final = 2_000
SEED: Final = 20_240_229
"""Fixed, so that the same input gets the same interval."""
FEWEST_CLUSTERS: Final = 2
Matrix = npt.NDArray[np.float64]


class Interval(NamedTuple):
    """Where the figure lies with 95 per cent confidence."""

    low: float
    high: float


def wilson(successes: float, trials: float) -> Interval | None:
    """Of a share of independent trials; None without any.

    Wilson's score interval keeps its coverage near 0 and 1, where the figures of interest are.
    """
    if trials <= 0:
        return None
    share, shrink = successes / trials, 1 + Z * Z / trials
    middle = (share + Z * Z / (2 * trials)) / shrink
    spread = share * (1 - share) / trials + Z * Z / (4 * trials * trials)
    half = Z / shrink * math.sqrt(max(spread, 0.0))
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


def clustered(
    sums: Sequence[Sequence[float]], figure: Callable[[Matrix], npt.NDArray[np.float64]]
) -> Interval | None:
    """Of a figure that is worked out of sums over clusters, by a seeded bootstrap of them.

    One row of `sums` is one cluster, such as a conversation, whose turns are not independent.
    `figure` takes many rows of totals at once and gives NaN where it is not defined. None with
    fewer than two clusters, or when the figure is defined in too few of the resamples.
    """
    rows = np.asarray(sums, dtype=np.float64)
    if rows.ndim != 2 or len(rows) < FEWEST_CLUSTERS:
        return None
    drawn = np.random.default_rng(SEED).multinomial(
        len(rows), np.full(len(rows), 1 / len(rows)), size=RESAMPLES
    )
    found = figure(drawn.astype(np.float64) @ rows)
    found = found[np.isfinite(found)]
    if len(found) < RESAMPLES // 2:
        return None
    low, high = np.percentile(found, (2.5, 97.5))
    return Interval(float(low), float(high))
