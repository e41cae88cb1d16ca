"""One release against its baseline: the evidence so far, by signal."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from monitor.errors import DamagedState
from monitor.releases.arms import (
    ARM,
    INHERITED,
    LEAST_STRATUM,
    ROOT_REASONS,
    ROOTS,
    STRATA,
    Closed,
    Floats,
    Ints,
    X,
    damped,
    of_chain,
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
    stratum_bounds,
    upper_bounds,
)
from monitor.releases.days import day_variance
from monitor.releases.mixture import (
    LEAST_BASELINE,
    LEAST_CONVERSATIONS,
    LEAST_EVENTS,
    Baseline,
    Rise,
    log_evidence,
)
from monitor.releases.records import CELLS, LATENCY_BUCKETS, Record, read_fields, write_fields
from monitor.verdict import CHAINS

HISTORY_DAYS: Final = 30
"""Days of its own after which a release is no longer held against an older one's history, since
all else changed too; from then on only its drift is watched."""
OTHER_SIGNALS_EVERY: Final = 10
"""Conversations between two looks at the signals that page nobody."""
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

    def is_history(self, record: Record) -> bool:
        """Whether a release is a baseline by itself: no setting makes fewer turns enough."""
        return record.count >= self.baseline_conversations and record.turns > LEAST_BASELINE


class Arms(NamedTuple):
    """What is compared now."""

    baseline: Floats
    candidate: Floats
    is_canary: bool


@dataclass(slots=True)
class Pair:
    """A candidate and its baseline. Evidence only rises, until the operator clears it."""

    candidate: str
    baseline: str
    mark: Floats = field(default_factory=lambda: np.zeros(ARM))
    """The baseline's sums when the candidate appeared: what came since is concurrent."""
    mark_turns: int = 0
    offset: Floats = field(default_factory=lambda: np.zeros(ARM))
    """The candidate's sums when the operator cleared the evidence."""
    offset_turns: int = 0
    opened: bool = False
    weighed: bool = False
    """Whether there was ever enough for the evidence that pages."""
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
    _days: tuple[tuple[int, int], float | None] | None = None

    def step(self, record: Record, base: Record, closed: Closed, at: int, rules: Rules) -> None:
        """Weigh one more conversation of the candidate, which its record already holds."""
        if not self._open(record, base, rules):
            return
        self._bet(closed)
        self._weigh_total(record, base, at, rules)
        self.steps += 1
        if self.steps % OTHER_SIGNALS_EVERY == 0:
            self._weigh_others(record, base, self.arms(record, base, at), rules)

    def arms(self, record: Record, base: Record, at: int) -> Arms:
        """Concurrent control while the baseline still gets traffic, else its whole history."""
        candidate = np.maximum(record.total - self.offset, 0.0)
        if self._is_canary(base, at):
            return Arms(np.maximum(base.total - self.mark, 0.0), candidate, True)
        return Arms(base.total, candidate, False)

    def missing(self, record: Record, base: Record, at: int, rules: Rules) -> int:
        """Turns until the evidence can be weighed; 0 when it is."""
        if self.weighed:
            return 0
        arms = self.arms(record, base, at)
        found = Baseline(arms.baseline[ROOTS]).rise(arms.candidate[ROOTS])
        per_conversation = max(record.turns, 1) / max(record.count, 1)
        wanted = max(rules.swap_conversations, LEAST_CONVERSATIONS)
        short = per_conversation * max(wanted - found.conversations, 0)
        if found.events_known < LEAST_EVENTS:
            hazard = max(float(base.total[ROOTS, :, X].sum()), 1.0) / max(base.turns, 1)
            short = max(short, (LEAST_EVENTS - found.events_known) / hazard)
        if not arms.is_canary:
            per_baseline = base.turns / base.count if base.count else per_conversation
            short = max(short, per_baseline * (rules.baseline_conversations - base.count))
            short = max(short, LEAST_BASELINE + 1 - base.turns)
        return max(1, round(short))

    def clear(self, record: Record, base: Record) -> None:
        """Begin anew from here: what was found is known."""
        self.mark, self.offset = base.total.copy(), record.total.copy()
        self.mark_turns, self.offset_turns = base.turns, record.turns
        self.opened = self.weighed = False
        self.capital[:] = 0.0
        self.cells[:] = 0.0
        self.latched.clear()
        self.selected.clear()

    def renew(self, record: Record, base: Record, page_evidence: float) -> None:
        """Begin anew under other rules of verdicts; what was found stays found."""
        least = math.log10(page_evidence)
        found = {
            signal: log for signal, log in self.latched.items() if record.regressed or log >= least
        }
        selected = list(self.selected)
        self.clear(record, base)
        self.latched.update(found)
        self.selected.extend(selected)

    def _open(self, record: Record, base: Record, rules: Rules) -> bool:
        """Fix what the bets are held against, once there is enough of both."""
        if self.opened:
            return True
        if record.count < rules.swap_conversations:
            return False
        control = base.turns - self.mark_turns
        if not rules.is_history(base) and control <= LEAST_BASELINE:
            return False
        self.opened = True
        self.bounds = stratum_bounds(base.early)
        self.stakes = stakes(self.bounds)
        self.cell_bounds = upper_bounds(cells_view(base.cells, base.chain_totals), CELL_DEVIATIONS)
        self.cell_stakes = cell_stakes(self.cell_bounds)
        self.slow_from = _slow_from(base.latencies)
        return True

    def _bet(self, closed: Closed) -> None:
        bound = float(self.bounds[stratum(closed.chain, closed.intent)])
        if bound == bound:  # not nan: the stratum has a baseline
            gain = damped(closed.early_roots) - bound * closed.early_at_risk
            self.capital += np.log1p(self.stakes * gain)
            self._latch("certified", float(log_mean(self.capital)))
        bounds = self.cell_bounds[closed.chain]
        if bounds[0] == bounds[0]:
            gains = np.array(closed.early_reasons) - bounds * closed.early_at_risk
            self.cells[closed.chain] += np.log1p(self.cell_stakes[closed.chain] * gains[:, None])

    def _weigh_total(self, record: Record, base: Record, at: int, rules: Rules) -> None:
        """After every conversation: this is the evidence that pages."""
        candidate = record.total[ROOTS]
        if self.offset_turns:
            candidate = np.maximum(candidate - self.offset[ROOTS], 0.0)
        canary = self._is_canary(base, at)
        if canary:
            found = Baseline(np.maximum(base.total[ROOTS] - self.mark[ROOTS], 0.0)).rise(candidate)
        elif rules.is_history(base) and len(record.days) <= HISTORY_DAYS:
            found = base.history().rise(candidate)
        else:
            return
        if not found.is_weighable:
            return
        self.weighed = True
        tolerated, variance = 0.0, found.variance
        if not canary:
            days = self._day_variance(record, base)
            if days is None:
                tolerated = rules.tolerance
            else:
                variance += days * (base.day_weight + record.day_weight)
        self._latch("total", log_evidence(found.rise - tolerated, variance))

    def _weigh_others(self, record: Record, base: Record, arms: Arms, rules: Rules) -> None:
        tolerated = 0.0 if arms.is_canary else rules.tolerance
        a, b = arms.baseline[ROOTS], arms.candidate[ROOTS]
        for chain, signal in enumerate(CHAIN_SIGNALS):
            found = Baseline(of_chain(a, chain)).rise(of_chain(b, chain))
            self._weigh(signal, found, tolerated)
        shared = 0.0 if arms.is_canary else SHARE_TOLERANCE
        inherited = Baseline(arms.baseline[INHERITED])
        self._weigh("cascade", inherited.rise(arms.candidate[INHERITED]), shared, LEAST_STRATUM)
        slow = Baseline(_slow(base.latencies, self.slow_from))
        self._weigh("latency", slow.rise(_slow(record.latencies, self.slow_from)), SHARE_TOLERANCE)
        logs = log_mean(self.cells)
        for reason, log in zip(ROOT_REASONS, log_mean(logs.T), strict=True):
            self._latch(reason, float(log))
        self.selected = sorted({*self.selected, *selected(logs)})

    def _weigh(
        self, signal: str, found: Rise, tolerated: float, least: int = LEAST_BASELINE
    ) -> None:
        enough = found.conversations >= LEAST_CONVERSATIONS and found.events_known >= LEAST_EVENTS
        if enough and found.baseline_turns >= least and found.variance > 0:
            self._latch(signal, log_evidence(found.rise - tolerated, found.variance))

    def _day_variance(self, record: Record, base: Record) -> float | None:
        """How days differ, by those of both; worked out again when a day is over."""
        known = (base.dated, record.past_turns)
        if self._days is None or self._days[0] != known:
            self._days = (known, day_variance(base.days.values(), record.past_days))
        return self._days[1]

    def _is_canary(self, base: Record, at: int) -> bool:
        return base.turns - self.mark_turns > LEAST_BASELINE and base.is_live(at)

    def _latch(self, signal: str, log: float) -> None:
        found = log10(log)
        if found > self.latched.get(signal, 0.0) or signal not in self.latched:
            self.latched[signal] = max(found, 0.0)


def cell_names(cell: int) -> tuple[str, str]:
    """Reason and chain of a cell's number."""
    chain, reason = divmod(cell, len(ROOT_REASONS))
    return ROOT_REASONS[reason], CHAINS[chain]


def _slow_from(latencies: Ints) -> int:
    total = int(latencies.sum())
    if not total:
        return LATENCY_BUCKETS
    reached = np.cumsum(latencies) >= SLOW_SHARE * total
    return int(np.argmax(reached)) + 1


def _slow(latencies: Ints, slow_from: int) -> Floats:
    n, slow = int(latencies.sum()), int(latencies[slow_from:].sum())
    return np.array([[n, slow, n, slow, slow, n]], dtype=np.float64)


_ARRAYS: Final[dict[str, tuple[type, tuple[int, ...]]]] = {
    "mark": (np.float64, ARM),
    "offset": (np.float64, ARM),
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
