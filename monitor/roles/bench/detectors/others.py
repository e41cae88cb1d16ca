"""Rules in common use, on the same simulated streams: they look at passed turns alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from monitor.releases.arms import Floats, Ints
from monitor.roles.bench.detectors.months import Month
from monitor.roles.bench.detectors.ours import Flags
from monitor.roles.bench.detectors.streams import A_DAY

RELATIVE_DROP: Final = 0.05
"""UAEF's default: a mean that falls by 5 % of the baseline's is a regression."""
HOUR: Final = A_DAY // 24
LEAST_TURNS: Final = 100
PEEKED_Z: Final = 1.6449
CUSUM_LEVEL: Final = 17.2
CUSUM_GOOD: Final = 0.90
CUSUM_BAD: Final = 0.85


def relative_hour(month: Month) -> Flags:
    """UAEF's rule on the trailing hour; True at each look that alarms."""
    passed, turns = _trailing(month, HOUR)
    full = np.arange(len(turns)) >= HOUR - 1
    found: Flags = (_drop(month, passed, turns) > RELATIVE_DROP) & full
    return found


def relative_all(month: Month) -> Flags:
    """UAEF's rule on everything since the swap."""
    drop = _drop(month, np.cumsum(month.passed), month.turns)
    found: Flags = (drop > RELATIVE_DROP) & (month.turns >= LEAST_TURNS)
    return found


def peeked_z(month: Month) -> Flags:
    """A one-sided z-test of pass rates at 5 %, looked at after every conversation."""
    passed = np.cumsum(month.passed)
    before = month.baseline_rate * month.baseline_turns
    pooled = (passed + before) / (month.turns + month.baseline_turns)
    error = np.sqrt(pooled * (1 - pooled) * (1 / month.turns + 1 / month.baseline_turns))
    z = (month.baseline_rate - passed / month.turns) / error
    found: Flags = (z > PEEKED_Z) & (month.turns >= LEAST_TURNS)
    return found


def cusum(month: Month) -> Flags:
    """A cumulative sum of log-likelihood ratios of independent turns, .90 against .85."""
    failed = np.diff(month.turns, prepend=0) - month.passed
    step = month.passed * math.log(CUSUM_BAD / CUSUM_GOOD) + failed * math.log(
        (1 - CUSUM_BAD) / (1 - CUSUM_GOOD)
    )
    level = np.cumsum(step)
    lowest = np.minimum.accumulate(np.minimum(level, 0.0))
    found: Flags = level - lowest >= CUSUM_LEVEL
    return found


class Adwin:
    """Adaptive windowing over 0 and 1: alarms when two parts of its window differ.

    Exponential histogram as published by Bifet and Gavalda; one look per `clock` values.
    """

    def __init__(self, delta: float = 0.002, clock: int = 32, per_row: int = 5) -> None:
        """`delta` bounds the false alarms of one look."""
        self._delta = delta
        self._clock = clock
        self._per_row = per_row
        self._rows: list[list[float]] = [[]]
        self._seen = 0
        self._size = 0
        self._total = 0.0

    def add(self, value: float) -> bool:
        """Take in a value; whether the mean fell, in which case the old part is forgotten."""
        self._seen += 1
        self._size += 1
        self._total += value
        self._rows[0].append(value)
        for level, row in enumerate(self._rows):
            if len(row) <= self._per_row:
                break
            if level + 1 == len(self._rows):
                self._rows.append([])
            self._rows[level + 1].append(row[0] + row[1])
            del row[:2]
        return self._seen % self._clock == 0 and self._cut()

    def _cut(self) -> bool:
        fell = False
        while self._differs() is not None:
            fell = fell or bool(self._differs())
            self._drop_oldest()
        return fell

    def _differs(self) -> bool | None:
        """None: no two parts differ; True: they do, and the newer is lower."""
        mean = self._total / self._size
        variance = mean * (1.0 - mean)
        log_term = math.log(2.0 * math.log(max(self._size, 3)) / self._delta)
        size = total = 0.0
        for level in range(len(self._rows) - 1, -1, -1):
            for bucket in self._rows[level]:
                size += 2**level
                total += bucket
                rest = self._size - size
                if size < 5 or rest < 5:
                    continue
                harmonic = 1.0 / size + 1.0 / rest
                bound = math.sqrt(2.0 * harmonic * variance * log_term)
                bound += 2.0 / 3.0 * harmonic * log_term
                gap = total / size - (self._total - total) / rest
                if abs(gap) > bound:
                    return bool(gap > 0)
        return None

    def _drop_oldest(self) -> None:
        level = len(self._rows) - 1
        while not self._rows[level]:
            level -= 1
        self._total -= self._rows[level].pop(0)
        self._size -= 2**level


def adwin_turns(before: Month, after: Month) -> int | None:
    """The conversation after the swap at which ADWIN alarms over single turns."""
    lengths = np.diff(after.turns, prepend=0)
    numbers = (int(n) for n in np.repeat(np.arange(len(lengths)), lengths))
    return _adwin_at(_turn_by_turn(before), zip(numbers, _turn_by_turn(after), strict=True))


def adwin_conversations(before: Month, after: Month) -> int | None:
    """The same over the shares of passed turns of whole conversations."""
    shares = [
        (float(value) for value in month.passed / np.diff(month.turns, prepend=0))
        for month in (before, after)
    ]
    return _adwin_at(shares[0], enumerate(shares[1]))


def _adwin_at(before: Iterable[float], after: Iterable[tuple[int, float]]) -> int | None:
    window = Adwin()
    for value in before:
        window.add(value)
    return next((number for number, value in after if window.add(value)), None)


def _turn_by_turn(month: Month) -> Iterator[float]:
    """Passed turns as 1; failures come at a conversation's end: a root and what it hands on."""
    for passed, turns in zip(month.passed, np.diff(month.turns, prepend=0), strict=True):
        for turn in range(int(turns)):
            yield float(turn < passed)


def _trailing(month: Month, window: int) -> tuple[Floats, Floats]:
    passed = np.cumsum(month.passed).astype(np.float64)
    turns = month.turns.astype(np.float64)
    found = []
    for total in (passed, turns):
        behind = np.concatenate((np.zeros(window), total[:-window]))
        found.append(total - behind)
    return found[0], found[1]


def _drop(month: Month, passed: Floats | Ints, turns: Floats | Ints) -> Floats:
    found: Floats = 1.0 - passed / turns / month.baseline_rate
    return found
