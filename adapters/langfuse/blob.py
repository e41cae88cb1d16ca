"""Langfuse's exports to object storage: complete runs only, each row once."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from gzip import BadGzipFile, GzipFile
from tempfile import TemporaryFile
from typing import IO, Any, Final, NamedTuple

import msgspec

from adapters.langfuse.exports import ROW_BYTES, BadRow, rows_of
from adapters.langfuse.manifests import ExportFile, Manifest, Marks, manifest_of
from adapters.langfuse.rows import NO_TRACE, TraceRow, trace_of
from adapters.langfuse.versions import Versions, is_on_edge, row_digest
from monitor.errors import BackendUnavailable, ConfigurationError, MalformedPayload, PayloadTooLarge
from monitor.model import JsonValue

FILE_BYTES: Final = 4 * 1024 * 1024 * 1024
MANIFEST_BYTES: Final = 4 * 1024 * 1024
TRACES: Final = 500_000
_STEP_BYTES: Final = 1024 * 1024
_CURRENT: Final = "observations_v2"
_FORMER: Final = "observations"
_TRACES: Final = "traces"


class Run(NamedTuple):
    """One export run to read."""

    key: str
    etag: str


class BlobExport:
    """The export of one project into one bucket.

    `read` gives the rows of one run; `finish` marks it as read once they are accepted, and
    `position` is then what a later BlobExport goes on from. A file that was overwritten with fewer
    rows is counted and does not take back what it held before. `counters`: `runs`, `files`,
    `rows`, `superseded`, `on_edge`, `object_shrunk`, and `refused:<why>` for what is never
    handed on.
    """

    def __init__(
        self,
        store: Any,
        bucket: str,
        project_id: str,
        prefix: str = "",
        *,
        position: bytes | None = None,
        file_bytes: int = FILE_BYTES,
        row_bytes: int = ROW_BYTES,
    ) -> None:
        """`store` is boto3's client of S3; `file_bytes` bounds one file after inflation.

        Raises ConfigurationError.
        """
        if not bucket or not project_id:
            raise ConfigurationError(
                "an export needs a bucket and a project id; the operator must set them"
            )
        self._store = store
        self._bucket = bucket
        self._root = f"{prefix}{project_id}/"
        self._file_bytes = file_bytes
        self._row_bytes = row_bytes
        self._marks = Marks.restored(position) if position else Marks()
        self._edge: list[str] = []
        self._read: dict[str, tuple[str, int]] = {}
        self.counters: dict[str, int] = {}

    def position(self) -> bytes:
        """Where to go on from, opaque."""
        return msgspec.json.encode(self._marks)

    def runs(self) -> list[Run]:
        """Complete runs that have not been read, or were written again; the oldest first.

        Raises BackendUnavailable.
        """
        found: list[Run] = []
        request: dict[str, Any] = {"Bucket": self._bucket, "Prefix": f"{self._root}manifests/"}
        if self._marks.oldest:
            request["StartAfter"] = self._marks.oldest
        while True:
            with _calling():
                page = self._store.list_objects_v2(**request)
            for item in page.get("Contents", ()):
                run = Run(item["Key"], str(item.get("ETag", "")))
                if run.key.endswith(".json") and self._marks.runs.get(run.key) != run.etag:
                    found.append(run)
            if not page.get("IsTruncated"):
                return sorted(found)
            request["ContinuationToken"] = page["NextContinuationToken"]

    def read(self, run: Run) -> Iterator[tuple[JsonValue, TraceRow]]:
        """The newest version of each row of the run, but for those of the run before.

        Raises BackendUnavailable, MalformedPayload and PayloadTooLarge for the run as a whole.
        """
        self._edge, self._read = [], {}
        manifest = manifest_of(self._bytes(run.key), self._root)
        self._count("runs")
        self._count("refused:foreign_key", manifest.foreign)
        tables = {item.table for item in manifest.files}
        table = _CURRENT if _CURRENT in tables else _FORMER
        traces = self._traces(manifest) if table == _FORMER else {}
        with ExitStack() as stack:
            opened = [
                (item, stack.enter_context(self._opened(item)))
                for item in manifest.files
                if item.table == table
            ]
            yield from self._newest(opened, manifest, traces)

    def finish(self, run: Run) -> None:
        """Mark the run as read, after its rows were accepted."""
        self._marks = self._marks.after(run.key, run.etag, self._read, self._edge)

    def _newest(
        self,
        opened: list[tuple[ExportFile, IO[bytes]]],
        manifest: Manifest,
        traces: Mapping[str, TraceRow],
    ) -> Iterator[tuple[JsonValue, TraceRow]]:
        versions = Versions()
        fuller = []
        for item, file in opened:
            rows = 0
            for row in self._rows(item, file, counted=True):
                rows += 1
                versions.note(row)
            if self._is_fuller(item, rows):
                fuller.append((item, file))
        for item, file in fuller:
            for row in self._rows(item, file, counted=False):
                if self._is_wanted(row, versions, manifest):
                    yield row, traces.get(str(row.get("trace_id") or row.get("traceId")), NO_TRACE)

    def _is_wanted(self, row: dict[str, JsonValue], versions: Versions, manifest: Manifest) -> bool:
        """Whether this is the newest version, and did not come with the run before."""
        if not versions.is_newest(row):
            self._count("superseded")
            return False
        if is_on_edge(row, manifest.end_ns):
            self._edge.append(row_digest(row))
        if row_digest(row) in self._marks.edge:
            self._count("on_edge")
            return False
        self._count("rows")
        return True

    def _rows(
        self, item: ExportFile, file: IO[bytes], *, counted: bool
    ) -> Iterator[dict[str, JsonValue]]:
        file.seek(0)
        for row in rows_of(file, item.format, self._row_bytes):
            if isinstance(row, dict):
                yield row
            elif isinstance(row, BadRow) and counted:
                self._count(f"refused:{row.why}")

    def _is_fuller(self, item: ExportFile, rows: int) -> bool:
        """Whether the file was not read before; or holds at least what it held then, and more."""
        before = self._marks.files.get(item.key)
        if before is not None and rows < before[1]:
            self._count("object_shrunk")
            self._read[item.key] = (item.etag, before[1])
            return False
        self._read[item.key] = (item.etag, rows)
        return before is None or before[0] != item.etag

    def _traces(self, manifest: Manifest) -> dict[str, TraceRow]:
        """What traces tell of their observations, which in the former table do not."""
        found: dict[str, TraceRow] = {}
        for item in manifest.files:
            if item.table != _TRACES:
                continue
            with self._opened(item) as file:
                for row in self._rows(item, file, counted=True):
                    if len(found) < TRACES and isinstance(row.get("id"), str):
                        found[str(row["id"])] = trace_of(row)
        return found

    @contextmanager
    def _opened(self, item: ExportFile) -> Iterator[IO[bytes]]:
        """The file's inflated content, on disk."""
        with TemporaryFile() as file:
            with _calling():
                answer = self._store.get_object(Bucket=self._bucket, Key=item.key)
                item.etag = str(answer.get("ETag", ""))
                self._copy(answer["Body"], file, compressed=item.compressed)
            self._count("files")
            yield file

    def _copy(self, body: Any, file: IO[bytes], *, compressed: bool) -> None:
        source: Any = GzipFile(fileobj=body, mode="rb") if compressed else body
        size = 0
        try:
            while chunk := source.read(_STEP_BYTES):
                size += len(chunk)
                if size > self._file_bytes:
                    raise _too_large("file_bytes")
                file.write(chunk)
        except (BadGzipFile, EOFError, zlib.error) as error:
            raise MalformedPayload("an export is not gzip, or cut short") from error

    def _bytes(self, key: str) -> bytes:
        with _calling():
            body = self._store.get_object(Bucket=self._bucket, Key=key)["Body"]
            found = body.read(MANIFEST_BYTES + 1)
        if len(found) > MANIFEST_BYTES:
            raise _too_large("manifest_bytes")
        return bytes(found)

    def _count(self, what: str, by: int = 1) -> None:
        if by:
            self.counters[what] = self.counters.get(what, 0) + by


@contextmanager
def _calling() -> Iterator[None]:
    """Object storage's failures in the errors of this house."""
    try:
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError as error:
        raise ConfigurationError(
            "exports in object storage need the extra `aws`; the operator must install it"
        ) from error
    try:
        yield
    except (BotoCoreError, ClientError, ConnectionError, TimeoutError) as error:
        raise BackendUnavailable(
            f"object storage failed ({type(error).__name__}); the run is read again later"
        ) from error


def _too_large(limit: str) -> PayloadTooLarge:
    return PayloadTooLarge(f"an export is beyond the limit `{limit}`", limit)


MALFORMED: Final = (MalformedPayload, PayloadTooLarge)
"""What is wrong with one run, and will be so for ever."""
