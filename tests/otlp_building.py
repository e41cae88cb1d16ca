"""Builds OTLP exports for tests, in protobuf and in JSON, from plain Python values."""

from __future__ import annotations

import json
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

PROTOBUF = "application/x-protobuf"
JSON = "application/json"
TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"
PARENT = "00f067aa0ba902b7"
START = 1_764_500_000_000_000_000
END = START + 2_000_000_000


def any_value(value: Any) -> AnyValue:
    """A value as instrumentations set it; dicts and lists become structured values."""
    found = AnyValue()
    if isinstance(value, bool):
        found.bool_value = value
    elif isinstance(value, int):
        found.int_value = value
    elif isinstance(value, float):
        found.double_value = value
    elif isinstance(value, str):
        found.string_value = value
    elif isinstance(value, bytes):
        found.bytes_value = value
    elif isinstance(value, list):
        found.array_value.values.extend(any_value(item) for item in value)
        found.array_value.SetInParent()
    elif isinstance(value, dict):
        found.kvlist_value.values.extend(pairs(value))
        found.kvlist_value.SetInParent()
    return found


def pairs(attributes: dict[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=key, value=any_value(value)) for key, value in attributes.items()]


def span(attributes: dict[str, Any] | None = None, **fields: Any) -> Span:
    """One span; `events` are (name, attributes) pairs, `failed` sets the status."""
    events = fields.pop("events", ())
    failed = fields.pop("failed", False)
    found = Span(
        trace_id=bytes.fromhex(fields.pop("trace_id", TRACE)),
        span_id=bytes.fromhex(fields.pop("span_id", SPAN)),
        parent_span_id=bytes.fromhex(fields.pop("parent_id", "")),
        name=fields.pop("name", "chat"),
        start_time_unix_nano=fields.pop("start", START),
        end_time_unix_nano=fields.pop("end", END),
        attributes=pairs(attributes or {}),
        **fields,
    )
    for name, items in events:
        found.events.add(name=name, attributes=pairs(items))
    if failed:
        found.status.code = Status.STATUS_CODE_ERROR
    return found


def export(
    *spans: Span, resource: dict[str, Any] | None = None, scope: str = "shop"
) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.extend(pairs(resource or {}))
    scoped = group.scope_spans.add()
    scoped.scope.name = scope
    scoped.spans.extend(spans)
    return request


def body(*spans: Span, **fields: Any) -> bytes:
    return export(*spans, **fields).SerializeToString()


def logs(
    *records: dict[str, Any], resource: dict[str, Any] | None = None
) -> ExportLogsServiceRequest:
    """Log records with `event`, `attributes`, `body`, `trace_id`, `span_id` and `time`."""
    request = ExportLogsServiceRequest()
    group = request.resource_logs.add()
    group.resource.attributes.extend(pairs(resource or {}))
    scoped = group.scope_logs.add()
    for record in records:
        scoped.log_records.add(
            time_unix_nano=record.get("time", START),
            body=any_value(record.get("body")),
            event_name=record.get("event", ""),
            trace_id=bytes.fromhex(record.get("trace_id", TRACE)),
            span_id=bytes.fromhex(record.get("span_id", SPAN)),
            attributes=pairs(record.get("attributes", {})),
        )
    return request


def json_value(value: AnyValue) -> dict[str, Any]:
    kind = value.WhichOneof("value")
    if kind == "string_value":
        return {"stringValue": value.string_value}
    if kind == "bool_value":
        return {"boolValue": value.bool_value}
    if kind == "int_value":
        return {"intValue": str(value.int_value)}
    if kind == "double_value":
        return {"doubleValue": value.double_value}
    if kind == "array_value":
        return {"arrayValue": {"values": [json_value(item) for item in value.array_value.values]}}
    if kind == "kvlist_value":
        return {"kvlistValue": {"values": json_pairs(value.kvlist_value.values)}}
    return {}


def json_pairs(items: Any) -> list[dict[str, Any]]:
    return [{"key": item.key, "value": json_value(item.value)} for item in items]


def as_json(request: ExportTraceServiceRequest) -> dict[str, Any]:
    """The export as OTLP/JSON writes it, before it becomes text."""
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": json_pairs(group.resource.attributes)},
                "scopeSpans": [
                    {
                        "scope": {"name": scoped.scope.name},
                        "spans": [_json_span(item) for item in scoped.spans],
                    }
                    for scoped in group.scope_spans
                ],
            }
            for group in request.resource_spans
        ]
    }


def json_body(*spans: Span, **fields: Any) -> bytes:
    return json.dumps(as_json(export(*spans, **fields))).encode()


def _json_span(item: Span) -> dict[str, Any]:
    found: dict[str, Any] = {
        "traceId": item.trace_id.hex(),
        "spanId": item.span_id.hex(),
        "name": item.name,
        "kind": item.kind,
        "startTimeUnixNano": str(item.start_time_unix_nano),
        "endTimeUnixNano": str(item.end_time_unix_nano),
        "attributes": json_pairs(item.attributes),
        "events": [
            {"name": event.name, "attributes": json_pairs(event.attributes)}
            for event in item.events
        ],
        "droppedAttributesCount": item.dropped_attributes_count,
        "status": {"code": item.status.code} if item.status.code else {},
    }
    if item.parent_span_id:
        found["parentSpanId"] = item.parent_span_id.hex()
    return found


def varint(value: int) -> bytes:
    """A number in protobuf's own encoding."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(tag: int, content: bytes) -> bytes:
    """A length-delimited field by its tag byte."""
    return bytes([tag]) + varint(len(content)) + content


def wrapped(scope: bytes) -> bytes:
    """An export of one encoded scope."""
    return field(0x0A, field(0x12, scope))
