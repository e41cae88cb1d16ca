"""Simulated conversations, drawn from the exact distribution of what they add to the sums.

A conversation has 1 to 12 turns, its own hazard from a beta distribution, and after a root failure
each later turn inherits with some probability. What matters of it is how many turns it has, how
many are at risk and how many are roots: a few hundred kinds, whose probabilities are known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from monitor.releases.arms import Floats, Ints, damped

LONGEST: Final = 12
MEAN_TURNS: Final = 5.0
HAZARDS: Final = {0: 0.0500, 1: 0.0551, 2: 0.0608, 5: 0.0774, 10: 0.1065}
"""By the drop in correctness from .90, in points."""
A_DAY: Final = 2_000
"""Conversations; 10,000 turns."""
MONTH_DAYS: Final = 30
BASELINE_DAYS: Final = 14


@dataclass(frozen=True, slots=True)
class Kinds:
    """The kinds of conversations: turns, turns at risk and roots of each, and its weight."""

    turns: Ints
    at_risk: Ints
    roots: Ints
    weight: Floats
    """Probability of the length and of the order of inherited turns, without the hazard."""
    concentration: float
    """Of the beta distribution; infinite: every conversation has the same hazard."""

    def probabilities(self, hazard: float) -> Floats:
        """Of each kind, at a mean hazard."""
        r, passed = self.roots, self.at_risk - self.roots
        if math.isinf(self.concentration):
            found = self.weight * hazard**r * (1.0 - hazard) ** passed
        else:
            up = _rising(hazard * self.concentration)
            down = _rising((1.0 - hazard) * self.concentration)
            whole = _rising(self.concentration)
            found = self.weight * np.exp(up[r] + down[passed] - whole[self.at_risk])
        return np.asarray(found / found.sum())

    @property
    def sums(self) -> Floats:
        """N x y xx xy yy of roots per turn, for one conversation of each kind."""
        x = np.array([damped(int(roots)) for roots in self.roots])
        y = self.at_risk
        return np.stack((np.ones_like(x), x, y, x * x, x * y, y * y), axis=1)


def kinds(correlation: float = 0.08, inherits: float = 0.5) -> Kinds:
    """All kinds, for hazards that correlate so within a conversation."""
    rows: list[tuple[int, int, int, float]] = []
    state = {(0, 0): 1.0}
    for length, share in enumerate(_lengths(), start=1):
        state = _one_turn_more(state, inherits)
        rows += [(length, a, r, share * w) for (a, r), w in sorted(state.items()) if w]
    turns, at_risk, roots, weight = zip(*rows, strict=True)
    concentration = 1.0 / correlation - 1.0 if correlation else math.inf
    return Kinds(
        np.array(turns), np.array(at_risk), np.array(roots), np.array(weight), concentration
    )


def divergence(kinds_: Kinds, hazard: float, base: float) -> float:
    """Kullback-Leibler information per turn that `hazard` gives against `base`."""
    p, q = kinds_.probabilities(hazard), kinds_.probabilities(base)
    return float((p * np.log(p / q)).sum() / (p * kinds_.turns).sum())


def drawn(rng: np.random.Generator, probabilities: Floats, size: int) -> Ints:
    """Numbers of kinds, one for each conversation."""
    edges = np.cumsum(probabilities)
    edges[-1] = 1.0
    return np.searchsorted(edges, rng.random(size), side="right")


def day_factors(rng: np.random.Generator, days: int, deviation: float) -> Floats:
    """What multiplies the hazard of each day: log-normal with mean 1."""
    if not deviation:
        return np.ones(days)
    return np.exp(rng.normal(0.0, deviation, days) - deviation * deviation / 2.0)


def _one_turn_more(
    state: dict[tuple[int, int], float], inherits: float
) -> dict[tuple[int, int], float]:
    """From (at risk, roots) to the same after one more turn, weighted by its ways to come."""
    after: dict[tuple[int, int], float] = {}
    for (a, r), weight in state.items():
        free = weight * (1.0 - inherits) if r else weight
        ways = [((a + 1, r), free), ((a + 1, r + 1), free)]
        if r:
            ways.append(((a, r), weight * inherits))
        for key, way in ways:
            after[key] = after.get(key, 0.0) + way
    return after


def _lengths() -> Floats:
    """Negative binomial of size 2 beyond the first turn, cut at the longest, with mean 5."""
    low, high = 0.1, 0.95
    extra = np.arange(LONGEST)
    shares = np.ones(LONGEST)
    for _ in range(60):
        ratio = (low + high) / 2.0
        shares = (extra + 1) * ratio**extra
        shares = shares / shares.sum()
        if float((shares * (extra + 1)).sum()) < MEAN_TURNS:
            low = ratio
        else:
            high = ratio
    return shares


def _rising(start: float) -> Floats:
    """Logarithms of start, start (start + 1), ... from the empty product on."""
    return np.concatenate(((0.0,), np.cumsum(np.log(start + np.arange(LONGEST)))))
