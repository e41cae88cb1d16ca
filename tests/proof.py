"""`make proof`: the roles apart under kill -9. Prints its seed, its figures and every fault."""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from proof_run import Plan, prove

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """1: something was lost, doubled or miscounted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conversations", type=int, default=2_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--pace", type=float, default=6.0, help="seconds between attacks")
    parser.add_argument("--rolls", type=int, default=2, choices=(0, 1, 2), help="upgrades")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--at-close", action="store_true", help="hold every total exactly")
    parser.add_argument("--keep", type=Path, help="an empty folder for what the run leaves")
    given = parser.parse_args()
    done = subprocess.run([ROOT / ".ci" / "build-broker"], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        return 1
    plan = Plan(
        given.conversations,
        given.kills,
        given.seed,
        given.pace,
        rolls=given.rolls,
        at_close=given.at_close,
    )
    with tempfile.TemporaryDirectory(prefix="agent-monitor-proof-") as made:
        found = prove(Path(done.stdout.strip()), given.keep or Path(made), plan, _say)
    _say(json.dumps(found.figures, indent=1))
    for fault in found.faults:
        _say(f"FAULT: {fault}")
    _say("the proof fails" if found.faults else "the proof holds")
    return bool(found.faults)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
