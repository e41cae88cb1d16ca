"""Rows out of one exported file, whatever its format, one at a time and within the limits."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import IO, Any, Final

import msgspec

from adapters.shapes.content import mend_surrogates
from monitor.errors import ConfigurationError, MalformedPayload, PayloadTooLarge
from monitor.model import JsonValue

ROW_BYTES: Final = 4 * 1024 * 1024
FORMATS: Final = ("jsonl", "json", "csv", "parquet")
_STEP_BYTES: Final = 256 * 1024
_PARQUET_ROWS: Final = 256
_STRUCTURE: Final = re.compile(rb'["\\\\{}\[\]]')
_OPENING: Final = frozenset({b"{", b"["})
_STEPS: Final = {b"{": 1, b"[": 1, b"}": -1, b"]": -1, b'"': 0, b"\\": 0}
_EMPTY: Final = ("", "\\N")
_GROUP_BYTES: Final = 512 * 1024 * 1024


class BadRow(Exception):
    """One row that cannot be taken; the file goes on behind it."""

    def __init__(self, why: str) -> None:
        """`why` is fit for a metric label."""
        super().__init__(why)
        self.why = why


def rows_of(file: IO[bytes], file_format: str, row_bytes: int = ROW_BYTES) -> Iterator[JsonValue]:
    """The rows of an inflated file; a BadRow in the place of one that cannot be taken.

    Raises MalformedPayload when the file as a whole is not what its format says.
    """
    match file_format:
        case "jsonl":
            return _json_lines(file, row_bytes)
        case "json":
            return _json_array(file, row_bytes)
        case "csv":
            return _csv(file, row_bytes)
        case "parquet":
            return _parquet(file, row_bytes)
        case _:
            raise MalformedPayload("an export is of an unknown format")


def _json_lines(file: IO[bytes], row_bytes: int) -> Iterator[JsonValue]:
    while line := file.readline(row_bytes + 1):
        if len(line) > row_bytes:
            while line and not line.endswith(b"\n"):
                line = file.readline(_STEP_BYTES)
            yield BadRow("row_bytes")
        elif line.strip():
            yield _decoded(line)


def _json_array(file: IO[bytes], row_bytes: int) -> Iterator[JsonValue]:
    """The objects of one array, or one after another, told apart by their brackets."""
    cutter = _Cutter(row_bytes)
    started = False
    while chunk := file.read(_STEP_BYTES):
        if not started:
            chunk = chunk.removeprefix(b"\xef\xbb\xbf").lstrip()
            if not chunk:
                continue
            if chunk[:1] not in (b"[", b"{"):
                raise MalformedPayload("an export is no JSON, although its name says so")
            cutter.in_array = chunk[:1] == b"["
            chunk = chunk[1:] if cutter.in_array else chunk
            started = True
        for piece in cutter.feed(chunk):
            yield BadRow("row_bytes") if piece is None else _decoded(piece)
    if cutter.is_open:
        yield BadRow("truncated")


class _Cutter:
    """Cuts a stream of JSON objects at their ends."""

    def __init__(self, row_bytes: int) -> None:
        self._row_bytes = row_bytes
        self._held = bytearray()
        self._depth = 0
        self._quoted = False
        self._escaped_at = -1
        self._too_large = False
        self.in_array = False

    @property
    def is_open(self) -> bool:
        """Whether an object has begun and not ended."""
        return self._depth > 0

    def feed(self, chunk: bytes) -> Iterator[bytes | None]:
        """The objects that end in this chunk; None for one over the limit."""
        begin = 0
        for match in _STRUCTURE.finditer(chunk):
            place, mark = match.start(), match[0]
            if self._quoted:
                self._in_text(place, mark)
                continue
            before = self._depth
            self._depth += _STEPS[mark] if before or mark in _OPENING else 0
            self._quoted = mark == b'"' and before > 0
            if before == 0 and self._depth > 0:
                begin = place
            elif before > 0 and self._depth == 0:
                yield self._whole(chunk[begin : place + 1])
        if self._depth > 0:
            self._keep(chunk[begin:])
        self._escaped_at = 0 if self._escaped_at == len(chunk) else -1

    def _in_text(self, place: int, mark: bytes) -> None:
        if place == self._escaped_at:
            return
        if mark == b"\\":
            self._escaped_at = place + 1
        self._quoted = mark != b'"'

    def _keep(self, piece: bytes) -> None:
        if self._too_large or len(self._held) + len(piece) > self._row_bytes:
            self._too_large = True
            self._held.clear()
        else:
            self._held += piece

    def _whole(self, piece: bytes) -> bytes | None:
        self._keep(piece)
        found = None if self._too_large else bytes(self._held)
        self._held.clear()
        self._too_large = False
        return found


def _decoded(text: bytes) -> JsonValue:
    try:
        row = msgspec.json.decode(text)
    except (msgspec.MsgspecError, ValueError):
        row = _patiently(text)
    except RecursionError:
        return BadRow("nesting")
    return row if isinstance(row, dict) else BadRow("malformed_row")


def _patiently(text: bytes) -> JsonValue:
    try:
        return msgspec.json.decode(mend_surrogates(text.decode(errors="replace")))
    except (msgspec.MsgspecError, ValueError):
        return None
    except RecursionError:
        return BadRow("nesting")


def _csv(file: IO[bytes], row_bytes: int) -> Iterator[JsonValue]:
    """Every value is text; an empty one is none."""
    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="")
    lines = csv.reader(_bounded(text, row_bytes), strict=True)
    csv.field_size_limit(row_bytes)
    try:
        names = next(lines, None)
        for values in lines:
            if len(values) != len(names or ()):
                yield BadRow("malformed_row")
            else:
                filled = zip(names or (), values, strict=True)
                yield {name: value for name, value in filled if value not in _EMPTY}
    except csv.Error:
        # Where the quoting is broken nobody can tell where the next row begins.
        yield BadRow("malformed_row")
    except PayloadTooLarge:
        yield BadRow("row_bytes")
    finally:
        text.detach()


def _bounded(text: io.TextIOWrapper, row_bytes: int) -> Iterable[str]:
    while line := text.readline(row_bytes + 1):
        if len(line) > row_bytes:
            raise PayloadTooLarge("a row is beyond the limit `row_bytes`", "row_bytes")
        yield line


def _parquet(file: IO[bytes], row_bytes: int) -> Iterator[JsonValue]:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ConfigurationError(
            "an export is in Parquet; the operator must install the extra `parquet`"
        ) from error
    try:
        opened = ParquetFile(file)
        groups = [opened.metadata.row_group(at) for at in range(opened.metadata.num_row_groups)]
        if any(group.total_byte_size > _GROUP_BYTES for group in groups):
            raise MalformedPayload("an export in Parquet has a row group of over 512 MiB")
        for batch in opened.iter_batches(batch_size=_PARQUET_ROWS):
            for row in batch.to_pylist():
                yield BadRow("row_bytes") if _weight(row) > row_bytes else row
    except (ArrowException, OSError, ValueError) as error:
        raise MalformedPayload("an export is no Parquet, although its name says so") from error


def _weight(row: dict[str, Any]) -> int:
    return sum(len(value) for value in row.values() if isinstance(value, str | bytes | list))
