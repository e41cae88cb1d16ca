"""A process killed at any moment: what was committed is there, and only that.

The child reports every commit over a pipe and is killed after a seeded number of reports, so the
kill falls anywhere in the next transaction. No clock is involved.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from monitor.ledger.database import Database
from monitor.ledger.outbox import Outbox
from monitor.ledger.spool import Spool
from monitor.ledger.state import StateStore
from monitor.ledger.totals import Ledger

CHILD = """
import sys
from building_reports import passed, report, root
from monitor.ledger.database import Database
from monitor.ledger.outbox import Outbox
from monitor.ledger.spool import Spool
from monitor.ledger.state import StateStore
from monitor.ledger.totals import Ledger

db = Database.open(sys.argv[1])
spool, ledger, state, outbox = Spool(db), Ledger(db), StateStore(db), Outbox(db, ["archive"])
first = ledger.position("spool")
while spool.last() < first + 400:
    with db.transaction():
        for _ in range(4):
            spool.append(b"x" * 20_000, 1.0, 3)
    sys.stdout.write(f"accepted {spool.last()}\\n")
    sys.stdout.flush()
    position = ledger.position("spool")
    with db.transaction():
        for row in spool.read(position, 3):
            turns = [passed(f"{row.seq}-1"), root(f"{row.seq}-2")]
            reports = [report(f"c{row.seq // 2}", *turns, revision=row.seq)]
            ledger.fold(reports)
            ledger.count({"accepted": row.spans, "attached": row.spans})
            outbox.append(reports)
            position = row.seq
        state["last"] = str(position).encode()
        ledger.set_position("spool", position)
        spool.release(position)
        ledger.prune(float(position))
    sys.stdout.write(f"scored {position}\\n")
    sys.stdout.flush()
"""


def run_and_kill(path: Path, lines: int, rest: int) -> tuple[int, int]:
    """Kill the child after `lines` reports and `rest` more turns of a busy loop."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parent,
        env={"PYTHONPATH": f"{Path(__file__).parent}:{Path(__file__).parents[1]}"},
    )
    accepted = scored = 0
    assert child.stdout is not None
    with child, child.stdout:
        for _ in range(lines):
            word, _, number = child.stdout.readline().partition(" ")
            accepted, scored = (
                (int(number), scored) if word == "accepted" else (accepted, int(number))
            )
        for _ in range(rest):
            pass
        child.kill()
        for line in child.stdout:
            word, _, number = line.partition(" ")
            if number.endswith("\n"):
                accepted, scored = (
                    (int(number), scored) if word == "accepted" else (accepted, int(number))
                )
    return accepted, scored


@pytest.mark.parametrize("seed", range(6))
def test_totals_state_position_and_outbox_are_of_one_commit(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    path = tmp_path / "ledger.db"
    for _ in range(3):
        accepted, scored = run_and_kill(path, rng.randrange(1, 60), rng.randrange(200_000))
        _check(path, accepted, scored)


def _check(path: Path, accepted: int, scored: int) -> None:
    db = Database.open(path)
    spool, ledger, state = Spool(db), Ledger(db), StateStore(db)
    outbox = Outbox(db, ["archive"])
    reader = db.reader()
    found = ledger.totals(reader)
    position = ledger.position("spool")

    assert spool.last() >= accepted
    assert position >= scored
    assert [row.seq for row in spool.read(0, 10_000)] == list(range(position + 1, spool.last() + 1))
    assert state.get("last", b"0") == str(position).encode()
    assert sum(found.family("turns").values()) == 2 * position
    assert found.counted("accepted") == found.counted("attached") == 3 * position
    assert len(outbox.pending("archive", 100_000)) == position
    assert sum(found.family("conversations").values()) == sum(s.sums.n for s in found.strata)
    reader.close()
    db.close()
