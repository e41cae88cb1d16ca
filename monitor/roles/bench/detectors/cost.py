"""What the detectors cost per conversation, their state persisted in the ledger's transaction."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from monitor.ledger.database import Database
from monitor.ledger.totals import Ledger
from monitor.roles.watching import Watching
from monitor.verdict import CHAINS, Composition, Report, Verdict

PER_COMMIT: Final = 50
BASELINE: Final = 3_000
CANDIDATE: Final = 1_500
ROUNDS: Final = 5


def cost(
    build: Callable[[], Watching], folder: Path, rounds: int = ROUNDS, candidate: int = CANDIDATE
) -> dict[str, Any]:
    """Microseconds per conversation while a canary is compared, and beside plain folding."""
    before = _reports("old", BASELINE, 0.05, 1)
    after = _reports("new", candidate, 0.06, 2)
    both = [
        report
        for pair in zip(after, _reports("old", candidate, 0.05, 3), strict=True)
        for report in pair
    ]
    alone, added = [], []
    for number in range(rounds):
        plain = _folded(None, before, both, folder / f"plain-{number}.sqlite3")
        watched = _folded(build(), before, both, folder / f"watched-{number}.sqlite3")
        alone.append(watched[1])
        added.append(watched[0] - plain[0])
    return {
        "conversations": len(both),
        "per_commit": PER_COMMIT,
        "microseconds_per_conversation": {
            "detectors_and_their_state": round(1e6 * statistics.median(alone) / len(both), 1),
            "added_to_folding_and_commit": round(1e6 * statistics.median(added) / len(both), 1),
        },
    }


def _folded(
    watching: Watching | None, before: Sequence[Report], after: Sequence[Report], path: Path
) -> tuple[float, float]:
    """Seconds of processor time for all of it, and for the detectors alone, of what came after.

    Other programs do not count, nor does waiting for the disk, which is the commit's part.
    """
    database = Database.open(path)
    ledger = Ledger(database)
    alone = start = 0.0
    for reports in (before, after):
        start, alone = time.process_time(), 0.0
        for at in range(0, len(reports), PER_COMMIT):
            with database.transaction():
                folded = ledger.fold(reports[at : at + PER_COMMIT])
                begin = time.process_time()
                if watching is not None:
                    ledger.keep_detectors(watching.fold(folded))
                alone += time.process_time() - begin
    spent = time.process_time() - start
    database.close()
    return spent, alone


def _reports(release: str, count: int, hazard: float, seed: int) -> list[Report]:
    rng = np.random.default_rng(seed)
    return [_report(f"{release}-{seed}-{n}", release, hazard, rng) for n in range(count)]


def _report(conversation_id: str, release: str, hazard: float, rng: np.random.Generator) -> Report:
    chain = CHAINS[int(rng.integers(len(CHAINS)))]
    turns = tuple(
        Verdict(
            turn_no=number,
            turn_id=f"{conversation_id}-{number}",
            turn_type="action",
            verdict="fail" if failed else "pass",
            failure_reason="missing_parameters" if failed else None,
            basis="contract",
            chain=chain,
        )
        for number, failed in enumerate(rng.random(5) < hazard, start=1)
    )
    roots = sum(turn.is_root for turn in turns)
    return Report(
        conversation_id=conversation_id,
        revision=1,
        closed=True,
        release=release,
        success_rate=1.0 - roots / len(turns),
        test_pass=not roots,
        first_failure_turn=None,
        root_cause="missing_parameters" if roots else None,
        root_cause_count=roots,
        cascading_count=0,
        unscored_count=0,
        chain_length=chain,
        sub_metrics={},
        composition=Composition("all", None, not roots),
        turns=turns,
        latency_s=float(rng.exponential(5.0)),
        started_s=float(rng.random() * 86_400.0),
        intent=int(rng.integers(8)),
    )
