"""Conversations in memory: those in use, before those that only the shelf holds."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from monitor.assembly.turns import TraceTurns
from monitor.model import ActionTurn
from monitor.pipeline.shelf import ConversationRecord, Shelf

HEAD_BYTES: Final = 1_500
TRACE_BYTES: Final = 700
TURN_BYTES: Final = 900


class Live:
    """A conversation's record with the turns that were built of its traces so far."""

    __slots__ = ("record", "size", "sizes", "turns", "unkept")

    def __init__(self, record: ConversationRecord) -> None:
        self.record = record
        self.turns: dict[str, TraceTurns] = {}
        self.unkept: set[str] = set()
        """Traces whose turns the shelf does not have."""
        self.sizes: dict[str, int] = {}
        self.size = HEAD_BYTES


class LiveConversations:
    """The conversations used last, within a budget; the shelf has them all."""

    def __init__(self, shelf: Shelf, budget_bytes: int, *, keep_turns: bool) -> None:
        """With `keep_turns`, turns that leave memory go to the shelf."""
        self._shelf = shelf
        self._keep_turns = keep_turns
        self._budget_bytes = budget_bytes
        self._live: OrderedDict[str, Live] = OrderedDict()
        self._changed: dict[str, ConversationRecord] = {}
        self._size = 0

    def find(self, conversation_id: str) -> Live | None:
        """The conversation, from memory or from the shelf."""
        live = self._live.get(conversation_id)
        if live is not None:
            self._live.move_to_end(conversation_id)
            return live
        record = self._changed.get(conversation_id) or self._shelf.conversation(conversation_id)
        return None if record is None else self._insert(record)

    def add(self, record: ConversationRecord) -> Live:
        """A conversation that is new."""
        self._changed[record.conversation_id] = record
        return self._insert(record)

    def changed(self, live: Live) -> None:
        """The record must go to the shelf."""
        self._changed[live.record.conversation_id] = live.record

    def remove(self, conversation_id: str) -> None:
        """Forget a conversation, here and on the shelf."""
        live = self._live.pop(conversation_id, None)
        if live is not None:
            self._size -= live.size
        self._changed.pop(conversation_id, None)
        self._shelf.drop_conversation(conversation_id)

    def turns(self, live: Live, trace_id: str) -> TraceTurns | None:
        """The turns of one trace, from memory or from the shelf."""
        turns = live.turns.get(trace_id)
        if turns is None:
            turns = self._shelf.turns(trace_id, live.record.conversation_id)
            if turns is not None:
                self._hold(live, trace_id, turns)
        return turns

    def put_turns(self, live: Live, trace_id: str, turns: TraceTurns) -> None:
        """Keep the turns of one trace, in place of what was known of it."""
        self.drop_turns(live, trace_id)
        self._hold(live, trace_id, turns)
        live.unkept.add(trace_id)

    def drop_turns(self, live: Live, trace_id: str) -> None:
        """Forget the turns of one trace, here and on the shelf."""
        if live.turns.pop(trace_id, None) is not None:
            self._resize(live, -live.sizes.pop(trace_id))
        if trace_id in live.unkept:
            live.unkept.discard(trace_id)
        else:
            self._shelf.drop_turns(trace_id, live.record.conversation_id)

    def save(self) -> None:
        """Put changed records on the shelf."""
        for record in self._changed.values():
            self._shelf.keep_conversation(record)
        self._changed = {}
        self.shrink()

    def shrink(self) -> None:
        """Let those used longest ago leave memory, down to the budget."""
        while self._size > self._budget_bytes and len(self._live) > 1:
            name, live = self._live.popitem(last=False)
            self._size -= live.size
            if self._changed.pop(name, None) is not None:
                self._shelf.keep_conversation(live.record)
            for trace_id in live.unkept if self._keep_turns else ():
                self._shelf.keep_turns(trace_id, name, live.turns[trace_id])

    def _hold(self, live: Live, trace_id: str, turns: TraceTurns) -> None:
        size = _size(turns)
        live.turns[trace_id], live.sizes[trace_id] = turns, size
        self._resize(live, size)

    def _insert(self, record: ConversationRecord) -> Live:
        live = self._live[record.conversation_id] = Live(record)
        self._size += live.size
        return live

    def _resize(self, live: Live, change: int) -> None:
        live.size += change
        if live.record.conversation_id in self._live:
            self._size += change


def _size(turns: TraceTurns) -> int:
    size = TRACE_BYTES + len(turns.system or "")
    for part in turns.parts:
        size += TURN_BYTES + len(part.query or "")
        for turn in part.turns:
            text = "" if isinstance(turn, ActionTurn) else turn.text
            size += TURN_BYTES + len(text or "")
    return size
