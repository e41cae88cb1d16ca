"""What fuzzing starts from: real captures cut into single spans, documents, generated spans."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import framework_documents as documents
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from otlp_building import JSON, PROTOBUF, as_json, body, json_body, json_pairs, json_value, span

from adapters.vocabularies.registry import VOCABULARIES
from fuzz.mutation import MAX_BYTES, TEXTS, value, written

TESTS = Path(__file__).resolve().parents[1]
SHARED = TESTS.parents[1] / "shared" / "data" / "traces"
Sample = tuple[bytes, str]
KEYS = sorted({key for vocabulary in VOCABULARIES for key in vocabulary.keys})
ENDINGS = (
    *("0", "1.role", "0.content", "0.message.role", "2.message.content", "9999.role", "10001.x"),
    *("0.tool_calls.0.name", "0.message.tool_calls.0.tool_call.function.arguments", "-1.role"),
    *("0.message.contents.0.message_content.text", "x", "", "٣.role", "0" * 30, "1e3.role"),
)


def samples() -> dict[str, list[Sample]]:
    """By adapter, every payload that it is known to read."""
    found: dict[str, list[Sample]] = {"otlp.traces": [], "otlp.logs": []}
    for name, payload in _captures():
        if name.endswith(("_logs", "logs1")):
            found["otlp.logs"] += _log_samples(payload)
        else:
            found["otlp.traces"] += _span_samples(payload)
    for name, document in _documents():
        found.setdefault(name, []).append((json.dumps(document).encode(), JSON))
    return {name: [one for one in them if len(one[0]) < 24_000] for name, them in found.items()}


def _captures() -> Iterator[tuple[str, bytes]]:
    for path in sorted((TESTS / "data").rglob("*.pb*")):
        packed = path.read_bytes()
        yield path.name.split(".pb")[0], gzip.decompress(packed) if path.suffix == ".gz" else packed
    for path in sorted(SHARED.rglob("*.pb")) if SHARED.is_dir() else ():
        yield path.stem, path.read_bytes()


def _span_samples(payload: bytes) -> Iterator[Sample]:
    """Each span alone, with the resource and scope that it came with, in both encodings."""
    try:
        whole = ExportTraceServiceRequest.FromString(payload)
    except DecodeError:
        return
    for group in whole.resource_spans:
        for scoped in group.scope_spans:
            for item in scoped.spans:
                one = ExportTraceServiceRequest()
                alone = one.resource_spans.add(resource=group.resource)
                alone.scope_spans.add(scope=scoped.scope).spans.append(item)
                yield one.SerializeToString(), PROTOBUF
                yield json.dumps(as_json(one)).encode(), JSON


def _log_samples(payload: bytes) -> Iterator[Sample]:
    whole = ExportLogsServiceRequest.FromString(payload)
    for group in whole.resource_logs:
        for scoped in group.scope_logs:
            records = [
                {
                    "timeUnixNano": str(record.time_unix_nano),
                    "eventName": record.event_name,
                    "traceId": record.trace_id.hex(),
                    "spanId": record.span_id.hex(),
                    "body": json_value(record.body),
                    "attributes": json_pairs(record.attributes),
                }
                for record in scoped.log_records
            ]
            scope = {"scope": {"name": scoped.scope.name}, "logRecords": records}
            yield json.dumps({"resourceLogs": [{"scopeLogs": [scope]}]}).encode(), JSON
            one = ExportLogsServiceRequest()
            one.resource_logs.add(resource=group.resource).scope_logs.append(scoped)
            yield one.SerializeToString(), PROTOBUF


def _documents() -> Iterator[tuple[str, Any]]:
    yield "langgraph", documents.LANGGRAPH
    yield "langchain", documents.LANGCHAIN
    yield "langchain", documents.LANGCHAIN_RUNS
    yield "strands", documents.STRANDS
    yield "agentcore", documents.AGENTCORE
    yield "bedrock", documents.BEDROCK
    yield "agent_trace", documents.AGENT_TRACE
    yield "adk_session", documents.ADK_SESSION
    yield "generic", documents.GENERIC
    yield "spans", documents.SPANS
    yield from _langfuse()


def _langfuse() -> Iterator[tuple[str, Any]]:
    """Observations of several types, as pages and as events of the former ingestion."""
    rows: list[dict[str, Any]] = [
        {
            "id": f"o{n}",
            "traceId": "t1",
            "type": kind,
            "name": "find_order",
            "startTime": "2026-11-30T10:00:00Z",
            "endTime": "2026-11-30T10:00:01.5Z",
            "input": given,
            "output": said,
            "level": "ERROR",
            "sessionId": "s1",
            "metadata": {"attributes": {"session.id": "s1"}, "scope": {"name": "x"}},
            "usageDetails": {"input": 5, "output": 2},
            "parentObservationId": None,
        }
        for n, (kind, given, said) in enumerate(
            (
                ("TOOL", {"order_id": 7}, "{'state': 'sent'}"),
                ("GENERATION", [{"role": "user", "content": "Hi"}], {"role": "assistant"}),
                ("AGENT", {"query": "Hi"}, "Hello."),
            )
        )
    ]
    for path in sorted(SHARED.glob("langfuse_api/*.trace.json")) if SHARED.is_dir() else ():
        rows += json.loads(path.read_text()).get("observations", [])
    for row in rows:
        yield "langfuse.trace", {"data": [row]}
        events = (("generation-create", row), ("span-update", row), ("trace-create", row))
        batch = [{"id": "e", "type": kind, "body": told} for kind, told in events]
        yield "langfuse.ingestion", {"batch": batch}


def generated(random: Random) -> Sample:
    """A span whose attributes are of the vocabularies and whose values are of anybody."""
    attributes = {_key(random): _value(random, 0) for _ in range(random.randint(1, 14))}
    events = [
        (_key(random), {_key(random): _value(random, 0) for _ in range(3)})
        for _ in range(random.choice((0, 0, 1, 3)))
    ]
    times = {"start": random.choice((0, 1, 2**63)), "end": random.choice((0, 1, 2**64 - 1))}
    made = span(attributes, events=events, failed=random.random() < 0.2, **times)
    build = random.choice((body, json_body))
    return build(made)[:MAX_BYTES], PROTOBUF if build is body else JSON


def _key(random: Random) -> str:
    key = random.choice(KEYS)
    return key + random.choice(ENDINGS) if key.endswith(".") else key


def _value(random: Random, depth: int) -> Any:
    kind = random.randrange(7 if depth < 3 else 4)
    if kind == 0:
        return random.choice(TEXTS).encode("utf-8", "replace").decode()
    if kind in (1, 2):
        return written(_message(random)).decode()
    if kind == 3:
        return _fit(value(random))
    if kind == 4:
        return [_value(random, depth + 1) for _ in range(random.randint(0, 3))]
    if kind == 5:
        return {word: _value(random, depth + 1) for word in random.sample(WORDS, 3)}
    return _message(random)


def _message(random: Random) -> Any:
    """A list of messages, or something near it; told as its values are, from no single shape."""
    parts = [
        {word: _part(random) for word in random.sample(WORDS, 4)}
        for _ in range(random.randint(0, 3))
    ]
    roles = ("user", "assistant", "tool", "system", "model", "human", "ai", 7)
    message = {"role": random.choice(roles), random.choice(PARTS): parts or "Hi"}
    return _fit(random.choice(([message], message, {"messages": [message]}, parts)))


def _part(random: Random) -> Any:
    return value(random) if random.random() < 0.5 else random.choice(TEXTS[:11])


def _fit(given: Any) -> Any:
    """Without what protobuf itself cannot hold."""
    if isinstance(given, dict):
        return {key: _fit(item) for key, item in given.items()}
    if isinstance(given, list):
        return [_fit(item) for item in given]
    if isinstance(given, str):
        return given.encode("utf-8", "replace").decode()
    return str(given) if isinstance(given, int) and not -(2**63) <= given < 2**63 else given


PARTS = ("parts", "content", "tool_calls", "contents", "kwargs")
WORDS = (
    *("type", "text", "content", "role", "name", "id", "arguments", "args", "function", "result"),
    *("tool_calls", "tool_call_id", "toolUse", "toolResult", "input", "output", "response", "lc"),
    *("functionCall", "functionResponse", "tool_use_id", "call_id", "kwargs", "messages", "value"),
    *("status", "is_error", "data", "uri", "mime_type", "modality", "candidates", "choices"),
)
