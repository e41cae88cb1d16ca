"""From labelled pairs to a calibration: which of them reach the last rung, models, scale, band."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from monitor.comparison.answers import ANSWER_FEATURES, RISING_ANSWER_FEATURES, answer_features
from monitor.comparison.calibration import ENCODED, Band, Scale, Source
from monitor.comparison.ladder import Ladder
from monitor.comparison.lexical import Lexical
from monitor.comparison.names import NAME_FEATURES, RISING_NAME_FEATURES, name_features
from monitor.comparison.residual import UNAVAILABLE
from monitor.comparison.rung import Pair
from monitor.comparison.text import Text
from monitor.comparison.trees import Trees
from monitor.comparison.typed import Typed
from monitor.comparison.vectors import UNASKED, Vectors
from monitor.ports import Encoder
from monitor.roles.calibrating.boosting import Shape, fit
from monitor.roles.calibrating.pairs import LabelledPair
from monitor.verdict import Similarity

FOLDS: Final = 5
ROUNDS: Final = 3
"""Times the pairs are parted anew."""
NAMES_SHAPE: Final = Shape(120, 6, 0.06, 8, 3.0, row_share=0.6, feature_share=0.5)
ANSWERS_SHAPE: Final = Shape(150, 8, 0.05, 10, 3.0, row_share=0.6, feature_share=0.4)

Array = npt.NDArray[np.float64]


class Reached(NamedTuple):
    """The pairs of one kind that no surer rung decides, as the last rung sees them."""

    rows: Array
    same: npt.NDArray[np.bool_]
    groups: list[str]
    sources: list[str]


class _Recorder:
    """A last rung that counts the texts that reach it."""

    version = "recorder"

    def __init__(self) -> None:
        self.seen = 0

    def compare(self, pair: Pair) -> Similarity | None:
        self.seen += isinstance(pair.expected, str) and isinstance(pair.actual, str)
        return UNAVAILABLE  # not remembered, so that every pair comes by


def reached(pairs: Sequence[LabelledPair], encoder: Encoder | None) -> Reached:
    """Single values only: of a list or an object the label does not say which leaf is meant."""
    recorder = _Recorder()
    ladder = Ladder([Typed(), Lexical(), recorder])
    vectors = None if encoder is None else Vectors(encoder)
    rows: list[list[float]] = []
    kept: list[LabelledPair] = []
    for pair in pairs:
        if not isinstance(pair.expected, str) or not isinstance(pair.actual, str):
            continue
        before = recorder.seen
        ladder.compare(pair.expected, pair.actual, pair.hint)
        if recorder.seen == before:
            continue
        row = _answer(pair, vectors) if pair.is_answer else _name(pair, vectors)
        if row is not None:
            rows.append(row)
            kept.append(pair)
    return Reached(
        np.array(rows, dtype=np.float64) if rows else np.zeros((0, len(NAME_FEATURES))),
        np.array([pair.same for pair in kept], dtype=np.bool_),
        [pair.group for pair in kept],
        [pair.source for pair in kept],
    )


def _name(pair: LabelledPair, vectors: Vectors | None) -> list[float] | None:
    one, other = Text(str(pair.expected)), Text(str(pair.actual))
    if not one.claims or not other.claims:
        return None
    row = name_features(one, other)
    near = UNASKED
    if vectors is not None:
        near = vectors.names(one.said, other.said, one.claims, other.claims)
    return [*row, *near]


def _answer(pair: LabelledPair, vectors: Vectors | None) -> list[float]:
    found = answer_features(str(pair.expected), str(pair.actual), pair.hint.query or "")
    near = UNASKED
    if vectors is not None:
        near = vectors.answer(found.options, found.words, str(pair.actual), found.reply)
    return [*found.row, *near]


def fitted_trees(data: Reached, *, answers: bool, encoded: bool) -> Trees:
    """Trees over the features of one kind; without the encoder's unless `encoded`."""
    features = ANSWER_FEATURES if answers else NAME_FEATURES
    rising = RISING_ANSWER_FEATURES if answers else RISING_NAME_FEATURES
    shape = ANSWERS_SHAPE if answers else NAMES_SHAPE
    width = len(features) if encoded else len(features) - len(ENCODED)
    return fit(data.rows[:, :width], data.same, features[:width], rising, shape)


def fresh_odds(data: Reached, *, answers: bool, encoded: bool) -> Array:
    """For each pair the mean log-odds by trees that never saw its group."""

    def model(part: Reached) -> Callable[[list[float]], float]:
        return fitted_trees(part, answers=answers, encoded=encoded).log_odds

    return _crossed(data, model)


def scaled_odds(data: Reached, trees: Trees) -> Array:
    """As above, where the trees are given and only their scale is fitted."""

    def model(part: Reached) -> Callable[[list[float]], float]:
        scale = fitted_scale(odds_of(part, trees), cosines_of(part), part.same)
        return lambda row: scale.odds(trees.log_odds(row), row[-len(ENCODED)])

    return _crossed(data, model)


def _crossed(data: Reached, model: Callable[[Reached], Callable[[list[float]], float]]) -> Array:
    found = np.zeros(len(data.same))
    for turn in range(ROUNDS):
        folds = np.array([_fold(group, turn) for group in data.groups])
        for fold in range(FOLDS):
            inside, outside = np.nonzero(folds == fold)[0], np.nonzero(folds != fold)[0]
            if not len(inside) or not len(outside):
                continue
            odds = model(part_of(data, outside))
            for index in inside:
                found[index] += odds(data.rows[index].tolist()) / ROUNDS
    return found


def part_of(data: Reached, indexes: npt.NDArray[np.intp]) -> Reached:
    """Some of the pairs."""
    return Reached(
        data.rows[indexes],
        data.same[indexes],
        [data.groups[index] for index in indexes],
        [data.sources[index] for index in indexes],
    )


def _fold(group: str, turn: int) -> int:
    digest = blake2b(f"{turn}\0{group}".encode("utf-8", "replace"), digest_size=4).digest()
    return int.from_bytes(digest, "big") % FOLDS


def odds_of(data: Reached, trees: Trees) -> Array:
    """What the trees say of each pair."""
    return np.array([trees.log_odds(row) for row in data.rows.tolist()])


def cosines_of(data: Reached) -> Array:
    """The cosine of each pair; nought without an encoder."""
    return data.rows[:, -len(ENCODED)]


def chances(odds: Array) -> Array:
    """Chances from log-odds."""
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -40, 40))))


def fitted_scale(odds: Array, cosine: Array, same: npt.NDArray[np.bool_]) -> Scale:
    """Shift, slope and weight of the cosine, held to the model as it is by a prior.

    Few pairs move little: the prior weighs as much as some ten of them.
    """
    columns = np.stack([np.ones(len(odds)), odds, cosine], axis=1)
    prior = np.array([0.0, 1.0, 0.0])
    strength = np.diag([1.0, 10.0, 2.0])
    weights = prior.copy()
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(columns @ weights, -40, 40)))
        slope = columns.T @ (same - chance) - strength @ (weights - prior)
        curve = columns.T @ (columns * (chance * (1 - chance))[:, None]) + strength
        step = np.linalg.solve(curve, slope)
        weights = weights + step
        if float(np.abs(step).max()) < 1e-9:
            break
    return Scale(*(round(float(weight), 6) for weight in weights))


def fitted_band(chances: Array, same: npt.NDArray[np.bool_], target: float) -> Band:
    """The narrowest band around 0.5 outside of which each side is right as often as `target`."""
    high = _edge(chances, same, target)
    low = 1.0 - _edge(1.0 - chances, ~same, target)
    return Band(round(low, 4), round(high, 4))


def _edge(chances: Array, right: npt.NDArray[np.bool_], target: float) -> float:
    """From which chance on, at the least, the pairs above are right often enough."""
    order = np.argsort(-chances, kind="stable")
    order = order[chances[order] >= 0.5]
    if not len(order):
        return 0.5
    share = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    good = np.nonzero(share >= target)[0]
    if not len(good):
        return 1.0
    last = int(good[-1])
    return 0.5 if last == len(order) - 1 else float(chances[order[last]])


def sources_of(data: Reached) -> tuple[Source, ...]:
    """What the pairs are, for the file that they fitted."""
    rows = Counter(data.sources)
    same = Counter(source for source, label in zip(data.sources, data.same, strict=True) if label)
    return tuple(Source(source, rows[source], same[source]) for source in sorted(rows))
