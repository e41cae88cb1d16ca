"""The turns that every peer is given, and how its run is timed and told.

A line of the turns file is one turn: `[dialog, turn_no, query, expected, actual]`, where the last
two are null, `{"response": text}` or `{"tool": name, "args": object}`.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class PairedTurn(NamedTuple):
    """What was expected of one turn, and what was done."""

    dialog: str
    turn_no: int
    query: str
    expected: dict[str, Any] | None
    actual: dict[str, Any] | None


Run = Callable[[], Sequence[bool]]
"""Judges all turns once: whether each passes, in their order."""


def main(version: str, prepare: Callable[[list[PairedTurn]], dict[str, Run]]) -> None:
    """Time each entry of `prepare` over the turns of the file named first; JSON on stdout."""
    with open(sys.argv[1], encoding="utf-8") as file:
        turns = [PairedTurn(*json.loads(line)) for line in file]
    rounds = int(sys.argv[2])
    entries = prepare(turns)
    told: dict[str, Any] = {}
    for name, run in entries.items():
        seconds = []
        passed: Sequence[bool] = ()
        for _ in range(rounds):
            # Processor time, as the monitor's own: other processes of the machine do not count.
            start = time.process_time()
            passed = run()
            seconds.append(time.process_time() - start)
        told[name] = {
            "turns_per_second": round(len(turns) / statistics.median(seconds)),
            "failed": [
                [turn.dialog, turn.turn_no]
                for turn, good in zip(turns, passed, strict=True)
                if not good
            ],
        }
    sys.stdout.write(json.dumps({"version": version, "turns": len(turns), "entries": told}))
