"""How many turns a second one core scores: with nothing remembered, with parts, with all.

Each round takes the same dialogs through three passes. `uncached` has a new evaluator and no text
taken apart before; `warm` has texts, vectors and comparisons of the pass before, and judges every
turn anew; `cached` has seen the content, as canaries and replayed test cases bring it.
"""

from __future__ import annotations

import functools
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from monitor.references.dialogs import Dialog
from monitor.verdict import Report

Evaluate = Callable[[Dialog], Report]
PASSES: Final = ("uncached", "warm", "cached")


def measure(
    dialogs: Sequence[Dialog],
    forgetful: Callable[[], Evaluate],
    remembering: Callable[[], Evaluate],
    rounds: int,
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """Median turns a second by pass; the evaluators are made anew for each round."""
    turns = sum(len(dialog.conversation.turns) for dialog in dialogs)
    timed: dict[str, list[float]] = {name: [] for name in PASSES}
    for number in range(rounds):
        tell(f"round {number + 1} of {rounds}: {turns} turns")
        anew, known = forgetful(), remembering()
        for dialog in dialogs:
            known(dialog)
        forget()
        for name, evaluate in zip(PASSES, (anew, anew, known), strict=True):
            timed[name].append(_seconds(evaluate, dialogs))
    return {
        "conversations": len(dialogs),
        "turns": turns,
        "rounds": rounds,
        "turns_per_second": {
            name: round(turns / statistics.median(seconds)) for name, seconds in timed.items()
        },
    }


def forget() -> None:
    """Empty what pure functions of the monitor have remembered in this process."""
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] == "monitor":
            for value in vars(module).values():
                if isinstance(value, functools._lru_cache_wrapper):
                    value.cache_clear()


def _seconds(evaluate: Evaluate, dialogs: Sequence[Dialog]) -> float:
    """Of processor time: other processes of the machine do not count."""
    start = time.process_time()
    for dialog in dialogs:
        evaluate(dialog)
    return time.process_time() - start
