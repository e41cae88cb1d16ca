"""What is known of one release: its sums, its days and whether it drifts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from monitor.codec import VERSION, reader_of, seal, unseal
from monitor.errors import DamagedState
from monitor.releases.arms import (
    ARM,
    CHAIN_COUNT,
    ROOT_REASONS,
    ROOTS,
    STRATA,
    VIEW,
    Closed,
    Floats,
    Ints,
    damped,
    share,
    stratum,
)
from monitor.releases.betting import (
    BETS,
    log10,
    settle_drift,
    stakes,
    stratum_bounds,
)
from monitor.releases.days import Day
from monitor.releases.mixture import Baseline

CELLS: Final = (CHAIN_COUNT, len(ROOT_REASONS))
LATENCY_BUCKETS: Final = 10
DAYS_KEPT: Final = 60
GAP_MEMORY: Final = 0.05
"""Weight of the newest gap in the average distance between a release's conversations."""
GAPS_SILENT: Final = 30.0
LEAST_SILENT: Final = 200
"""Conversations of all releases that pass by before one counts as gone."""
DRIFT_REFERENCES: Final = frozenset(2_000 * 2**power for power in range(5))
"""After so many conversations a release becomes the reference for its own drift, anew."""
KIND: Final = b"D"


def _zeros(*shape: int) -> Ints:
    return np.zeros(shape, dtype=np.int64)


@dataclass(slots=True)
class Record:
    """One release, as far as its conversations have closed."""

    name: str
    order: int
    """Of first appearance among all releases."""
    model: str | None = None
    first_at: int = 0
    """Number of its first conversation among those of all releases."""
    last_at: int = 0
    gap: float = 1.0
    """Average distance between its conversations, counted in conversations of all releases."""
    count: int = 0
    """Conversations with a turn at risk."""
    regressed: bool = False
    """It was found worse, and nobody cleared that: no baseline while there is another."""
    turns: int = 0
    """Turns at risk of those."""
    dated: int = 0
    """Turns at risk of the days that are kept."""
    squared: int = 0
    """Sum of the squares of each day's."""
    accepted: bool = False
    """The operator takes it as it is: it is compared no more."""
    total: Floats = field(default_factory=lambda: np.zeros(ARM))
    early: Floats = field(default_factory=lambda: np.zeros((STRATA, VIEW)))
    """First verdicts of the first turns at risk: what bets are held against."""
    cells: Ints = field(default_factory=lambda: _zeros(*CELLS, 3))
    """Roots by chain and reason: x, xx, xy, early ones."""
    latencies: Ints = field(default_factory=lambda: _zeros(LATENCY_BUCKETS))
    days: dict[int, Day] = field(default_factory=dict)
    drift: Floats = field(default_factory=lambda: np.zeros(BETS))
    drift_bounds: Floats = field(default_factory=lambda: np.full(STRATA, np.nan))
    drift_stakes: Floats = field(default_factory=lambda: np.zeros(BETS))
    drift_latched: float = 0.0
    """log10 of the highest value of the e-detector since it was cleared."""
    _history: Baseline | None = None

    def seen(self, at: int) -> None:
        """Note a conversation, scored or not."""
        if self.last_at:
            self.gap += GAP_MEMORY * (at - self.last_at - self.gap)
        else:
            self.first_at = at
        self.last_at = at

    def is_live(self, at: int) -> bool:
        """Whether it still gets traffic, as far as its own pace can tell."""
        return at - self.last_at <= max(LEAST_SILENT, GAPS_SILENT * self.gap)

    def add(self, closed: Closed) -> None:
        """Take in a conversation with a turn at risk; its own drift first."""
        row = stratum(closed.chain, closed.intent)
        self._weigh_drift(closed, row)
        self._history = None
        self.count += 1
        self.turns += closed.at_risk
        self.total[:, row] += share(closed.roots, closed.at_risk, closed.inherited)
        x, y = damped(closed.early_roots), closed.early_at_risk
        self.early[row] += (1, x, y, x * x, x * y, y * y)
        if x:
            for reason, found in enumerate(closed.early_reasons):
                if found:
                    self.cells[closed.chain, reason] += (found, found * found, found * y)
        if closed.latency_bucket is not None:
            self.latencies[closed.latency_bucket] += 1
        if closed.day is not None:
            self._add_day(closed.day, damped(closed.roots), closed.at_risk)
        if self.count in DRIFT_REFERENCES:
            self.drift_bounds = stratum_bounds(self.early)
            self.drift_stakes = stakes(self.drift_bounds)

    def move(self, row: int, amounts: Sequence[int], sign: int) -> None:
        """Take a conversation's earlier verdicts out, or put its later ones in."""
        self._history = None
        self.turns += sign * amounts[1]
        self.total[:, row] += sign * share(*amounts)

    def renewed(self, least_drift: float) -> Record:
        """The same release without any sums; what was found and decided about it stays.

        Drift was found from `least_drift` on, as a log10.
        """
        return Record(
            self.name,
            self.order,
            self.model,
            self.first_at,
            self.last_at,
            self.gap,
            regressed=self.regressed,
            accepted=self.accepted,
            drift_latched=self.drift_latched if self.drift_latched >= least_drift else 0.0,
        )

    def clear_drift(self) -> None:
        """Begin anew: the operator knows."""
        self.drift[:] = 0.0
        self.drift_latched = 0.0

    def history(self) -> Baseline:
        """All its root failures as a baseline; made anew when they changed."""
        if self._history is None:
            self._history = Baseline(self.total[ROOTS])
        return self._history

    @property
    def past_days(self) -> list[Day]:
        """All days but the newest, which is still filling."""
        newest = max(self.days, default=0)
        return [day for number, day in self.days.items() if number != newest]

    @property
    def past_turns(self) -> int:
        """Turns at risk of those days."""
        return self.dated - (self.days[max(self.days)].turns if self.days else 0)

    @property
    def day_weight(self) -> float:
        """Sum of the squared shares of its days: 1 for one day, 1/k for k even ones."""
        return self.squared / (self.dated * self.dated) if self.dated else 1.0

    @property
    def chain_totals(self) -> Floats:
        """n, y, yy of the early turns, by chain."""
        by_chain = self.early.reshape(-1, CHAIN_COUNT, VIEW).sum(axis=0)
        found: Floats = by_chain[:, (0, 2, 5)]
        return found

    def _weigh_drift(self, closed: Closed, row: int) -> None:
        bound = float(self.drift_bounds[row])
        if bound != bound:  # nan: the stratum has no reference
            return
        gain = damped(closed.early_roots) - bound * closed.early_at_risk
        settle_drift(self.drift, self.drift_stakes, gain)
        mean = float(self.drift.mean())
        if mean > 1.0:
            self.drift_latched = max(self.drift_latched, log10(float(np.log(mean))))

    def _add_day(self, number: int, x: float, y: int) -> None:
        day = self.days.get(number)
        if day is None:
            if len(self.days) >= DAYS_KEPT:
                gone = self.days.pop(min(self.days)).turns
                self.dated -= gone
                self.squared -= gone * gone
            day = self.days[number] = Day()
        before = day.turns
        day.add(x, y)
        self.dated += y
        self.squared += day.turns**2 - before**2


_ARRAYS: Final[dict[str, tuple[type, tuple[int, ...]]]] = {
    "total": (np.float64, ARM),
    "early": (np.float64, (STRATA, VIEW)),
    "cells": (np.int64, (*CELLS, 3)),
    "latencies": (np.int64, (LATENCY_BUCKETS,)),
    "drift": (np.float64, (BETS,)),
    "drift_bounds": (np.float64, (STRATA,)),
    "drift_stakes": (np.float64, (BETS,)),
}


def write_record(record: Record) -> bytes:
    """The record as bytes; floating point to the last bit."""
    days = {number: day.sums for number, day in record.days.items()}
    return write_fields(record, _ARRAYS, {"days": days})


def read_record(data: bytes) -> Record:
    """The record of `write_record`. Raises StateError."""
    fields = read_fields(data, _ARRAYS)
    try:
        fields["days"] = {number: Day(*sums) for number, sums in fields["days"].items()}
        return Record(**fields)
    except (TypeError, KeyError, AttributeError) as error:
        raise DamagedState(f"detectors: a release's state is damaged: {error}") from error


def write_fields(
    state: object, arrays: Mapping[str, tuple[type, tuple[int, ...]]], instead: Mapping[str, Any]
) -> bytes:
    """A slotted dataclass as bytes."""
    fields: dict[str, Any] = {}
    for name in type(state).__slots__:  # type: ignore[attr-defined]
        if name.startswith("_"):  # worked out from the rest
            continue
        value = instead[name] if name in instead else getattr(state, name)
        fields[name] = value.tobytes() if name in arrays else value
    return seal(KIND, fields)


def read_fields(data: bytes, arrays: Mapping[str, tuple[type, tuple[int, ...]]]) -> dict[str, Any]:
    """What `write_fields` wrote. Raises StateError."""
    fields = unseal(KIND, data, _READERS)
    try:
        for name, (kind, shape) in arrays.items():
            fields[name] = np.frombuffer(fields[name], dtype=kind).reshape(shape).copy()
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedState(f"detectors: stored sums are damaged: {error}") from error
    return fields


_READERS: Final = {VERSION: reader_of(dict[str, Any])}
