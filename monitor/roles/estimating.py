"""Keeps the estimate of each release: what the judged sample tells, in the reports' transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from monitor.ledger.database import Database, Participant
from monitor.ledger.sampled import Sampled, Settled
from monitor.ledger.totals import Folded
from monitor.releases.estimate import Sampled as Counted
from monitor.releases.estimate import Sums, anytime, estimate, opening


class ReleaseSums(msgspec.Struct, frozen=True):
    """The estimate of one release as it is kept."""

    judge: str
    sums: Sums
    scale: float | None
    """Of the anytime-valid bounds, fixed at the first look."""
    release: str


class Correctness(NamedTuple):
    """What a release's turns are worth by one judge's lights."""

    judge: str
    estimate: float
    lower: float
    upper: float
    """Bounds that hold at every look."""


_ENCODE: Final = msgspec.msgpack.Encoder().encode
_SUMS: Final = msgspec.msgpack.Decoder(ReleaseSums)


class Estimating(Participant):
    """The same for every host that folds reports: a report that comes again changes nothing."""

    def __init__(self, db: Database, sampled: Sampled, judge: str = "") -> None:
        """Continue from what the file holds; `judge` is who is asked now."""
        self._sampled = sampled
        self._judge = judge
        self._sums: dict[int, ReleaseSums] = {}
        self._changed: set[int] = set()
        self.shown: Mapping[str, Correctness] = {}
        """By release, as of the last commit; replaced as a whole, so any thread may look."""
        self._load()
        db.join(self)

    def fold(self, folded: Sequence[Folded]) -> None:
        """Take in what the reports settle, in the transaction that they are counted in."""
        for each in folded:
            self._add(self._sampled.fold(each))

    def skip(self, conversation_id: str, why: str) -> None:
        """Nobody will be asked about a drawn conversation."""
        self._add(self._sampled.skip(conversation_id, why))

    def sums_of(self, release: str) -> ReleaseSums | None:
        """The estimate of a release as it stands."""
        return next((kept for kept in self._sums.values() if kept.release == release), None)

    def before_commit(self) -> None:
        """Write what has gathered."""
        if self._changed:
            self._sampled.keep_sums({slot: _ENCODE(self._sums[slot]) for slot in self._changed})

    def committed(self) -> None:
        """Show what is in the file."""
        if self._changed:
            self._changed.clear()
            self._publish()

    def rolled_back(self) -> None:
        """Go back to what the file holds."""
        self._load()

    def _load(self) -> None:
        self._changed.clear()
        self._sums = {slot: _SUMS.decode(body) for slot, body in self._sampled.sums().items()}
        self._publish()

    def _publish(self) -> None:
        found = {kept.release: correctness(kept) for kept in self._sums.values()}
        self.shown = {name: value for name, value in found.items() if value is not None}

    def _add(self, settled: Settled | None) -> None:
        if settled is None:
            return
        judge = settled.judge
        if judge and self._judge and judge != self._judge:
            # A late answer of the judge before: its series are over.
            return
        kept = self._sums.get(settled.slot)
        stale = kept is None or kept.release != settled.release
        if kept is None or stale or (judge and kept.judge and judge != kept.judge):
            kept = ReleaseSums(judge, Sums(), None, settled.release)
        sums = kept.sums.plus(_counted(settled))
        scale = kept.scale if kept.scale is not None else opening(sums)
        self._sums[settled.slot] = ReleaseSums(judge or kept.judge, sums, scale, settled.release)
        self._changed.add(settled.slot)


def correctness(kept: ReleaseSums) -> Correctness | None:
    """The estimate with its bounds; None before there is enough to say anything."""
    found = estimate(kept.sums)
    if found is None or kept.scale is None or kept.scale <= 0:
        return None
    value = min(1.0, max(0.0, found.value))
    return Correctness(kept.judge, value, *anytime(found, kept.sums, kept.scale))


def _counted(settled: Settled) -> Counted:
    return Counted(
        settled.turns,
        settled.predicted,
        settled.probability,
        settled.judged,
        settled.judged_correct,
        settled.judged_predicted,
    )
