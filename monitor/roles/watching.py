"""From folded reports to the detectors, and their state back into the ledger's transaction."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence

from monitor.ledger.labels import OTHER, label_value
from monitor.ledger.tally import LATENCY_BUCKETS_S
from monitor.ledger.totals import Folded
from monitor.releases.arms import EARLY_TURNS, ROOT_REASONS, Closed, Revised, stratum
from monitor.releases.days import DAY_S
from monitor.releases.standing import Shown
from monitor.releases.watch import Watch
from monitor.verdict import Report

_REASON_NO = {reason: number for number, reason in enumerate(ROOT_REASONS)}


class Watching:
    """The detectors as the engine knows them. The writer's thread calls all but `shown`."""

    def __init__(
        self, build: Callable[[Mapping[str, bytes]], Watch], strata_version: str = ""
    ) -> None:
        """`build` continues from what was kept; strata of other versions are never compared."""
        self._build = build
        self._strata_version = strata_version
        self._watch = build({})
        self.shown = Shown()
        """As of the last commit; replaced as a whole, so any thread may read it."""

    def restore(self, kept: Mapping[str, bytes]) -> int:
        """Go back to what the ledger holds; how many parts of it were damaged, and are lost.

        Raises StateError for state of another version.
        """
        self._watch = self._build(kept)
        self.publish()
        return self._watch.damaged

    def fold(self, folded: Sequence[Folded]) -> dict[str, bytes | None]:
        """Weigh what was folded; what to keep in the same transaction."""
        for each in folded:
            if each.first:
                if each.release != OTHER:
                    self._watch.observe(closed_of(each, self._strata_version))
            elif each.was != each.now:
                self._watch.revise(revised_of(each, self._strata_version))
        return self._watch.changes()

    def publish(self) -> None:
        """Show what is committed."""
        self.shown = self._watch.shown()

    def clear(self, release: str) -> bool:
        """Drop the evidence against a release; whether it is known."""
        return self._watch.clear(release)

    def accept(self, release: str) -> bool:
        """Take a release as it is; whether it is known."""
        return self._watch.accept(release)

    def changes(self) -> dict[str, bytes | None]:
        """What to keep since the last call."""
        return self._watch.changes()


def closed_of(folded: Folded, strata_version: str = "") -> Closed:
    """What the detectors take from a conversation that just closed."""
    report, place, now = folded.report, folded.now_at, folded.now
    roots, at_risk, reasons = _early(report)
    return Closed(
        release=folded.release,
        evaluator=_version(report.evaluator, strata_version),
        chain=place.chain,
        intent=place.intent,
        roots=now.roots,
        at_risk=now.at_risk,
        inherited=now.inherited,
        early_roots=roots,
        early_at_risk=at_risk,
        early_reasons=reasons,
        latency_bucket=_bucket(report.latency_s),
        day=_day(report.started_s),
        model=report.model,
    )


def revised_of(folded: Folded, strata_version: str = "") -> Revised:
    """How a later revision moved the conversation."""
    was, now = folded.was, folded.now
    was_at = folded.was_at or folded.now_at
    evaluator = folded.report.evaluator
    # The ledger keeps the version as a label.
    is_same = label_value(was_at.evaluator) == label_value(evaluator)
    return Revised(
        folded.was_release,
        (stratum(was_at.chain, was_at.intent), was.roots, was.at_risk, was.inherited),
        folded.release,
        (
            stratum(folded.now_at.chain, folded.now_at.intent),
            now.roots,
            now.at_risk,
            now.inherited,
        ),
        _version(evaluator, strata_version) if is_same else None,
    )


def _version(evaluator: str, strata_version: str) -> str:
    return f"{evaluator} {strata_version}"


def _early(report: Report) -> tuple[int, int, tuple[int, ...]]:
    """Roots among the first turns at risk, those turns, and the roots by reason."""
    reasons = [0] * len(ROOT_REASONS)
    at_risk = roots = 0
    for verdict in report.turns:
        if at_risk == EARLY_TURNS:
            break
        if verdict.verdict == "pass":
            at_risk += 1
        elif verdict.is_root:
            at_risk += 1
            roots += 1
            if verdict.failure_reason in _REASON_NO:
                reasons[_REASON_NO[verdict.failure_reason]] += 1
    return roots, at_risk, tuple(reasons)


def _day(started_s: float | None) -> int | None:
    if started_s is None or not math.isfinite(started_s):
        return None
    return int(started_s // DAY_S)


def _bucket(latency_s: float | None) -> int | None:
    if latency_s is None or not math.isfinite(latency_s) or latency_s < 0:
        return None
    return bisect_left(LATENCY_BUCKETS_S, latency_s)
