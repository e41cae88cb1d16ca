"""The ledger's totals and the live gauges as Prometheus metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest as text_format
from prometheus_client.openmetrics.exposition import ALLOWUTF8
from prometheus_client.openmetrics.exposition import generate_latest as openmetrics_format
from prometheus_client.samples import Exemplar

from monitor.exposition import catalogue as cat
from monitor.exposition.families import (
    Family,
    Values,
    add,
    add_histogram,
    counter,
    family_of,
    gauge,
)
from monitor.exposition.group_families import group_families
from monitor.exposition.judge_families import judge_families
from monitor.exposition.live import LAG_BUCKETS_S, Live, settled
from monitor.exposition.release_families import comparison_families
from monitor.ledger.labels import OTHER, label_value
from monitor.ledger.snapshot import Totals

EXPIRED = "reports:expired"
USAGE_MISSING = "usage_missing"
OPENMETRICS = "application/openmetrics-text"
OPENMETRICS_TYPE = f"{OPENMETRICS}; version=1.0.0; charset=utf-8"
TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Collector:
    """A prometheus_client collector; one scrape is one committed moment of the ledger."""

    def __init__(self, totals: Callable[[], Totals], live: Callable[[], Live]) -> None:
        """`totals` and `live` are asked once per scrape, by the scraping thread."""
        self._totals = totals
        self._live = live

    def collect(self) -> Iterator[Family]:
        """Every family of the catalogue, in its order. Raises LedgerError or StateError."""
        totals = self._totals()
        live = settled(self._live(), totals)
        yield from _release_families(totals, live.exemplars)
        yield from comparison_families(live.shown, totals)
        yield from judge_families(live.judging, totals)
        yield from _span_families(totals, live)
        yield from _health_families(totals, live)
        yield from group_families(live.groups)

    def render(self, accept: str) -> tuple[bytes, str]:
        """The page and its content type, as OpenMetrics where the Accept header prefers it."""
        registry = CollectorRegistry(auto_describe=False)
        registry.register(self)
        if prefers_openmetrics(accept):
            # Our names are plain, so nothing needs escaping and the quick path is right.
            page: bytes = openmetrics_format(registry, ALLOWUTF8)  # type: ignore[no-untyped-call]
            return page, OPENMETRICS_TYPE
        return text_format(registry), TEXT_TYPE

    def describe(self) -> Iterable[Family]:
        """Nothing ahead of time: names are unique by construction."""
        return ()


class _Preference(NamedTuple):
    openmetrics: float
    text: float


def prefers_openmetrics(accept: str) -> bool:
    """Whether an Accept header ranks OpenMetrics at least as high as plain text."""
    best = _Preference(0.0, 0.0)
    for offer in accept.lower().split(","):
        kind, *parameters = (part.strip() for part in offer.split(";"))
        quality = _quality(parameters)
        if kind == OPENMETRICS and _version(parameters) in (None, "1.0.0", "0.0.1"):
            best = _Preference(max(best.openmetrics, quality), best.text)
        elif kind in ("text/plain", "text/*"):
            best = _Preference(best.openmetrics, max(best.text, quality))
    return best.openmetrics > 0 and best.openmetrics >= best.text


def _quality(parameters: Sequence[str]) -> float:
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return float(parameter[2:])
            except ValueError:
                return 0.0
    return 1.0


def _version(parameters: Sequence[str]) -> str | None:
    for parameter in parameters:
        if parameter.startswith("version="):
            return parameter[8:].strip('"')
    return None


def _release_families(totals: Totals, exemplars: Mapping[cat.Labels, Exemplar]) -> Iterator[Family]:
    releases = [release.name for release in totals.releases]
    for metric in cat.BY_RELEASE:
        values = _with_zeros(metric, totals.family(metric.family), releases)
        yield counter(metric, values, exemplars if metric is cat.FAILURES else None)
    yield _latency(totals, releases)
    info = family_of(cat.RELEASE_INFO)
    first_seen = family_of(cat.FIRST_SEEN)
    for release in totals.releases:
        add(info, cat.RELEASE_INFO, (release.name, release.model), 1, "_info")
        if release.first_seen_s is not None:
            add(first_seen, cat.FIRST_SEEN, (release.name,), release.first_seen_s)
    yield info
    yield first_seen
    yield counter(cat.CORRECTIONS, _with_zeros(cat.CORRECTIONS, totals.family("corrections")))
    yield counter(cat.LABEL_PAIRS, _with_zeros(cat.LABEL_PAIRS, totals.family("label_pairs")))


def _span_families(totals: Totals, live: Live) -> Iterator[Family]:
    sorted_out = _by_kind(outcomes(totals, live))
    yield counter(cat.SPANS, sorted_out["span"])
    yield counter(cat.DROPPED_SPANS, _with_zeros(cat.DROPPED_SPANS, sorted_out["dropped"]))
    yield counter(cat.REJECTED, _with_zeros(cat.REJECTED, sorted_out["rejected"]))
    faults = sorted_out["fault"]
    quarantined = sum(totals.family("quarantined").values())
    faults[("quarantined_row",)] = faults.get(("quarantined_row",), 0) + quarantined
    yield counter(cat.FAULTS_TOTAL, _with_zeros(cat.FAULTS_TOTAL, faults))
    events = sorted_out["event"]
    events[("evaluator_replaced",)] = live.shown.evaluators_replaced
    yield counter(cat.EVENTS, _with_zeros(cat.EVENTS, events))
    yield counter(cat.USAGE_MISSING, sorted_out[USAGE_MISSING])
    yield counter(cat.REDACTIONS, _with_zeros(cat.REDACTIONS, sorted_out["redacted"]))
    yield counter(cat.EXPIRED, sorted_out["expired"])
    yield counter(cat.OVERFLOW, _with_zeros(cat.OVERFLOW, totals.family("overflow")))


def _by_kind(counts: Mapping[str, int]) -> dict[str, dict[cat.Labels, float]]:
    """Outcomes by the metric that shows them; what no other shows is an event."""
    spans: dict[cat.Labels, float] = {(outcome,): 0 for outcome in cat.SPAN_OUTCOMES}
    found: dict[str, dict[cat.Labels, float]] = {
        "span": spans,
        "dropped": {},
        "rejected": {},
        "fault": {},
        "redacted": {},
        USAGE_MISSING: {(): counts.get(USAGE_MISSING, 0)},
        "event": {},
        "expired": {(): counts.get(EXPIRED, 0)},
    }
    for name, value in counts.items():
        kind, _, why = name.partition(":")
        if (kind,) in spans:
            spans[(kind,)] += value
        if why and kind in ("dropped", "rejected", "fault", "redacted"):
            found[kind][(label_value(why),)] = value
        elif (kind,) not in spans and name not in (EXPIRED, USAGE_MISSING):
            found["event"][(label_value(name),)] = value
    return found


def _health_families(totals: Totals, live: Live) -> Iterator[Family]:
    yield gauge(cat.OPEN_CONVERSATIONS, {(): live.open_conversations})
    yield gauge(cat.OPEN_TURNS, {(): live.open_turns})
    yield gauge(cat.OPEN_SPANS, {(): live.open_spans})
    yield gauge(cat.SPOOL_ROWS, {(): totals.spool_rows})
    yield gauge(cat.SPOOL_BYTES, {(): totals.spool_bytes})
    if live.source_faults:
        up: dict[cat.Labels, float] = {
            (label_value(name),): float(fault is None) for name, fault in live.source_faults.items()
        }
        yield gauge(cat.SOURCE_UP, up)
    waiting: dict[cat.Labels, float] = {(label_value(s),): n for s, n in totals.sinks.items()}
    yield gauge(cat.SINK_PENDING, waiting)
    dropped = dict.fromkeys(waiting, 0.0)
    for (sink,), lost in totals.family("sink_dropped").items():
        dropped[(label_value(sink),)] = lost
    yield counter(cat.SINK_DROPPED, dropped)
    if live.cache_hits is not None and live.cache_misses is not None:
        looked_up: dict[tuple[str, ...], float] = {
            ("hit",): live.cache_hits,
            ("miss",): live.cache_misses,
        }
        if live.unanswered is not None:
            looked_up[("unanswered",)] = live.unanswered
        yield counter(cat.CACHE, looked_up)
    yield _lags(live)
    build = family_of(cat.BUILD_INFO)
    add(build, cat.BUILD_INFO, (label_value(live.version),), 1, "_info")
    yield build


def outcomes(totals: Totals, live: Live) -> dict[str, int]:
    """Span, payload and fault outcomes of the ledger and of the process, added up."""
    counts = {name: value for (name,), value in totals.family("counts").items()}
    for name, value in live.counts.items():
        counts[name] = counts.get(name, 0) + value
    return dict(sorted(counts.items()))


def _with_zeros(
    metric: cat.Metric, values: Values, releases: Sequence[str] | None = None
) -> dict[cat.Labels, float]:
    """The declared label values at 0, and over them what was counted for live releases."""
    if releases is None:
        filled: dict[cat.Labels, float] = dict.fromkeys(metric.zeros, 0)
        filled.update(values)
        return filled
    filled = {(release, *zero): 0 for release in releases for zero in metric.zeros}
    live = set(releases)
    filled.update({labels: value for labels, value in values.items() if labels[0] in live})
    return filled


def _latency(totals: Totals, releases: Sequence[str]) -> Family:
    """Of releases of their own: times of unlike releases together would mean nothing."""
    family = family_of(cat.LATENCY)
    buckets, sums = totals.family("latency"), totals.family("latency_sum")
    for release in releases:
        for zero in cat.LATENCY.zeros if release != OTHER else ():
            labels = (release, *zero)
            counts = [0] * len(cat.BUCKETS)
            for kept, shown in enumerate(cat.SHOWN_BUCKET):
                counts[shown] += buckets.get((*labels, str(kept)), 0)
            total = sums.get(labels, 0) / cat.LATENCY.parts
            add_histogram(family, cat.LATENCY, labels, cat.BUCKETS, counts, total)
    return family


def _lags(live: Live) -> Family:
    family = family_of(cat.LAG)
    bounds = (*(str(bound) for bound in LAG_BUCKETS_S), "+Inf")
    for (stage,) in cat.LAG.zeros:
        lag = live.lags.get(stage)
        counts = lag.buckets if lag else (0,) * len(bounds)
        total = lag.sum_s if lag else 0.0
        add_histogram(family, cat.LAG, (stage,), bounds, counts, total)
    return family
