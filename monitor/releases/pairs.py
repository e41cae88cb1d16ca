"""One release against its baseline: the evidence so far, by signal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from monitor.errors import DamagedState
from monitor.releases.arms import (
    ROOT_REASONS,
    STRATA,
    SUMS,
    Closed,
    Floats,
    Ints,
    X,
    Y,
    inherited_per_failure,
    of_chain,
    roots_per_turn,
    stratum,
)
from monitor.releases.betting import (
    BETS,
    CELL_DEVIATIONS,
    cell_stakes,
    cells_view,
    log10,
    log_mean,
    selected,
    stakes,
    upper_bounds,
)
from monitor.releases.days import relative_day_variance, weight_of_days
from monitor.releases.mixture import (
    LEAST_BASELINE,
    LEAST_CONVERSATIONS,
    LEAST_EVENTS,
    Rise,
    log_evidence,
    rise_of,
)
from monitor.releases.records import CELLS, LATENCY_BUCKETS, Record, read_fields, write_fields
from monitor.verdict import CHAINS

OTHER_SIGNALS_EVERY: Final = 10
"""Conversations between two looks at the signals that page nobody."""
LEAST_FAILURES: Final = 30
"""Of the baseline's stratum, for the share of inherited ones."""
SHARE_TOLERANCE: Final = 0.05
"""Rise of a share (inherited of failed, slow of all) that history may explain."""
SLOW_SHARE: Final = 0.9
"""A conversation is slow beyond the bucket that holds so much of the baseline."""
CHAIN_SIGNALS: Final = tuple(f"chain_{chain}" for chain in CHAINS)
SIGNALS: Final = ("total", "certified", "cascade", "latency", *ROOT_REASONS, *CHAIN_SIGNALS)


class Rules(msgspec.Struct, frozen=True):
    """When a comparison begins, and what it tolerates."""

    swap_conversations: int = 50
    """Of a new release, before it is compared."""
    baseline_conversations: int = 2000
    """Of an old one, before it is a baseline of history."""
    tolerance: float = 0.005
    """Rise of the hazard that history, which is no concurrent control, may explain."""
    page_evidence: float = 200.0
    drift_evidence: float = 6e6


class Arms(NamedTuple):
    """What is compared now."""

    baseline: Ints
    candidate: Ints
    is_canary: bool


@dataclass(slots=True)
class Pair:
    """A candidate and its baseline. Evidence only rises, until the operator clears it."""

    candidate: str
    baseline: str
    mark: Ints = field(default_factory=lambda: np.zeros((STRATA, SUMS), dtype=np.int64))
    """The baseline's sums when the candidate appeared: what came since is concurrent."""
    offset: Ints = field(default_factory=lambda: np.zeros((STRATA, SUMS), dtype=np.int64))
    """The candidate's sums when the operator cleared the evidence."""
    opened: bool = False
    weighed: bool = False
    """Whether there was ever enough for the evidence that pages."""
    accepted: bool = False
    """The operator takes the candidate as it is."""
    steps: int = 0
    bounds: Floats = field(default_factory=lambda: np.full(STRATA, np.nan))
    stakes: Floats = field(default_factory=lambda: np.zeros(BETS))
    capital: Floats = field(default_factory=lambda: np.zeros(BETS))
    """Logarithms, by bet."""
    cell_bounds: Floats = field(default_factory=lambda: np.full(CELLS, np.nan))
    cell_stakes: Floats = field(default_factory=lambda: np.zeros((*CELLS, BETS)))
    cells: Floats = field(default_factory=lambda: np.zeros((*CELLS, BETS)))
    slow_from: int = LATENCY_BUCKETS
    """First bucket of a slow conversation."""
    latched: dict[str, float] = field(default_factory=dict)
    """log10 of the highest evidence, by signal."""
    selected: list[int] = field(default_factory=list)
    """Cells of reason and chain that stood out, by number."""

    def step(self, record: Record, base: Record, closed: Closed, at: int, rules: Rules) -> None:
        """Weigh one more conversation of the candidate, which its record already holds."""
        if self.accepted or not closed.at_risk or not self._open(record, base, rules):
            return
        self._bet(closed)
        arms = self.arms(record, base, at)
        self._weigh_total(record, base, arms, rules)
        self.steps += 1
        if self.steps % OTHER_SIGNALS_EVERY == 0:
            self._weigh_others(record, base, arms, rules)

    def arms(self, record: Record, base: Record, at: int) -> Arms:
        """Concurrent control while the baseline still gets traffic, else its whole history."""
        candidate = np.maximum(record.total - self.offset, 0)
        control = np.maximum(base.total - self.mark, 0)
        if int(control[:, Y].sum()) > LEAST_BASELINE and base.is_live(at):
            return Arms(control, candidate, True)
        return Arms(base.total, candidate, False)

    def missing(self, record: Record, base: Record, at: int, rules: Rules) -> int:
        """Turns until the evidence can be weighed; 0 when it is."""
        if self.weighed or self.accepted:
            return 0
        arms = self.arms(record, base, at)
        found = rise_of(roots_per_turn(arms.baseline), roots_per_turn(arms.candidate))
        turns = max(found.turns, 1)
        per_conversation = turns / max(found.conversations, 1)
        wanted = max(rules.swap_conversations, LEAST_CONVERSATIONS)
        short = per_conversation * max(wanted - found.conversations, 0)
        if found.events < LEAST_EVENTS:
            hazard = max(float(base.total[:, 1].sum()), 1.0) / max(
                float(base.total[:, Y].sum()), 1.0
            )
            short = max(short, (LEAST_EVENTS - found.events) / hazard)
        if not arms.is_canary and base.count < rules.baseline_conversations:
            per_baseline = float(base.total[:, Y].sum()) / max(base.count, 1)
            short = max(short, per_baseline * (rules.baseline_conversations - base.count))
        return max(1, round(short))

    def clear(self, record: Record, base: Record) -> None:
        """Begin anew from here: what was found is known."""
        self.mark, self.offset = base.total.copy(), record.total.copy()
        self.opened = self.weighed = False
        self.capital[:] = 0.0
        self.cells[:] = 0.0
        self.latched.clear()
        self.selected.clear()

    def _open(self, record: Record, base: Record, rules: Rules) -> bool:
        """Fix what the bets are held against, once there is enough of both."""
        if self.opened:
            return True
        if record.count < rules.swap_conversations:
            return False
        control = int(base.total[:, Y].sum() - self.mark[:, Y].sum())
        if base.count < rules.baseline_conversations and control <= LEAST_BASELINE:
            return False
        self.opened = True
        self.bounds = upper_bounds(base.early)
        self.stakes = stakes(self.bounds)
        self.cell_bounds = upper_bounds(cells_view(base.cells, base.chain_totals), CELL_DEVIATIONS)
        self.cell_stakes = cell_stakes(self.cell_bounds)
        self.slow_from = _slow_from(base.latencies)
        return True

    def _bet(self, closed: Closed) -> None:
        bound = float(self.bounds[stratum(closed.chain, closed.intent)])
        if bound == bound:  # not nan: the stratum has a baseline
            gain = closed.early_roots - bound * closed.early_at_risk
            self.capital += np.log1p(self.stakes * gain)
            self._latch("certified", float(log_mean(self.capital)))
        bounds = self.cell_bounds[closed.chain]
        if bounds[0] == bounds[0]:
            gains = np.array(closed.early_reasons) - bounds * closed.early_at_risk
            self.cells[closed.chain] += np.log1p(self.cell_stakes[closed.chain] * gains[:, None])

    def _weigh_total(self, record: Record, base: Record, arms: Arms, rules: Rules) -> None:
        if not arms.is_canary and base.count < rules.baseline_conversations:
            return
        found = rise_of(roots_per_turn(arms.baseline), roots_per_turn(arms.candidate))
        if not found.is_weighable:
            return
        self.weighed = True
        tolerated, variance = 0.0, found.variance
        if not arms.is_canary:
            tolerated = rules.tolerance
            variance += day_variance(record, base)
        self._latch("total", log_evidence(found.rise - tolerated, variance))

    def _weigh_others(self, record: Record, base: Record, arms: Arms, rules: Rules) -> None:
        tolerated = 0.0 if arms.is_canary else rules.tolerance
        a, b = roots_per_turn(arms.baseline), roots_per_turn(arms.candidate)
        for chain, signal in enumerate(CHAIN_SIGNALS):
            self._weigh(signal, rise_of(of_chain(a, chain), of_chain(b, chain)), tolerated)
        self._weigh(
            "cascade",
            rise_of(
                inherited_per_failure(arms.baseline),
                inherited_per_failure(arms.candidate),
                LEAST_FAILURES,
            ),
            0.0 if arms.is_canary else SHARE_TOLERANCE,
            LEAST_FAILURES,
        )
        self._weigh("latency", self._slower(record, base), SHARE_TOLERANCE)
        logs = log_mean(self.cells)
        for reason, log in zip(ROOT_REASONS, log_mean(logs.T), strict=True):
            self._latch(reason, float(log))
        self.selected = sorted({*self.selected, *selected(logs)})

    def _weigh(
        self, signal: str, found: Rise, tolerated: float, least: int = LEAST_BASELINE
    ) -> None:
        enough = found.conversations >= LEAST_CONVERSATIONS and found.events >= LEAST_EVENTS
        if enough and found.baseline_turns >= least and found.variance > 0:
            self._latch(signal, log_evidence(found.rise - tolerated, found.variance))

    def _slower(self, record: Record, base: Record) -> Rise:
        return rise_of(
            _slow(base.latencies, self.slow_from), _slow(record.latencies, self.slow_from)
        )

    def _latch(self, signal: str, log: float) -> None:
        found = log10(log)
        if found > self.latched.get(signal, 0.0) or signal not in self.latched:
            self.latched[signal] = max(found, 0.0)


def day_variance(record: Record, base: Record) -> float:
    """What differences between days add to the variance of a rise over history."""
    relative = relative_day_variance(base.days.values())
    if not relative:
        return 0.0
    hazard = _sum(base.total, X) / max(_sum(base.total, Y), 1.0)
    weight = weight_of_days(base.days.values()) + weight_of_days(record.days.values())
    return relative * hazard * hazard * weight


def cell_names(cell: int) -> tuple[str, str]:
    """Reason and chain of a cell's number."""
    chain, reason = divmod(cell, len(ROOT_REASONS))
    return ROOT_REASONS[reason], CHAINS[chain]


def _sum(arm: Ints, column: int) -> float:
    return float(arm[:, column].sum())


def _slow_from(latencies: Ints) -> int:
    total = int(latencies.sum())
    if not total:
        return LATENCY_BUCKETS
    reached = np.cumsum(latencies) >= SLOW_SHARE * total
    return int(np.argmax(reached)) + 1


def _slow(latencies: Ints, slow_from: int) -> Ints:
    n, slow = int(latencies.sum()), int(latencies[slow_from:].sum())
    return np.array([[n, slow, n, slow, slow, n]], dtype=np.int64)


_ARRAYS: Final[dict[str, tuple[type, tuple[int, ...]]]] = {
    "mark": (np.int64, (STRATA, SUMS)),
    "offset": (np.int64, (STRATA, SUMS)),
    "bounds": (np.float64, (STRATA,)),
    "stakes": (np.float64, (BETS,)),
    "capital": (np.float64, (BETS,)),
    "cell_bounds": (np.float64, CELLS),
    "cell_stakes": (np.float64, (*CELLS, BETS)),
    "cells": (np.float64, (*CELLS, BETS)),
}


def write_pair(pair: Pair) -> bytes:
    """The pair as bytes; floating point to the last bit."""
    return write_fields(pair, _ARRAYS, {})


def read_pair(data: bytes) -> Pair:
    """The pair of `write_pair`. Raises StateError."""
    fields: dict[str, Any] = read_fields(data, _ARRAYS)
    try:
        return Pair(**fields)
    except TypeError as error:
        raise DamagedState(f"detectors: a comparison's state is damaged: {error}") from error
