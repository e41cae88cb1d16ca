"""Evidence by bets: finite-sample valid for independent conversations, and what drifts silently.

A bet wins with each root failure and loses with each turn at risk, at odds that are fair when the
hazard is the upper bound of the baseline's. Capital is kept as logarithms.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from monitor.releases.arms import (
    EARLY_TURNS,
    LEAST_STRATUM,
    VIEW,
    Floats,
    Ints,
    X,
    Y,
    groups,
    merging,
    spread,
)

BETS: Final = 14
SMALLEST_BET: Final = 0.02
LARGEST_LOSS: Final = 0.8
"""Share of the capital that one conversation can cost at most."""
BOUND_DEVIATIONS: Final = 2.81
"""Standard errors between a stratum's hazard and its upper bound."""
SMALLEST_CELL_BET: Final = 0.05
CELL_DEVIATIONS: Final = 3.3
LEAST_CELL_HAZARD: Final = 0.002
DRIFT_CAP: Final = 1e280


def upper_bounds(view: Floats, deviations: float = BOUND_DEVIATIONS) -> Floats:
    """The hazard that the baseline's of each stratum stays below; nan where it has too few turns.

    Never below what independent turns would give, so that a stratum without a failure is no
    certainty.
    """
    y = np.maximum(view[..., Y], 1).astype(np.float64)
    x = view[..., X].astype(np.float64)
    clustered = x / y + deviations * np.sqrt(np.maximum(spread(view), 0.0)) / y
    half = deviations * deviations / 2.0
    independent = (x + half + deviations * np.sqrt(x + half / 2.0)) / (y + 2.0 * half)
    bounds = np.minimum(np.maximum(clustered, independent), 1.0)
    return np.where(view[..., Y] >= LEAST_STRATUM, bounds, np.nan)


def stratum_bounds(view: Floats) -> Floats:
    """The bound of each stratum, which rare ones have together; nan where there is none."""
    group = groups(view[:, Y])
    if not (group >= 0).any():
        return np.full(len(view), np.nan)
    bounds = upper_bounds(merging(group) @ view)
    return np.where(group >= 0, bounds[group], np.nan)


def stakes(bounds: Floats) -> Floats:
    """The bets, none of which can lose all: geometric up to the largest safe one."""
    known = bounds[~np.isnan(bounds)]
    highest = float(known.max()) if known.size else 1.0
    largest = LARGEST_LOSS / (max(highest, LEAST_CELL_HAZARD) * EARLY_TURNS)
    return np.geomspace(min(SMALLEST_BET, largest), largest, BETS)


def cell_stakes(bounds: Floats) -> Floats:
    """Bets by cell; shape of the bounds and one axis more."""
    highest = np.maximum(np.nan_to_num(bounds, nan=1.0), LEAST_CELL_HAZARD)
    largest = LARGEST_LOSS / (EARLY_TURNS * highest)
    return np.geomspace(np.minimum(SMALLEST_CELL_BET, largest), largest, BETS, axis=-1)


def log_mean(logs: Floats) -> Floats:
    """Log of the mean of exponentials, over the last axis."""
    top = logs.max(axis=-1)
    found: Floats = top + np.log(np.exp(logs - top[..., None]).mean(axis=-1))
    return found


def settle_drift(detector: Floats, stake: Floats, gain: float) -> None:
    """One step of a Shiryaev-Roberts e-detector, in place: each conversation may be the change."""
    detector += 1.0
    detector *= 1.0 + stake * gain
    np.minimum(detector, DRIFT_CAP, out=detector)


def selected(log_evidence: Floats, level: float = 0.05) -> list[int]:
    """e-BH: the cells whose e-values stand out, at a false discovery rate of `level`."""
    flat = log_evidence.ravel()
    order = np.argsort(-flat, kind="stable")
    ranks = np.arange(1, flat.size + 1)
    enough = flat[order] >= np.log(flat.size / (level * ranks))
    count = int(ranks[enough].max()) if enough.any() else 0
    return sorted(int(cell) for cell in order[:count])


def drift_threshold(monthly_conversations: float, tolerated_monthly_alarms: float) -> float:
    """The level of the e-detector that gives so many false alarms a month, at most."""
    return monthly_conversations / tolerated_monthly_alarms


def log10(natural: float) -> float:
    """From a natural logarithm."""
    return natural / math.log(10.0)


def cells_view(cells: Ints, totals: Floats) -> Floats:
    """Each cell's six sums, from its own x, xx, xy and its chain's n, y, yy."""
    view = np.zeros((*cells.shape[:-1], VIEW))
    view[..., 0] = totals[:, None, 0]
    view[..., 1] = cells[..., 0]
    view[..., 2] = totals[:, None, 1]
    view[..., 3] = cells[..., 1]
    view[..., 4] = cells[..., 2]
    view[..., 5] = totals[:, None, 2]
    return view
