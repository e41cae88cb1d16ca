"""Whether a talk among agents ended badly by its own account."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from monitor.scoring.delegation.texts import saying
from monitor.scoring.delegation.transcript import Transcript

Ending: TypeAlias = Literal[
    "crashed", "limit_reached", "broke_off", "gave_up", "error_left", "open_work", "made_up_data"
]
"""`broke_off`: it ends on a run, a promise, or an answer that the leader never took up.
`error_left`: the last execution failed, and the talk closed on it.
`open_work`: the leader declared the work done while its own account still gave an instruction.
`made_up_data`: it closed on results of data that an agent said it had made up."""

_LAST: Final = 3


def ending(transcript: Transcript) -> Ending | None:
    """How it ended badly; None where its own account shows nothing of the kind."""
    shown: dict[Ending, Callable[[Transcript], bool]] = {
        "crashed": _crashed,
        "limit_reached": _limit_reached,
        "broke_off": _broke_off,
        "gave_up": _gave_up,
        "error_left": _error_left,
        "open_work": _open_work,
        "made_up_data": _made_up,
    }
    return next((name for name, shows in shown.items() if shows(transcript)), None)


def _crashed(transcript: Transcript) -> bool:
    """An exception in the last lines, unless exceptions are what the talk is about."""
    return not saying(transcript.query).crashes and any(
        line.says.crashes for line in transcript.lines[-_LAST:]
    )


def _limit_reached(transcript: Transcript) -> bool:
    return any(line.says.meets_limit for line in transcript.lines[-_LAST:])


def _gave_up(transcript: Transcript) -> bool:
    spoken = [line for line in transcript.lines if line.says.words > 1]
    return bool(spoken) and spoken[-1].says.gives_up


def _broke_off(transcript: Transcript) -> bool:
    final = transcript.lines[-1]
    if transcript.cut or final.says.closes:
        return False
    if transcript.leader is not None:
        return final.agent != transcript.leader
    # Code may be what was asked for, and a run may speak for itself, where none was answered yet.
    answered = any(not run.idle for line in transcript.lines[:-1] for run in line.all_runs)
    waits = (final.says.asks_to_run and not final.runs) or any(not run.idle for run in final.runs)
    return final.says.promises or (answered and waits)


def _error_left(transcript: Transcript) -> bool:
    ran = [run for line in transcript.lines for run in line.all_runs if not run.idle]
    return bool(ran) and ran[-1].failed


def _open_work(transcript: Transcript) -> bool:
    """By the last account before the end."""
    accounts = [line.ledger for line in transcript.lines if line.ledger is not None]
    return bool(accounts) and accounts[-1].satisfied and accounts[-1].open_work


def _made_up(transcript: Transcript) -> bool:
    """Someone made data up, though the user never spoke of any such thing."""
    if transcript.leader is not None:
        return False
    asked = transcript.query.casefold()
    words = ("mock", "simulat", "placeholder", "dummy", "hypothetical", "fictitious", "made-up")
    if any(word in asked for word in words):
        return False
    return any(line.says.makes_up for line in transcript.lines[1:])
