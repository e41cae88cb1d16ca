"""What a worker shows of itself, in Prometheus' formats."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest

from monitor.exposition import worker_catalogue as own
from monitor.exposition.catalogue import REDACTIONS
from monitor.exposition.collector import TEXT_TYPE
from monitor.exposition.families import Family, counter, gauge
from monitor.roles.kafka.worker import Stand, Worker

Values = dict[tuple[str, ...], float]


class WorkerMetrics:
    """A prometheus_client collector over one worker."""

    def __init__(self, worker: Worker, redactions: Callable[[], Mapping[str, int]]) -> None:
        """`redactions` tells how many values were taken out, by kind."""
        self._worker = worker
        self._redactions = redactions

    def collect(self) -> Iterator[Family]:
        """Every family, in the catalogue's order."""
        stands = self._worker.stands()
        yield counter(own.RECORDS, {_place(each): float(each.worked) for each in stands})
        yield gauge(own.WAITING, {_place(each): float(each.waiting) for each in stands})
        behind: Values = {_place(each): each.lag for each in stands if each.lag is not None}
        yield gauge(own.LAG, behind)
        yield counter(own.BUSY, {_place(each): each.busy_s for each in stands})
        yield counter(own.SET_ASIDE, {_place(each): float(each.set_aside) for each in stands})
        used = resource.getrusage(resource.RUSAGE_SELF)
        yield counter(own.CPU, {(): used.ru_utime + used.ru_stime})
        redacted: Values = {(kind,): float(count) for kind, count in self._redactions().items()}
        yield counter(REDACTIONS, redacted)

    def render(self, _: str) -> tuple[bytes, str]:
        """The page and its content type."""
        registry = CollectorRegistry(auto_describe=False)
        registry.register(self)
        return generate_latest(registry), TEXT_TYPE

    def describe(self) -> list[Family]:
        """Nothing ahead of time: names are unique by construction."""
        return []


def _place(stand: Stand) -> tuple[str, ...]:
    return stand.topic, str(stand.partition)
