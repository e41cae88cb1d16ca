"""What judging did and what it tells of all turns, as metric families."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from monitor.exposition import judge_catalogue as own
from monitor.exposition.catalogue import Labels, Metric
from monitor.exposition.families import Family, counter, gauge
from monitor.ledger.labels import label_value
from monitor.ledger.snapshot import Totals

MICRO_USD = 1_000_000
BOUNDS = ("estimate", "lower", "upper")


class Judging(NamedTuple):
    """The judge at this moment; counts began with the process."""

    counts: Mapping[str, int] = {}
    """`request:<result>`, `abstained:<why>`, `suspected:<family>`, `canary:<result>`,
    `tokens:<direction>`, `cached`, `micro_usd`."""
    corrected: Mapping[str, tuple[str, tuple[float, float, float]]] = {}
    """By release the judge, and its estimate with bounds."""
    left_usd: float | None = None
    waiting: int = 0
    circuit_open: bool = False
    judge: str = "unknown"
    """Who is asked now, as a label."""


def judge_families(judging: Judging | None, totals: Totals) -> Iterator[Family]:
    """Nothing where no judge is configured."""
    if judging is None:
        return
    releases = [release.name for release in totals.releases]
    for metric in own.BY_RELEASE:
        filled: dict[Labels, float] = {
            labels: 0 for r in releases for labels in own.labels_of(metric, r, judging.judge)
        }
        counted = totals.family(metric.family)
        filled.update({key: value for key, value in counted.items() if key[0] in set(releases)})
        yield counter(metric, filled)
    yield gauge(
        own.CORRECTED,
        {
            (release, label_value(judge), name): value
            for release, (judge, bounds) in judging.corrected.items()
            if release in releases
            for name, value in zip(BOUNDS, bounds, strict=True)
        },
    )
    yield _of(own.REQUESTS, judging, "request")
    yield _of(own.ABSTENTIONS, judging, "abstained")
    yield _of(own.SUSPECTED, judging, "suspected")
    yield _of(own.CANARIES, judging, "canary")
    yield _of(own.TOKENS, judging, "tokens")
    skipped = dict.fromkeys(own.SKIPPED.zeros, 0.0)
    skipped.update(totals.family(own.SKIPPED.family))
    yield counter(own.SKIPPED, skipped)
    yield counter(own.CACHED, {(): judging.counts.get("cached", 0)})
    yield counter(own.COST, {(): judging.counts.get("micro_usd", 0) / MICRO_USD})
    if judging.left_usd is not None:
        yield gauge(own.LEFT, {(): judging.left_usd})
    yield gauge(own.WAITING, {(): judging.waiting})
    yield gauge(own.CIRCUIT, {(): float(judging.circuit_open)})


def _of(metric: Metric, judging: Judging, kind: str) -> Family:
    """The counts of one kind, over the label values that stand at zero from the start."""
    found: dict[Labels, float] = dict.fromkeys(metric.zeros, 0.0)
    for name, value in judging.counts.items():
        before, _, after = name.partition(":")
        if before == kind and after:
            found[(label_value(after),)] = value
    return counter(metric, found)
