"""All releases and what they are compared with, fed with one closed conversation after another."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

import msgspec

from monitor.codec import VERSION, reader_of, seal, unseal
from monitor.errors import DamagedState
from monitor.releases.arms import Closed, Revised
from monitor.releases.comparison import Evidence, evidence
from monitor.releases.pairs import Pair, Rules, read_pair, write_pair
from monitor.releases.records import Record, read_record, write_record
from monitor.releases.standing import Shown, quality_of, standing_of

RECORDS_LIMIT: Final = 16
"""Releases that are remembered; the one silent longest is forgotten first."""
PAIRS_LIMIT: Final = 3
"""Comparisons under way; the newest releases are the ones compared."""
STRAGGLERS: Final = 200
"""Conversations in a row of an evaluator that was replaced, before it counts as put back."""
RETIRED_LIMIT: Final = 8
"""Evaluators that are known to have been replaced."""
META: Final = "watch"
_RECORD: Final = "release:"
_PAIR: Final = "pair:"
_KIND: Final = b"W"
T = TypeVar("T")


class Watch:
    """Detects that a release is worse. Pure: the same conversations give the same evidence.

    Conversations count by their first verdicts in the order in which they closed; a later
    revision changes the sums that later evidence rests on, and no evidence that was found.
    """

    def __init__(self, rules: Rules | None = None, kept: Mapping[str, bytes] | None = None) -> None:
        """Continue from what was kept. Raises StateError for state of another version."""
        self.damaged = 0
        """Parts of what was kept that could not be read."""
        self._rules = rules or Rules()
        self._evaluator = ""
        self._retired: tuple[str, ...] = ()
        self._stragglers = 0
        self._replaced = 0
        self._at = 0
        self._orders = 0
        self._records: dict[str, Record] = {}
        self._pairs: dict[str, Pair] = {}
        self._changed: set[str] = set()
        self._gone: set[str] = set()
        self._restore(kept or {})

    def observe(self, closed: Closed) -> None:
        """Take in a conversation that just closed for the first time."""
        self._changed.add(META)
        if not self._is_of_now(closed.evaluator):
            return
        self._at += 1
        record = self._records.get(closed.release) or self._appear(closed)
        if not record.accepted:
            self._compare(record)
        record.seen(self._at)
        self._changed.add(_record_key(record.name))
        if closed.at_risk:
            record.add(closed)
            pair = self._pairs.get(record.name)
            if pair is not None:
                self._step(pair, record, closed)
        self._end_silent(record)

    def revise(self, revised: Revised) -> None:
        """Let later statistics know of a later revision, if they hold the verdicts before it."""
        if revised.evaluator != self._evaluator:
            return
        for name, (row, *amounts), sign in (
            (revised.release, revised.was, -1),
            (revised.now_release, revised.now, 1),
        ):
            record = self._records.get(name)
            if record is not None:
                record.move(row, amounts, sign)
                self._changed.add(_record_key(name))

    def clear(self, release: str) -> bool:
        """Drop the evidence against a release and begin anew; whether it is known."""
        record = self._records.get(release)
        if record is None:
            return False
        record.clear_drift()
        record.regressed = record.accepted = False
        self._changed.add(_record_key(release))
        pair = self._pairs.get(release)
        if pair is not None:
            pair.clear(record, self._records[pair.baseline])
            self._changed.add(_pair_key(release))
        return True

    def accept(self, release: str) -> bool:
        """Take the release as it is: no more comparison; whether it is known."""
        if not self.clear(release):
            return False
        self._records[release].accepted = True
        if release in self._pairs:
            self._drop_pair(release)
        return True

    def evidence(self, baseline: str, current: str) -> Evidence | None:
        """All that is known of two releases, weighed; None unless both are known."""
        base, record = self._records.get(baseline), self._records.get(current)
        return None if base is None or record is None else evidence(base, record)

    def shown(self) -> Shown:
        """What the detectors say now."""
        rules = self._rules
        standings = [
            standing_of(
                pair, self._records[pair.candidate], self._records[pair.baseline], self._at, rules
            )
            for pair in self._pairs.values()
        ]
        page, drift = math.log10(rules.page_evidence), math.log10(rules.drift_evidence)
        return Shown(
            tuple(standings),
            tuple(quality_of(record) for record in self._records.values()),
            {"total": page, "drift": drift},
            self._replaced,
        )

    def changes(self) -> dict[str, bytes | None]:
        """What to keep since the last call, by key; None: forget it."""
        changes: dict[str, bytes | None] = dict.fromkeys(sorted(self._gone))
        for key in sorted(self._changed):
            changes[key] = self._written(key)
        self._changed.clear()
        self._gone.clear()
        return changes

    def _step(self, pair: Pair, record: Record, closed: Closed) -> None:
        pair.step(record, self._records[pair.baseline], closed, self._at, self._rules)
        self._changed.add(_pair_key(record.name))
        if pair.latched.get("total", 0.0) >= math.log10(self._rules.page_evidence):
            record.regressed = True

    def _appear(self, closed: Closed) -> Record:
        self._make_room()
        name = closed.release
        self._orders += 1
        record = self._records[name] = Record(name, self._orders, closed.model)
        self._gone.discard(_record_key(name))
        if len(self._pairs) == PAIRS_LIMIT:
            self._end_oldest()
        return record

    def _compare(self, record: Record) -> None:
        """See that a release is compared with an older one, over conversations from here on.

        One that came back after a silence begins anew: what others did meanwhile is no control.
        """
        name = record.name
        pair = self._pairs.get(name)
        if pair is not None:
            if not pair.opened and record.last_at and not record.is_live(self._at):
                pair.clear(record, self._records[pair.baseline])
            if not self._leads_nowhere(pair):
                return
        elif len(self._pairs) >= PAIRS_LIMIT:
            return
        base = self._baseline(record)
        if base is not None and (pair is None or base.name != pair.baseline):
            pair = self._pairs[name] = Pair(name, base.name)
            pair.clear(record, base)
            self._gone.discard(_pair_key(name))
            self._changed.add(_pair_key(name))

    def _leads_nowhere(self, pair: Pair) -> bool:
        """Whether a comparison found nothing and has a baseline that will never be long enough."""
        base = self._records[pair.baseline]
        return (
            not self._records[pair.candidate].regressed
            and not self._rules.is_history(base)
            and not base.is_live(self._at)
        )

    def _baseline(self, record: Record) -> Record | None:
        """The newest release before it with a long history, live first.

        Without one, the live release with the longest history: it may become a concurrent control.
        One that was found worse is a baseline only where nothing else is.
        """
        older = [r for r in self._records.values() if r.count and r.order < record.order]
        for regressed in (False, True):
            known = [r for r in older if r.regressed == regressed]
            long = [r for r in known if self._rules.is_history(r)]
            if long:
                return max(long, key=lambda r: (r.is_live(self._at), r.order))
            live = [r for r in known if r.is_live(self._at)]
            if live:
                return max(live, key=lambda r: r.count)
        return None

    def _end_oldest(self) -> None:
        """Make room for the newest release; one that was found worse keeps its place."""
        quiet = [name for name in self._pairs if not self._records[name].regressed]
        if quiet:
            self._drop_pair(min(quiet, key=lambda name: self._records[name].order))

    def _end_silent(self, seen: Record) -> None:
        """End the comparison of a release that was taken back: its traffic went elsewhere."""
        ended = [
            name
            for name in self._pairs
            if name != seen.name and not self._records[name].is_live(self._at)
        ]
        for name in ended:
            self._drop_pair(name)

    def _make_room(self) -> None:
        while len(self._records) >= RECORDS_LIMIT:
            oldest = min(self._records.values(), key=lambda r: r.last_at)
            for name in [n for n, p in self._pairs.items() if oldest.name in (n, p.baseline)]:
                self._drop_pair(name)
            del self._records[oldest.name]
            self._forget(_record_key(oldest.name))

    def _drop_pair(self, name: str) -> None:
        del self._pairs[name]
        self._forget(_pair_key(name))

    def _forget(self, key: str) -> None:
        self._changed.discard(key)
        self._gone.add(key)

    def _is_of_now(self, evaluator: str) -> bool:
        """Whether verdicts are of the evaluator of now; a new one is, and begins all anew.

        While workers are upgraded one by one, those of the old are left out rather than taken for
        a change back and forth.
        """
        if evaluator == self._evaluator:
            self._stragglers = 0
            return True
        if evaluator in self._retired:
            self._stragglers += 1
            if self._stragglers < STRAGGLERS:
                return False
        if self._evaluator:
            self._begin_anew()
            self._replaced += 1
            known = (each for each in self._retired if each != evaluator)
            self._retired = (*known, self._evaluator)[-RETIRED_LIMIT:]
        self._evaluator, self._stragglers = evaluator, 0
        return True

    def _begin_anew(self) -> None:
        """Verdicts of another evaluator are never compared with those before.

        What was found stays found until somebody clears it: our own change mends no release. All
        other comparisons stand as what has not enough data yet.
        """
        drifted = math.log10(self._rules.drift_evidence)
        self._records = {name: each.renewed(drifted) for name, each in self._records.items()}
        self._changed.update(map(_record_key, self._records))
        for name, pair in self._pairs.items():
            pair.renew(self._records[name], self._records[pair.baseline], self._rules.page_evidence)
            self._changed.add(_pair_key(name))

    def _written(self, key: str) -> bytes:
        if key == META:
            before = (self._retired, self._stragglers, self._replaced)
            return seal(_KIND, _Meta(self._evaluator, self._at, self._orders, *before))
        if key.startswith(_PAIR):
            return write_pair(self._pairs[key.removeprefix(_PAIR)])
        return write_record(self._records[key.removeprefix(_RECORD)])

    def _restore(self, kept: Mapping[str, bytes]) -> None:
        """What cannot be read any more is forgotten and counted; it costs its own release only."""
        if META not in kept:
            return
        meta = self._read(META, kept[META], _read_meta)
        if meta is None:
            self._gone.update(kept)
            return
        self._evaluator, self._at, self._orders = meta.evaluator, meta.at, meta.orders
        self._retired, self._stragglers = meta.retired, meta.stragglers
        self._replaced = meta.replaced
        records = [
            self._read(key, data, read_record)
            for key, data in kept.items()
            if key.startswith(_RECORD)
        ]
        ordered = sorted((r for r in records if r is not None), key=lambda r: r.order)
        self._records = {record.name: record for record in ordered}
        pairs = [
            self._read(key, data, read_pair) for key, data in kept.items() if key.startswith(_PAIR)
        ]
        known = {pair.candidate: pair for pair in pairs if pair is not None}
        for name in self._records:
            if name in known and known[name].baseline in self._records:
                self._pairs[name] = known.pop(name)
        self._gone.update(_pair_key(name) for name in known)

    def _read(self, key: str, data: bytes, read: Callable[[bytes], T]) -> T | None:
        try:
            return read(data)
        except DamagedState:
            self.damaged += 1
            self._gone.add(key)
            return None


class _Meta(msgspec.Struct, frozen=True):
    evaluator: str
    at: int
    orders: int
    retired: tuple[str, ...] = ()
    stragglers: int = 0
    replaced: int = 0


def _read_meta(data: bytes) -> _Meta:
    return unseal(_KIND, data, _READERS)


def _record_key(name: str) -> str:
    return _RECORD + name


def _pair_key(name: str) -> str:
    return _PAIR + name


_READERS: Final = {VERSION: reader_of(_Meta)}
