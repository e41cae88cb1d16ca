"""Values by their labels as metric families."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prometheus_client.metrics_core import Metric as Family
from prometheus_client.samples import Exemplar, Sample

from monitor.exposition import catalogue as cat

Values = Mapping[cat.Labels, float]

__all__ = ["Family", "Values", "add", "add_histogram", "counter", "family_of", "gauge"]


def family_of(metric: cat.Metric) -> Family:
    """A family without samples."""
    return Family(metric.name, metric.help, metric.kind, metric.unit)


def add(
    family: Family, metric: cat.Metric, labels: cat.Labels, value: float, suffix: str = ""
) -> None:
    """One sample more."""
    named = dict(zip(metric.labels, labels, strict=True))
    family.samples.append(Sample(metric.name + suffix, named, value))


def counter(
    metric: cat.Metric, values: Values, exemplars: Mapping[cat.Labels, Exemplar] | None = None
) -> Family:
    """A counter of the ledger, in its own unit; OpenMetrics shows the exemplars, text does not."""
    family = family_of(metric)
    for labels, value in values.items():
        add(family, metric, labels, value / metric.parts, "_total")
        if exemplars and labels in exemplars:
            family.samples[-1] = family.samples[-1]._replace(exemplar=exemplars[labels])
    return family


def gauge(metric: cat.Metric, values: Values) -> Family:
    """A gauge."""
    family = family_of(metric)
    for labels, value in values.items():
        add(family, metric, labels, value)
    return family


def add_histogram(
    family: Family,
    metric: cat.Metric,
    labels: cat.Labels,
    bounds: Sequence[str],
    counts: Sequence[int],
    total: float,
) -> None:
    """The samples of one histogram, from counts that are not yet cumulative."""
    named = dict(zip(metric.labels, labels, strict=True))
    running = 0
    for bound, count in zip(bounds, counts, strict=True):
        running += count
        family.samples.append(Sample(f"{metric.name}_bucket", {**named, "le": bound}, running))
    family.samples.append(Sample(f"{metric.name}_count", named, running))
    family.samples.append(Sample(f"{metric.name}_sum", named, total))
