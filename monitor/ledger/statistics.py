"""The sums per stratum that evidence about a release is made of."""

from __future__ import annotations

from typing import NamedTuple

from monitor.ledger.database import Database, Participant
from monitor.ledger.labels import label_value


class Sums(NamedTuple):
    """Sums over conversations: n, roots r, turns at risk a, inherited failures c; and products."""

    n: int = 0
    r: int = 0
    a: int = 0
    rr: int = 0
    ra: int = 0
    aa: int = 0
    c: int = 0
    cc: int = 0
    rc: int = 0
    ac: int = 0

    def plus(self, other: Sums, sign: int = 1) -> Sums:
        """Each sum with the other's added, or taken away when `sign` is -1."""
        return Sums(*(mine + sign * its for mine, its in zip(self, other, strict=True)))


class Place(NamedTuple):
    """What a stratum has in common."""

    slot: int
    evaluator: str
    chain: int
    """Index into the chain labels."""
    intent: int = -1
    """Cluster of the first query; -1: not known."""


class Share(NamedTuple):
    """What one conversation adds to the sums of its stratum."""

    stratum: int | None
    """None: it is in no stratum yet."""
    roots: int
    at_risk: int
    inherited: int


class Statistics(Participant):
    """Sums by release slot, evaluator version, chain length and intent of the conversation.

    Only conversations with at least one turn at risk count: the others hold no evidence.
    """

    def __init__(self, db: Database) -> None:
        """Write to `db`, when the ledger that owns this says so."""
        self._db = db
        self._strata: dict[Place, int] = {}
        self._deltas: dict[int, Sums] = {}

    def stratum(self, place: Place) -> int:
        """The number of a stratum, given on first use."""
        number = self._strata.get(place)
        if number is None:
            named = place._replace(evaluator=label_value(place.evaluator))
            self._db.execute(
                "INSERT OR IGNORE INTO strata (slot, evaluator, chain, intent) VALUES (?, ?, ?, ?)",
                named,
            )
            number = int(
                self._db.rows(
                    "SELECT stratum FROM strata"
                    " WHERE slot = ? AND evaluator = ? AND chain = ? AND intent = ?",
                    named,
                )[0][0]
            )
            self._strata[place] = number
        return number

    def place(self, stratum: int) -> Place | None:
        """What the stratum stands for; None when its release was forgotten."""
        rows = self._db.rows(
            "SELECT slot, evaluator, chain, intent FROM strata WHERE stratum = ?", (stratum,)
        )
        return Place(*rows[0]) if rows else None

    def move(self, before: Share, after: Share) -> None:
        """Replace what a conversation adds."""
        if before != after:
            self._add(before, sign=-1)
            self._add(after, sign=1)

    def before_commit(self) -> None:
        """Write what has gathered."""
        if self._deltas:
            sets = ", ".join(f"{name} = {name} + ?" for name in Sums._fields)
            self._db.executemany(
                f"UPDATE strata SET {sets} WHERE stratum = ?",  # noqa: S608  our own names
                [(*sums, stratum) for stratum, sums in self._deltas.items()],
            )

    def committed(self) -> None:
        """What was gathered is in the file."""
        self._deltas.clear()

    def rolled_back(self) -> None:
        """What was gathered never happened, new strata included."""
        self._deltas.clear()
        self._strata.clear()

    def _add(self, share: Share, sign: int) -> None:
        stratum, r, a, c = share
        if stratum is None or not a:
            return
        one = Sums(1, r, a, r * r, r * a, a * a, c, c * c, r * c, a * c)
        self._deltas[stratum] = self._deltas.get(stratum, Sums()).plus(one, sign)
