"""The same turns through other libraries, each in an environment of its own.

A peer is `NAME.txt` (what its environment holds) with `drive_NAME.py` beside it in one folder; its
interpreter is looked for where `FOLDER=peers .ci/sdk-environments` puts it. What is missing is
told, and the rest runs.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from monitor.agreement.labelled import Label
from monitor.model import JsonValue
from monitor.verdict import Report

TIMEOUT_S: Final = 900
Failed = frozenset[tuple[str, int]]
"""Failing turns, as dialog id and turn number."""


def turn_lines(dialogs: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Dialogs of the golden layout, a line a turn: `[dialog, turn_no, query, expected, actual]`."""
    for dialog in dialogs:
        query = ""
        for number, turn in enumerate(dialog["turns"], start=1):
            query = turn.get("user") or query
            sides = [_side(turn.get(key)) for key in ("gold_turn", "predict_turn")]
            yield json.dumps([dialog["dialog_id"], turn.get("turn_no", number), query, *sides])


def measured_peers(folder: Path, turns: Path, rounds: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """What each peer of the folder did with the turns, or why it could not."""
    for path in sorted(folder.glob("*.txt")):
        yield path.stem, _measured(path.stem, folder / f"drive_{path.stem}.py", turns, rounds)


def agreement(labels: Sequence[Label], failed: Failed) -> dict[str, float | None]:
    """How right the failing turns are, and how many rewritten conversations were left alone."""
    known = {
        (label.dialog_id, turn.turn_no): turn.verdict == "fail"
        for label in labels
        for turn in label.turn_labels
        if turn.verdict in ("pass", "fail")
    }
    caught = sum(known[turn] for turn in failed if turn in known)
    called = sum(turn in known for turn in failed)
    failing = sum(known.values())
    wrong = {dialog for dialog, _ in failed}
    rewritten = [each.dialog_id for each in labels if each.rewrites_arguments]
    return {
        "precision": _share(caught, called),
        "recall": _share(caught, failing),
        "f1": _share(2 * caught, called + failing),
        "rewritten_arguments_passed": _share(
            sum(dialog not in wrong for dialog in rewritten), len(rewritten)
        ),
    }


def failed_turns(reports: Mapping[str, Report]) -> Failed:
    """The failing turns of reports by dialog."""
    return frozenset(
        (dialog, turn.turn_no)
        for dialog, report in reports.items()
        for turn in report.turns
        if turn.verdict == "fail"
    )


def peer_failed(entry: Mapping[str, Any]) -> Failed:
    """The failing turns of one entry of a peer."""
    return frozenset((dialog, number) for dialog, number in entry["failed"])


def _measured(name: str, script: Path, turns: Path, rounds: int) -> dict[str, Any]:
    python = _home() / name / "bin" / "python"
    if not python.is_file():
        place = python.parent.parent
        return {"missing": f"no environment {place}; run FOLDER=peers .ci/sdk-environments"}
    if not script.is_file():
        return {"missing": f"no script {script}"}
    try:
        done = subprocess.run(  # noqa: S603  a script that the operator named
            [python, script.resolve(), turns.resolve(), str(rounds)],
            capture_output=True,
            check=True,
            text=True,
            timeout=TIMEOUT_S,
        )
        told: dict[str, Any] = json.loads(done.stdout)
    except subprocess.CalledProcessError as error:
        last = (error.stderr or "").strip().splitlines()
        return {"missing": f"it failed: {last[-1] if last else error.returncode}"}
    except (subprocess.TimeoutExpired, ValueError) as error:
        return {"missing": f"it told nothing: {error}"}
    return told


def _home() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "agent-turn-monitor" / "peers"


def _side(told: JsonValue) -> dict[str, Any] | None:
    if told is None:
        return None
    if "response" in told:
        return {"response": told["response"]}
    name = ".".join(filter(None, (told.get("tool_id"), told.get("action"))))
    return {"tool": name, "args": told.get("args") or {}}


def _share(of: int, over: int) -> float | None:
    return round(of / over, 3) if over else None
