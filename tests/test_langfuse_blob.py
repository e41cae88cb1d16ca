"""Exports in an object store that moto plays."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langfuse_server import documents
from moto import mock_aws

from adapters.langfuse.blob import BlobExport
from adapters.langfuse.blob_receiver import LangfuseBlobReceiver
from adapters.langfuse.decoder import LangfuseTraceDecoder
from adapters.langfuse.exports import BadRow, rows_of
from monitor.errors import BackendUnavailable, ConfigurationError, MalformedPayload
from monitor.model import AgentSpan
from monitor.ports import Decoded
from monitor.wiring.receivers import edge_counts

BUCKET = "exports"
PROJECT = "p1"
START = datetime(2026, 5, 1, 11, 40, tzinfo=UTC)
END = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
LATER = END + timedelta(minutes=20)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with mock_aws():
        found = boto3.client("s3", region_name="us-east-1")
        found.create_bucket(Bucket=BUCKET)
        yield found


@pytest.fixture
def store(client: Any) -> Any:
    """An empty bucket."""
    for item in client.list_objects_v2(Bucket=BUCKET).get("Contents", ()):
        client.delete_object(Bucket=BUCKET, Key=item["Key"])
    return client


def row(number: int, **more: Any) -> dict[str, Any]:
    start = START + timedelta(seconds=number)
    return {
        "id": f"{number:016x}",
        "trace_id": f"{number:032x}",
        "type": "GENERATION",
        "name": "chat",
        "start_time": at(start),
        "end_time": at(start + timedelta(seconds=1)),
        "event_ts": at(start + timedelta(seconds=2)),
        "session_id": "talk",
        "provided_model_name": "model-x",
        "input": 'He said "hi",\nthen {left] \\',
        "output": "bye",
        "metadata": {"attributes": "{}"},
        "usage_details": {"input": 3, "output": 5},
        **more,
    }


def at(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03d}000"


def encoded(rows: list[dict[str, Any]], file_format: str) -> bytes:
    match file_format:
        case "jsonl":
            return b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        case "json":
            return json.dumps(rows, indent=1).encode()
        case "csv":
            out = io.StringIO()
            names = list(rows[0]) if rows else ["id"]
            lines = csv.DictWriter(out, names)
            lines.writeheader()
            for row in rows:
                lines.writerow(
                    {k: json.dumps(v) if isinstance(v, dict) else v for k, v in row.items()}
                )
            return out.getvalue().encode()
        case "parquet":
            held = io.BytesIO()
            plain = [
                {k: json.dumps(v) if isinstance(v, dict) else v for k, v in row.items()}
                for row in rows
            ]
            pq.write_table(pa.Table.from_pylist(plain), held)
            return held.getvalue()
        case _:
            raise AssertionError(file_format)


def put_run(
    store: Any,
    rows: list[dict[str, Any]],
    *,
    start: datetime = START,
    end: datetime = END,
    file_format: str = "jsonl",
    packed: bool = True,
    table: str = "observations_v2",
    complete: bool = True,
    more: list[tuple[str, list[dict[str, Any]]]] | None = None,
) -> str:
    stamp = end.strftime("%Y-%m-%dT%H-%M-%S")
    files = []
    for name, content in [(table, rows), *(more or [])]:
        key = f"lf/{PROJECT}/{name}/{stamp}.{file_format}"
        body = encoded(content, file_format)
        if packed and file_format != "parquet":
            key, body = key + ".gz", gzip.compress(body)
        store.put_object(Bucket=BUCKET, Key=key, Body=body)
        files.append({"key": key, "table": name, "format": file_format, "rowCount": len(content)})
    manifest = {
        "version": 1,
        "projectId": PROJECT,
        "window": {"minTimestamp": start.isoformat(), "maxTimestamp": end.isoformat()},
        "maxTimestamp": end.isoformat(),
        "files": files,
    }
    key = f"lf/{PROJECT}/manifests/{stamp}.json"
    if complete:
        store.put_object(Bucket=BUCKET, Key=key, Body=json.dumps(manifest).encode())
    return str(files[0]["key"])


class Reading:
    """A receiver, what it handed on, and the positions that it gave."""

    def __init__(self, store: Any, position: bytes | None = None, **options: Any) -> None:
        self.kept: list[bytes] = []
        self.taken: list[Decoded] = []
        self.export = BlobExport(store, BUCKET, PROJECT, "lf/", position=position, **options)
        self.receiver = LangfuseBlobReceiver(self.export, keep=self.kept.append)

    async def accept(self, decoded: Decoded, payload_bytes: int) -> None:
        self.taken.append(decoded)

    async def look(self) -> int:
        return await self.receiver.look(self.accept)

    @property
    def counters(self) -> dict[str, int]:
        return self.receiver.counters

    @property
    def spans(self) -> list[AgentSpan]:
        return [span for decoded in self.taken for span in decoded.spans]


FORMATS = [("jsonl", True), ("jsonl", False), ("json", True), ("csv", True), ("parquet", False)]


@pytest.mark.parametrize(("file_format", "packed"), FORMATS)
async def test_every_format_gives_the_same_spans(
    store: Any, file_format: str, packed: bool
) -> None:
    put_run(store, [row(1), row(2)], file_format=file_format, packed=packed)
    reading = Reading(store)
    assert await reading.look() == 2
    span = reading.spans[0]
    assert span.span_id == f"{1:016x}"
    assert span.conversation_id == "talk"
    assert span.model == "model-x"
    assert span.start_ns == int((START + timedelta(seconds=1)).timestamp()) * 10**9
    assert span.end_ns - span.start_ns == 10**9
    assert span.messages_in is not None
    assert span.messages_in[0].text == 'He said "hi",\nthen {left] \\'
    assert span.usage is not None
    assert (span.usage.input_tokens, span.usage.output_tokens) == (3, 5)


async def test_a_run_without_its_manifest_is_not_read(store: Any) -> None:
    put_run(store, [row(1)], complete=False)
    assert await Reading(store).look() == 0


async def test_a_run_is_read_once_also_after_a_restart(store: Any) -> None:
    put_run(store, [row(1)])
    first = Reading(store)
    assert await first.look() == 1
    assert await first.look() == 0
    again = Reading(store, first.kept[-1])
    assert await again.look() == 0
    put_run(store, [row(2)], start=END, end=LATER)
    assert await again.look() == 1


async def test_a_row_on_the_edge_of_two_windows_comes_once(store: Any) -> None:
    edge = row(1, start_time=at(END), end_time=at(END), event_ts=at(END))
    put_run(store, [edge, row(2)])
    put_run(store, [edge, row(3)], start=END, end=LATER)
    reading = Reading(store)
    assert await reading.look() == 3
    assert reading.counters["on_edge"] == 1


@pytest.mark.parametrize("order", [1, -1])
async def test_the_newest_of_several_versions_counts_in_any_order(store: Any, order: int) -> None:
    old = row(1, output="old", event_ts=at(START + timedelta(seconds=5)))
    new = row(1, output="new", event_ts=at(START + timedelta(seconds=9)))
    put_run(store, [old, new][::order])
    reading = Reading(store)
    assert await reading.look() == 1
    assert reading.spans[0].messages_out is not None
    assert reading.spans[0].messages_out[0].text == "new"
    assert reading.counters["superseded"] == 1


async def test_a_file_that_was_overwritten_with_less_takes_nothing_back(store: Any) -> None:
    put_run(store, [row(number) for number in range(1, 101)])
    reading = Reading(store)
    assert await reading.look() == 100
    put_run(store, [], start=START + timedelta(seconds=1))
    assert await reading.look() == 0
    assert reading.counters["object_shrunk"] == 1
    assert len({span.span_id for span in reading.spans}) == 100


async def test_a_file_that_was_overwritten_with_more_is_read_again(store: Any) -> None:
    put_run(store, [row(1)])
    reading = Reading(store)
    await reading.look()
    put_run(store, [row(1), row(2)])
    await reading.look()
    assert {span.span_id for span in reading.spans} == {f"{1:016x}", f"{2:016x}"}


async def test_former_exports_take_the_session_from_their_traces(store: Any) -> None:
    bare = {key: value for key, value in row(1).items() if key != "session_id"}
    trace = {"id": f"{1:032x}", "session_id": "talk-9", "release": "r7", "metadata": {}}
    put_run(store, [bare], table="observations", more=[("traces", [trace])])
    reading = Reading(store)
    await reading.look()
    assert [(span.conversation_id, span.release) for span in reading.spans] == [("talk-9", "r7")]


async def test_bad_rows_cost_themselves(store: Any) -> None:
    put_run(store, [row(1)], packed=False, file_format="jsonl")
    key = put_run(store, [row(2)], packed=False, file_format="jsonl", start=END, end=LATER)
    bad = [
        b"{broken\n",
        b"[1]\n",
        b'{"id": "x"}\n',
        b'{"a": "' + b"x" * 5_000 + b'"}\n',
        b"[" * 5_000 + b"\n",
        json.dumps(row(3)).encode() + b"\n",
    ]
    store.put_object(Bucket=BUCKET, Key=key, Body=b"".join(bad))
    reading = Reading(store, row_bytes=4_000)
    assert await reading.look() == 2
    assert {span.span_id for span in reading.spans} == {f"{1:016x}", f"{3:016x}"}
    assert reading.counters["refused:malformed_row"] == 2
    assert reading.counters["refused:row_bytes"] == 2
    assert reading.counters["rejected:malformed_observation"] == 1
    told = edge_counts([reading.receiver])
    assert told == {"rejected:malformed_row": 2, "rejected:row_bytes": 2}


async def test_a_bomb_costs_its_run_only(store: Any) -> None:
    key = put_run(store, [row(1)])
    store.put_object(Bucket=BUCKET, Key=key, Body=gzip.compress(b"0" * 50_000_000))
    put_run(store, [row(2)], start=END, end=LATER)
    reading = Reading(store, file_bytes=1_000_000)
    assert await reading.look() == 1
    assert edge_counts([reading.receiver]) == {"rejected:run": 1}
    assert reading.counters["refused:run"] == 1


@pytest.mark.parametrize("body", [b"not gzip", gzip.compress(b"{}\n")[:-6], b""])
async def test_a_file_that_is_broken_costs_its_run_only(store: Any, body: bytes) -> None:
    key = put_run(store, [row(1)])
    store.put_object(Bucket=BUCKET, Key=key, Body=body)
    put_run(store, [row(2)], start=END, end=LATER)
    assert await Reading(store).look() == 1


@pytest.mark.parametrize("manifest", [b"{", b"[]", b'{"version": 2}', b"[" * 100_000])
async def test_a_manifest_that_cannot_be_read_costs_its_run_only(
    store: Any, manifest: bytes
) -> None:
    store.put_object(Bucket=BUCKET, Key=f"lf/{PROJECT}/manifests/2026.json", Body=manifest)
    put_run(store, [row(2)])
    reading = Reading(store)
    assert await reading.look() == 1
    assert reading.counters["refused:run"] == 1


async def test_a_manifest_cannot_lead_to_another_projects_files(store: Any) -> None:
    put_run(store, [row(1)])
    store.put_object(Bucket=BUCKET, Key="secret.jsonl", Body=encoded([row(9)], "jsonl"))
    files = [{"key": "secret.jsonl", "table": "observations_v2", "format": "jsonl"}]
    body = json.dumps({"version": 1, "files": files, "window": {}}).encode()
    store.put_object(Bucket=BUCKET, Key=f"lf/{PROJECT}/manifests/x.json", Body=body)
    reading = Reading(store)
    assert await reading.look() == 1
    assert reading.counters["refused:foreign_key"] == 1


async def test_a_store_that_fails_leaves_the_position_where_it_was(store: Any) -> None:
    key = put_run(store, [row(1)])
    store.delete_object(Bucket=BUCKET, Key=key)
    reading = Reading(store)
    with pytest.raises(BackendUnavailable):
        await reading.look()
    assert reading.kept == []
    put_run(store, [row(1)])
    assert await reading.look() == 1


def test_a_damaged_position_is_the_operators(store: Any) -> None:
    with pytest.raises(ConfigurationError, match="position"):
        BlobExport(store, BUCKET, PROJECT, position=b"x")


@pytest.mark.parametrize("file_format", ["jsonl", "json", "csv", "parquet"])
async def test_every_sample_is_read_from_an_export_as_from_its_file(
    store: Any, shared_data: Path, file_format: str
) -> None:
    for number, (name, document) in enumerate(documents(shared_data).items()):
        rows = [exported(item) for item in document["observations"]]
        told = ("id", "sessionId", "userId", "release", "metadata")
        trace = exported({key: document["trace"].get(key) for key in told})
        end = END + timedelta(hours=number)
        table = "observations"
        put_run(
            store, rows, end=end, table=table, more=[("traces", [trace])], file_format=file_format
        )
        reading = Reading(store, b'{"oldest":"%s"}' % _key_before(end))
        await reading.look()
        expected = LangfuseTraceDecoder().decode(json.dumps(document).encode()).spans
        assert {s.span_id: s for s in reading.spans} == {s.span_id: s for s in expected}, name


def _key_before(end: datetime) -> bytes:
    before = end - timedelta(seconds=1)
    return f"lf/{PROJECT}/manifests/{before:%Y-%m-%dT%H-%M-%S}.json".encode()


def exported(item: dict[str, Any]) -> dict[str, Any]:
    """A row of the API as the export writes it: snake case, and the content as text."""
    columns = {
        "".join(f"_{c.lower()}" if c.isupper() else c for c in key): value
        for key, value in item.items()
        if key not in ("toolCalls", "toolDefinitions", "toolCallNames", "modelParameters")
    }
    columns["provided_model_name"] = columns.pop("model", None)
    for key in ("input", "output"):
        value = columns.get(key)
        if value is not None and not isinstance(value, str):
            columns[key] = json.dumps(value)
    if isinstance(columns.get("metadata"), str):
        columns["metadata"] = json.loads(columns["metadata"])
    return {k: v for k, v in columns.items() if not isinstance(v, list) and k != "cost_details"}


@given(st.lists(st.dictionaries(st.text(max_size=8), st.text(max_size=30), max_size=4), max_size=8))
def test_objects_are_cut_out_of_an_array_wherever_the_pieces_break(
    rows: list[dict[str, str]],
) -> None:
    class Dribble(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(3)

    text = json.dumps(rows).encode()
    assert list(rows_of(Dribble(text), "json")) == rows
    assert list(rows_of(io.BytesIO(text[:-1]), "json")) == rows


@pytest.mark.parametrize("file_format", ["jsonl", "json", "csv", "parquet"])
@given(body=st.binary(max_size=300))
def test_any_bytes_give_rows_or_a_refusal(file_format: str, body: bytes) -> None:
    try:
        for found in rows_of(io.BytesIO(body), file_format, 100):
            assert isinstance(found, dict | BadRow)
    except MalformedPayload:
        pass


def test_an_array_that_ends_early_tells_it() -> None:
    found = list(rows_of(io.BytesIO(b'[{"a": 1}, {"b": '), "json"))
    assert found[0] == {"a": 1}
    assert isinstance(found[1], BadRow)
    assert found[1].why == "truncated"
