"""Decodes OTLP trace exports, protobuf or JSON, into AgentSpans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from google.protobuf.message import DecodeError

from adapters.otlp import messages, otlp_json, wire
from adapters.otlp.attributes import AttributeReader, Attributes
from adapters.otlp.intake import RECORD_ERRORS, Alien, Intake, InvalidId
from adapters.otlp.limits import DecodeLimits, decode_limits
from adapters.otlp.media import JSON, check_size, media_type
from adapters.otlp.reader import Origin, SpanReader
from adapters.otlp.values import integer
from adapters.shapes.content import nesting_limit
from adapters.vocabularies.registry import VOCABULARIES
from monitor.errors import MalformedPayload
from monitor.model import AgentSpan
from monitor.ports import Decoded, Vocabulary

_ERROR: Final = 2
_NO_TRACE_ID: Final = bytes(16)
_NO_SPAN_ID: Final = bytes(8)
_ERROR_CODES: Final = frozenset({_ERROR, "2", "STATUS_CODE_ERROR"})


class OtlpDecoder:
    """`ExportTraceServiceRequest` and `TracesData`, in both encodings, as port SpanDecoder.

    A span that is malformed, has no valid ids or is over a limit is refused alone. Spans that no
    vocabulary knows are kept as kind "other", since their parent links hold traces together.
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
        """The named attributes, of a span or its resource, go before all others of their kind.

        `base64_ids` reads recorded JSON whose ids are in base64; a live sender's are refused.
        """
        self.limits = decode_limits(limits)
        self._base64_ids = base64_ids
        self._reader = SpanReader(
            vocabularies,
            conversation_attribute,
            release_attribute,
            outcome_attribute=outcome_attribute,
        )

    def decode(self, payload: bytes, content_type: str) -> Decoded:
        """See the port. Content types: `application/x-protobuf`, `application/json`."""
        kind = media_type(content_type)
        check_size(payload, self.limits)
        attributes = AttributeReader(self.limits, self._reader, base64_ids=self._base64_ids)
        intake = Intake("span", self.limits.items)
        spans = _JsonSpans if kind == JSON else _ProtobufSpans
        with nesting_limit(self.limits.nesting):
            spans(self._reader, attributes, intake).read(payload)
        return intake.decoded(attributes.values.salvaged)


class _ProtobufSpans:
    """The spans of one protobuf export."""

    def __init__(self, reader: SpanReader, attributes: AttributeReader, intake: Intake) -> None:
        self._reader = reader
        self._attributes = attributes
        self._intake = intake
        # Texts of a run this short need no look at their length.
        self._together_bytes = min(wire.RUN_BYTES, attributes.limits.value_bytes)

    def read(self, body: bytes) -> None:
        for group in wire.groups(body, self._attributes.limits.items):
            origin = self._attributes.origin(group)
            for run in group.runs():
                if not self._read_together(origin, group.encoded(run), len(run)):
                    for place in run:
                        self._read_alone(origin, group.record(place))

    def _read_together(self, origin: Origin, encoded: bytes, count: int) -> bool:
        """False, with nothing read, when a record is large or cannot be parsed."""
        if len(encoded) > self._together_bytes:
            return False
        try:
            spans = messages.Spans.FromString(encoded).spans
        except DecodeError:
            return False
        if len(spans) != count:
            return False
        items = 0
        of_span, take = self._attributes.of_span, self._intake.spans.append
        for span in spans:
            pairs, events = span.attributes, span.events
            items += len(pairs) + len(events)
            try:
                take(self._span(origin, span, of_span(pairs), events))
            except RECORD_ERRORS as error:
                self._intake.refuse(error)
        self._intake.spend(items)
        return True

    def _read_alone(self, origin: Origin, record: bytes) -> None:
        intake, attributes = self._intake, self._attributes
        try:
            if len(record) > wire.COUNTED_FIRST_BYTES:
                wire.count_items(record, wire.SPAN_ITEMS, intake.left)
            try:
                span = messages.Span.FromString(record)
                found = attributes.check_texts(attributes.of_span(span.attributes))
            except DecodeError:
                span = _parse_patiently(record)
                found = attributes.of_list(span.attributes)
            intake.spend(len(span.attributes) + len(span.events))
            intake.spans.append(self._span(origin, span, found, span.events))
        except RECORD_ERRORS as error:
            intake.refuse(error)

    def _span(
        self, origin: Origin, span: Any, attributes: Attributes, events: Sequence[bytes]
    ) -> AgentSpan:
        trace_id, span_id, parent_id = span.trace_id, span.span_id, span.parent_span_id
        if (
            len(trace_id) != 16
            or len(span_id) != 8
            or trace_id == _NO_TRACE_ID
            or span_id == _NO_SPAN_ID
        ):
            if trace_id or span_id or span.start_time_unix_nano:
                raise InvalidId
            raise Alien("it has neither ids nor a start")
        name = span.name
        return self._reader.read(
            origin,
            attributes,
            self._attributes.events(events) if events else (),
            trace_id.hex(),
            span_id.hex(),
            parent_id.hex() if len(parent_id) == 8 and parent_id != _NO_SPAN_ID else None,
            name if type(name) is str else self._attributes.values.text(name),
            span.start_time_unix_nano,
            span.end_time_unix_nano,
            span.status.code == _ERROR,
            span.dropped_attributes_count > 0 or span.dropped_events_count > 0,
        )


def _parse_patiently(record: bytes) -> Any:
    try:
        return messages.PatientSpan.FromString(record)
    except DecodeError as error:
        raise MalformedPayload("it is not protobuf") from error


class _JsonSpans:
    """The spans of one JSON export."""

    def __init__(self, reader: SpanReader, attributes: AttributeReader, intake: Intake) -> None:
        self._reader = reader
        self._attributes = attributes
        self._intake = intake

    def read(self, body: bytes) -> None:
        for group in otlp_json.spans_of(body, self._attributes.limits):
            origin = self._attributes.json_origin(group)
            self._attributes.values.salvaged |= group.mended
            for record in group.records:
                self._read_record(origin, record)

    def _read_record(self, origin: Origin, record: msgspec.Raw) -> None:
        try:
            span, mended = otlp_json.read_span(record)
        except RECORD_ERRORS as error:
            return self._intake.refuse(error)
        self._attributes.values.salvaged |= mended
        # An id in base64 is no fault of one record, and is raised for the whole payload.
        base64 = self._attributes.base64_ids
        trace_id = otlp_json.hex_id("traceId", span.trace_id, 16, base64_ids=base64)
        span_id = otlp_json.hex_id("spanId", span.span_id, 8, base64_ids=base64)
        parent_id = otlp_json.hex_id("parentSpanId", span.parent_span_id, 8, base64_ids=base64)
        try:
            if trace_id is None or span_id is None:
                raise InvalidId
            self._intake.spans.append(self._span(origin, span, trace_id, span_id, parent_id))
        except RECORD_ERRORS as error:
            self._intake.refuse(error)
        return None

    def _span(
        self,
        origin: Origin,
        span: otlp_json.JsonSpan,
        trace_id: str,
        span_id: str,
        parent_id: str | None,
    ) -> AgentSpan:
        self._intake.spend(len(span.attributes or ()) + len(span.events or ()))
        dropped = integer(span.dropped_attributes_count) + integer(span.dropped_events_count)
        return self._reader.read(
            origin,
            self._attributes.of_json(span.attributes),
            self._attributes.json_events(span.events),
            trace_id,
            span_id,
            parent_id,
            span.name or "",
            integer(span.start_time_unix_nano),
            integer(span.end_time_unix_nano),
            span.status is not None and span.status.code in _ERROR_CODES,
            dropped > 0,
        )
