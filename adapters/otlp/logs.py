"""Decodes OTLP log exports: the log events that carry a span's content."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from google.protobuf.message import DecodeError

from adapters.otlp import messages, otlp_json, wire
from adapters.otlp.attributes import AttributeReader, Attributes
from adapters.otlp.intake import RECORD_ERRORS, Alien, Intake
from adapters.otlp.limits import DecodeLimits, decode_limits
from adapters.otlp.media import JSON, check_size, media_type
from adapters.otlp.reader import Origin, SpanReader
from adapters.otlp.values import integer
from adapters.shapes import content
from adapters.vocabularies import moved
from adapters.vocabularies.genai import CONTENT_EVENTS
from adapters.vocabularies.outcomes import EVALUATION, outcome_evaluated
from adapters.vocabularies.registry import VOCABULARIES
from monitor.errors import MalformedPayload
from monitor.model import JsonValue
from monitor.ports import Decoded, Vocabulary

EVENT_NAME: Final = "event.name"


class OtlpLogDecoder:
    """`ExportLogsServiceRequest` and `LogsData`, in both encodings, as port SpanDecoder.

    Each read event becomes a `detail` span of the identity that the record names, with the time of
    the event; events of one span and one time become one, since only their order in the payload
    tells them apart. An event that is named after its scope carries content that an exporter
    moved off the span. Records of other events, and records outside any span, are passed over in
    silence: they are no fault.
    """

    def __init__(
        self,
        limits: DecodeLimits | Mapping[str, int] | None = None,
        *,
        conversation_attribute: str | None = None,
        release_attribute: str | None = None,
        outcome_attribute: str | None = None,
        base64_ids: bool = False,
        vocabularies: Sequence[Vocabulary] = VOCABULARIES,
    ) -> None:
        """As for traces."""
        self.limits = decode_limits(limits)
        self._base64_ids = base64_ids
        self._reader = SpanReader(
            (moved.MovedContent(), *vocabularies),
            conversation_attribute,
            release_attribute,
            extra=(EVENT_NAME,),
            outcome_attribute=outcome_attribute,
        )

    def decode(self, payload: bytes, content_type: str) -> Decoded:
        """See the port. Content types: `application/x-protobuf`, `application/json`."""
        kind = media_type(content_type)
        check_size(payload, self.limits)
        attributes = AttributeReader(self.limits, self._reader, base64_ids=self._base64_ids)
        intake = Intake("log record", self.limits.items)
        records = _LogRecords(self._reader, attributes, intake)
        with content.nesting_limit(self.limits.nesting):
            if kind == JSON:
                records.read_json(payload)
            else:
                records.read_protobuf(payload)
        return intake.decoded(attributes.values.salvaged)


class _Record(NamedTuple):
    """One log record that was read, with its body still encoded."""

    trace_id: str
    span_id: str
    time_ns: int
    name: str
    attributes: Attributes
    cut: bool


class _Group(NamedTuple):
    """The events of one span and one time."""

    origin: Origin
    first: _Record
    events: list[tuple[str, Attributes]]


class _LogRecords:
    """The records of one export."""

    def __init__(self, reader: SpanReader, attributes: AttributeReader, intake: Intake) -> None:
        self._reader = reader
        self._attributes = attributes
        self._intake = intake
        self._groups: dict[tuple[str, str, int], _Group] = {}

    def read_protobuf(self, body: bytes) -> None:
        for group in wire.groups(body, self._attributes.limits.items):
            origin = self._attributes.origin(group)
            for record in group.records():
                try:
                    self._read_record(origin, record)
                except RECORD_ERRORS as error:
                    self._intake.refuse(error)
        self._close()

    def read_json(self, body: bytes) -> None:
        for group in otlp_json.logs_of(body, self._attributes.limits):
            origin = self._attributes.json_origin(group)
            self._attributes.values.salvaged |= group.mended
            for record in group.records:
                self._read_json_record(origin, record)
        self._close()

    def _read_record(self, origin: Origin, record: bytes) -> None:
        if len(record) > wire.COUNTED_FIRST_BYTES:
            wire.count_items(record, wire.LOG_ITEMS, self._intake.left)
        try:
            log = messages.LogRecord.FromString(record)
        except DecodeError as error:
            raise MalformedPayload("it is not protobuf") from error
        self._intake.spend(len(log.attributes))
        trace_id, span_id = log.trace_id, log.span_id
        if len(trace_id) not in (0, 16):
            # So looks a span at this address, whose attributes have the trace id's number.
            raise Alien("its trace id is neither absent nor 16 bytes")
        if len(trace_id) != 16 or len(span_id) != 8 or not (any(trace_id) and any(span_id)):
            self._intake.passed_over += 1
            return
        values = self._attributes.values
        found = _Record(
            trace_id.hex(),
            span_id.hex(),
            log.time_unix_nano or log.observed_time_unix_nano,
            values.text(log.event_name),
            self._attributes.of_list(log.attributes),
            log.dropped_attributes_count > 0,
        )
        self._take(origin, found, log.body, values.protobuf)

    def _read_json_record(self, origin: Origin, record: msgspec.Raw) -> None:
        try:
            log, mended = otlp_json.read_log(record)
        except RECORD_ERRORS as error:
            return self._intake.refuse(error)
        self._attributes.values.salvaged |= mended
        base64 = self._attributes.base64_ids
        trace_id = otlp_json.hex_id("traceId", log.trace_id, 16, base64_ids=base64)
        span_id = otlp_json.hex_id("spanId", log.span_id, 8, base64_ids=base64)
        if trace_id is None or span_id is None:
            self._intake.passed_over += 1
            return None
        try:
            self._intake.spend(len(log.attributes or ()))
            found = _Record(
                trace_id,
                span_id,
                integer(log.time_unix_nano) or integer(log.observed_time_unix_nano),
                log.event_name or "",
                self._attributes.of_json(log.attributes),
                integer(log.dropped_attributes_count) > 0,
            )
            return self._take(origin, found, log.body, self._attributes.values.json)
        except RECORD_ERRORS as error:
            return self._intake.refuse(error)

    def _take(
        self, origin: Origin, record: _Record, body: Any, read: Callable[[Any], JsonValue]
    ) -> None:
        """Keep the record as an event; older SDKs name the event in an attribute."""
        event = record.name or record.attributes.get(EVENT_NAME)
        raw = bytes(body)
        if event in CONTENT_EVENTS:
            fields = _fields(read(body)) if raw else {}
        elif b"messages" in raw and moved.is_moved(found := _fields(read(body))):
            event, fields = moved.MOVED_CONTENT, found
        elif event == EVALUATION and outcome_evaluated(record.attributes) is not None:
            fields = {}
        else:
            self._intake.passed_over += 1
            return
        key = (record.trace_id, record.span_id, record.time_ns)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group(origin, record, [])
        group.events.append((str(event), {**record.attributes, **fields}))

    def _close(self) -> None:
        """The detail span of every group."""
        for group in self._groups.values():
            first = group.first
            try:
                span = self._reader.read(
                    group.origin,
                    first.attributes,
                    group.events,
                    first.trace_id,
                    first.span_id,
                    start_ns=first.time_ns,
                    truncated=first.cut,
                    detail=True,
                )
            except RECORD_ERRORS as error:
                for _ in group.events:
                    self._intake.refuse(error)
            else:
                self._intake.spans.append(span)


def _fields(body: JsonValue) -> Attributes:
    """A structured body, or one that some exporters write as its JSON text; else nothing."""
    if isinstance(body, str) and body[:1] == "{":
        try:
            body = content.decode(body)
        except content.Undecodable:
            return {}
        content.check_depth(body)
    return body if isinstance(body, dict) else {}
