"""The six sums per stratum that evidence about a release is made of."""

from __future__ import annotations

from typing import NamedTuple

from monitor.ledger.database import Database, Participant
from monitor.ledger.labels import label_value


class Sums(NamedTuple):
    """Sums over conversations: n, roots r, turns at risk a, and their products."""

    n: int = 0
    r: int = 0
    a: int = 0
    rr: int = 0
    ra: int = 0
    aa: int = 0

    def plus(self, other: Sums, sign: int = 1) -> Sums:
        """Each sum with the other's added, or taken away when `sign` is -1."""
        return Sums(*(mine + sign * its for mine, its in zip(self, other, strict=True)))


class Statistics(Participant):
    """Sums by release slot, evaluator version and the chain length of the conversation.

    Only conversations with at least one turn at risk count: the others hold no evidence.
    """

    def __init__(self, db: Database) -> None:
        """Write to `db`, when the ledger that owns this says so."""
        self._db = db
        self._strata: dict[tuple[int, str, int], int] = {}
        self._deltas: dict[int, Sums] = {}

    def stratum(self, slot: int, evaluator: str, chain: int) -> int:
        """The number of a stratum, given on first use."""
        key = (slot, evaluator, chain)
        number = self._strata.get(key)
        if number is None:
            named = (slot, label_value(evaluator), chain)
            self._db.execute(
                "INSERT OR IGNORE INTO strata (slot, evaluator, chain) VALUES (?, ?, ?)", named
            )
            number = int(
                self._db.rows(
                    "SELECT stratum FROM strata WHERE slot = ? AND evaluator = ? AND chain = ?",
                    named,
                )[0][0]
            )
            self._strata[key] = number
        return number

    def move(self, before: tuple[int | None, int, int], after: tuple[int | None, int, int]) -> None:
        """Replace what a conversation adds: (stratum, roots, at risk) before and after."""
        if before != after:
            self._add(*before, sign=-1)
            self._add(*after, sign=1)

    def before_commit(self) -> None:
        """Write what has gathered."""
        if self._deltas:
            self._db.executemany(
                "UPDATE strata SET n = n + ?, r = r + ?, a = a + ?, rr = rr + ?, ra = ra + ?,"
                " aa = aa + ? WHERE stratum = ?",
                [(*sums, stratum) for stratum, sums in self._deltas.items()],
            )

    def committed(self) -> None:
        """What was gathered is in the file."""
        self._deltas.clear()

    def rolled_back(self) -> None:
        """What was gathered never happened, new strata included."""
        self._deltas.clear()
        self._strata.clear()

    def _add(self, stratum: int | None, roots: int, at_risk: int, sign: int) -> None:
        if stratum is None or not at_risk:
            return
        one = Sums(1, roots, at_risk, roots * roots, roots * at_risk, at_risk * at_risk)
        self._deltas[stratum] = self._deltas.get(stratum, Sums()).plus(one, sign)
