"""Protobuf messages that read no more of a span than the monitor needs.

They are wire-compatible with the published OTLP messages, in a descriptor pool of their own, with
three changes. A span's attribute list is a map, so that known keys are looked up and others never
become objects. Structured values and events stay encoded until somebody asks for them. Text is
bytes everywhere but in `Span`, so that invalid UTF-8 spoils one value and not the payload.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_Field: TypeAlias = tuple[str, int, int | str, bool]
_TYPE = descriptor_pb2.FieldDescriptorProto
_BYTES, _TEXT, _FIXED64, _UINT32 = (
    _TYPE.TYPE_BYTES,
    _TYPE.TYPE_STRING,
    _TYPE.TYPE_FIXED64,
    _TYPE.TYPE_UINT32,
)
_MAP = "map"

_SPAN_FIELDS: list[_Field] = [
    ("trace_id", 1, _BYTES, False),
    ("span_id", 2, _BYTES, False),
    ("parent_span_id", 4, _BYTES, False),
    ("start_time_unix_nano", 7, _FIXED64, False),
    ("end_time_unix_nano", 8, _FIXED64, False),
    ("dropped_attributes_count", 10, _UINT32, False),
    ("events", 11, _BYTES, True),
    ("dropped_events_count", 12, _UINT32, False),
    ("status", 15, "Status", False),
]
_SHAPES: dict[str, list[_Field]] = {
    "KeyValue": [("key", 1, _BYTES, False), ("value", 2, _BYTES, False)],
    "ArrayValue": [("values", 1, _BYTES, True)],
    "KeyValueList": [("values", 1, "KeyValue", True)],
    "AnyValue": [
        ("string_value", 1, _BYTES, False),
        ("bool_value", 2, _TYPE.TYPE_BOOL, False),
        ("int_value", 3, _TYPE.TYPE_INT64, False),
        ("double_value", 4, _TYPE.TYPE_DOUBLE, False),
        ("array_value", 5, "ArrayValue", False),
        ("kvlist_value", 6, "KeyValueList", False),
        ("bytes_value", 7, _BYTES, False),
    ],
    "Status": [("code", 3, _TYPE.TYPE_INT32, False)],
    "Span": [*_SPAN_FIELDS, ("name", 5, _TEXT, False), ("attributes", 9, _MAP, True)],
    "Spans": [("spans", 2, "Span", True)],
    "SpanValue": [
        ("string_value", 1, _TEXT, False),
        ("bool_value", 2, _TYPE.TYPE_BOOL, False),
        ("int_value", 3, _TYPE.TYPE_INT64, False),
        ("double_value", 4, _TYPE.TYPE_DOUBLE, False),
        ("array_value", 5, _BYTES, False),
        ("kvlist_value", 6, _BYTES, False),
        ("bytes_value", 7, _BYTES, False),
    ],
    "PatientSpan": [
        *_SPAN_FIELDS,
        ("name", 5, _BYTES, False),
        ("attributes", 9, "KeyValue", True),
    ],
    "Event": [("name", 2, _BYTES, False), ("attributes", 3, "KeyValue", True)],
    "Resource": [("attributes", 1, "KeyValue", True)],
    "Scope": [("name", 1, _BYTES, False)],
    "LogRecord": [
        ("time_unix_nano", 1, _FIXED64, False),
        ("body", 5, _BYTES, False),
        ("attributes", 6, "KeyValue", True),
        ("dropped_attributes_count", 7, _UINT32, False),
        ("trace_id", 9, _BYTES, False),
        ("span_id", 10, _BYTES, False),
        ("observed_time_unix_nano", 11, _FIXED64, False),
        ("event_name", 12, _BYTES, False),
    ],
}
_PACKAGE = "agent_monitor.otlp"
_VALUE = f".{_PACKAGE}.SpanValue"


def _build() -> descriptor_pool.DescriptorPool:
    file = descriptor_pb2.FileDescriptorProto(
        name="agent_monitor/otlp.proto", package=_PACKAGE, syntax="proto3"
    )
    for name, shape in _SHAPES.items():
        shaped = file.message_type.add(name=name)
        for field_shape in shape:
            _add_field(shaped, *field_shape)
    # Presence matters in values alone: an empty string is a value, an unset one is null.
    for message in file.message_type:
        if message.name in ("AnyValue", "SpanValue"):
            message.oneof_decl.add(name="value")
            for field in message.field:
                field.oneof_index = 0
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)  # type: ignore[no-untyped-call, unused-ignore]
    return pool


def _add_field(
    message: descriptor_pb2.DescriptorProto, name: str, number: int, kind: int | str, many: bool
) -> None:
    field = message.field.add(name=name, number=number)
    field.label = _TYPE.LABEL_REPEATED if many else _TYPE.LABEL_OPTIONAL
    if isinstance(kind, int):
        field.type = kind  # type: ignore[assignment]
        return
    field.type = _TYPE.TYPE_MESSAGE
    if kind == _MAP:
        entry = message.nested_type.add(name="AttributesEntry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, label=1, type=_TYPE.TYPE_STRING)
        entry.field.add(name="value", number=2, label=1, type=_TYPE.TYPE_MESSAGE, type_name=_VALUE)
        kind = f"{message.name}.AttributesEntry"
    field.type_name = f".{_PACKAGE}.{kind}"


_pool = _build()


def _message(name: str) -> Any:
    return message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


Span = _message("Span")
Spans = _message("Spans")
"""A scope, of which only the spans are read."""
PatientSpan = _message("PatientSpan")
"""A span whose text may be invalid UTF-8; slower, so only after `Span` failed."""
Event = _message("Event")
Resource = _message("Resource")
Scope = _message("Scope")
LogRecord = _message("LogRecord")
AnyValue = _message("AnyValue")
ArrayValue = _message("ArrayValue")
KeyValueList = _message("KeyValueList")
