"""Simulated worth of judging a sample: coverage, calls saved, and how soon a drop is found."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from monitor.releases.estimate import Sampled, Sums, estimate, has_dropped, opening

Numbers = npt.NDArray[np.float64]

TRUE: Final = 0.9
TURNS, JUDGED = 10_000, 500
EXPLORED: Final = 0.05
"""Share of the judged turns that is drawn evenly, whatever the cheap score says."""
ACCURACIES: Final = (0.75, 0.85, 0.95)


class Saved(NamedTuple):
    """What one cheap scorer is worth."""

    balanced_accuracy: float
    calls_saved: float
    """Share of judge calls saved at equal width, against a judge alone."""
    coverage: float
    """Share of the 95 % intervals that hold the truth."""
    half_width: float
    runs: int


class Found(NamedTuple):
    """How a drop of five points was found with a tenth of the conversations judged."""

    found: float
    """Share of the runs that found it within the traffic."""
    mean_judged: float
    """Judged turns until then."""
    mean_turns: float
    false_alarms: float
    """Share of runs without a drop that cried out, looked at after every conversation."""
    runs: int


def figures(runs: int, watched: int, seed: int) -> dict[str, Any]:
    """Both simulations at every accuracy of the cheap score."""
    return {
        "sample": [saved(accuracy, runs, seed)._asdict() for accuracy in ACCURACIES],
        "drop_of_five_points": {
            str(accuracy): found(accuracy, watched, seed, 10_000)._asdict()
            for accuracy in ACCURACIES[1:]
        },
    }


def table(found_figures: dict[str, Any]) -> list[str]:
    """The figures as lines of text."""
    lines = ["cheap score  coverage  calls saved  half-width"]
    lines += [
        f"{one['balanced_accuracy']:11.2f}  {one['coverage']:8.3f}  {one['calls_saved']:11.3f}"
        f"  {one['half_width']:10.4f}"
        for one in found_figures["sample"]
    ]
    lines.append("drop of five points: found, mean judged turns, mean turns, false alarms")
    lines += [
        f"{accuracy:>11}  {one['found']:.3f}  {one['mean_judged']:.0f}  {one['mean_turns']:.0f}"
        f"  {one['false_alarms']:.3f}"
        for accuracy, one in found_figures["drop_of_five_points"].items()
    ]
    return lines


def saved(accuracy: float, runs: int, seed: int) -> Saved:
    """Turns drawn one by one, with a cheap score of the given balanced accuracy."""
    chance = np.random.default_rng(seed)
    widths, hits, worth = [], 0, []
    for _ in range(runs):
        correct, predicted = _scored(chance, TURNS, accuracy)
        doubt = np.sqrt(predicted * (1 - predicted))
        share = (1 - EXPLORED) * JUDGED * doubt / doubt.sum() + EXPLORED * JUDGED / TURNS
        share = np.minimum(1.0, share)
        drawn = chance.random(TURNS) < share
        found = estimate(_sums(correct, predicted, share, drawn))
        if found is None:
            continue
        low, high = found.interval()
        hits += low <= TRUE <= high
        widths.append((high - low) / 2)
        alone = TRUE * (1 - TRUE) / (drawn.sum() - 1)
        worth.append(1 - found.variance / alone)
    return Saved(accuracy, float(np.mean(worth)), hits / runs, float(np.mean(widths)), runs)


def _sums(
    correct: Numbers, predicted: Numbers, share: Numbers, drawn: npt.NDArray[np.bool_]
) -> Sums:
    """Each turn as a conversation of its own, added up without a loop."""
    weight = np.where(drawn, 1 / share, 0.0)
    y, g, w = weight * correct, predicted - weight * predicted, 1 - weight
    ones = np.ones_like(y)
    firsts = [float(v.sum()) for v in (ones, y, g, w)]
    squares = [float((v * v).sum()) for v in (ones, y, g, w)]
    mixed = [(ones, y), (ones, g), (ones, w), (y, g), (y, w), (g, w)]
    products = [float((a * b).sum()) for a, b in mixed]
    count = int(drawn.sum())
    return Sums(len(y), count, count, *firsts, *squares, *products)


def _scored(
    chance: np.random.Generator, turns: int, accuracy: float, correctness: float = TRUE
) -> tuple[Numbers, Numbers]:
    """Who is correct, and the calibrated probability that a cheap score gives to each."""
    apart = 2 * NormalDist().inv_cdf(accuracy)
    correct = (chance.random(turns) < correctness).astype(np.float64)
    score = chance.normal(size=turns) + np.where(correct > 0, apart / 2, -apart / 2)
    odds = (1 - TRUE) / TRUE * np.exp(-apart * score)
    return correct, 1 / (1 + odds)


def found(accuracy: float, runs: int, seed: int, conversations: int = 4_000) -> Found:
    """Conversations of 1 to 12 turns, a tenth judged whole; the cheap score knows of no drop."""
    chance = np.random.default_rng(seed)
    drops = [_watch(chance, accuracy, TRUE - 0.05, conversations) for _ in range(runs)]
    calm = [_watch(chance, accuracy, TRUE, conversations) for _ in range(runs)]
    seen = [drop for drop in drops if drop is not None]
    return Found(
        len(seen) / runs,
        float(np.mean([judged for judged, _ in seen])) if seen else float("nan"),
        float(np.mean([turns for _, turns in seen])) if seen else float("nan"),
        sum(alarm is not None for alarm in calm) / runs,
        runs,
    )


def _watch(
    chance: np.random.Generator, accuracy: float, correctness: float, conversations: int
) -> tuple[int, int] | None:
    """Judged turns and turns until the alarm; None without one."""
    rate, sums, scale, level = 0.1, Sums(), None, None
    lengths = np.minimum(12, 1 + chance.poisson(4, conversations))
    correct, predicted = _scored(chance, int(lengths.sum()), accuracy, correctness)
    at = 0
    for length in lengths.tolist():
        ours, cheap = correct[at : at + length], predicted[at : at + length]
        at += length
        doubt = sqrt(float((cheap * (1 - cheap)).sum()) * (1 + 0.4 * (length - 1)) + 0.02)
        level = doubt if level is None else level + 0.005 * (doubt - level)
        share = min(1.0, max(0.25 * rate, rate * doubt / level))
        judged = chance.random() < share
        sums = sums.plus(
            Sampled(
                length, float(cheap.sum()), share, length, float(ours.sum()), float(cheap.sum())
            )
            if judged
            else Sampled(length, float(cheap.sum()))
        )
        if scale is None:
            scale = opening(sums) if judged else None
        elif judged and has_dropped(sums, TRUE, scale):
            return sums.judged, int(sums.l)
    return None
