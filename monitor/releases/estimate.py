"""Correctness from a cheap score of every turn and a judge's verdict on a few: unbiased, tuned."""

from __future__ import annotations

from math import log, sqrt
from typing import Final, NamedTuple

CONFIDENCE_Z: Final = 1.959964
ALPHA: Final = 0.05
OPENING_DRAWN: Final = 30
"""Conversations with a judged turn before anything is said."""
TUNED: Final = 2
"""Weights that are learnt from the same sums; the variance is widened for them."""
OPENING_SPAN: Final = 600.0
"""Conversations at which the anytime-valid bounds are at their narrowest for their width."""


class Sampled(NamedTuple):
    """One closed conversation as the estimate sees it."""

    turns: int
    predicted: float
    """Sum over all turns of the cheap probability that the turn is correct."""
    probability: float = 1.0
    """With which the conversation was drawn; of no meaning where nothing was judged."""
    judged: int = 0
    """Turns that a judge was asked about; those without a verdict count as predicted."""
    judged_correct: float = 0.0
    judged_predicted: float = 0.0
    """Sum of the cheap probabilities over the judged turns."""


class Sums(NamedTuple):
    """Everything that the estimate needs, additive over conversations.

    By conversation: `l` its turns, `y` its judged passes by inverse probability, `g` predicted
    minus judged predicted by inverse probability, `w` turns minus judged turns by inverse
    probability. `g` and `w` are zero on average, whatever the cheap score is worth.
    """

    n: int = 0
    drawn: int = 0
    """Conversations with judged turns."""
    judged: int = 0
    l: float = 0.0  # noqa: E741  the letters of the formula
    y: float = 0.0
    g: float = 0.0
    w: float = 0.0
    ll: float = 0.0
    yy: float = 0.0
    gg: float = 0.0
    ww: float = 0.0
    ly: float = 0.0
    lg: float = 0.0
    lw: float = 0.0
    yg: float = 0.0
    yw: float = 0.0
    gw: float = 0.0

    def plus(self, one: Sampled) -> Sums:
        """With one more conversation."""
        turns = float(one.turns)
        y = one.judged_correct / one.probability if one.judged else 0.0
        g = one.predicted - (one.judged_predicted / one.probability if one.judged else 0.0)
        w = turns - (one.judged / one.probability if one.judged else 0.0)
        return Sums(
            self.n + 1,
            self.drawn + bool(one.judged),
            self.judged + one.judged,
            *(self.l + turns, self.y + y, self.g + g, self.w + w),
            *(self.ll + turns * turns, self.yy + y * y, self.gg + g * g, self.ww + w * w),
            *(self.ly + turns * y, self.lg + turns * g, self.lw + turns * w),
            *(self.yg + y * g, self.yw + y * w, self.gw + g * w),
        )

    def together(self, other: Sums) -> Sums:
        """Of both groups of conversations."""
        return Sums(*(a + b for a, b in zip(self, other, strict=True)))  # type: ignore[arg-type]


class Estimate(NamedTuple):
    """Correctness of a group of turns, in [0, 1]."""

    value: float
    variance: float
    """Of `value`, from conversation to conversation."""
    weights: tuple[float, float]
    """How much of the cheap score, and of the drawn number of turns, is put to use."""

    def interval(self) -> tuple[float, float]:
        """The 95 % interval, right for one look."""
        half = CONFIDENCE_Z * sqrt(self.variance)
        return max(0.0, self.value - half), min(1.0, self.value + half)


def estimate(sums: Sums) -> Estimate | None:
    """The tuned estimate; None before thirty conversations have judged turns.

    Both helpers are weighted so that the variance is least, so a worthless cheap score costs
    nothing against judging alone.
    """
    if sums.drawn < OPENING_DRAWN or sums.l <= 0:
        return None
    plain = sums.y / sums.l
    a, b = _weights(sums, plain)
    value = (sums.y + a * sums.g + b * sums.w) / sums.l
    wider = sums.drawn / (sums.drawn - 1 - TUNED)
    return Estimate(value, wider * _spread(sums, value, a, b) / sums.l**2, (a, b))


def anytime(found: Estimate, sums: Sums, scale: float, alpha: float = ALPHA) -> tuple[float, float]:
    """Bounds that hold at every look at once, with probability 1 - alpha (asymptotically).

    `scale` is `opening(sums)` as it was at the first look, and stays.
    """
    q = found.variance * sums.l**2
    half = sqrt((q + scale) * log((q + scale) / (scale * alpha**2))) / sums.l
    return max(0.0, found.value - half), min(1.0, found.value + half)


def opening(sums: Sums) -> float | None:
    """The scale of the anytime-valid bounds, to be fixed at the first look; None before it."""
    found = estimate(sums)
    if found is None or found.variance <= 0:
        return None
    return OPENING_SPAN * found.variance * sums.l**2 / sums.n


def has_dropped(sums: Sums, baseline: float, scale: float, alpha: float = 0.01) -> bool:
    """Whether correctness is below `baseline`, at a chance of `alpha` ever to say so wrongly."""
    found = estimate(sums)
    if found is None:
        return False
    q = found.variance * sums.l**2
    bar = sqrt(2 * (q + scale) * log(1 + sqrt((q + scale) / scale) / (2 * alpha)))
    return (baseline - found.value) * sums.l > bar


def _weights(s: Sums, value: float) -> tuple[float, float]:
    """The weights of both helpers that make the variance least; 0 for one that says nothing."""
    gg, ww, gw = s.gg, s.ww, s.gw
    residual_g, residual_w = s.yg - value * s.lg, s.yw - value * s.lw
    determinant = gg * ww - gw * gw
    if determinant > 1e-9 * gg * ww > 0:
        a = (residual_w * gw - residual_g * ww) / determinant
        b = (residual_g * gw - residual_w * gg) / determinant
        return a, b
    return (-residual_g / gg if gg > 0 else 0.0), 0.0


def _spread(s: Sums, t: float, a: float, b: float) -> float:
    """Sum over conversations of (y + a g + b w - t l) squared."""
    total = s.yy + a * a * s.gg + b * b * s.ww + t * t * s.ll
    total += 2 * (a * s.yg + b * s.yw - t * s.ly + a * b * s.gw - t * a * s.lg - t * b * s.lw)
    return max(0.0, total)
