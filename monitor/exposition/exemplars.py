"""A trace to look at for each kind of failure: the newest id of each, and only so many."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from prometheus_client.samples import Exemplar

from monitor.exposition.catalogue import Labels
from monitor.ledger.labels import label_value
from monitor.verdict import Report

TRACE: Final = "trace_id"
LIMIT: Final = 512
"""Kinds that are remembered: all of eight releases, and what was newest of others."""
_ID: Final = re.compile(r"[0-9a-fA-F-]{8,64}")
"""Hex digits and UUIDs; a tracer's own words could tell of a person."""


class Exemplars:
    """One thread sees reports, any thread reads. Begins empty with each process."""

    def __init__(self, limit: int = LIMIT) -> None:
        """`limit` bounds the kinds; the one that was seen longest ago goes first."""
        self._limit = limit
        self._newest: dict[Labels, Exemplar] = {}

    def see(self, report: Report, at_s: float) -> None:
        """Remember the failed turns of a report that was committed at that time."""
        release = label_value(report.release)
        for turn in report.turns:
            reason, trace_id = turn.failure_reason, turn.trace_id
            if reason is None or trace_id is None or not _ID.fullmatch(trace_id):
                continue
            began = "inherited" if turn.is_inherited else "root"
            self._keep((release, turn.chain, reason, began), trace_id, at_s)

    def shown(self) -> Mapping[Labels, Exemplar]:
        """By the labels of the failures' counter."""
        return dict(self._newest)

    def _keep(self, labels: Labels, trace_id: str, at_s: float) -> None:
        self._newest.pop(labels, None)
        self._newest[labels] = Exemplar({TRACE: trace_id}, 1.0, at_s)
        while len(self._newest) > self._limit:
            del self._newest[next(iter(self._newest))]
