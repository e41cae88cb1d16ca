"""One side of a comparison: sums over conversations, by stratum.

An arm is an array of shape (strata, sums). What a test counts varies (roots per turn at risk,
failures per turn, inherited per failed turn), so each test looks at an arm through a view whose
first six columns are n, x, y, xx, xy, yy: x of y happened.
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
SUMS: Final = 10
"""n r a rr ra aa c cc rc ac, as the ledger has them."""
VIEW: Final = 6
N, X, Y, XX, XY, YY = range(VIEW)
ROOT_REASONS: Final = REASONS[:-1]
"""All but `prior_action_failed`, which is no root."""
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


def stratum(chain: int, intent: int) -> int:
    """The row of an arm; intents beyond the known ones share the last rows."""
    known = intent if 0 <= intent < INTENTS else INTENTS
    return known * CHAIN_COUNT + chain


def share(roots: int, at_risk: int, inherited: int) -> list[int]:
    """What one conversation adds to its row; nothing without a turn at risk."""
    r, a, c = roots, at_risk, inherited
    if not a:
        return [0] * SUMS
    return [1, r, a, r * r, r * a, a * a, c, c * c, r * c, a * c]


def roots_per_turn(arm: Ints) -> Ints:
    """Root failures per turn at risk: the six sums as they are."""
    return arm[..., :VIEW]


def failures_per_turn(arm: Ints) -> Ints:
    """Failures, inherited ones included, per scored turn."""
    n, r, a, rr, ra, aa, c, cc, rc, ac = np.moveaxis(arm, -1, 0)
    columns = (n, r + c, a + c, rr + 2 * rc + cc, ra + rc + ac + cc, aa + 2 * ac + cc)
    return np.stack(columns, axis=-1)


def inherited_per_failure(arm: Ints) -> Ints:
    """Inherited failures per failed turn."""
    n, r, _, rr, _, _, c, cc, rc, _ = np.moveaxis(arm, -1, 0)
    return np.stack((n, c, r + c, cc, rc + cc, rr + 2 * rc + cc), axis=-1)


def of_chain(view: Ints, chain: int) -> Ints:
    """The rows of one chain length."""
    return view[..., chain::CHAIN_COUNT, :]


def spread(view: Ints) -> Floats:
    """Sum of squared departures of x from its expectation, by row; 0 where y is."""
    h = hazard(view)
    found: Floats = view[..., XX] - 2 * h * view[..., XY] + h * h * view[..., YY]
    return found


def hazard(view: Ints) -> Floats:
    """X per y, by row; 0 where y is."""
    found: Floats = view[..., X] / np.maximum(view[..., Y], 1)
    return found
