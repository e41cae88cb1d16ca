"""The monitor's own rules over a whole simulated stream at once, by the product's formulas."""

from __future__ import annotations

import math
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from monitor.releases.arms import LEAST_STRATUM, Floats, N, X, Y
from monitor.releases.mixture import (
    LEAST_BASELINE,
    LEAST_CONVERSATIONS,
    LEAST_EVENTS,
    LOG_CAP,
    SCALES,
    moments,
)

Flags: TypeAlias = npt.NDArray[np.bool_]
_ROOT_HALF: Final = math.sqrt(0.5)
# Chebyshev fit of the complementary error function, relative error below 1.2e-7.
_FIT: Final = (
    *(-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806),
    *(0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277),
)


def mixture_path(
    baseline: Floats,
    candidate: Floats,
    tolerance: float | Floats = 0.0,
    extra_variance: float | Floats = 0.0,
) -> Floats:
    """Log of the e-value after each conversation; -inf where there is too little to weigh.

    `candidate` holds cumulative sums, of shape (conversations, strata, 6); `baseline` the same,
    or one arm for all.
    """
    known = baseline[..., Y] >= LEAST_STRATUM
    # A stratum that is left out has one turn without a failure, and no candidate.
    nothing = np.eye(1, baseline.shape[-1], Y)[0]
    a = np.where(known[..., None], baseline, nothing)
    b = np.where(known[..., None], candidate, 0.0)
    rise, variance = moments(a, b)
    log_e = log_evidence_path(rise - tolerance, np.maximum(variance + extra_variance, 1e-12))
    events = b[..., X].sum(axis=-1)
    expected = events - rise * b[..., Y].sum(axis=-1)
    enough = (
        (b[..., N].sum(axis=-1) >= LEAST_CONVERSATIONS)
        & (np.maximum(events, expected) >= LEAST_EVENTS)
        & ((a[..., Y] * known).sum(axis=-1) > LEAST_BASELINE)
    )
    found: Floats = np.where(enough, log_e, -np.inf)
    return found


def log_evidence_path(distance: Floats, variance: Floats) -> Floats:
    """The product's `log_evidence` for many looks at once."""
    logs = []
    for scale in SCALES:
        total = variance + scale * scale
        x = distance * scale / np.sqrt(variance * total)
        log = _log_twice_normal(x) + 0.5 * np.log(variance / total) + 0.5 * x * x
        logs.append(np.minimum(log, LOG_CAP))
    stacked = np.stack(logs)
    top = stacked.max(axis=0)
    found: Floats = top + np.log(np.exp(stacked - top).mean(axis=0))
    return found


def betting_path(gains: Floats, stakes: Floats) -> Floats:
    """Log of the mean capital after each conversation."""
    logs = np.cumsum(np.log1p(gains[:, None] * stakes), axis=0)
    top = logs.max(axis=1)
    found: Floats = top + np.log(np.exp(logs - top[:, None]).mean(axis=1))
    return found


def drift_path(gains: Floats, stakes: Floats) -> Floats:
    """Log of the mean of the e-detector after each conversation.

    M(t) = sum over s <= t of K(t) / K(s - 1), which sums and products give without a loop.
    """
    logs = np.cumsum(np.log1p(gains[:, None] * stakes), axis=0)
    before = np.vstack((np.zeros((1, len(stakes))), logs[:-1]))
    restarts = np.logaddexp.accumulate(-before, axis=0)
    each = logs + restarts
    top = each.max(axis=1)
    found: Floats = top + np.log(np.exp(each - top[:, None]).mean(axis=1))
    return found


def first(hits: Flags) -> int | None:
    """Index of the first look that alarms."""
    at = int(np.argmax(hits))
    return at if hits[at] else None


def _log_twice_normal(x: Floats) -> Floats:
    z = np.abs(x) * _ROOT_HALF
    t = 1.0 / (1.0 + 0.5 * z)
    fit = np.full_like(t, _FIT[-1])
    for coefficient in reversed(_FIT[:-1]):
        fit = fit * t + coefficient
    log_tail = np.log(t) - z * z + fit
    found: Floats = np.where(x < 0, log_tail, np.log(2.0 - np.exp(np.minimum(log_tail, 0.0))))
    return found
