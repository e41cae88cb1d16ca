"""One simulated swap or canary: a baseline of two weeks and what came after it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from monitor.releases.arms import Floats, Ints, Y
from monitor.releases.days import Day, day_variance
from monitor.roles.bench.detectors.streams import (
    A_DAY,
    BASELINE_DAYS,
    HAZARDS,
    Kinds,
    day_factors,
    drawn,
)

STRATUM_HAZARDS = (0.02, 0.04, 0.06, 0.10)
"""Of kinds of requests, from easy to hard."""
MIX_BEFORE = (0.4, 0.3, 0.2, 0.1)
MIX_AFTER = (0.1, 0.2, 0.3, 0.4)
HIGHEST_HAZARD = 0.5


@dataclass(frozen=True, slots=True)
class Month:
    """What a detector sees of a comparison."""

    baseline: Floats
    """One arm (strata, 6), or cumulative sums (conversations, strata, 6) of a concurrent one."""
    candidate: Floats
    """Cumulative sums after each of its conversations: (conversations, strata, 6)."""
    turns: Ints
    """Cumulative turns of the candidate."""
    passed: Ints
    """Passed turns of each of its conversations."""
    baseline_rate: float
    """Share of passed turns in the baseline."""
    baseline_turns: int
    day_variance: Floats
    """What differences between days add to the variance of the rise, after each conversation."""


def swap(
    rng: np.random.Generator,
    kinds: Kinds,
    points: int,
    days: int,
    deviation: float = 0.0,
    conversations: int | None = None,
) -> Month:
    """A hard swap to a release that is worse by `points` of correctness."""
    before, after = day_factors(rng, BASELINE_DAYS, deviation), day_factors(rng, days, deviation)
    counts = [rng.multinomial(A_DAY, kinds.probabilities(_hazard(0, f))) for f in before]
    drawn_days = [
        drawn(rng, kinds.probabilities(_hazard(points, factor)), A_DAY) for factor in after
    ]
    chosen = np.concatenate(drawn_days)[:conversations]
    sums = kinds.sums
    rows = np.array(counts) @ sums
    candidate = np.cumsum(sums[chosen], axis=0)
    return _month(
        kinds,
        rows.sum(axis=0)[None],
        candidate[:, None, :],
        chosen,
        np.sum(counts, axis=0),
        _day_path(rows, candidate),
    )


def mix_shift(rng: np.random.Generator, kinds: Kinds, points: int, conversations: int) -> Month:
    """A hard swap after which users ask for harder things."""
    size = len(kinds.turns)
    scale = HAZARDS[points] / HAZARDS[0]
    before = [kinds.probabilities(h) * m for h, m in zip(STRATUM_HAZARDS, MIX_BEFORE, strict=True)]
    after = [
        kinds.probabilities(h * scale) * m for h, m in zip(STRATUM_HAZARDS, MIX_AFTER, strict=True)
    ]
    counts = [rng.multinomial(A_DAY, np.concatenate(before)) for _ in range(BASELINE_DAYS)]
    total = np.sum(counts, axis=0).reshape(len(before), size)
    chosen = drawn(rng, np.concatenate(after), conversations)
    stratum, kind = np.divmod(chosen, size)
    one = np.zeros((conversations, len(after), 6))
    one[np.arange(conversations), stratum] = kinds.sums[kind]
    candidate = np.cumsum(one, axis=0)
    rows = np.array([day.reshape(len(before), size).sum(axis=0) for day in counts]) @ kinds.sums
    return _month(
        kinds,
        total @ kinds.sums,
        candidate,
        kind,
        total.sum(axis=0),
        _day_path(rows, candidate.sum(axis=1)),
    )


def canary(
    rng: np.random.Generator,
    kinds: Kinds,
    points: int,
    days: int,
    deviation: float,
    share: float = 0.1,
) -> Month:
    """A new release beside the old one; both see the same days."""
    factors = day_factors(rng, days, deviation)
    is_new = rng.random(days * A_DAY) < share
    chosen = np.empty(days * A_DAY, dtype=np.int64)
    for day, factor in enumerate(factors):
        span = slice(day * A_DAY, (day + 1) * A_DAY)
        new = is_new[span]
        fresh = drawn(rng, kinds.probabilities(_hazard(points, factor)), A_DAY)
        old = drawn(rng, kinds.probabilities(_hazard(0, factor)), A_DAY)
        chosen[span] = np.where(new, fresh, old)
    sums = kinds.sums[chosen]
    control = np.cumsum(np.where(is_new[:, None], 0.0, sums), axis=0)[is_new]
    candidate = np.cumsum(sums[is_new], axis=0)
    old_kinds = np.bincount(chosen[~is_new], minlength=len(kinds.turns))
    return _month(
        kinds,
        control[:, None, :],
        candidate[:, None, :],
        chosen[is_new],
        old_kinds,
        np.zeros(len(candidate)),
    )


def _month(
    kinds: Kinds,
    baseline: Floats,
    candidate: Floats,
    chosen: Ints,
    counts: Ints,
    day_path: Floats,
) -> Month:
    passed = kinds.at_risk - kinds.roots
    turns = int((counts * kinds.turns).sum())
    return Month(
        baseline,
        candidate,
        np.cumsum(kinds.turns[chosen]),
        passed[chosen],
        float((counts * passed).sum()) / turns,
        turns,
        day_path,
    )


def _hazard(points: int, factor: float) -> float:
    return float(min(HAZARDS[points] * factor, HIGHEST_HAZARD))


def _day_path(rows: Floats, candidate: Floats) -> Floats:
    """The product's between-day term, as the candidate's days fill up; both of (·, 6) sums."""
    turns = candidate[:, Y]
    before = [_day(row) for row in rows]
    ends = candidate[A_DAY - 1 :: A_DAY]
    after = [_day(row) for row in np.diff(ends, axis=0, prepend=0.0)]
    over = range(-(-len(turns) // A_DAY))
    variances = np.array([day_variance(before, after[:day]) or 0.0 for day in over])
    if not variances.any():
        return np.zeros(len(turns))
    sizes = np.array([day.turns for day in before], dtype=np.float64)
    past = np.concatenate(((0.0,), ends[:, Y]))
    squares = np.concatenate(((0.0,), np.cumsum(np.diff(past) ** 2)))
    day = np.arange(len(turns)) // A_DAY
    weight = (squares[day] + (turns - past[day]) ** 2) / turns**2
    found: Floats = variances[day] * (float((sizes**2).sum() / sizes.sum() ** 2) + weight)
    return found


def _day(row: Floats) -> Day:
    _, x, y, xx, xy, yy = row
    return Day(float(x), int(y), float(xx), float(xy), int(yy))
