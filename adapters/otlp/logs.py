"""Decodes OTLP log exports: the log events that carry a span's content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from google.protobuf.message import DecodeError

from adapters.otlp import messages, otlp_json, wire
from adapters.otlp.attributes import AttributeReader, Attributes
from adapters.otlp.intake import RECORD_ERRORS, Alien, Intake
from adapters.otlp.limits import DecodeLimits, decode_limits
from adapters.otlp.media import JSON, check_size, media_type
from adapters.otlp.reader import Origin, SpanReader
from adapters.otlp.values import integer
from adapters.vocabularies.genai import DETAILS_EVENT
from adapters.vocabularies.registry import VOCABULARIES
from monitor.errors import MalformedPayload
from monitor.model import AgentSpan
from monitor.ports import Decoded, Vocabulary

EVENT_NAME: Final = "event.name"
READ_EVENTS: Final = frozenset({DETAILS_EVENT})
"""Names of the log events that are read; all other records are passed over."""


class OtlpLogDecoder:
    """`ExportLogsServiceRequest` and `LogsData`, in both encodings, as port SpanDecoder.

    Each read event becomes a `detail` span of the identity that the record names. Records of other
    events, and records outside any span, are passed over in silence: they are no fault.
    """

    def __init__(
        self,
        limits: DecodeLimits | Mapping[str, int] | None = None,
        *,
        conversation_attribute: str | None = None,
        release_attribute: str | None = None,
        vocabularies: Sequence[Vocabulary] = VOCABULARIES,
    ) -> None:
        """As for traces."""
        self.limits = decode_limits(limits)
        self._reader = SpanReader(
            vocabularies, conversation_attribute, release_attribute, extra=(EVENT_NAME,)
        )

    def decode(self, payload: bytes, content_type: str) -> Decoded:
        """See the port. Content types: `application/x-protobuf`, `application/json`."""
        kind = media_type(content_type)
        check_size(payload, self.limits)
        attributes = AttributeReader(self.limits, self._reader)
        intake = Intake("log record", self.limits.items)
        records = _LogRecords(self._reader, attributes, intake)
        if kind == JSON:
            records.read_json(payload)
        else:
            records.read_protobuf(payload)
        return intake.decoded(attributes.values.salvaged)


class _LogRecords:
    """The records of one export."""

    def __init__(self, reader: SpanReader, attributes: AttributeReader, intake: Intake) -> None:
        self._reader = reader
        self._attributes = attributes
        self._intake = intake

    def read_protobuf(self, body: bytes) -> None:
        for group in wire.groups(body, self._attributes.limits.items):
            origin = self._attributes.origin(group)
            for record in group.records():
                try:
                    self._take(self._from_protobuf(origin, record))
                except RECORD_ERRORS as error:
                    self._intake.refuse(error)

    def read_json(self, body: bytes) -> None:
        for group in otlp_json.logs_of(body, self._attributes.limits):
            origin = self._attributes.json_origin(group)
            self._attributes.values.salvaged |= group.mended
            for record in group.records:
                self._read_json_record(origin, record)

    def _take(self, span: AgentSpan | None) -> None:
        if span is None:
            self._intake.passed_over += 1
        else:
            self._intake.spans.append(span)

    def _from_protobuf(self, origin: Origin, record: bytes) -> AgentSpan | None:
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
            return None
        name = self._attributes.values.text(log.event_name)
        attributes = self._attributes.of_list(log.attributes)
        cut = log.dropped_attributes_count > 0
        return self._read(origin, trace_id.hex(), span_id.hex(), name, attributes, cut)

    def _read_json_record(self, origin: Origin, record: msgspec.Raw) -> None:
        try:
            log, mended = otlp_json.read_log(record)
        except RECORD_ERRORS as error:
            return self._intake.refuse(error)
        self._attributes.values.salvaged |= mended
        trace_id = otlp_json.hex_id("traceId", log.trace_id, 16)
        span_id = otlp_json.hex_id("spanId", log.span_id, 8)
        if trace_id is None or span_id is None:
            return self._take(None)
        try:
            cut = integer(log.dropped_attributes_count) > 0
            self._intake.spend(len(log.attributes or ()))
            attributes = self._attributes.of_json(log.attributes)
            name = log.event_name or ""
            return self._take(self._read(origin, trace_id, span_id, name, attributes, cut))
        except RECORD_ERRORS as error:
            return self._intake.refuse(error)

    def _read(
        self,
        origin: Origin,
        trace_id: str,
        span_id: str,
        name: str,
        attributes: Attributes,
        cut: bool,
    ) -> AgentSpan | None:
        """The detail span of a record; older SDKs name the event in an attribute."""
        event = name or attributes.get(EVENT_NAME)
        if event not in READ_EVENTS:
            return None
        events = ((str(event), attributes),)
        return self._reader.read(
            origin, attributes, events, trace_id, span_id, truncated=cut, detail=True
        )
