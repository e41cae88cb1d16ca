"""Boosted trees fitted by Newton steps on binned features; the same rows give the same trees."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from monitor.comparison.trees import Trees

SEED: Final = 20_240_229
"""Of the draws, so that the same rows give the same trees."""
BINS: Final = 48
"""Quantiles of a feature at which it may be parted."""

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


class Shape(NamedTuple):
    """How much the trees may learn."""

    trees: int = 120
    leaves: int = 5
    rate: float = 0.06
    least_rows: int = 10
    """Rows that each leaf rests on."""
    damping: float = 4.0
    """Pulls the leaves towards nought."""
    row_share: float = 1.0
    """Share of the rows that each tree sees, drawn anew for each."""
    feature_share: float = 1.0
    """Share of the features that each tree may ask for."""


class _Split(NamedTuple):
    gain: float
    feature: int
    code: int
    low: float
    high: float


class _Leaf(NamedTuple):
    """Rows of one leaf, its value, and the bounds that the rising features set for it."""

    rows: npt.NDArray[np.intp]
    value: float
    floor: float
    ceiling: float


def fit(
    rows: Array,
    same: npt.NDArray[np.bool_],
    features: Sequence[str],
    rising: frozenset[str],
    shape: Shape,
) -> Trees:
    """Trees for the log-odds of `same`; along a feature in `rising` they never fall."""
    edges = [_edges(rows[:, column]) for column in range(rows.shape[1])]
    codes = np.stack(
        [np.searchsorted(edge, rows[:, column]) for column, edge in enumerate(edges)], axis=1
    ).astype(np.int64)
    up = np.array([name in rising for name in features])
    rate = min(max(float(same.mean()), 1e-6), 1 - 1e-6)
    bias = math.log(rate / (1 - rate))
    odds = np.full(len(same), bias)
    dice = np.random.default_rng(SEED)
    trees = []
    for _ in range(shape.trees):
        chance = 1 / (1 + np.exp(-odds))
        growth = _Growth(codes, same - chance, chance * (1 - chance), up, shape)
        rows_seen = _drawn(dice, len(same), shape.row_share)
        tree = growth.tree(edges, rows_seen, _drawn(dice, len(features), shape.feature_share))
        odds = odds + _steps(tree, codes, edges)
        trees.append(tree)
    return Trees(tuple(features), round(bias, 6), tuple(trees))


def _edges(values: Array) -> Array:
    """Thresholds between the values, at most BINS of them."""
    known = np.unique(values)
    if len(known) <= BINS:
        return np.asarray((known[:-1] + known[1:]) / 2)
    found = np.unique(np.quantile(values, np.linspace(0, 1, BINS + 2)[1:-1]))
    return np.asarray(found[found < known[-1]])


class _Growth:
    """One tree, grown where it gains most."""

    def __init__(
        self, codes: Codes, slopes: Array, weights: Array, up: npt.NDArray[np.bool_], shape: Shape
    ) -> None:
        self.codes, self.slopes, self.weights = codes, slopes, weights
        self.up, self.shape = up, shape
        self.features: list[int] = []

    def tree(
        self, edges: Sequence[Array], rows: npt.NDArray[np.intp], features: npt.NDArray[np.intp]
    ) -> Any:
        """The tree that these rows and features give, with its leaves damped by the rate."""
        self.features = features.tolist()
        leaves: dict[int, _Leaf] = {0: _Leaf(rows, self._value(rows), -math.inf, math.inf)}
        nodes: dict[int, list[Any]] = {}
        queue: list[tuple[float, int, _Split]] = []
        self._offer(queue, 0, leaves[0])
        number = 1
        while queue and len(leaves) < self.shape.leaves:
            _, name, split = heapq.heappop(queue)
            leaf = leaves.pop(name)
            low, high = self._parted(leaf, split)
            threshold = round(float(edges[split.feature][split.code]), 6)
            nodes[name] = [split.feature, threshold, number, number + 1]
            for child in (low, high):
                leaves[number] = child
                self._offer(queue, number, child)
                number += 1
        return self._nested(0, nodes, leaves)

    def _nested(self, name: int, nodes: dict[int, list[Any]], leaves: dict[int, _Leaf]) -> Any:
        if name in leaves:
            return round(leaves[name].value * self.shape.rate, 6)
        feature, threshold, low, high = nodes[name]
        return [
            feature,
            threshold,
            self._nested(low, nodes, leaves),
            self._nested(high, nodes, leaves),
        ]

    def _value(self, rows: npt.NDArray[np.intp]) -> float:
        return float(self.slopes[rows].sum() / (self.weights[rows].sum() + self.shape.damping))

    def _parted(self, leaf: _Leaf, split: _Split) -> tuple[_Leaf, _Leaf]:
        below = self.codes[leaf.rows, split.feature] <= split.code
        floor, ceiling = leaf.floor, leaf.ceiling
        middle = (split.low + split.high) / 2
        rises = bool(self.up[split.feature])
        return (
            _Leaf(leaf.rows[below], split.low, floor, middle if rises else ceiling),
            _Leaf(leaf.rows[~below], split.high, middle if rises else floor, ceiling),
        )

    def _offer(self, queue: list[tuple[float, int, _Split]], name: int, leaf: _Leaf) -> None:
        best: _Split | None = None
        for feature in self.features:
            found = self._best(leaf, feature)
            if found is not None and (best is None or found.gain > best.gain + 1e-12):
                best = found
        if best is not None:
            heapq.heappush(queue, (-best.gain, name, best))

    def _best(self, leaf: _Leaf, feature: int) -> _Split | None:
        """The split of the leaf along one feature that gains most; None where none gains."""
        codes = self.codes[leaf.rows, feature]
        size = int(codes.max()) + 1
        if size < 2:
            return None
        counts = np.bincount(codes, minlength=size).cumsum()[:-1]
        slopes = np.bincount(codes, self.slopes[leaf.rows], size).cumsum()
        weights = np.bincount(codes, self.weights[leaf.rows], size).cumsum()
        all_slopes, all_weights = slopes[-1], weights[-1]
        slopes, weights = slopes[:-1], weights[:-1]
        damping = self.shape.damping
        low = np.clip(slopes / (weights + damping), leaf.floor, leaf.ceiling)
        high = np.clip(
            (all_slopes - slopes) / (all_weights - weights + damping), leaf.floor, leaf.ceiling
        )
        gain = (
            _worth(low, slopes, weights + damping)
            + _worth(high, all_slopes - slopes, all_weights - weights + damping)
            - _worth(np.float64(leaf.value), all_slopes, all_weights + damping)
        )
        least = self.shape.least_rows
        allowed = (counts >= least) & (len(codes) - counts >= least)
        if self.up[feature]:
            allowed &= low <= high
        gain = np.where(allowed, gain, -np.inf)
        at = int(np.argmax(gain))
        if not gain[at] > 1e-9:
            return None
        return _Split(float(gain[at]), feature, at, float(low[at]), float(high[at]))


def _drawn(dice: np.random.Generator, of: int, share: float) -> npt.NDArray[np.intp]:
    """Some of the numbers below `of`, in order."""
    if share >= 1.0:
        return np.arange(of)
    return np.sort(dice.choice(of, max(int(of * share), 1), replace=False))


def _steps(tree: Any, codes: Codes, edges: Sequence[Array]) -> Array:
    """What a tree adds to each row."""
    if not isinstance(tree, list):
        return np.full(len(codes), float(tree))
    feature, threshold, low, high = tree
    # Thresholds are rounded when they are kept, so the nearest edge is the one that was meant.
    code = int(np.argmin(np.abs(edges[feature] - threshold)))
    below = codes[:, feature] <= code
    return np.where(below, _steps(low, codes, edges), _steps(high, codes, edges))


def _worth(value: Any, slopes: Any, weights: Any) -> Any:
    """How much a leaf of this value lowers the loss."""
    return value * slopes - value * value * weights / 2
