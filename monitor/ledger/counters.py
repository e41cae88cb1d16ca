"""Integer counters that only rise, gathered in memory and written once per transaction."""

from __future__ import annotations

from typing import Final, TypeAlias

from monitor.ledger.database import Database, Participant

SEPARATOR: Final = "\x1f"
AFTER_SEPARATOR: Final = " "
"""Sorts next behind it."""
Labels: TypeAlias = tuple[str, ...]
BY_RELEASE: Final = frozenset(
    {
        "turns",
        "at_risk",
        "failures",
        "failure_details",
        "conversations",
        "latency",
        "latency_sum",
        "scored",
        "unscored",
        "sub_metric_turns",
        "sub_metric_score",
        "task_turns",
        "task_conversations",
        "estimated",
        "predicted_correct",
        "ipw_judged_correct",
        "ipw_predicted_correct",
        "judged",
        "tokens",
        "cost",
    }
)
"""Families whose first label is a release."""


class Counters(Participant):
    """Sums by family and labels. Integers, so that no order of adding changes a sum."""

    def __init__(self, db: Database) -> None:
        """Write to `db`, when the ledger that owns this says so."""
        self._db = db
        self._deltas: dict[tuple[str, Labels], int] = {}

    def add(self, family: str, labels: Labels, amount: int = 1) -> None:
        """Raise one counter when the open transaction commits; `amount` is 0 or more."""
        key = (family, labels)
        self._deltas[key] = self._deltas.get(key, 0) + amount

    def before_commit(self) -> None:
        """Write what has gathered, in one statement."""
        if self._deltas:
            self._db.executemany(
                "INSERT INTO counters (family, labels, value) VALUES (?, ?, ?)"
                " ON CONFLICT DO UPDATE SET value = value + excluded.value",
                [
                    (family, SEPARATOR.join(labels), amount)
                    for (family, labels), amount in self._deltas.items()
                ],
            )

    def committed(self) -> None:
        """What was gathered is in the file."""
        self._deltas.clear()

    def rolled_back(self) -> None:
        """What was gathered never happened."""
        self._deltas.clear()
