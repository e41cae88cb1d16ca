"""One side of a comparison: sums over conversations, by stratum, for each of three rates.

An arm is an array of shape (rates, strata, sums). What a rate counts varies, so the sums are named
n, x, y, xx, xy, yy: x of y happened. All are multiples of a quarter, so adding is exact.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from monitor.verdict import CHAINS, REASONS

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]

INTENTS: Final = 8
"""Clusters of requests; one more stratum takes those that are not known."""
CHAIN_COUNT: Final = len(CHAINS)
STRATA: Final = CHAIN_COUNT * (INTENTS + 1)
VIEW: Final = 6
N, X, Y, XX, XY, YY = range(VIEW)
RATES: Final = 3
ROOTS, FAILURES, INHERITED = range(RATES)
"""Damped root failures per turn at risk; failures per scored turn; inherited ones per failure."""
ARM: Final = (RATES, STRATA, VIEW)
ROOT_REASONS: Final = REASONS[:-1]
"""All but `prior_action_failed`, which is no root."""
LEAST_STRATUM: Final = 100
"""Turns of a baseline that make a stratum of its own."""
EARLY_TURNS: Final = 12
"""A bet counts so many turns at risk of each conversation, so that no loss is unbounded."""


class Closed(NamedTuple):
    """What a conversation showed when it first closed."""

    release: str
    evaluator: str
    chain: int
    intent: int
    """-1: not known."""
    roots: int
    at_risk: int
    inherited: int
    early_roots: int
    """Within the first turns at risk, as many as bets count."""
    early_at_risk: int
    early_reasons: tuple[int, ...]
    """Those roots, by reason."""
    latency_bucket: int | None = None
    day: int | None = None
    """Since the epoch, by the trace's clock."""
    model: str | None = None


class Revised(NamedTuple):
    """How a later revision moved a conversation: (stratum, roots, at risk, inherited)."""

    release: str
    was: tuple[int, int, int, int]
    now_release: str
    now: tuple[int, int, int, int]
    evaluator: str | None = None
    """Of the verdicts before and after; None where those are of two."""


def stratum(chain: int, intent: int) -> int:
    """The row of an arm; intents beyond the known ones share the last rows."""
    known = intent if 0 <= intent < INTENTS else INTENTS
    return known * CHAIN_COUNT + chain


def share(roots: int, at_risk: int, inherited: int) -> Floats:
    """What one conversation adds to its row, by rate; nothing without a turn at risk."""
    if not at_risk:
        return np.zeros((RATES, VIEW))
    failed = roots + inherited
    rates = ((damped(roots), at_risk), (failed, at_risk + inherited), (inherited, failed))
    return np.array([(1.0, x, y, x * x, x * y, y * y) for x, y in rates])


def damped(roots: int) -> float:
    """Root failures of one conversation, as evidence counts them: further ones by half.

    They come from the same hard conversation, so they tell less than the first. Counted so, the
    sums carry 97 to 99 % of what the whole distribution could tell; whole roots 91 to 94 %.
    """
    return (roots + 1) / 2.0 if roots else 0.0


def groups(turns: Floats) -> Ints:
    """The comparison group of each row; -1 for rows that the baseline does not know.

    A row with enough turns is a group. Rare ones of a chain are taken together, and where these
    are still too few, those of all chains; where that does not suffice, they are unknown.
    """
    common = turns >= LEAST_STRATUM
    count = int(np.count_nonzero(common))
    found = np.where(common, np.cumsum(common) - 1, -1)
    few = np.where(common, 0.0, turns)
    by_chain = few.reshape(-1, CHAIN_COUNT if len(few) == STRATA else 1)
    sums = by_chain.sum(axis=0)
    left = float(sums.sum())
    if left < LEAST_STRATUM:
        return found
    rows = found.reshape(by_chain.shape)
    for chain in np.flatnonzero(sums >= LEAST_STRATUM):
        rows[:, chain][by_chain[:, chain] > 0] = count
        count += 1
        left -= float(sums[chain])
    if left >= LEAST_STRATUM:
        rows[(rows < 0) & (by_chain > 0)] = count
    return found


def merging(group: Ints) -> Floats:
    """The matrix that adds up the rows of each group."""
    found: Floats = (group[None, :] == np.arange(group.max(initial=-1) + 1)[:, None]) * 1.0
    return found


def of_chain(view: Floats, chain: int) -> Floats:
    """The rows of one chain length."""
    return view[..., chain::CHAIN_COUNT, :]


def spread(view: Floats) -> Floats:
    """Sum of squared departures of x from its expectation, by row; 0 where y is."""
    h = hazard(view)
    found: Floats = view[..., XX] - 2 * h * view[..., XY] + h * h * view[..., YY]
    return found


def hazard(view: Floats) -> Floats:
    """X per y, by row; 0 where y is."""
    found: Floats = view[..., X] / np.maximum(view[..., Y], 1)
    return found
