"""The store behind the pipeline: encoded records, written when the host says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import suppress
from typing import Final, Literal, TypeVar

import msgspec

from monitor.assembly.stitching import Footprint
from monitor.assembly.turns import TraceTurns
from monitor.codec import VERSION, decode_spans, encode_rows, reader_of, seal, unseal
from monitor.errors import DamagedState
from monitor.model import AgentSpan

T = TypeVar("T")

CONVERSATION: Final = "c:"
HOMES: Final = "g:"
OPEN_TRACE: Final = "o:"
PIECE: Final = "p:"
PLACED: Final = "i:"
QUARANTINED: Final = "q:"
TRACE: Final = "t:"
TURNS: Final = "u:"


NO_SPANS: Final = msgspec.Raw(b"\xc0")
"""Nil."""


class ConversationRecord(msgspec.Struct, array_like=True):
    """What is kept of a conversation beside its traces. `closed_at` is a host's time."""

    conversation_id: str
    phase: Literal["open", "closed", "gone"] = "open"
    synthetic: bool = False
    opened_at: float = 0.0
    seen_at: float = 0.0
    closed_at: float = 0.0
    revision: int = 0
    digest: bytes = b""
    """Of the last report, its revision apart."""
    unreported: int = 0
    """Turns without a verdict, since their evaluation failed."""
    traces: dict[str, tuple[int, int]] = {}
    """By trace id: start of the trace, and bytes kept of it."""
    trimmed: list[str] = []
    former: list[str] = []
    """Traces of the conversation's life before this one."""
    turns: int = 0
    """Turns that its traces brought when they first came."""


class OpenTraceRecord(msgspec.Struct, array_like=True):
    """A trace that still waits for spans; they lie in pieces beside it."""

    opened_at: float
    seen_at: float
    pieces: int


class TraceRecord(msgspec.Struct, array_like=True):
    """A closed trace. Without spans it is only remembered: what comes for it is late."""

    conversations: tuple[str, ...]
    opened_at: float = 0.0
    seen_at: float = 0.0
    spans: msgspec.Raw = NO_SPANS

    @property
    def remembered(self) -> bool:
        """Whether the spans are given up."""
        return memoryview(self.spans).nbytes == 1


class PlacedRecord(msgspec.Struct, array_like=True):
    """Where a closed trace stands whose own ids do not say it."""

    names: dict[str, str] = {}
    """Conversations by the names that the trace has for them, where these differ."""
    own: str = ""
    """The name of the part that may continue another trace, or be continued."""
    footprint: Footprint | None = None
    """Of that part; None once nothing can continue it."""
    parent: str | None = None
    root: str = ""
    tree: str = ""
    """The trace that all began with, branches and all; empty where it is the root."""


class HomesRecord(msgspec.Struct, array_like=True):
    """Where a closed trace was handed to, by a first stage that stands apart from the second."""

    homes: tuple[int, ...]
    due: float
    """When its spans are given up; when it is forgotten, once they are."""


class Shelf:
    """Typed access to a store of bytes; changes wait in memory until `write`."""

    def __init__(self, store: MutableMapping[str, bytes]) -> None:
        """Passes over the store's keys once."""
        self._store = store
        self._changed: dict[str, bytes | None] = {}
        self.damaged = 0
        """Records that could not be read, and were dropped."""
        self._read_keys()

    def write(self) -> None:
        """Carry the changes into the store."""
        for key, value in self._changed.items():
            if value is not None:
                self._store[key] = value
                self._known.add(hash(key))
            elif hash(key) in self._known:
                self._known.discard(hash(key))
                # `pop` would read the value first, which may be a trace's spans.
                with suppress(KeyError):
                    del self._store[key]
        self._changed = {}

    def everything(self) -> dict[str, bytes]:
        """The store's content as it would be after `write`."""
        self.write()
        return dict(self._store)

    def replace(self, content: dict[str, bytes]) -> None:
        """Make the content the store's."""
        self._changed = {}
        self._store.clear()
        self._store.update(content)
        self._read_keys()

    def conversations(self) -> Iterator[ConversationRecord]:
        """Every record, by id."""
        for conversation_id in self._at_start[CONVERSATION]:
            record = self.conversation(conversation_id)
            if record is not None:
                yield record

    def conversation(self, conversation_id: str) -> ConversationRecord | None:
        """The conversation's record, if it is known."""
        return self._read(b"C", CONVERSATION + conversation_id, _CONVERSATIONS)

    def keep_conversation(self, record: ConversationRecord) -> None:
        """Put the record."""
        self._changed[CONVERSATION + record.conversation_id] = seal(b"C", record)

    def drop_conversation(self, conversation_id: str) -> None:
        """Forget the record."""
        self._drop(CONVERSATION + conversation_id)

    def trace(self, trace_id: str) -> TraceRecord | None:
        """The closed trace's record, if it is known."""
        return self._read(b"T", TRACE + trace_id, _TRACES)

    def keep_trace(self, trace_id: str, record: TraceRecord) -> int:
        """Put the record; its size in bytes."""
        data = self._changed[TRACE + trace_id] = seal(b"T", record)
        return len(data)

    def drop_trace(self, trace_id: str) -> None:
        """Forget the record."""
        self._drop(TRACE + trace_id)

    def placement(self, trace_id: str) -> PlacedRecord | None:
        """Where the trace stands, if its own ids do not say it."""
        return self._read(b"I", PLACED + trace_id, _PLACED)

    def keep_placement(self, trace_id: str, record: PlacedRecord) -> None:
        """Put the record."""
        self._changed[PLACED + trace_id] = seal(b"I", record)

    def drop_placement(self, trace_id: str) -> None:
        """Forget the record."""
        self._drop(PLACED + trace_id)

    def placements(self) -> list[str]:
        """The traces that had such a record when the shelf was built, sorted."""
        return self._at_start[PLACED]

    def quarantined(self) -> Iterator[tuple[str, float]]:
        """The ids in quarantine when the shelf was built, sorted, and when each was last seen."""
        for name in self._at_start[QUARANTINED]:
            seen_at = self._read(b"Q", QUARANTINED + name, _QUARANTINED)
            if seen_at is not None:
                yield name, seen_at

    def keep_quarantined(self, name: str, seen_at: float) -> None:
        """Put an id in quarantine."""
        self._changed[QUARANTINED + name] = seal(b"Q", seen_at)

    def drop_quarantined(self, name: str) -> None:
        """Take an id out of quarantine."""
        self._drop(QUARANTINED + name)

    def handed(self) -> list[str]:
        """The traces that had been handed on when the shelf was built, sorted."""
        return self._at_start[HOMES]

    def homes(self, trace_id: str) -> HomesRecord | None:
        """Where a closed trace was handed to, if it was."""
        return self._read(b"H", HOMES + trace_id, _HOMES)

    def keep_homes(self, trace_id: str, record: HomesRecord) -> None:
        """Put the record."""
        self._changed[HOMES + trace_id] = seal(b"H", record)

    def drop_homes(self, trace_id: str) -> None:
        """Forget the record."""
        self._drop(HOMES + trace_id)

    def turns(self, trace_id: str, conversation_id: str) -> TraceTurns | None:
        """What a closed trace tells of a conversation, if it is kept."""
        return self._read(b"U", f"{TURNS}{trace_id}:{conversation_id}", _TURNS)

    def keep_turns(self, trace_id: str, conversation_id: str, turns: TraceTurns) -> None:
        """Put what a closed trace tells of a conversation."""
        self._changed[f"{TURNS}{trace_id}:{conversation_id}"] = seal(b"U", turns)

    def drop_turns(self, trace_id: str, conversation_id: str) -> None:
        """Forget what a closed trace tells of a conversation."""
        self._drop(f"{TURNS}{trace_id}:{conversation_id}")

    def open_trace(self, trace_id: str) -> OpenTraceRecord | None:
        """The open trace's record, if it is known."""
        return self._read(b"O", OPEN_TRACE + trace_id, _OPEN_TRACES)

    def keep_open_trace(self, trace_id: str, record: OpenTraceRecord, rows: list[bytes]) -> None:
        """Put the record with its newest piece."""
        if rows:
            self._changed[f"{PIECE}{trace_id}:{record.pieces - 1}"] = encode_rows(rows)
        self._changed[OPEN_TRACE + trace_id] = seal(b"O", record)

    def pieces(self, trace_id: str, count: int) -> Iterator[AgentSpan]:
        """The spans of an open trace's pieces, in order of arrival."""
        for number in range(count):
            try:
                yield from decode_spans(self._bytes_at(f"{PIECE}{trace_id}:{number}") or b"")
            except DamagedState:
                self.damaged += 1

    def drop_open_trace(self, trace_id: str, pieces: int) -> None:
        """Forget the record and its pieces."""
        for number in range(pieces):
            self._drop(f"{PIECE}{trace_id}:{number}")
        self._drop(OPEN_TRACE + trace_id)

    def open_traces(self) -> list[str]:
        """The ids of the traces that were open when the shelf was built, sorted."""
        return self._at_start[OPEN_TRACE]

    def _read_keys(self) -> None:
        # Most look-ups are for traces that are new; a hash answers these without the store.
        self._known: set[int] = set()
        self._at_start: dict[str, list[str]] = {
            kind: [] for kind in (CONVERSATION, HOMES, OPEN_TRACE, PLACED, QUARANTINED)
        }
        for key in self._store:
            self._known.add(hash(key))
            if key[:2] in self._at_start:
                self._at_start[key[:2]].append(key[2:])
        for ids in self._at_start.values():
            ids.sort()

    def _read(self, kind: bytes, key: str, readers: Mapping[int, Callable[[bytes], T]]) -> T | None:
        data = self._bytes_at(key)
        if data is None:
            return None
        try:
            return unseal(kind, data, readers)
        except DamagedState:
            self.damaged += 1
            self._drop(key)
            return None

    def _drop(self, key: str) -> None:
        if hash(key) in self._known or key in self._changed:
            self._changed[key] = None

    def _bytes_at(self, key: str) -> bytes | None:
        if key in self._changed:
            return self._changed[key]
        return self._store.get(key) if hash(key) in self._known else None


_CONVERSATIONS: Final = {VERSION: reader_of(ConversationRecord)}
_HOMES: Final = {VERSION: reader_of(HomesRecord)}
_PLACED: Final = {VERSION: reader_of(PlacedRecord)}
_QUARANTINED: Final = {VERSION: reader_of(float)}
_OPEN_TRACES: Final = {VERSION: reader_of(OpenTraceRecord)}
_TRACES: Final = {VERSION: reader_of(TraceRecord)}
_TURNS: Final = {VERSION: reader_of(TraceTurns)}
