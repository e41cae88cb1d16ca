"""Pages that need no Prometheus: due by the same condition as the rule's, and alike in words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple, TypeAlias

import msgspec

from monitor.alerting.alerts import LEAST_EFFECT, REGRESSION
from monitor.alerting.rule import PAGE, runbook_url
from monitor.ledger.snapshot import Totals
from monitor.releases.arms import ROOT_REASONS
from monitor.releases.standing import Shown, Standing

Pair: TypeAlias = tuple[str, str]
"""A release and its baseline."""
LIFE_REPEATS: Final = 4
"""Times an alert may fail to be told again before it ends by itself, as Prometheus has it."""


class Told(msgspec.Struct, frozen=True):
    """An alert that Alertmanager was told of, or is about to be."""

    labels: dict[str, str]
    annotations: dict[str, str]
    since_s: float
    ended_s: float | None = None
    """None while it is due; else its end is still to be told."""


class Alert(NamedTuple):
    """An alert as Alertmanager takes it."""

    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    starts_s: float
    ends_s: float


class Policy(NamedTuple):
    """What alerts say beside what happened."""

    labels: Mapping[str, str]
    runbook: str
    repeat_s: float = 60.0


def due(shown: Shown, firing: Collection[Pair]) -> list[Standing]:
    """The comparisons that page. One that fires ends with its evidence, not with its estimate."""
    threshold = shown.thresholds.get("total")
    if threshold is None:
        return []
    return [
        each
        for each in shown.standings
        if each.evidence.get("total", 0.0) >= threshold
        and (_effect(each) >= LEAST_EFFECT or (each.release, each.baseline) in firing)
    ]


def told_of(standing: Standing, totals: Totals, policy: Policy, now: float) -> Told:
    """The alert of a comparison, in the words of the rule's annotations."""
    release, baseline = standing.release, standing.baseline
    parts = [
        f"Correct turns fell by {_percent(_effect(standing))} at an equal mix of requests.",
        *_rose(release, baseline, totals),
        f"Evidence: 10^{standing.evidence['total']:.4g} to 1.",
    ]
    return Told(
        {
            **policy.labels,
            "alertname": REGRESSION,
            "severity": PAGE,
            "release": release,
            "baseline_release": baseline,
        },
        {
            "summary": f"Release {release} is less correct than {baseline}",
            "description": " ".join(parts),
            "runbook_url": runbook_url(policy.runbook, REGRESSION),
        },
        now,
    )


def followed(
    book: Mapping[Pair, Told],
    wanted: Iterable[tuple[Standing, Told | None]],
    now: float,
    policy: Policy,
) -> dict[Pair, Told]:
    """The book as of now: what is due, and what ended and is still to be told so.

    `wanted` has what is due, each with its alert where the book does not hold it as firing. One
    that comes back before its end was told starts anew. An end that could not be told for as long
    as an alert lives is forgotten: Alertmanager has ended it by then.
    """
    followed: dict[Pair, Told] = {}
    for standing, fresh in wanted:
        pair = (standing.release, standing.baseline)
        followed[pair] = fresh if fresh is not None else book[pair]
    for pair, told in book.items():
        if pair not in followed:
            ended = now if told.ended_s is None else told.ended_s
            if now - ended <= LIFE_REPEATS * policy.repeat_s:
                followed[pair] = msgspec.structs.replace(told, ended_s=ended)
    return followed


def alert_of(told: Told, policy: Policy, now: float) -> Alert:
    """What to send of it now."""
    ends_s = now + LIFE_REPEATS * policy.repeat_s if told.ended_s is None else told.ended_s
    return Alert(told.labels, told.annotations, told.since_s, ends_s)


def _effect(standing: Standing) -> float:
    return standing.effect[0] if standing.effect else 0.0


def _rose(release: str, baseline: str, totals: Totals) -> list[str]:
    """The reason whose roots rose most, as a share of turns at risk."""
    now, before = _root_shares(release, totals), _root_shares(baseline, totals)
    rises = {reason: share - before[reason] for reason, share in now.items() if reason in before}
    reason = max(rises, key=lambda each: rises[each], default=None)
    if reason is None or rises[reason] <= 0:
        return []
    return [f"What rose most: {reason} (+{_percent(rises[reason])} of turns)."]


def _root_shares(release: str, totals: Totals) -> dict[str, float]:
    at_risk = sum(n for labels, n in totals.family("at_risk").items() if labels[0] == release)
    if not at_risk:
        return {}
    roots: dict[str, int] = dict.fromkeys(ROOT_REASONS, 0)
    for (name, _, reason, attribution), count in totals.family("failures").items():
        if name == release and attribution == "root":
            roots[reason] = roots.get(reason, 0) + count
    return {reason: count / at_risk for reason, count in roots.items()}


def _percent(share: float) -> str:
    return f"{100.0 * share:.4g}%"
