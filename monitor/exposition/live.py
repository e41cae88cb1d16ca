"""What exposition shows beside the ledger: the process's own state at this moment."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import Final

import msgspec
from prometheus_client.samples import Exemplar

from monitor.exposition.catalogue import Labels
from monitor.exposition.judge_families import Judging
from monitor.ledger.snapshot import Totals
from monitor.releases.standing import Shown

LAG_BUCKETS_S: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Lag(msgspec.Struct, frozen=True):
    """How often a lag fell into each bucket; the last one is beyond every bound."""

    buckets: tuple[int, ...] = (0,) * (len(LAG_BUCKETS_S) + 1)
    sum_s: float = 0.0


class LagGauge:
    """Gathers lags for one stage. One thread observes, any thread reads."""

    def __init__(self) -> None:
        self._buckets = [0] * (len(LAG_BUCKETS_S) + 1)
        self._sum_s = 0.0

    def observe(self, lag_s: float) -> None:
        """Count one lag; a negative one, from a clock set back, counts as zero."""
        lag_s = max(lag_s, 0.0)
        self._buckets[bisect_left(LAG_BUCKETS_S, lag_s)] += 1
        self._sum_s += lag_s

    def read(self) -> Lag:
        """What was observed since the start."""
        return Lag(tuple(self._buckets), self._sum_s)


class Groups(msgspec.Struct, frozen=True):
    """How far the consumer groups of the roles apart are behind."""

    lags: dict[tuple[str, str], int] = {}
    """Records not acknowledged, by group and topic."""
    export_s: float | None = None
    """Age of the record that was taken last; None before the first, and where nobody knows."""
    measured_s: float | None = None
    """How long ago the lags were measured."""


class Live(msgspec.Struct, frozen=True):
    """Gauges, and counts that started with the process."""

    open_conversations: int = 0
    open_turns: int = 0
    open_spans: int = 0
    cache_hits: int | None = None
    """Of the embedding cache; None where no encoder is used, and then nothing is shown."""
    cache_misses: int | None = None
    unanswered: int | None = None
    """Questions that the encoder behind the cache failed to answer, or was spared."""
    lags: dict[str, Lag] = {}
    """Time from a turn's close to its commit, by stage: `rules`, `judge`."""
    counts: dict[str, int] = {}
    """Outcomes beside the ledger's, by the same names; for what cannot wait for a commit."""
    source_faults: dict[str, str | None] = {}
    """What keeps each source that is polled from being read; None where nothing does."""
    version: str = "unknown"
    shown: Shown = Shown()
    """What the detectors said with the last commit."""
    groups: Groups | None = None
    """None where the roles are not apart."""
    judging: Judging | None = None
    """The judge; None where none is configured."""
    exemplars: Mapping[Labels, Exemplar] = {}
    """A trace for each kind of failure, by the labels of the failures' counter."""


def settled(live: Live, totals: Totals) -> Live:
    """`live` with what was open at the totals' own moment, where the ledger knows it."""
    gauges = totals.gauges
    return msgspec.structs.replace(
        live,
        open_conversations=gauges.get("open_conversations", live.open_conversations),
        open_turns=gauges.get("open_turns", live.open_turns),
        open_spans=gauges.get("open_spans", live.open_spans),
    )
