"""Which releases have series of their own: at most a few at a time, the rest are `other`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from monitor.ledger.counters import AFTER_SEPARATOR, BY_RELEASE, SEPARATOR
from monitor.ledger.database import Database, Participant
from monitor.ledger.labels import OTHER, label_value

OTHER_SLOT: Final = 0
NEWCOMERS: Final = 5.0
"""Conversations before a release takes the place of a live one: a stray name takes nobody's."""
FADING: Final = 0.9
"""What is left of past conversations at each tick, when releases are ranked by recent traffic."""
WAITING_LIMIT: Final = 64
"""Releases without a place whose conversations are counted."""


@dataclass(slots=True)
class _Slot:
    slot: int
    first_seen_s: float | None
    last_seen_s: float | None
    live: bool
    touched: bool = False
    changed: bool = False
    recent: float = 0.0
    """Conversations of late; begins anew with the process."""

    def silent_s(self, now: float) -> float:
        """Time since the last tick that found it seen; 0 while it is being seen."""
        if self.touched or self.last_seen_s is None:
            return 0.0
        return now - self.last_seen_s


class ReleaseSlots(Participant):
    """Releases by name. A live release keeps its slot until it falls silent.

    A newcomer that finds no room takes the place of a release that was only declared, if it has
    traffic itself; else that of the release that was silent longest, if that is `idle_s` or more;
    else, once it has a few conversations, that of the release with the least traffic of late, so
    that the newest is not the one that nobody watches. Until then it counts as `other`. One that
    lost its place wins it back only with twice the traffic of another. Time is told by `tick`, so
    nothing here reads a clock. A release that comes back continues its counts, unless more than
    `retired_limit` fell silent after it.
    """

    def __init__(
        self, db: Database, live_limit: int, retired_limit: int, idle_s: float, ttl_s: float
    ) -> None:
        """Load what the file knows."""
        self._db = db
        self._live_limit = live_limit
        self._retired_limit = retired_limit
        self._idle_s = idle_s
        self._ttl_s = ttl_s
        self._now: float | None = None
        self._slots: dict[str, _Slot] = {}
        self._names: dict[str, str] = {}
        self._waiting: dict[str, float] = {}
        self._load()

    def slot(
        self, release: str, model: str | None, started_s: float | None, conversations: int = 0
    ) -> int:
        """The slot that a report of this release counts in; OTHER_SLOT when there is no room.

        `conversations`: 1 with the first report of one.
        """
        name = self._name(release)
        if name == OTHER:
            return OTHER_SLOT
        found = self._slots.get(name)
        if found is None or not found.live:
            recent = self._waits(name, conversations)
            if not self._room(recent, has_traffic=started_s is not None, is_new=found is None):
                return OTHER_SLOT
            found = self._open(name, model, found)
            found.recent = self._waiting.pop(name, 0.0)
        else:
            found.recent += conversations
        found.touched = True
        if started_s is not None and (found.first_seen_s is None or started_s < found.first_seen_s):
            found.first_seen_s = started_s
            found.changed = True
        return found.slot

    def name(self, slot: int) -> str:
        """The release of a slot, as a label; `other` where it has none."""
        return next((name for name, each in self._slots.items() if each.slot == slot), OTHER)

    def tick(self, now: float) -> None:
        """Note who was seen since the last call, and retire who was silent for too long."""
        self._now = now
        for name in self._waiting.keys() & self._slots.keys():
            self._waiting[name] *= FADING
        for slot in self._slots.values():
            slot.recent *= FADING
            if slot.touched or (slot.live and slot.last_seen_s is None):
                slot.last_seen_s = now
                slot.touched = False
                slot.changed = True
            elif slot.live and slot.silent_s(now) > self._ttl_s:
                slot.live = False
                slot.changed = True
        self._forget()

    def before_commit(self) -> None:
        """Write the changed times."""
        changed = [slot for slot in self._slots.values() if slot.changed]
        if changed:
            self._db.executemany(
                "UPDATE releases SET first_seen_s = ?, last_seen_s = ?, live = ? WHERE slot = ?",
                [(s.first_seen_s, s.last_seen_s, int(s.live), s.slot) for s in changed],
            )

    def committed(self) -> None:
        """The times are in the file."""
        for slot in self._slots.values():
            slot.changed = False

    def rolled_back(self) -> None:
        """Go back to what the file knows."""
        self._load()

    def _load(self) -> None:
        rows = self._db.rows("SELECT name, slot, first_seen_s, last_seen_s, live FROM releases")
        self._slots = {
            name: _Slot(slot, first, last, bool(live)) for name, slot, first, last, live in rows
        }

    def _forget(self) -> None:
        """Delete the counts of the releases that have been silent longest."""
        retired = [(s.last_seen_s or 0.0, name) for name, s in self._slots.items() if not s.live]
        surplus = len(retired) - self._retired_limit
        if surplus <= 0:
            return
        for _, name in sorted(retired)[:surplus]:
            slot = self._slots.pop(name).slot
            ours = (f"{slot}{SEPARATOR}", f"{slot}{AFTER_SEPARATOR}")
            self._db.executemany(
                "DELETE FROM counters WHERE family = ? AND labels >= ? AND labels < ?",
                [(family, *ours) for family in BY_RELEASE],
            )
            self._db.execute("DELETE FROM strata WHERE slot = ?", (slot,))
            self._db.execute("DELETE FROM releases WHERE slot = ?", (slot,))

    def _name(self, release: str) -> str:
        name = self._names.get(release)
        if name is None:
            if len(self._names) > 64 * self._live_limit:
                self._names.clear()
            name = self._names[release] = label_value(release)
        return name

    def _waits(self, name: str, conversations: int) -> float:
        """Count the traffic of a release without a place; what it had of late."""
        if not conversations:
            return self._waiting.get(name, 0.0)
        if name not in self._waiting and len(self._waiting) >= WAITING_LIMIT:
            del self._waiting[min(self._waiting, key=self._waiting.__getitem__)]
        recent = self._waiting[name] = self._waiting.get(name, 0.0) + conversations
        return recent

    def _room(self, recent: float, *, has_traffic: bool, is_new: bool) -> bool:
        live = [slot for slot in self._slots.values() if slot.live]
        if len(live) < self._live_limit:
            return True
        leaving = self._leaving(live, recent, has_traffic=has_traffic, is_new=is_new)
        if leaving is None:
            return False
        leaving.live = False
        leaving.changed = True
        return True

    def _leaving(
        self, live: list[_Slot], recent: float, *, has_traffic: bool, is_new: bool
    ) -> _Slot | None:
        """Whose place is taken; None where all keep theirs."""
        unused = [slot for slot in live if slot.first_seen_s is None]
        if unused and has_traffic:
            return min(unused, key=lambda slot: slot.slot)
        if self._now is not None:
            now = self._now
            oldest = max(live, key=lambda slot: (slot.silent_s(now), -slot.slot))
            if oldest.silent_s(now) >= self._idle_s:
                return oldest
        least = min(live, key=lambda slot: (slot.recent, slot.last_seen_s or 0.0, slot.slot))
        wanted = NEWCOMERS if is_new else NEWCOMERS + 2.0 * least.recent
        return least if recent >= wanted else None

    def _open(self, name: str, model: str | None, known: _Slot | None) -> _Slot:
        if known is not None:
            known.live = True
            known.changed = True
            return known
        cursor = self._db.execute(
            "INSERT INTO releases (name, model, live) VALUES (?, ?, 1)",
            (name, label_value(model or "")),
        )
        opened = self._slots[name] = _Slot(int(cursor.lastrowid or 0), None, None, True)
        return opened
