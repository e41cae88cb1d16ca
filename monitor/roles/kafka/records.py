"""What the topics between the roles carry, as bytes and back; versioned.

Every record that a stage writes tells its origin: the record that it came of, and its number among
the outputs of that. A stage that reads it remembers the last origin of each partition, so that
what a worker sends again after a crash changes nothing, not even a count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias, TypeVar

import cramjam
import msgspec

from monitor.codec import VERSION, reader_of, seal, unseal
from monitor.errors import DamagedState
from monitor.ledger.judge_book import Opinions
from monitor.pipeline.handed import HandedTrace
from monitor.verdict import JudgeCase, Report

_T = TypeVar("_T")

INFLATED_BYTES: Final = 256 * 1024 * 1024
ENVELOPE_BYTES: Final = 512
"""Room for all of an envelope but its body."""

Kind: TypeAlias = Literal["spans", "traces", "tick", "flush", "opinions", "effects", "case"]


class Origin(msgspec.Struct, frozen=True, array_like=True):
    """Which input an output is of. Orders by offset, then number, within source and partition."""

    source: str
    partition: int
    offset: int
    number: int = 0

    @property
    def line(self) -> str:
        """What is in order: the outputs of one partition of one source."""
        return f"{self.source}/{self.partition}"

    @property
    def place(self) -> tuple[int, int]:
        """Where on that line."""
        return self.offset, self.number


class Envelope(msgspec.Struct, frozen=True, array_like=True):
    """One record. A large body is cut into parts, which follow each other."""

    kind: Kind
    at: float
    """The sender's time of day; a reader's clock never runs backwards for it."""
    origin: Origin | None = None
    part: int = 0
    parts: int = 1
    body: bytes = b""
    """Compressed with snappy: a third of the bytes for a fiftieth of the work on a span."""


class HandedOn(msgspec.Struct, frozen=True, array_like=True):
    """Closed traces for one home, and conversations that open ones keep from falling idle."""

    traces: list[HandedTrace]
    touched: list[str] = []


class Outcome(msgspec.Struct, frozen=True, array_like=True):
    """What one input came to, for the ledger. Gauges are those of the stage's partition."""

    reports: list[Report] = []
    counts: dict[str, int] = {}
    gauges: dict[str, int] = {}


class Case(msgspec.Struct, frozen=True, array_like=True):
    """A conversation drawn for the judge, and where its opinions must go."""

    case: JudgeCase
    home: int


class Said(msgspec.Struct, frozen=True, array_like=True):
    """What came of asking; the case is with it for a conversation that is over meanwhile."""

    conversation_id: str
    opinions: Opinions
    case: JudgeCase | None


def written(envelope: Envelope) -> bytes:
    """The record's value."""
    return seal(b"e", envelope)


def read(value: bytes | None) -> Envelope:
    """The envelope. Raises StateError for bytes that are none of ours."""
    return unseal(b"e", value or b"", _ENVELOPES)


def packed(value: object) -> bytes:
    """A body."""
    return compressed(seal(b"b", value))


def compressed(data: bytes) -> bytes:
    """What `inflated` reads."""
    return bytes(cramjam.snappy.compress_raw(data))


def unpacked(body: bytes, shape: type[_T]) -> _T:
    """The value of a body. Raises StateError."""
    value: _T = unseal(b"b", inflated(body), _BODIES[shape])
    return value


def inflated(body: bytes) -> bytes:
    """Decompressed, within bounds. Raises DamagedState."""
    try:
        size = cramjam.snappy.decompress_raw_len(body)
        if size <= INFLATED_BYTES:
            return bytes(cramjam.snappy.decompress_raw(body))
    except cramjam.DecompressionError as error:
        raise DamagedState(f"a record's body is damaged: {error}") from error
    raise DamagedState(f"a record's body would inflate to {size} bytes, beyond its limit")


def parted(envelope: Envelope, limit_bytes: int) -> Iterator[bytes]:
    """The envelope's records, each within the limit."""
    room = limit_bytes - ENVELOPE_BYTES
    body = envelope.body
    pieces = [body[at : at + room] for at in range(0, len(body), room)] or [b""]
    for part, piece in enumerate(pieces):
        yield written(msgspec.structs.replace(envelope, part=part, parts=len(pieces), body=piece))


_ENVELOPES: Final = {VERSION: reader_of(Envelope)}
_BODIES: Final[dict[type, Mapping[int, Callable[[bytes], Any]]]] = {
    shape: {VERSION: reader_of(shape)} for shape in (HandedOn, Outcome, Case, Said)
}
