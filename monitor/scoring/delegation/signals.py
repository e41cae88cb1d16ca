"""What speaks against each line of a talk among agents, and how strongly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

from monitor.scoring.delegation.texts import Ledger, specifics, vocabulary
from monitor.scoring.delegation.transcript import Line, Transcript

_INSTRUCTION_WORDS: Final = 5

Signal: TypeAlias = Literal[
    "wrote_code",
    "run_failed",
    "assumed",
    "ungrounded",
    "closing",
    "reported",
    "stopped",
    "accepted",
]
"""`run_failed`: the first line whose code failed, or one whose code printed nothing.
`ungrounded`: it states facts although nobody had looked at anything yet.
`reported`: a worker's answer to a leader. `accepted`: the answer that a leader took for the last.
`stopped`: the work broke off here, with nothing having stalled before."""

WEIGHTS: Final[Mapping[Signal, float]] = MappingProxyType(
    {
        "wrote_code": 0.5,
        "run_failed": 1.25,
        "assumed": 1.5,
        "ungrounded": 1.0,
        "closing": -1.0,
        "reported": 2.0,
        "stopped": 3.5,
        "accepted": 1.75,
    }
)
"""Log odds, rounded from a conditional logit over the lines of failed transcripts.

Multiples of a quarter, so that their sum is exact in any order."""


class Marked(NamedTuple):
    """A line with the signals that it gives."""

    line: Line
    signals: frozenset[Signal]

    @property
    def weight(self) -> float:
        """Log odds, up to what all lines of the transcript share."""
        return sum(WEIGHTS[signal] for signal in self.signals)


def marked(transcript: Transcript) -> list[Marked]:
    """Every line that may be at fault: those that say nothing at all are left out."""
    signals = _of_equals(transcript) if transcript.leader is None else _of_led(transcript)
    for at in _with_bad_runs(transcript.lines):
        signals[at].add("run_failed")
    return [
        Marked(line, frozenset(found))
        for line, found in zip(transcript.lines, signals, strict=True)
        if line.says.words > 1
    ]


def _of_equals(transcript: Transcript) -> list[set[Signal]]:
    known = set(vocabulary(transcript.query))
    looked = False
    found: list[set[Signal]] = []
    for number, line in enumerate(transcript.lines):
        signals = _of_words(line, opens=number == 0)
        looked = looked or any(not run.idle for run in line.own)
        for run in line.own:
            known.update(vocabulary(run.text))
        says = line.says
        if number and not (looked or says.has_code or says.cites) and specifics(line.text) - known:
            signals.add("ungrounded")
        looked = looked or says.cites or any(not run.idle for run in line.runs)
        known.update(vocabulary(line.text))
        for run in line.runs:
            known.update(vocabulary(run.text))
        found.append(signals)
    return found


def _with_bad_runs(lines: Sequence[Line]) -> set[int]:
    """Positions of the first line a run of which failed, and of all that printed nothing."""
    silent = {at for at, line in enumerate(lines) if any(r.printed_nothing for r in line.all_runs)}
    failed = (at for at, line in enumerate(lines) if any(run.failed for run in line.all_runs))
    return silent | set(islice(failed, 1))


def _of_words(line: Line, *, opens: bool) -> set[Signal]:
    """What the message alone gives. What opens the talk hands on the task's own assumptions."""
    signals: set[Signal] = set()
    if line.says.has_code:
        signals.add("wrote_code")
    if line.says.assumes and not opens:
        signals.add("assumed")
    if line.says.closes:
        signals.add("closing")
    if line.says.crashes:
        signals.add("stopped")
    return signals


def _of_led(transcript: Transcript) -> list[set[Signal]]:
    lines = transcript.lines
    judgements = _judgements(transcript)
    stalled = open_work = answered = False
    asked: set[str] = set()
    found: list[set[Signal]] = []
    for number, line in enumerate(lines):
        signals: set[Signal] = set()
        works = line.agent != transcript.leader
        if works and not line.says.crashes:
            signals.add("reported")
        answered = answered or works
        broke_off = works and number == len(lines) - 1
        if not stalled and (line.says.crashes or broke_off):
            signals.add("stopped")
        if open_work and line.says.declares:
            signals.add("stopped")
        if works and not stalled and _accepts(judgements[number]):
            signals.add("accepted")
        if line.ledger is not None:
            open_work = line.ledger.satisfied and line.ledger.open_work
            # Without an answer since the last account, nobody has failed to make progress.
            stalled = stalled or (answered and line.ledger.stalled)
            answered = False
        elif not works and line.says.words > _INSTRUCTION_WORDS:
            instruction = " ".join(line.text.casefold().split())
            stalled = stalled or instruction in asked
            asked.add(instruction)
        found.append(signals)
    return found


def _accepts(account: Ledger | None) -> bool:
    return account is not None and account.satisfied and not account.open_work


def _judgements(transcript: Transcript) -> list[Ledger | None]:
    """The leader's next account after each line."""
    following: list[Ledger | None] = []
    coming: Ledger | None = None
    for line in reversed(transcript.lines):
        following.append(coming)
        coming = line.ledger or coming
    return following[::-1]
