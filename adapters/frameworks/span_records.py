"""Lists of span records, as runtimes and test recorders write them: one object per span."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final

import msgspec

from adapters.frameworks.documents import (
    DocumentDecoder,
    UnreadableDocument,
    list_in,
    object_in,
    text_or_none,
)
from adapters.frameworks.times import time_ns
from adapters.otlp.reader import SpanReader
from adapters.shapes.parts import first
from adapters.vocabularies.moved import MOVED_CONTENT, MovedContent, is_moved
from adapters.vocabularies.registry import VOCABULARIES
from monitor.model import AgentSpan, JsonValue

_TRACE_ID: Final = ("trace_id", "traceId")
_SPAN_ID: Final = ("span_id", "spanId")
_PARENT: Final = ("parent_span_id", "parentSpanId", "parent_id")
_ERROR_CODES: Final = frozenset({"2", "ERROR", "STATUS_CODE_ERROR", "STATUSCODE.ERROR"})
_EVENT_LISTS: Final = ("span_events", "events")
_CONTEXT: Final = "context"
_BAG_NAME: Final = "spanName"
_BAG_SCOPE: Final = "scopeName"


class SpanRecordDecoder(DocumentDecoder):
    """Span records in a list, or one per line, as the console exporter of an SDK writes them.

    A record with a `spanName` and no id, as recorders of attributes write it, is a trace of its
    own that its content names.
    """

    name = "spans"

    def records(self, document: JsonValue) -> Iterable[Any]:
        """A list of span records is one record: what it holds belongs together."""
        return (document if isinstance(document, list) else [document],)

    def spans(self, record: Any) -> Iterable[AgentSpan]:
        """See DocumentDecoder."""
        if not are_spans(record):
            raise UnreadableDocument("no list of objects with `span_id` and `attributes`")
        return spans_of_records(record)


def are_spans(document: JsonValue) -> bool:
    """Whether this is a list of span records."""
    return isinstance(document, list) and bool(document) and all(map(_is_span, document))


def _is_span(item: JsonValue) -> bool:
    return (
        isinstance(item, Mapping)
        and isinstance(item.get("attributes"), Mapping)
        and (_id_of(item, _SPAN_ID) is not None or isinstance(item.get(_BAG_NAME), str))
    )


def spans_of_records(records: Sequence[Mapping[str, Any]]) -> Iterator[AgentSpan]:
    """Spans, read by the vocabularies as if they had come over the wire."""
    reader = SpanReader((MovedContent(), *VOCABULARIES))
    for record in records:
        yield _span(record, reader)


def _span(record: Mapping[str, Any], reader: SpanReader) -> AgentSpan:
    status = record.get("status")
    code = first(status, ("code", "status_code")) if isinstance(status, Mapping) else status
    parent = first(record, _PARENT)
    resource = object_in(record, "resource")
    scope = text_or_none(first(record, (_BAG_SCOPE,)) or object_in(record, "scope").get("name"))
    attributes = object_in(record, "attributes")
    span_id = _id_of(record, _SPAN_ID)
    if span_id is None:
        attributes = {name: _plain(value) for name, value in attributes.items()}
        span_id = msgspec.json.encode(record, order="deterministic").decode()
    trace_id = _id_of(record, _TRACE_ID)
    return reader.read(
        reader.origin(object_in(resource, "attributes"), scope or ""),
        attributes,
        list(_events(record)),
        _hex(span_id if trace_id is None else trace_id, 16),
        _hex(span_id, 8),
        None if parent in (None, "") else _hex(parent, 8),
        text_or_none(first(record, ("name", _BAG_NAME))) or "",
        time_ns(first(record, ("start_time", "startTimeUnixNano"))),
        time_ns(first(record, ("end_time", "endTimeUnixNano"))),
        failed=str(code).upper() in _ERROR_CODES,
    )


def _plain(value: JsonValue) -> JsonValue:
    """A value out of the wrappers that OTLP/JSON has around the members of a list."""
    members = value.get("values") if isinstance(value, Mapping) and len(value) == 1 else None
    if not isinstance(members, list) or not all(map(_is_wrapped, members)):
        return value
    return [next(iter(member.values())) for member in members]


def _is_wrapped(member: JsonValue) -> bool:
    return isinstance(member, Mapping) and len(member) == 1 and next(iter(member)).endswith("Value")


def _events(record: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, JsonValue]]]:
    """Events with their attributes; one that was moved to a log has a body instead."""
    for key in _EVENT_LISTS:
        for event in list_in(record, key):
            if not isinstance(event, Mapping):
                continue
            body = object_in(event, "body")
            if is_moved(body):
                yield MOVED_CONTENT, body
            else:
                name = text_or_none(first(event, ("event_name", "name"))) or ""
                yield name, object_in(event, "attributes")


def _id_of(record: Mapping[str, Any], names: tuple[str, ...]) -> JsonValue:
    """An id, which some recorders keep in the span's context."""
    found = first(record, names)
    return first(object_in(record, _CONTEXT), names) if found is None else found


def _hex(value: JsonValue, size: int) -> str:
    """An id that is hex already stays; any other becomes a hash."""
    text = str(value).lower().removeprefix("0x")
    if len(text) == size * 2 and all(c in "0123456789abcdef" for c in text) and int(text, 16):
        return text
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()
