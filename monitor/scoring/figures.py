"""A conversation's own figures: means of sub-metrics, and times by the trace's clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, get_args

from monitor.model import Conversation, ResponseTurn, Turn
from monitor.verdict import Finding, SubMetric, TaskOutcome, Verdict

FINDING_LIMIT: Final = 50
"""Findings of one turn that its verdict keeps; its reason and scores rest on all of them."""


def kept(findings: tuple[Finding, ...], lead: Finding | None) -> tuple[Finding, ...]:
    """As many as a report may hold, the one that gives the reason always among them."""
    first = findings[:FINDING_LIMIT]
    if lead is None or lead in first:
        return first
    return (lead, *first[:-1])


def means(verdicts: Sequence[Verdict]) -> dict[SubMetric, float | None]:
    """The mean score of each sub-metric over the turns that were looked at."""
    found: dict[SubMetric, float | None] = {}
    for name in get_args(SubMetric):
        scores = [v.scores[name] for v in verdicts if name in v.scores]
        found[name] = sum(scores) / len(scores) if scores else None
    return found


def duration_s(turn: Turn) -> float | None:
    """How long a turn took; None where the trace does not tell."""
    return (turn.end_ns - turn.start_ns) / 1e9 if turn.end_ns >= turn.start_ns > 0 else None


def accumulated_s(conversation: Conversation) -> float | None:
    """What the user waited for all replies together; None when no reply tells its times."""
    waited = [
        turn.end_ns - turn.start_ns
        for turn in conversation.turns
        if isinstance(turn, ResponseTurn) and turn.end_ns >= turn.start_ns > 0
    ]
    return sum(waited) / 1e9 if waited else None


def started_s(conversation: Conversation) -> float | None:
    """When the first turn began."""
    started = [turn.start_ns for turn in conversation.turns if turn.start_ns > 0]
    return min(started) / 1e9 if started else None


def outcome_at(outcome: float | None, bar: float) -> TaskOutcome | None:
    """The outcome that a trace tells, held against the bar from which it passes."""
    return None if outcome is None else TaskOutcome(outcome, outcome >= bar)
