"""Reports folded into totals: every turn counted once, statistics by the newest revision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from monitor.judging.prices import Price
from monitor.ledger.counters import Counters
from monitor.ledger.database import Database, Participant, Reader
from monitor.ledger.labels import OTHER, label_value
from monitor.ledger.memory import Memories, Memory
from monitor.ledger.slots import OTHER_SLOT, ReleaseSlots
from monitor.ledger.snapshot import Totals, read_totals
from monitor.ledger.statistics import Place, Share, Statistics
from monitor.ledger.tally import CASCADE, PASS, ROOT, VERDICT_LABELS, WITHDRAWN, Tally, code_of
from monitor.verdict import CHAINS, Report

_CHAIN_NO: Final = {chain: number for number, chain in enumerate(CHAINS)}


class LedgerLimits(msgspec.Struct, frozen=True):
    """Named bounds of what is counted apart and for how long conversations are remembered."""

    releases: int = 7
    """Releases with series of their own at one time; more count as `other`."""
    retired_releases: int = 64
    """Silent releases whose counts are kept; the longest silent ones go first."""
    release_idle_s: float = 3600.0
    """After this silence a release gives its place to a newcomer that finds none."""
    release_ttl_s: float = 14 * 86400.0
    """After this silence a release's series end."""
    retain_s: float = 7 * 86400.0
    """How long a conversation can still be corrected; beyond the horizon of late spans."""
    tombstone_s: float = 60 * 86400.0
    """How long a report that comes again is still recognised as counted."""
    count_names: int = 64
    """Distinct names of span outcomes; more count as `other`."""
    prune_interval_s: float = 60.0


class Folded(NamedTuple):
    """What folding one report did to the statistics of closed conversations."""

    report: Report
    first: bool
    """The conversation closed with this report; else a later revision moved its share."""
    release: str
    """As a label; `other` where it has no series of its own."""
    was: Share
    """What the conversation added before; its stratum is None when it added nothing."""
    was_at: Place | None
    was_release: str
    now: Share
    now_at: Place


class Ledger(Participant):
    """The durable totals. Every write belongs to the caller's transaction.

    Folding is idempotent by conversation id and revision. Counters take a turn's first verdict and
    never fall; what a later revision changes goes to the corrections and, for closed
    conversations, to the statistics. An older revision changes nothing.
    """

    def __init__(
        self,
        db: Database,
        limits: LedgerLimits | None = None,
        price: Callable[[str], Price | None] = lambda _: None,
    ) -> None:
        """Continue from what the file holds; `price` tells what a model's tokens cost, if known."""
        self._db = db
        self._limits = limits or LedgerLimits()
        self._positions: dict[str, int] = {}
        self._names: set[str] = set()
        self._pruned_s: float | None = None
        self._counters = Counters(db)
        self._tally = Tally(self._counters, price)
        self._memories = Memories(db)
        self._statistics = Statistics(db)
        self._slots = ReleaseSlots(
            db,
            self._limits.releases,
            self._limits.retired_releases,
            self._limits.release_idle_s,
            self._limits.release_ttl_s,
        )
        self._parts = (self._counters, self._memories, self._statistics, self._slots)
        self._load()
        db.join(self)

    def fold(self, reports: Sequence[Report]) -> list[Folded]:
        """Count the reports, those of one conversation in the order of their revisions.

        What this did to the statistics of closed conversations, in the same order.
        """
        self._db.require_transaction()
        folded = [self._fold(report) for report in reports]
        return [each for each in folded if each is not None]

    def declare(self, release: str, model: str | None = None) -> bool:
        """Open the series of a release at zero, before its first report; whether there is room."""
        self._db.require_transaction()
        found = self._slots.slot(release, model, None) != OTHER_SLOT
        if not found and release != OTHER:
            self._counters.add("overflow", ("release",))
        return found

    def count(self, counts: Mapping[str, int]) -> None:
        """Add to span and payload outcomes: `accepted`, `dropped:<why>`, `rejected:<why>`."""
        self._db.require_transaction()
        for name, amount in counts.items():
            self._counters.add("counts", (self._bounded(name),), amount)

    def position(self, source: str) -> int:
        """How far a source's work is in the totals; 0 before the first."""
        return self._positions.get(source, 0)

    def set_position(self, source: str, position: int) -> None:
        """Move a source's place, together with what came of it."""
        self._db.require_transaction()
        self._positions[source] = position
        self._db.execute(
            "INSERT INTO positions (source, position) VALUES (?, ?)"
            " ON CONFLICT DO UPDATE SET position = excluded.position",
            (source, position),
        )

    def set_gauges(self, gauges: Mapping[str, int]) -> None:
        """Keep `open_spans`, `open_turns`, `open_conversations` as they are with this commit.

        Shown in place of the process's own, so that a scrape between two commits balances.
        """
        self._db.require_transaction()
        self._db.executemany(
            "INSERT INTO gauges (name, value) VALUES (?, ?)"
            " ON CONFLICT DO UPDATE SET value = excluded.value",
            list(gauges.items()),
        )

    def totals(self, reader: Reader) -> Totals:
        """Everything that exposition needs, as of one committed moment."""
        return read_totals(reader)

    def prune(self, now: float) -> None:
        """Forget what can no longer arrive. Cheap to call with every commit."""
        limits = self._limits
        if self._pruned_s is not None and 0 <= now - self._pruned_s < limits.prune_interval_s:
            return
        self._db.require_transaction()
        self._pruned_s = now
        self._slots.tick(now)
        self._memories.prune(now, limits.retain_s, limits.tombstone_s)

    def before_commit(self) -> None:
        """Write what the parts have gathered."""
        self._tally.drain()
        for part in self._parts:
            part.before_commit()

    def committed(self) -> None:
        """What the parts have gathered is durable."""
        for part in self._parts:
            part.committed()

    def rolled_back(self) -> None:
        """Go back to what the file holds."""
        self._tally.forget()
        for part in self._parts:
            part.rolled_back()
        self._pruned_s = None
        self._load()

    def _load(self) -> None:
        self._positions = dict(self._db.rows("SELECT source, position FROM positions"))
        names = self._db.rows("SELECT labels FROM counters WHERE family = 'counts'")
        self._names = {name for (name,) in names}

    def _bounded(self, name: str) -> str:
        name = label_value(name)
        if name in self._names:
            return name
        if len(self._names) < self._limits.count_names:
            self._names.add(name)
            return name
        self._counters.add("overflow", ("outcome",))
        kind, _, why = name.partition(":")
        return f"{kind}:{OTHER}" if why else OTHER

    def detectors(self) -> dict[str, bytes]:
        """What the detectors kept, by key, in their own encoding."""
        return dict(self._db.rows("SELECT key, value FROM detectors"))

    def keep_detectors(self, changes: Mapping[str, bytes | None]) -> None:
        """Keep what the detectors know together with the totals; None forgets a key."""
        self._db.require_transaction()
        kept = [(key, value) for key, value in changes.items() if value is not None]
        gone = [(key,) for key, value in changes.items() if value is None]
        self._db.executemany("INSERT OR REPLACE INTO detectors (key, value) VALUES (?, ?)", kept)
        self._db.executemany("DELETE FROM detectors WHERE key = ?", gone)

    def _fold(self, report: Report) -> Folded | None:
        memory = self._memories.find(report.conversation_id)
        if memory is not None:
            if _is_another_life(memory, report):
                memory = None
            elif report.revision <= memory.revision:
                return None
            elif memory.turns is None:
                self._counters.add("counts", (self._bounded("reports:expired"),))
                return None
        new = memory is None
        memory = memory or Memory(revision=report.revision)
        memory.revision = report.revision
        memory.started_s = _later(memory.started_s, report.started_s)
        slot = self._slots.slot(report.release, report.model, report.started_s, int(new))
        if slot == OTHER_SLOT and report.release != OTHER:
            self._counters.add("overflow", ("release",))
        self._fold_turns(memory, report, str(slot))
        folded = self._fold_closed(memory, report, slot) if report.closed else None
        self._memories.keep(report.conversation_id, memory)
        return folded

    def _fold_turns(self, memory: Memory, report: Report, slot: str) -> None:
        before = memory.turns or {}
        after: dict[str, int] = {}
        for verdict in report.turns:
            turn_id = verdict.turn_id
            if turn_id in after:
                continue
            code = after[turn_id] = code_of(verdict)
            known = before.get(turn_id)
            if known is None:
                self._tally.count_turn(verdict, code, slot)
            elif known != code:
                self._correct(known, code)
        for turn_id, known in before.items():
            if turn_id not in after:
                after[turn_id] = WITHDRAWN
                if known != WITHDRAWN:
                    self._correct(known, WITHDRAWN)
        memory.turns = after

    def _correct(self, known: int, code: int) -> None:
        self._counters.add("corrections", (VERDICT_LABELS[known], VERDICT_LABELS[code]))

    def _fold_closed(self, memory: Memory, report: Report, slot: int) -> Folded:
        codes = list((memory.turns or {}).values())
        roots = codes.count(ROOT)
        intent = -1 if report.intent is None else report.intent
        place = Place(slot, report.evaluator, _CHAIN_NO[report.chain_length], intent)
        was = Share(memory.stratum, memory.roots, memory.at_risk, memory.inherited)
        now = Share(
            self._statistics.stratum(place), roots, roots + codes.count(PASS), codes.count(CASCADE)
        )
        self._statistics.move(was, now)
        first = not memory.counted
        if first:
            memory.counted = 1
            self._tally.count_closed(report, str(slot))
        if report.outcome is not None and memory.counted == 1:
            memory.counted = 2
            self._tally.count_task(report, str(slot))
        was_at = None if was.stratum is None else self._was_at(was.stratum, now, place)
        memory.stratum, memory.roots, memory.at_risk, memory.inherited = now
        name = self._slots.name
        was_release = OTHER if was_at is None else name(was_at.slot)
        return Folded(report, first, name(slot), was, was_at, was_release, now, place)

    def _was_at(self, stratum: int, now: Share, place: Place) -> Place | None:
        return place if stratum == now.stratum else self._statistics.place(stratum)


def _later(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)


def _are_strangers(memory: Memory, report: Report) -> bool:
    """Whether the report shares no turn with what is remembered."""
    if memory.turns is None:
        return True
    return bool(memory.turns and report.turns) and not any(
        turn.turn_id in memory.turns for turn in report.turns
    )


def _is_another_life(memory: Memory, report: Report) -> bool:
    """Whether the id came back after its conversation was forgotten upstream.

    Sessions that go on after a pause of hours start over at revision 1; they are told from a
    report that comes again by a later start and turns that were never seen. A higher revision is
    the same life, whatever its turns: spans that come in any order may change all of them.
    """
    if report.started_s is None or memory.started_s is None:
        return False
    if memory.turns is not None and report.revision > memory.revision:
        return False
    return report.started_s > memory.started_s and _are_strangers(memory, report)
