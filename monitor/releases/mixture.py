"""The evidence that pages: a half-normal mixture e-process on the rise of a rate.

Two arms of conversations are compared within strata, with a variance that knows that the turns of
one conversation fail together. The e-value may be looked at after every conversation: under no
change it exceeds 1/p at any time with probability p at most, up to the normal approximation.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from monitor.releases.arms import XX, XY, YY, Floats, Ints, N, X, Y

SCALES: Final = (0.005, 0.015, 0.04)
"""Standard deviations of the prior on the true rise."""
LOG_CAP: Final = 50.0
LEAST_CONVERSATIONS: Final = 50
LEAST_EVENTS: Final = 5
LEAST_BASELINE: Final = 500
"""In turns, over all strata."""
LEAST_STRATUM: Final = 100
"""Turns of the baseline below which a stratum is left out."""
_ROOT_HALF: Final = math.sqrt(0.5)


class Rise(NamedTuple):
    """How much more often something happens in the candidate than its mix of strata explains."""

    rise: float
    variance: float
    conversations: int
    events: int
    turns: int
    """Of the candidate, in strata that the baseline knows."""
    left_out: int
    """Turns of the candidate in strata that it does not."""
    baseline_turns: int

    @property
    def is_weighable(self) -> bool:
        """Whether the normal approximation may be trusted."""
        return (
            self.conversations >= LEAST_CONVERSATIONS
            and self.events >= LEAST_EVENTS
            and self.baseline_turns > LEAST_BASELINE
            and self.variance > 0
        )


def rise_of(baseline: Ints, candidate: Ints, least_stratum: int = LEAST_STRATUM) -> Rise:
    """Compare two arms, each of shape (strata, 6)."""
    known = baseline[:, Y] >= least_stratum
    a, b = baseline[known], candidate[known]
    total = candidate.sum(axis=0)
    if not len(a):
        return Rise(0.0, 0.0, 0, 0, 0, int(total[Y]), 0)
    rise, variance = moments(a, b)
    found = b.sum(axis=0)
    turns = int(found[Y])
    return Rise(
        float(rise),
        float(variance),
        int(found[N]),
        int(found[X]),
        turns,
        int(total[Y]) - turns,
        int(a[:, Y].sum()),
    )


def moments(a: Ints, b: Ints) -> tuple[Floats, Floats]:
    """The rise of b over a and its variance, over the last two axes (strata, 6).

    Every stratum of `a` has turns; without turns in `b` both are 0.
    """
    a_x, a_y, b_x, b_y = a[..., X], a[..., Y], b[..., X], b[..., Y]
    h = a_x / a_y
    b_turns = b_y.sum(axis=-1)
    size = np.maximum(b_turns, 1)
    rise = (b_x - h * b_y).sum(axis=-1) / size
    pooled = (a_x + b_x) / (a_y + b_y)
    terms = (pooled * (1.0 - pooled) * b_y * (a_y + b_y) / a_y).sum(axis=-1)
    effect = np.where(a_y.sum(axis=-1) >= b_turns, design_effect(a), design_effect(b))
    return rise, effect * terms / (size * size)


def design_effect(arm: Ints) -> Floats:
    """How much more conversations vary than independent turns would; at least 1."""
    h = arm[..., X] / np.maximum(arm[..., Y], 1)
    spread = arm[..., XX] - 2.0 * h * arm[..., XY] + h * h * arm[..., YY]
    expected = (h * (1.0 - h) * arm[..., Y]).sum(axis=-1)
    found: Floats = np.maximum(1.0, spread.sum(axis=-1) / np.maximum(expected, 1e-12))
    return found


def log_evidence(distance: float, variance: float) -> float:
    """Natural log of the e-value for a rise of `distance` beyond what is tolerated."""
    logs = [_log_factor(distance, variance, scale) for scale in SCALES]
    top = max(logs)
    return top + math.log(sum(math.exp(each - top) for each in logs) / len(logs))


def half_width(variance: float, alpha: float = 0.05, scale: float = SCALES[1]) -> float:
    """Half an interval that holds the truth at all times at once, up to the approximation."""
    ratio = variance + scale * scale
    log_term = math.log(ratio / variance) - 2.0 * math.log(alpha)
    return math.sqrt(variance * ratio / (scale * scale) * log_term)


def _log_factor(distance: float, variance: float, scale: float) -> float:
    total = variance + scale * scale
    x = distance * scale / math.sqrt(variance * total)
    found = _log_twice_normal(x) + 0.5 * math.log(variance / total) + 0.5 * x * x
    return min(found, LOG_CAP)


def _log_twice_normal(x: float) -> float:
    """Log of 2 Phi(x); far on the left by its asymptote, where Phi itself is 0."""
    tail = math.erfc(-x * _ROOT_HALF)
    if tail > 1e-300:
        return math.log(tail)
    return -0.5 * x * x - math.log(-x * math.sqrt(math.pi / 2.0))
