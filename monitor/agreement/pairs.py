"""A person's label beside what the monitor said of the same thing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, get_args

import msgspec

from monitor.verdict import SUB_METRIC_OF, HumanLabel, LabelledMetric, Report, Verdict

BAR: Final = 0.5
"""A person's score from here on counts as good."""
OVERALL: Final = "overall"
ATTRIBUTION: Final = "attribution"
LABELLED: Final[tuple[LabelledMetric, ...]] = get_args(LabelledMetric)


class Judged(msgspec.Struct, frozen=True, array_like=True):
    """Of a conversation what its labels are held against; small enough to be kept for long."""

    conversation_id: str
    turns: tuple[JudgedTurn, ...] = ()


class JudgedTurn(msgspec.Struct, frozen=True, array_like=True):
    """One turn's scores by sub-metric, and which of them failed."""

    turn_no: int
    turn_id: str
    trace_id: str | None = None
    span_ids: tuple[str, ...] = ()
    response: bool = False
    scores: dict[str, float] = {}
    """By sub-metric, and `overall`; empty when the turn is unscored."""
    failing: tuple[str, ...] = ()


class Pair(NamedTuple):
    """Two opinions of one thing."""

    label_id: str
    sub_metric: LabelledMetric
    automated: bool
    score: float
    human: bool
    value: float
    conversation_id: str
    annotator: str | None


def judged(report: Report) -> Judged:
    """What of a report labels are held against."""
    return Judged(report.conversation_id, tuple(map(_judged_turn, report.turns)))


def pair(label: HumanLabel, against: Judged) -> Pair | None:
    """The label with the monitor's opinion; None when the monitor has none of that.

    A label without a turn is of all turns: they pass when none fails, and score their mean. One of
    a trace is of the turns of that trace.
    """
    opinions = [_opinion(turn, label.sub_metric) for turn in _meant(label, against)]
    told = [opinion for opinion in opinions if opinion is not None]
    if not told:
        return None
    return Pair(
        label_id=label.label_id,
        sub_metric=label.sub_metric,
        automated=all(passed for passed, _ in told),
        score=sum(score for _, score in told) / len(told),
        human=label.value >= BAR,
        value=label.value,
        conversation_id=against.conversation_id,
        annotator=label.annotator,
    )


def _judged_turn(verdict: Verdict) -> JudgedTurn:
    scored = verdict.verdict != "unscored"
    return JudgedTurn(
        verdict.turn_no,
        verdict.turn_id,
        verdict.trace_id,
        verdict.span_ids,
        verdict.turn_type == "response",
        _scores(verdict) if scored else {},
        _failing(verdict) if scored else (),
    )


def _scores(verdict: Verdict) -> dict[str, float]:
    scores: dict[str, float] = dict(verdict.scores.items())
    scores[OVERALL] = float(verdict.verdict == "pass")
    # Every scored turn has been asked whether it only inherits.
    scores[ATTRIBUTION] = 0.0 if verdict.is_inherited else 1.0
    return scores


def _failing(verdict: Verdict) -> tuple[str, ...]:
    if verdict.verdict != "fail":
        return ()
    reasons = [finding.reason for finding in verdict.findings]
    if verdict.failure_reason is not None:
        reasons.append(verdict.failure_reason)
    return (OVERALL, *dict.fromkeys(SUB_METRIC_OF[reason] for reason in reasons))


def _opinion(turn: JudgedTurn, metric: str) -> tuple[bool, float] | None:
    """Whether the turn passes there, and its score; None when it was not looked at."""
    passed = metric not in turn.failing
    score = turn.scores.get(metric)
    if score is None:
        return None if passed else (False, 0.0)
    return passed, score


def _meant(label: HumanLabel, against: Judged) -> Sequence[JudgedTurn]:
    """The turns that the label speaks of."""
    if label.turn_id is not None:
        return [turn for turn in against.turns if turn.turn_id == label.turn_id]
    if label.turn_no is not None:
        return [turn for turn in against.turns if turn.turn_no == label.turn_no]
    if label.span_id is not None:
        return [turn for turn in against.turns if label.span_id in turn.span_ids]
    if label.trace_id is not None:
        return [turn for turn in against.turns if turn.trace_id == label.trace_id]
    return against.turns
