"""Labelled pairs of values from a tab-separated file."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from monitor.errors import InvalidInput
from monitor.model import JsonValue
from monitor.ports import Hint

PAIRS_LIMIT: Final = 1_000_000
FILE_BYTES: Final = 512 * 1024 * 1024
"""Of the file, inflated."""
_NEEDED: Final = ("gold", "pred", "label")
_LABELS: Final = {"1": True, "0": False}


class LabelledPair(NamedTuple):
    """Two values, what is known beside them, and whether people call them the same."""

    expected: JsonValue
    actual: JsonValue
    hint: Hint
    same: bool
    source: str
    group: str
    """Pairs of one group stay together when the file is parted."""

    @property
    def is_answer(self) -> bool:
        """Whether the pair is an answer to a question, and not a value of a field."""
        return not self.hint.field


def read_pairs(path: Path) -> list[LabelledPair]:
    """All pairs of a file, plain or gzip, with a header and CSV quoting.

    Needs the columns `gold`, `pred` and `label` (1 the same, 0 not). `field` (or `param` within
    `ctx`) makes a value of a field, `question` an answer; `group`, `source` and `ctx`, a JSON
    object, may stand beside them. Values are JSON; what is no JSON is taken as text. Raises
    InvalidInput that names the line.
    """
    rows = csv.DictReader(io.StringIO(_text(path), newline=""), delimiter="\t")
    names = rows.fieldnames or []
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise InvalidInput(f"{path} has no column {', '.join(missing)}; its first line names them")
    found = []
    try:
        for row in rows:
            found.append(_pair(row, f"{path}, line {rows.line_num}"))
            if len(found) > PAIRS_LIMIT:
                raise InvalidInput(f"{path} has more than {PAIRS_LIMIT} pairs")
    except csv.Error as error:
        raise InvalidInput(f"{path}, line {rows.line_num}: {error}") from error
    return found


def _pair(row: dict[str, str | None], where: str) -> LabelledPair:
    label = _LABELS.get((row["label"] or "").strip())
    if label is None:
        raise InvalidInput(f"{where}: the label is {row['label']!r}, and neither 1 nor 0")
    known = _context(row.get("ctx"), where)
    field = row.get("field") or known.get("param")
    question = row.get("question") or known.get("question")
    if not field and not question:
        raise InvalidInput(f"{where}: neither a field nor a question is named")
    schema = {key: known[key] for key in ("type", "enum") if known.get(key)}
    hint = Hint(str(field), None, schema or None) if field else Hint(query=str(question))
    source = row.get("source") or "pairs"
    return LabelledPair(
        _value(row["gold"]), _value(row["pred"]), hint, label, source, row.get("group") or where
    )


def _context(text: str | None, where: str) -> dict[str, JsonValue]:
    if not text:
        return {}
    try:
        return msgspec.json.decode(text, type=dict[str, JsonValue])
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidInput(f"{where}: ctx is no JSON object: {error}") from error


def _value(text: str | None) -> JsonValue:
    try:
        return msgspec.json.decode(text or "")
    except (msgspec.DecodeError, RecursionError):
        return text or ""


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            opened = gzip.open(file, "rb") if packed else file  # noqa: SIM115  # closed with `file`
            content = opened.read(FILE_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from error
    if len(content) > FILE_BYTES:
        raise InvalidInput(f"{path} holds more than {FILE_BYTES} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8: {error}") from error


def by_kind(pairs: list[LabelledPair]) -> Iterator[tuple[str, list[LabelledPair]]]:
    """The pairs of fields and those of answers."""
    yield "fields", [pair for pair in pairs if not pair.is_answer]
    yield "answers", [pair for pair in pairs if pair.is_answer]
