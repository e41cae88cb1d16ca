"""The comparison of means that UAEF makes, with the evidence that it lacks.

A metric regresses when its mean falls by more than a threshold of the baseline's; the severity
follows from how far. Simulated, that rule calls three of ten comparisons of equal releases a
regression at 50 conversations, so the evidence stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from monitor.releases.arms import FAILURES, ROOTS
from monitor.releases.betting import log10
from monitor.releases.days import day_variance
from monitor.releases.mixture import Baseline, half_width, log_evidence
from monitor.releases.records import Record

Dimension: TypeAlias = Literal["tool_calling", "response_quality", "conversation", "performance"]
Class: TypeAlias = Literal["regression", "improvement", "unchanged", "unknown"]
Severity: TypeAlias = Literal["minor", "moderate", "severe"]

THRESHOLD: Final = 5.0
MODERATE: Final = 10.0
SEVERE: Final = 20.0


class Metric(msgspec.Struct, frozen=True):
    """One mean of both releases; None where nothing was measured."""

    name: str
    dimension: Dimension
    baseline: float | None
    current: float | None
    rises: bool = True
    """Whether more is better."""


class Change(msgspec.Struct, frozen=True):
    """How a metric moved."""

    metric: Metric
    percent: float | None
    """Of the baseline's mean, above 0 where it rose."""
    verdict: Class
    severity: Severity | None = None
    """Of a regression."""


class Evidence(msgspec.Struct, frozen=True):
    """What the sums by stratum say of two releases, clustered by conversation."""

    drop: tuple[float, float, float] | None
    """In the share of correct turns at equal mix: estimate, lower, upper bound."""
    rise: tuple[float, float, float] | None
    """In root failures per turn at risk, further ones of a conversation by half."""
    log10_evidence: float | None
    """That the current release fails more; None: too little to weigh."""
    conversations: tuple[int, int]
    left_out: float
    """Share of the current release's turns in strata that the baseline does not know."""


def changes(
    metrics: Sequence[Metric],
    threshold: float = THRESHOLD,
    thresholds: Mapping[str, float] | None = None,
) -> list[Change]:
    """Each metric's change, in order; `thresholds` are in percent, by name of the metric."""
    own = thresholds or {}
    return [change(metric, own.get(metric.name, threshold)) for metric in metrics]


def change(metric: Metric, threshold: float = THRESHOLD) -> Change:
    """One metric's change. A mean that leaves 0 changed by 100 %."""
    percent = _percent(metric.baseline, metric.current)
    if percent is None:
        return Change(metric, None, "unknown")
    better = percent if metric.rises else -percent
    if better < -threshold:
        return Change(metric, percent, "regression", severity(-better))
    return Change(metric, percent, "improvement" if better > threshold else "unchanged")


def severity(percent: float) -> Severity:
    """How bad a loss of so many percent is."""
    if percent > SEVERE:
        return "severe"
    return "moderate" if percent >= MODERATE else "minor"


def evidence(base: Record, record: Record) -> Evidence:
    """Weigh one release against another by their own histories, as if they were concurrent."""
    failures = Baseline(base.total[FAILURES]).rise(record.total[FAILURES])
    roots = Baseline(base.total[ROOTS]).rise(record.total[ROOTS])
    variance = roots.variance
    days = day_variance(base.days.values(), record.past_days) or 0.0
    variance += days * (base.day_weight + record.day_weight)
    log_e = log_evidence(roots.rise, variance) if roots.is_weighable else None
    every = failures.turns + failures.left_out
    return Evidence(
        drop=_bounded(failures.rise, failures.variance) if failures.turns else None,
        rise=_bounded(roots.rise, variance) if roots.turns else None,
        log10_evidence=None if log_e is None else log10(log_e),
        conversations=(base.count, record.count),
        left_out=failures.left_out / every if every else 0.0,
    )


def _percent(baseline: float | None, current: float | None) -> float | None:
    if baseline is None or current is None:
        return None
    if baseline == 0.0:
        return 0.0 if current == 0.0 else math.copysign(100.0, current)
    # Rounded so that a loss of exactly the threshold is none beyond it.
    return round((current - baseline) / abs(baseline) * 100.0, 9)


def _bounded(value: float, variance: float) -> tuple[float, float, float] | None:
    if variance <= 0.0:
        return None
    half = half_width(variance)
    return value, max(value - half, -1.0), min(value + half, 1.0)
