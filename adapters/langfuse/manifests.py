"""Which files an export run wrote, and which runs have been read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from adapters.langfuse.rows import time_ns
from monitor.errors import ConfigurationError, MalformedPayload
from monitor.model import JsonValue

RUNS: Final = 500
FILES: Final = 2_000
EDGE: Final = 20_000
_VERSION: Final = 1
_FORMATS: Final = {"json": "json", "jsonl": "jsonl", "csv": "csv", "parquet": "parquet"}


class ExportFile(msgspec.Struct):
    """One file of a run."""

    key: str
    table: str
    format: str
    compressed: bool
    etag: str = ""
    """Known once the file was fetched."""


class Manifest(msgspec.Struct, frozen=True):
    """What a run says of itself."""

    files: tuple[ExportFile, ...]
    end_ns: int
    """The last moment of its window, which is the first of the next one's."""
    foreign: int = 0
    """Files outside of the project's folder, which are not read."""


def manifest_of(body: bytes, root: str) -> Manifest:
    """The manifest in the text. Raises MalformedPayload for anything but version 1."""
    try:
        told = msgspec.json.decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise MalformedPayload("the manifest of an export is no JSON") from error
    if not isinstance(told, Mapping) or told.get("version") != _VERSION:
        raise MalformedPayload("the manifest of an export is of an unknown version")
    window = told.get("window")
    end = window.get("maxTimestamp") if isinstance(window, Mapping) else None
    listed = told.get("files")
    found = [_file(item) for item in (listed if isinstance(listed, list) else ())]
    files = [item for item in found if item is not None]
    own = tuple(item for item in files if item.key.startswith(root))
    return Manifest(own, time_ns(end or told.get("maxTimestamp")), len(files) - len(own))


def _file(item: JsonValue) -> ExportFile | None:
    if not isinstance(item, Mapping):
        return None
    key, table = item.get("key"), item.get("table")
    if not isinstance(key, str) or not isinstance(table, str):
        return None
    packed = key.endswith(".gz")
    kind = _format(item, key.removesuffix(".gz"))
    compressed = item.get("compressed")
    if kind == "parquet":
        compressed = False
    return ExportFile(key, table, kind, compressed if isinstance(compressed, bool) else packed)


def _format(item: Mapping[str, Any], key: str) -> str:
    """By the name's ending; else as the manifest says."""
    ending = key.rpartition(".")[2].lower()
    if ending in _FORMATS:
        return ending
    for name in ("format", "fileType"):
        told = item.get(name)
        if isinstance(told, str) and told.lower() in _FORMATS:
            return told.lower()
    return "unknown"


class Marks(msgspec.Struct, frozen=True):
    """A position: what has been read, as far back as files may be written again."""

    oldest: str = ""
    """Runs up to this key are done with."""
    runs: dict[str, str] = {}
    """The manifest's ETag by its key."""
    files: dict[str, tuple[str, int]] = {}
    """ETag and rows by key."""
    edge: frozenset[str] = frozenset()
    """Rows of the last moment of the last run's window."""
    version: int = _VERSION

    @classmethod
    def restored(cls, position: bytes) -> Marks:
        """From `position`. Raises ConfigurationError when it cannot be read."""
        try:
            return msgspec.json.decode(position, type=cls)
        except (msgspec.MsgspecError, ValueError) as error:
            raise ConfigurationError(
                "the stored position of a Langfuse export cannot be read; the operator must "
                "remove it, and the export is read from its beginning"
            ) from error

    def after(
        self, run: str, etag: str, files: Mapping[str, tuple[str, int]], edge: list[str]
    ) -> Marks:
        """The marks with one more run read."""
        runs = {**self.runs, run: etag}
        oldest = self.oldest
        while len(runs) > RUNS:
            oldest = min(runs)
            del runs[oldest]
        kept = {**self.files, **files}
        for key in list(kept)[: max(0, len(kept) - FILES)]:
            del kept[key]
        is_latest = run == max(runs)
        return Marks(oldest, runs, kept, frozenset(edge[-EDGE:]) if is_latest else self.edge)
