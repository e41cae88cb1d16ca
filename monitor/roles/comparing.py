"""`agent-monitor compare`: releases side by side, from a ledger that may be in use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from monitor.errors import InvalidInput
from monitor.ledger.database import Reader
from monitor.ledger.labels import label_value
from monitor.ledger.snapshot import Totals, read_detectors, read_totals
from monitor.ledger.tally import MICRO
from monitor.releases.comparison import Change, Evidence, Metric, changes
from monitor.releases.watch import Watch

DIMENSIONS: Final = ("tool_calling", "response_quality", "conversation", "performance")


class Comparison(msgspec.Struct, frozen=True):
    """One release against the baseline."""

    baseline: str
    current: str
    changes: list[Change]
    evidence: Evidence | None
    """None where the detectors do not know both, under one evaluator."""


def compare(
    path: Path,
    baseline: str,
    currents: Sequence[str],
    threshold: float,
    thresholds: Mapping[str, float],
) -> list[Comparison]:
    """Each of `currents` against the baseline. Raises InvalidInput for an unknown release."""
    reader = Reader.open(path)
    try:
        with reader.snapshot() as view:
            totals, kept = read_totals(view), read_detectors(view)
    finally:
        reader.close()
    watch = Watch(kept=kept)
    known = {labels[0] for labels in totals.family("turns")}
    names = [label_value(name) for name in (baseline, *currents)]
    for name in names:
        if name not in known:
            found = ", ".join(sorted(known)) or "none"
            raise InvalidInput(f"ledger {path}: no release {name!r}; it holds {found}")
    base = names[0]
    return [
        Comparison(
            base,
            name,
            changes(_metrics(totals, base, name), threshold, thresholds),
            watch.evidence(base, name),
        )
        for name in names[1:]
    ]


def text(comparison: Comparison) -> Iterator[str]:
    """For people: changes by dimension, then the evidence."""
    yield f"{comparison.current} against {comparison.baseline}"
    for dimension in DIMENSIONS:
        rows = [c for c in comparison.changes if c.metric.dimension == dimension]
        yield f"  {dimension.replace('_', ' ')}"
        for row in rows:
            yield f"    {_row(row)}"
    yield from _evidence_lines(comparison.evidence)


def metric_names() -> tuple[str, ...]:
    """What may have a threshold of its own."""
    nothing = Totals({}, (), (), {}, 0, 0, {})
    return tuple(metric.name for metric in _metrics(nothing, "", ""))


def _metrics(totals: Totals, base: str, current: str) -> list[Metric]:
    def pair(name: str, dimension: str, mean: _Mean, *, rises: bool = True) -> Metric:
        both = (mean(totals, base), mean(totals, current))
        return Metric(name, dimension, *both, rises)  # type: ignore[arg-type]

    return [
        pair("action_correctness", "tool_calling", _Passed("action")),
        pair("structural", "tool_calling", _SubMetric("structural")),
        pair("response_correctness", "response_quality", _Passed("response")),
        pair("completeness", "response_quality", _SubMetric("completeness")),
        pair("truthfulness", "response_quality", _SubMetric("truthfulness")),
        pair("conversation_success", "conversation", _Succeeded()),
        pair("turn_correctness", "conversation", _Passed(None)),
        pair("root_failures_per_turn", "conversation", _Roots(), rises=False),
        pair("mean_latency_s", "performance", _Latency(), rises=False),
    ]


class _Mean:
    """From totals and a release to a mean; None where nothing was measured."""

    def __call__(self, totals: Totals, release: str) -> float | None:
        part, whole = self.sums(totals, release)
        return part / whole if whole else None

    def sums(self, totals: Totals, release: str) -> tuple[float, float]:
        """What happened, and of how many."""
        raise NotImplementedError


class _Passed(_Mean):
    def __init__(self, turn_type: str | None) -> None:
        self._turn_type = turn_type

    def sums(self, totals: Totals, release: str) -> tuple[float, float]:
        passed = scored = 0
        for (name, _, turn_type, verdict), count in totals.family("turns").items():
            if name == release and verdict != "unscored" and self._turn_type in (None, turn_type):
                scored += count
                passed += count if verdict == "pass" else 0
        return passed, scored


class _Roots(_Mean):
    def sums(self, totals: Totals, release: str) -> tuple[float, float]:
        at_risk = sum(n for (name, _), n in totals.family("at_risk").items() if name == release)
        roots = sum(
            count
            for (name, _, _, verdict), count in totals.family("turns").items()
            if name == release and verdict == "root_fail"
        )
        return roots, at_risk


class _SubMetric(_Mean):
    def __init__(self, name: str) -> None:
        self._name = name

    def sums(self, totals: Totals, release: str) -> tuple[float, float]:
        labels = (release, self._name)
        turns = totals.family("sub_metric_turns").get(labels, 0)
        return totals.family("sub_metric_score").get(labels, 0) / MICRO, turns


class _Succeeded(_Mean):
    def sums(self, totals: Totals, release: str) -> tuple[float, float]:
        found = {"pass": 0, "fail": 0, "unscored": 0}
        for (name, _, outcome), count in totals.family("conversations").items():
            if name == release:
                found[outcome] += count
        return found["pass"], found["pass"] + found["fail"]


class _Latency(_Mean):
    def sums(self, totals: Totals, release: str) -> tuple[float, float]:
        timed = sum(n for labels, n in totals.family("latency").items() if labels[0] == release)
        spent = sum(n for labels, n in totals.family("latency_sum").items() if labels[0] == release)
        return spent / MICRO, timed


def _row(row: Change) -> str:
    metric = row.metric
    if metric.baseline is None or metric.current is None or row.percent is None:
        return f"{metric.name:<24}not measured on both sides"
    verdict = f"{row.verdict} ({row.severity})" if row.severity else row.verdict
    values = f"{metric.baseline:9.4f} -> {metric.current:9.4f}"
    return f"{metric.name:<24}{values}  {row.percent:+7.1f} %  {verdict}"


def _evidence_lines(found: Evidence | None) -> Iterator[str]:
    if found is None:
        yield "  evidence: the detectors do not know both releases under one evaluator"
        return
    yield f"  evidence from {found.conversations[0]} and {found.conversations[1]} conversations"
    if found.drop is not None:
        yield f"    drop in correct turns at equal mix   {_points(found.drop)}"
    if found.rise is not None:
        yield f"    rise of root failures per turn       {_points(found.rise)}"
    if found.left_out:
        yield f"    left out for want of a baseline      {100 * found.left_out:.1f} % of turns"
    if found.log10_evidence is None:
        yield "    not enough data to weigh"
    else:
        yield f"    log10 of the e-value                 {found.log10_evidence:.2f} (2.30 pages)"


def _points(bounded: tuple[float, float, float]) -> str:
    estimate, lower, upper = (100 * each for each in bounded)
    return f"{estimate:+.2f} points, 95 % interval {lower:+.2f} to {upper:+.2f}"
