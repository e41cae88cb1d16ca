"""Whom to suspect where agents talked among themselves, and whether their own talk shows a failure.

Nothing is expected of such a talk, so a suspicion alone fails nobody: it is what a person would
look at first if the whole is known to have failed. A line fails only where the talk itself shows
that it ended badly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from monitor.model import ActionTurn, Conversation
from monitor.scoring.delegation.endings import Ending, ending
from monitor.scoring.delegation.signals import Marked, Signal, marked
from monitor.scoring.delegation.transcript import talks, transcripts
from monitor.verdict import SUB_METRIC_OF, Detail, Finding, Reason, Verdict

_NEIGHBOURS: Final = 0.3
_SAME_AGENT: Final = 0.3
_DIGITS: Final = 4
_INVENTS: Final[frozenset[Signal]] = frozenset({"assumed", "ungrounded", "accepted"})


class Suspicion(NamedTuple):
    """One line of one talk, the likeliest origin of a failure of the whole."""

    turn: int
    """Index into the conversation's turns."""
    probability: float
    """That people would name this line, given that the talk failed; in [0, 1], of four digits."""
    signals: frozenset[Signal]
    ending: Ending | None
    """How the talk shows that it failed; None where it does not, and nothing is to fail."""


def suspected(conversation: Conversation, verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """The verdicts, one for each turn, with the suspects marked.

    A suspect that nothing else decided fails where its talk shows that it failed.
    """
    found = suspicions(conversation)
    return tuple(
        _marked(verdict, found[index]) if index in found else verdict
        for index, verdict in enumerate(verdicts)
    )


def first_failure(verdicts: Sequence[Verdict]) -> int | None:
    """The number of the first root; where nothing was scored, that of the first suspect."""
    roots = [verdict.turn_no for verdict in verdicts if verdict.is_root]
    if roots or any(verdict.verdict != "unscored" for verdict in verdicts):
        return roots[0] if roots else None
    return next((one.turn_no for one in verdicts if one.suspicion is not None), None)


def has_talks(conversation: Conversation) -> bool:
    """Whether agents talked among themselves, so that there may be suspects."""
    return any(talks(conversation))


def inner_turns(conversation: Conversation) -> frozenset[int]:
    """Turns that are no answers to the user, and no calls that say what they ask for.

    What is said of single agents does not hold for them: the replies of a talk, and its runs of
    code that a message gave.
    """
    turns = conversation.turns
    return frozenset(
        index
        for talk in talks(conversation)
        for index in talk
        if not isinstance(turn := turns[index], ActionTurn) or not turn.call.arguments
    )


def _marked(verdict: Verdict, suspicion: Suspicion) -> Verdict:
    if verdict.verdict != "unscored" or suspicion.ending is None:
        return msgspec.structs.replace(verdict, suspicion=suspicion.probability)
    invents = bool(suspicion.signals & _INVENTS)
    reason: Reason = "inconsistent_response" if invents else "incomplete_response"
    detail: Detail = "invented" if invents else "unanswered"
    return msgspec.structs.replace(
        verdict,
        verdict="fail",
        failure_reason=reason,
        detail=detail,
        basis="evidence",
        why=None,
        scores={SUB_METRIC_OF[reason]: round(1.0 - suspicion.probability, _DIGITS)},
        findings=(Finding(reason, "evidence", detail=detail, actual=suspicion.ending),),
        suspicion=suspicion.probability,
    )


def suspicions(conversation: Conversation) -> Mapping[int, Suspicion]:
    """The suspect line of every finished talk among agents, by the index of its turn.

    To be asked once the conversation is closed: how a talk ends is part of the answer.
    """
    found: dict[int, Suspicion] = {}
    for transcript in transcripts(conversation):
        lines = marked(transcript)
        if lines:
            suspect = _suspect(lines, ending(transcript))
            found[suspect.turn] = suspect
    return found


def _suspect(lines: Sequence[Marked], ended: Ending | None) -> Suspicion:
    """The line with the most to gain: near misses and the right agent count for something."""
    probabilities = _probabilities([line.weight for line in lines])
    by_turn = {line.line.turn: one for line, one in zip(lines, probabilities, strict=True)}
    by_agent: dict[str, float] = {}
    for line, one in zip(lines, probabilities, strict=True):
        by_agent[line.line.agent] = by_agent.get(line.line.agent, 0.0) + one
    gains = []
    for line, one in zip(lines, probabilities, strict=True):
        turn = line.line.turn
        beside = by_turn.get(turn - 1, 0.0) + by_turn.get(turn + 1, 0.0)
        gains.append(one + _NEIGHBOURS * beside + _SAME_AGENT * by_agent[line.line.agent])
    # Of equals, the earliest: what went wrong there is what the later ones went on with.
    best = max(range(len(lines)), key=lambda at: (round(gains[at], 9), -at))
    chosen = lines[best]
    probability = round(probabilities[best], _DIGITS)
    return Suspicion(chosen.line.turn, probability, chosen.signals, ended)


def _probabilities(weights: Sequence[float]) -> list[float]:
    top = max(weights)
    odds = [math.exp(weight - top) for weight in weights]
    whole = math.fsum(odds)
    return [one / whole for one in odds]
