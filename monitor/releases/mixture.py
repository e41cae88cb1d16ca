"""The evidence that pages: a half-normal mixture e-process on the rise of a rate.

Two arms of conversations are compared within strata, with a variance that knows that the turns of
one conversation fail together. The e-value may be looked at after every conversation: under no
change it exceeds 1/p at any time with probability p at most, up to the normal approximation.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from monitor.releases.arms import XX, XY, YY, Floats, N, X, Y, groups, merging

SCALES: Final = (0.016,)
"""Of the half-normal prior on the true rise. One scale finds drops of 2 to 10 points of correctness
as fast as a mixture of three, without the price of the other two."""
LOG_CAP: Final = 50.0
LEAST_CONVERSATIONS: Final = 50
LEAST_EVENTS: Final = 25
"""Found or expected. Fewer are so skewed that a few hard conversations would page by chance."""
LEAST_BASELINE: Final = 500
"""In turns, over all strata."""
_ROOT_HALF: Final = math.sqrt(0.5)


class Rise(NamedTuple):
    """How much more often something happens in the candidate than its mix of strata explains."""

    rise: float
    variance: float
    conversations: int
    events: float
    turns: int
    """Of the candidate, in strata that the baseline knows."""
    left_out: int
    """Turns of the candidate in strata that it does not."""
    baseline_turns: int

    @property
    def events_known(self) -> float:
        """Events found, or expected of the baseline at the same mix, whichever are more."""
        return max(self.events, self.events - self.rise * self.turns)

    @property
    def is_weighable(self) -> bool:
        """Whether the normal approximation may be trusted."""
        return (
            self.conversations >= LEAST_CONVERSATIONS
            and self.events_known >= LEAST_EVENTS
            and self.baseline_turns > LEAST_BASELINE
            and self.variance > 0
        )


class Baseline:
    """An arm of shape (strata, 6) with what every comparison with it needs."""

    def __init__(self, arm: Floats) -> None:
        """Rows that the arm does not know are left out."""
        self._merge = merging(groups(arm[:, Y]))
        merged = self._merge @ arm
        self._x, self._y = merged[:, X], merged[:, Y]
        self._h = self._x / self._y
        self._effect = float(design_effect(merged)) if len(merged) else 1.0
        self.turns = int(self._y.sum())

    def rise(self, arm: Floats) -> Rise:
        """How the candidate's arm differs; its formula is that of `moments`."""
        merged = self._merge @ arm
        x, y = merged[:, X], merged[:, Y]
        turns = float(y.sum())
        every = float(arm[:, Y].sum())
        if not turns:
            return Rise(0.0, 0.0, 0, 0.0, 0, int(every), self.turns)
        events = float(x.sum())
        together = self._y + y
        pooled = (self._x + x) / together
        terms = float((pooled * (1.0 - pooled) * y * together / self._y).sum())
        own = float(design_effect(merged))
        larger = self._effect if turns <= self.turns else own
        effect = max(larger, (self._effect + own) / 2.0)
        return Rise(
            (events - float(self._h @ y)) / turns,
            effect * terms / (turns * turns),
            int(merged[:, N].sum()),
            events,
            int(turns),
            int(every - turns),
            self.turns,
        )


def moments(a: Floats, b: Floats) -> tuple[Floats, Floats]:
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
    before, after = design_effect(a), design_effect(b)
    larger = np.where(a_y.sum(axis=-1) >= b_turns, before, after)
    # An arm whose turns fail together more than the other's must not pass for the other.
    effect = np.maximum(larger, (before + after) / 2.0)
    return rise, effect * terms / (size * size)


def design_effect(arm: Floats) -> Floats:
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


def half_width(variance: float, alpha: float = 0.05, scale: float = SCALES[0]) -> float:
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
