"""Walks the frame of an OTLP protobuf export, so that each span is parsed alone and counted first.

Parsing a whole export at once turns 10 MB of empty spans into hundreds of megabytes of objects,
and lets one bad byte refuse every span. The frame (export → resource → scope → record) is
shallow, so a plain walk over its lengths costs half a microsecond per span.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

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


class Group(NamedTuple):
    """The records of one scope of one resource, still encoded."""

    resource: bytes
    scope: bytes
    records: list[bytes]


def groups(body: bytes, items: int) -> Iterator[Group]:
    """The export's records by scope.

    Raises MalformedPayload for a broken frame, PayloadTooLarge when records, scopes and resources
    together outnumber `items`.
    """
    left = items
    for number, start, end in _fields(body, 0, len(body)):
        if number != 1:
            left = _spend(left)
            continue
        resource, scopes, left = _split(body, start, end, left)
        for begin, stop in scopes:
            scope, records, left = _split(body, begin, stop, left)
            yield Group(resource, scope, [body[a:b] for a, b in records])


def _split(
    body: bytes, start: int, end: int, left: int
) -> tuple[bytes, list[tuple[int, int]], int]:
    """Field 1 merged, the places of field 2, and how many items may still come."""
    head = b""
    places = []
    left = _spend(left)
    for number, begin, stop in _fields(body, start, end):
        left = _spend(left)
        if number == 2:
            places.append((begin, stop))
        elif number == 1:
            # Joined encodings of one message decode as their merge.
            head += body[begin:stop]
    return head, places, left


def _spend(left: int) -> int:
    if left <= 0:
        raise too_many()
    return left - 1


def _fields(body: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Number, start and end of each length-delimited field; 0 and its place for any other."""
    while at < end:
        tag = body[at]
        at += 1
        if tag >= 0x80:
            tag, at = _varint(body, at - 1, end)
        if tag & 7 != _LENGTH:
            at = _step_over(body, at, end, tag & 7)
            yield 0, at, at
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
        yield tag >> 3, start, at


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
    for steps, (number, _, _) in enumerate(_fields(record, 0, len(record))):
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
