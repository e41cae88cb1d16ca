"""Pearson, Spearman and kappa of automated and human opinions, with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from monitor.agreement.intervals import FEWEST_CLUSTERS, RESAMPLES, SEED, Interval
from monitor.agreement.pairs import LABELLED, Pair
from monitor.verdict import LabelledMetric

FEW: Final = 200
"""With fewer pairs the intervals are too wide for anybody to act on."""
Vector = npt.NDArray[np.float64]


class Coefficient(NamedTuple):
    """One coefficient from -1 to 1; None where one side never varies."""

    value: float | None
    interval: Interval | None
    """At 95 per cent, by a seeded bootstrap of whole conversations."""


class Agreement(NamedTuple):
    """How far the monitor and people agree on one sub-metric."""

    sub_metric: LabelledMetric
    pairs: int
    conversations: int
    annotators: int
    both_pass: int
    only_automated_passes: int
    only_human_passes: int
    both_fail: int
    pearson: Coefficient
    spearman: Coefficient
    kappa: Coefficient
    """Of the binary opinions; the other two are of the scores."""


def agreements(pairs: Sequence[Pair]) -> list[Agreement]:
    """Each sub-metric that somebody labelled, in a fixed order."""
    by_metric = {name: [pair for pair in pairs if pair.sub_metric == name] for name in LABELLED}
    return [_agreement(name, found) for name, found in by_metric.items() if found]


def pearson(x: Vector, y: Vector) -> float:
    """The correlation of two equally long series; NaN where one of them never varies."""
    x, y = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / scale if scale > 1e-12 else float("nan")


def spearman(x: Vector, y: Vector) -> float:
    """The correlation of the ranks; equal values share the mean of theirs."""
    return pearson(ranks(x), ranks(y))


def ranks(values: Vector) -> Vector:
    """Ranks from 1, ties at the mean of the places that they take."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    found: Vector = (last - (count - 1) / 2)[place]
    return found


def cohen(x: Vector, y: Vector) -> float:
    """Kappa of two series of 0 and 1; NaN where one of them never varies."""
    observed, one, other = float((x == y).mean()), float(x.mean()), float(y.mean())
    expected = one * other + (1 - one) * (1 - other)
    varies = 0 < one < 1 and 0 < other < 1
    return (observed - expected) / (1 - expected) if varies else float("nan")


def _agreement(name: LabelledMetric, pairs: Sequence[Pair]) -> Agreement:
    table = Counter((pair.automated, pair.human) for pair in pairs)
    columns = (
        np.array([pair.score for pair in pairs], dtype=np.float64),
        np.array([pair.value for pair in pairs], dtype=np.float64),
        np.array([pair.automated for pair in pairs], dtype=np.float64),
        np.array([pair.human for pair in pairs], dtype=np.float64),
    )
    names = [pair.conversation_id for pair in pairs]
    return Agreement(
        name,
        len(pairs),
        len(set(names)),
        len({pair.annotator for pair in pairs if pair.annotator is not None}),
        table[True, True],
        table[True, False],
        table[False, True],
        table[False, False],
        *_coefficients(columns, names),
    )


def _coefficients(
    columns: tuple[Vector, ...], names: Sequence[str]
) -> tuple[Coefficient, Coefficient, Coefficient]:
    values = _all_three(columns)
    drawn = np.array(
        [_all_three(tuple(column[rows] for column in columns)) for rows in _resampled(names)]
    ).reshape(-1, len(values))
    first, second, third = (_coefficient(value, drawn[:, at]) for at, value in enumerate(values))
    return first, second, third


def _coefficient(value: float, drawn: Vector) -> Coefficient:
    if not np.isfinite(value):
        return Coefficient(None, None)
    known = drawn[np.isfinite(drawn)]
    if len(known) < RESAMPLES // 2:
        return Coefficient(value, None)
    low, high = np.percentile(known, (2.5, 97.5))
    return Coefficient(value, Interval(float(low), float(high)))


def _all_three(columns: tuple[Vector, ...]) -> tuple[float, float, float]:
    score, value, automated, human = columns
    return pearson(score, value), spearman(score, value), cohen(automated, human)


def _resampled(names: Sequence[str]) -> Iterable[npt.NDArray[np.intp]]:
    """Rows of whole conversations, drawn with replacement; none with too few of them."""
    rows: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        rows.setdefault(name, []).append(at)
    clusters = [np.array(places, dtype=np.intp) for places in rows.values()]
    if len(clusters) < FEWEST_CLUSTERS:
        return
    generator = np.random.default_rng(SEED)
    for _ in range(RESAMPLES):
        picked = generator.integers(len(clusters), size=len(clusters))
        yield np.concatenate([clusters[at] for at in picked])
