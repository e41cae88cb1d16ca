"""What one conversation adds to the counts that measures are shares of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

import msgspec

from monitor.agreement.labelled import Human, Label
from monitor.verdict import Report, Verdict

Tally: TypeAlias = Counter[str]
INHERITED: Final = "prior_action_failed"
_NOBODY: Final = Human()


class Told(NamedTuple):
    """A report under the turn numbers of the labels."""

    turns: Mapping[int, Verdict]
    first_failure_turn: int | None
    root_cause: str | None
    verdicts: Sequence[Verdict]


def told(report: Report, spans: Mapping[str, str]) -> Told:
    """The report's turns by the labels' numbers: by span where both know one, else as they are.

    A turn whose spans no label names has no number there. An omitted call has no span and keeps
    its own number, since both put such calls last.
    """
    first = report.first_failure_turn
    if not spans or not any(turn.span_ids for turn in report.turns):
        numbered = {turn.turn_no: turn for turn in report.turns}
        return Told(numbered, first, report.root_cause, report.turns)
    number_of = {span: int(number) for number, span in spans.items()}
    found: dict[int, int] = {}
    numbered = {}
    for turn in report.turns:
        number = next((number_of[span] for span in turn.span_ids if span in number_of), None)
        if number is None and not turn.span_ids:
            number = turn.turn_no
        if number is not None:
            found[turn.turn_no] = number
            numbered[number] = turn
    moved = None if first is None else found.get(first, first)
    return Told(numbered, moved, report.root_cause, report.turns)


def tally(label: Label, report: Report | None, agents: Mapping[int, str] | None = None) -> Tally:
    """The counts of one labelled conversation.

    `agents` names each turn's agent by the source's own log, for reports that name none.
    """
    if report is None:
        return Counter(missing=1)
    seen = told(report, label.spans)
    counts: Tally = Counter(conversations=1)
    human = label.human or _NOBODY
    _place(counts, label, seen, human)
    _fault(counts, label, seen, human)
    _agent(counts, seen, human, agents or {})
    _turns(counts, label, seen)
    _outcome(counts, label, seen)
    return counts


def _place(counts: Tally, label: Label, seen: Told, human: Human) -> None:
    first, accepted = seen.first_failure_turn, label.accepted
    if accepted:
        counts["located"] += 1
        counts["located_exact"] += first in accepted
        counts["located_near"] += _near(first, accepted)
        counts["located_none"] += first is None
        if label.named_roots or _is_told(human.mistake_step):
            counts["human"] += 1
            counts["human_exact"] += first in accepted
        if label.root_cause:
            counts["caused"] += 1
            counts["caused_right"] += seen.root_cause == label.root_cause
    elif label.passed:
        counts["clean"] += 1
        counts["clean_alone"] += first is None


def _fault(counts: Tally, label: Label, seen: Told, human: Human) -> None:
    first, accepted, named = seen.first_failure_turn, label.accepted, label.named_roots
    if not human.blames_an_agent and not named:
        counts["nobodys"] += 1
        counts["nobodys_alone"] += first is None
    asked = named or _is_told(human.mistake_step) or _is_told(human.step_labels)
    if accepted and human.blames_an_agent and asked:
        counts["agents"] += 1
        counts["agents_exact"] += first in accepted
        counts["agents_near"] += _near(first, accepted)
        counts["agents_none"] += first is None
    if _is_told(human.step_labels):
        counts["stepped"] += 1
        counts["stepped_right"] += first == label.first_failure_turn


def _agent(counts: Tally, seen: Told, human: Human, agents: Mapping[int, str]) -> None:
    blamed = human.blamed_agent
    if not blamed:
        return
    first = seen.first_failure_turn
    turn = None if first is None else seen.turns.get(first)
    named = (turn.agent if turn else None) or (None if first is None else agents.get(first))
    counts["blamed"] += 1
    counts["blamed_right"] += _same_name(named, blamed)
    counts["blamed_turn"] += first is not None
    counts["blamed_known"] += bool(named)


def _turns(counts: Tally, label: Label, seen: Told) -> None:
    for labelled in label.turn_labels:
        if labelled.verdict not in ("pass", "fail"):
            continue
        turn = seen.turns.get(labelled.turn_no)
        called = "unscored" if turn is None else turn.verdict
        counts[f"{labelled.verdict}_{called}"] += 1
        if labelled.verdict != "fail":
            continue
        counts["cascades"] += labelled.role == "cascade"
        if turn is None or called != "fail":
            continue
        if labelled.failure_reason:
            counts["reasoned"] += 1
            counts["reasoned_right"] += turn.failure_reason == labelled.failure_reason
        if labelled.role in ("root", "cascade"):
            as_ = "cascade" if turn.failure_reason == INHERITED else "root"
            counts[f"{labelled.role}_as_{as_}"] += 1


def _outcome(counts: Tally, label: Label, seen: Told) -> None:
    """Whether some turn fails, against the conversation's own outcome."""
    counts["turns"] += len(seen.verdicts)
    counts["turns_scored"] += sum(turn.verdict != "unscored" for turn in seen.verdicts)
    if label.passed is None:
        return
    fails = any(turn.verdict == "fail" for turn in seen.verdicts)
    counts[f"outcome_{'pass' if label.passed else 'fail'}_{'fails' if fails else 'alone'}"] += 1


def _near(first: int | None, accepted: Iterable[int]) -> bool:
    return first is not None and min(abs(first - turn) for turn in accepted) <= 1


def _is_told(value: object) -> bool:
    return value is not msgspec.UNSET


def _same_name(one: str | None, other: str | None) -> bool:
    """Whether two names are the same but for letter case and punctuation."""
    plain = ["".join(c for c in (name or "").casefold() if c.isalnum()) for name in (one, other)]
    return bool(plain[0]) and plain[0] == plain[1]
