"""Ids that too much came for: they name a service, a project or nothing, but no conversation."""

from __future__ import annotations

from collections import Counter
from typing import Final, Literal

from monitor.pipeline.limits import PipelineLimits
from monitor.pipeline.shelf import ConversationRecord, Shelf

HOUR_S: Final = 3_600.0
REFRESHES: Final = 16
"""How often at most, per quiet time, that an id was seen again is written."""

Excess = Literal["traces_per_conversation", "turns_per_hour"]


class Quarantine:
    """Ids that count as none, each until none has come for its quiet time. All times are a host's.

    What came for an id before stays with it: only what is new must find another name. The list
    lies on the shelf with the conversations, and is keyed as these are.
    """

    def __init__(self, shelf: Shelf, limits: PipelineLimits) -> None:
        self._shelf = shelf
        self._limits = limits
        self._seen_at = dict(shelf.quarantined())
        self._refused = frozenset(limits.refused_ids)

    def __len__(self) -> int:
        return len(self._seen_at) + len(self._refused)

    def __contains__(self, name: str) -> bool:
        return name in self._seen_at or name in self._refused

    def holds(self, name: str, now: float, counts: Counter[str]) -> bool:
        """Whether a trace that names the id comes while it is in quarantine."""
        if name in self._refused:
            return True
        seen_at = self._seen_at.get(name)
        if seen_at is None:
            return False
        if now - seen_at >= self._limits.quarantine_s:
            self._release(name)
            counts["quarantine:released"] += 1
            return False
        if now - seen_at >= self._limits.quarantine_s / REFRESHES:
            self._keep(name, now)
        return True

    def watch(self, record: ConversationRecord, counts: Counter[str]) -> None:
        """Quarantine the conversation's id if too much came for it."""
        excess = self._excess(record)
        if excess is None or record.synthetic or record.conversation_id in self:
            return
        self._keep(record.conversation_id, record.seen_at)
        counts[f"quarantine:{excess}"] += 1
        while len(self._seen_at) > self._limits.quarantined_ids:
            self._release(next(iter(self._seen_at)))
            counts["quarantine:let_out"] += 1

    def _excess(self, record: ConversationRecord) -> Excess | None:
        if len(record.traces) >= self._limits.traces_per_conversation:
            return "traces_per_conversation"
        limit = self._limits.turns_per_hour
        if record.turns > limit:
            hours = (record.seen_at - record.opened_at) / HOUR_S
            if record.turns > limit * max(1.0, hours):
                return "turns_per_hour"
        return None

    def _keep(self, name: str, now: float) -> None:
        self._seen_at[name] = now
        self._shelf.keep_quarantined(name, now)

    def _release(self, name: str) -> None:
        del self._seen_at[name]
        self._shelf.drop_quarantined(name)
