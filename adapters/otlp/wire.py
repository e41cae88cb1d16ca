"""Walks the frame of an OTLP protobuf export, so that spans are counted before any is parsed.

Parsing a whole export at once turns 10 MB of empty spans into hundreds of megabytes of objects,
and lets one bad byte refuse every span. The frame (export → resource → scope → record) is
shallow, so a plain walk over its lengths costs half a microsecond per span, and then records are
parsed a few at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from monitor.errors import MalformedPayload, PayloadTooLarge

_LENGTH = 2
_VARINT = 0
_SKIPPED = {1: 8, 5: 4}
_FIELDS_PER_ITEM = 8
SPAN_ITEMS = frozenset({9, 11, 13})
"""Field numbers of a span's attributes, events and links."""
LOG_ITEMS = frozenset({6})
"""Field number of a log record's attributes."""
COUNTED_FIRST_BYTES = 16_384
"""A longer record is counted before it is parsed; a shorter one cannot hold enough to hurt."""
RUN_BYTES = 65_536
"""How much is parsed at a time: objects of the densest such run take 4 MB."""


Place: TypeAlias = tuple[int, int, int]
"""Where a record's tag, its content and its end lie."""


class Group:
    """The records of one scope of one resource, still encoded."""

    def __init__(self, body: bytes, resource: bytes, scope: bytes, places: list[Place]) -> None:
        self.resource = resource
        self.scope = scope
        self._body = body
        self._places = places

    def records(self) -> Iterator[bytes]:
        """Each record alone."""
        for _, start, stop in self._places:
            yield self._body[start:stop]

    def runs(self) -> Iterator[list[Place]]:
        """Places of neighbouring records, together at most RUN_BYTES unless it is one record."""
        run: list[Place] = []
        for place in self._places:
            if run and (place[0] != run[-1][2] or place[2] - run[0][0] > RUN_BYTES):
                yield run
                run = []
            run.append(place)
        if run:
            yield run

    def encoded(self, run: list[Place]) -> bytes:
        """The run as an encoded scope that holds nothing else."""
        return self._body[run[0][0] : run[-1][2]]

    def record(self, place: Place) -> bytes:
        """One record alone."""
        return self._body[place[1] : place[2]]


def groups(body: bytes, items: int) -> Iterator[Group]:
    """The export's records by scope.

    Raises MalformedPayload for a broken frame, PayloadTooLarge when records, scopes and resources
    together outnumber `items`.
    """
    left = items
    for number, _, start, end in _fields(body, 0, len(body)):
        if number != 1:
            left = _spend(left)
            continue
        resource, scopes, left = _split(body, start, end, left)
        for _, begin, stop in scopes:
            scope, records, left = _split(body, begin, stop, left)
            yield Group(body, resource, scope, records)


def _split(body: bytes, start: int, end: int, left: int) -> tuple[bytes, list[Place], int]:
    """Field 1 merged, the places of field 2, and how many items may still come."""
    head = b""
    places: list[Place] = []
    left = _spend(left)
    for number, tag, begin, stop in _fields(body, start, end):
        left = _spend(left)
        if number == 2:
            places.append((tag, begin, stop))
        elif number == 1:
            # Joined encodings of one message decode as their merge.
            head += body[begin:stop]
    return head, places, left


def _spend(left: int) -> int:
    if left <= 0:
        raise too_many()
    return left - 1


def _fields(body: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Number, tag, start and end of each length-delimited field; 0 and its end for any other."""
    while at < end:
        begin = at
        tag = body[at]
        at += 1
        if tag >= 0x80:
            tag, at = _varint(body, at - 1, end)
        if tag & 7 != _LENGTH:
            at = _step_over(body, at, end, tag & 7)
            yield 0, begin, at, at
            continue
        if at >= end:
            raise _broken("ends inside a length")
        length = body[at]
        at += 1
        if length >= 0x80:
            length, at = _varint(body, at - 1, end)
        start = at
        at += length
        if at > end:
            raise _broken("a length runs past the end")
        yield tag >> 3, begin, start, at


def _step_over(body: bytes, at: int, end: int, kind: int) -> int:
    if kind == _VARINT:
        return _varint(body, at, end)[1]
    step = _SKIPPED.get(kind)
    if step is None or at + step > end:
        raise _broken("unknown wire type or cut value")
    return at + step


def _varint(body: bytes, at: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while at < end:
        byte = body[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            break
    raise _broken("bad varint")


def count_items(record: bytes, numbers: frozenset[int], limit: int) -> int:
    """How many of a record's fields bear one of `numbers`: its attributes, events and links.

    Raises PayloadTooLarge beyond `limit`, MalformedPayload for a broken record.
    """
    count = 0
    for steps, (number, _, _, _) in enumerate(_fields(record, 0, len(record))):
        count += number in numbers
        if count > limit or steps > _FIELDS_PER_ITEM * limit:
            raise too_many()
    return count


def _broken(what: str) -> MalformedPayload:
    return MalformedPayload(f"the body is no OTLP protobuf export: {what}; the sender must mend it")


def too_many() -> PayloadTooLarge:
    """A payload beyond the limit `items`."""
    return PayloadTooLarge(
        "the export holds more spans, attributes, events and links than the limit `items` allows; "
        "the sender must split it",
        "items",
    )
