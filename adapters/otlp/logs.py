"""Decodes OTLP log exports: the log events that carry a span's content."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from google.protobuf.message import DecodeError

from adapters.otlp import messages, otlp_json, wire
from adapters.otlp.decoder import JSON, Attributed, Attributes, check_size, media_type
from adapters.otlp.limits import DecodeLimits, decode_limits
from adapters.otlp.reader import Frame, Origin, SpanReader
from adapters.otlp.values import integer
from adapters.vocabularies.genai import DETAILS_EVENT
from adapters.vocabularies.registry import VOCABULARIES
from monitor.errors import MalformedPayload, PayloadTooLarge
from monitor.model import AgentSpan
from monitor.ports import Decoded, Rejection, Vocabulary

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
        self.reader = SpanReader(
            vocabularies, conversation_attribute, release_attribute, extra=(EVENT_NAME,)
        )

    def decode(self, payload: bytes, content_type: str) -> Decoded:
        """See the port. Content types: `application/x-protobuf`, `application/json`."""
        kind = media_type(content_type)
        check_size(payload, self.limits)
        step = _Step(self)
        if kind == JSON:
            step.read_json(payload)
        else:
            step.read_protobuf(payload)
        return step.decoded()


class _Foreign(Exception):
    """A record that is no well-formed log record."""


class _Step:
    """One payload's decoding."""

    def __init__(self, decoder: OtlpLogDecoder) -> None:
        self._limits = decoder.limits
        self._reader = decoder.reader
        self._attributed = Attributed(decoder.limits, decoder.reader)
        self._left = decoder.limits.items
        self._records = 0
        self._alien = 0
        self._salvaged = False
        self._spans: list[AgentSpan] = []
        self._rejections: list[Rejection] = []

    def decoded(self) -> Decoded:
        if self._alien and self._alien == self._records:
            raise MalformedPayload(
                "no record of the body is a log record; was another signal sent to this address?"
            )
        salvaged = self._salvaged or self._attributed.values.salvaged
        return Decoded(self._spans, self._rejections, salvaged)

    def read_protobuf(self, body: bytes) -> None:
        for group in wire.groups(body, self._limits.items):
            origin = self._attributed.protobuf_origin(group)
            self._each(origin, group.records, self._protobuf_record)

    def read_json(self, body: bytes) -> None:
        for group in otlp_json.logs_of(body, self._limits):
            resource = self._attributed.from_json(group.resource)
            origin = self._attributed.origin(resource, group.scope)
            self._each(origin, group.records, self._json_record)

    def _each(
        self,
        origin: Origin,
        records: Iterable[Any],
        read: Callable[[Origin, Any], AgentSpan | None],
    ) -> None:
        for record in records:
            self._records += 1
            try:
                span = read(origin, record)
            except PayloadTooLarge as error:
                if error.limit == "items":
                    raise
                self._reject(error.limit, f"a log record was refused: {error}")
            except _Foreign as error:
                self._alien += 1
                self._reject("malformed_record", f"a log record was refused: {error}")
            else:
                if span is not None:
                    self._spans.append(span)

    def _reject(self, why: str, message: str) -> None:
        self._rejections.append(Rejection(why, message))

    def _protobuf_record(self, origin: Origin, record: bytes) -> AgentSpan | None:
        try:
            if len(record) > wire.COUNTED_FIRST_BYTES:
                wire.count_items(record, wire.LOG_ITEMS, self._left)
            log = messages.LogRecord.FromString(record)
        except (DecodeError, MalformedPayload) as error:
            raise _Foreign("it is not protobuf") from error
        self._left -= len(log.attributes)
        if self._left < 0:
            raise wire.too_many()
        trace_id, span_id = log.trace_id, log.span_id
        if len(trace_id) != 16 or len(span_id) != 8 or not (any(trace_id) and any(span_id)):
            return None
        frame = Frame(
            trace_id.hex(),
            span_id.hex(),
            dropped_attributes=log.dropped_attributes_count,
            detail=True,
        )
        name = self._attributed.values.text(log.event_name)
        try:
            return self._read(origin, frame, name, self._attributed.listed(log.attributes))
        except MalformedPayload as error:
            raise _Foreign(str(error)) from error

    def _json_record(self, origin: Origin, record: msgspec.Raw) -> AgentSpan | None:
        try:
            log, mended = otlp_json.read_log(record)
        except MalformedPayload as error:
            raise _Foreign(str(error)) from error
        self._salvaged |= mended
        trace_id = otlp_json.hex_id("traceId", log.trace_id, 16)
        span_id = otlp_json.hex_id("spanId", log.span_id, 8)
        if trace_id is None or span_id is None:
            return None
        try:
            dropped = integer(log.dropped_attributes_count)
            frame = Frame(trace_id, span_id, dropped_attributes=dropped, detail=True)
            attributes = self._attributed.from_json(log.attributes)
            return self._read(origin, frame, log.event_name or "", attributes)
        except MalformedPayload as error:
            raise _Foreign(str(error)) from error

    def _read(
        self, origin: Origin, frame: Frame, name: str, attributes: Attributes
    ) -> AgentSpan | None:
        """The detail span of a record; older SDKs name the event in an attribute."""
        event = name or attributes.get(EVENT_NAME)
        if event not in READ_EVENTS:
            return None
        return self._reader.read(origin, frame, attributes, ((str(event), attributes),))
