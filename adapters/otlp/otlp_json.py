"""OTLP/JSON exports: the same frames and attributes as from protobuf, record by record."""

from __future__ import annotations

import codecs
import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeVar

import msgspec

from adapters.otlp.limits import DecodeLimits
from adapters.otlp.values import decode_json, mend
from monitor.errors import MalformedPayload, PayloadTooLarge

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{11,22}={0,2}")
_BASE64_SIZES: Final = frozenset({11, 12, 22, 24})
_URL_SIGNS: Final = str.maketrans("+/", "-_")
_WIDE: Final = (
    # The longer mark first: UTF-32's begins as UTF-16's does.
    *((codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32")),
    *((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")),
)
# An attribute is two objects, and text may hold braces of its own.
_OBJECTS_PER_ITEM: Final = 4


class JsonKeyValue(msgspec.Struct, gc=False, rename="camel"):
    """An attribute; its value stays encoded until somebody asks for it."""

    key: str = ""
    value: msgspec.Raw = msgspec.Raw(b"null")


class JsonEvent(msgspec.Struct, gc=False, rename="camel"):
    """A span event."""

    name: str | None = None
    attributes: list[JsonKeyValue] | None = None


class JsonStatus(msgspec.Struct, gc=False, rename="camel"):
    """A span's status; its code may come as a name."""

    code: int | str | None = None


class JsonSpan(msgspec.Struct, gc=False, rename="camel"):
    """A span, with the fields that the monitor reads."""

    trace_id: str | None = None
    span_id: str | None = None
    parent_span_id: str | None = None
    name: str | None = None
    start_time_unix_nano: int | str | float | None = None
    end_time_unix_nano: int | str | float | None = None
    attributes: list[JsonKeyValue] | None = None
    events: list[JsonEvent] | None = None
    status: JsonStatus | None = None
    dropped_attributes_count: int | str | None = None
    dropped_events_count: int | str | None = None


class JsonLogRecord(msgspec.Struct, gc=False, rename="camel"):
    """A log record, with the fields that the monitor reads."""

    trace_id: str | None = None
    span_id: str | None = None
    event_name: str | None = None
    time_unix_nano: int | str | None = None
    observed_time_unix_nano: int | str | None = None
    body: msgspec.Raw = msgspec.Raw(b"null")
    attributes: list[JsonKeyValue] | None = None
    dropped_attributes_count: int | str | None = None


class _Resource(msgspec.Struct, gc=False):
    attributes: list[JsonKeyValue] | None = None


class _Scope(msgspec.Struct, gc=False):
    name: str | None = None


class _ScopeRecords(msgspec.Struct, gc=False, rename="camel"):
    scope: _Scope | None = None
    spans: list[msgspec.Raw] | None = None
    log_records: list[msgspec.Raw] | None = None


class _ResourceRecords(msgspec.Struct, gc=False, rename="camel"):
    resource: _Resource | None = None
    scope_spans: list[_ScopeRecords | None] | None = None
    scope_logs: list[_ScopeRecords | None] | None = None


class _Export(msgspec.Struct, gc=False, rename="camel"):
    resource_spans: list[_ResourceRecords | None] | None = None
    resource_logs: list[_ResourceRecords | None] | None = None
    resource_metrics: msgspec.Raw = msgspec.Raw(b"null")


_export = msgspec.json.Decoder(_Export)
_span = msgspec.json.Decoder(JsonSpan)
_log = msgspec.json.Decoder(JsonLogRecord)
_Record = TypeVar("_Record")


class JsonGroup(NamedTuple):
    """The records of one scope of one resource, still encoded."""

    resource: list[JsonKeyValue]
    scope: str
    records: list[msgspec.Raw]
    mended: bool
    """The export's text was not UTF-8, or held half a surrogate pair, and was mended."""


def unmarked(body: bytes) -> tuple[bytes, bool]:
    """The JSON text in UTF-8 without a byte-order mark, and whether it came in another encoding.

    RFC 8259 forbids the mark and lets readers pass over it; files written on Windows have it.
    """
    for mark, encoding in _WIDE:
        if body.startswith(mark):
            return body.decode(encoding, "replace").encode(errors="replace"), True
    return body.removeprefix(codecs.BOM_UTF8), False


def spans_of(body: bytes, limits: DecodeLimits) -> Iterator[JsonGroup]:
    """The spans of a trace export by scope.

    Raises MalformedPayload and PayloadTooLarge for the export as a whole.
    """
    export, mended = _read_export(body, limits)
    if export.resource_spans is None and (export.resource_logs or _given(export.resource_metrics)):
        raise MalformedPayload("the body is no trace export; send it to the address of its signal")
    for records in export.resource_spans or ():
        for scope in (records.scope_spans if records else None) or ():
            if records and scope:
                yield _group(records, scope, scope.spans, mended)


def logs_of(body: bytes, limits: DecodeLimits) -> Iterator[JsonGroup]:
    """The records of a logs export by scope; errors as for `spans_of`."""
    export, mended = _read_export(body, limits)
    if export.resource_logs is None and (export.resource_spans or _given(export.resource_metrics)):
        raise MalformedPayload("the body is no logs export; send it to the address of its signal")
    for records in export.resource_logs or ():
        for scope in (records.scope_logs if records else None) or ():
            if records and scope:
                yield _group(records, scope, scope.log_records, mended)


def _given(raw: msgspec.Raw) -> bool:
    return bytes(raw) != b"null"


def _group(
    records: _ResourceRecords,
    scope: _ScopeRecords,
    items: list[msgspec.Raw] | None,
    mended: bool,
) -> JsonGroup:
    resource = records.resource.attributes if records.resource else None
    name = scope.scope.name if scope.scope else None
    return JsonGroup(resource or [], name or "", items or [], mended)


def _read_export(body: bytes, limits: DecodeLimits) -> tuple[_Export, bool]:
    body, wide = unmarked(body)
    if body.count(b"{") > _OBJECTS_PER_ITEM * limits.items:
        raise PayloadTooLarge(
            "the export holds more objects than the limit `items` allows; the sender must split it",
            "items",
        )
    export, mended = _read(body, _export)
    return export, mended or wide


def read_span(raw: msgspec.Raw) -> tuple[JsonSpan, bool]:
    """A span, and whether its text had to be mended. Raises MalformedPayload."""
    return _read(raw, _span)


def read_log(raw: msgspec.Raw) -> tuple[JsonLogRecord, bool]:
    """A log record, and whether its text had to be mended. Raises MalformedPayload."""
    return _read(raw, _log)


def _read(raw: msgspec.Raw | bytes, decoder: msgspec.json.Decoder[_Record]) -> tuple[_Record, bool]:
    try:
        return decode_json(raw, decoder), False
    except MalformedPayload:
        mended = mend(bytes(raw))
        if mended is None:
            raise
        return decode_json(mended, decoder), True


def hex_id(field: str, value: str | None, size: int, *, base64_ids: bool = False) -> str | None:
    """An id of `size` bytes in lower-case hex; None when it is absent, all zero or no id.

    Protobuf's own JSON printer writes ids in base64; `base64_ids` reads those of the right size
    too, which no hex can be taken for. Else MalformedPayload is raised, since then the sender's
    encoder is wrong for every span.
    """
    if not value:
        return None
    try:
        data = bytes.fromhex(value) if len(value) == 2 * size else b""
    except ValueError:
        data = b""
    if len(data) == size:
        return data.hex() if any(data) else None
    if len(value) in _BASE64_SIZES and _BASE64.fullmatch(value):
        if base64_ids:
            return _from_base64(value, size)
        raise MalformedPayload(
            f"{field} looks like base64, but OTLP/JSON writes ids as {2 * size} hex digits; "
            "the sender's exporter must be mended"
        )
    return None


def _from_base64(value: str, size: int) -> str | None:
    bare = value.rstrip("=").translate(_URL_SIGNS)
    data = urlsafe_b64decode(bare + "=" * (-len(bare) % 4))
    return data.hex() if len(data) == size and any(data) else None
