"""Decodes OTLP trace exports, protobuf or JSON, into AgentSpans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from google.protobuf.message import DecodeError

from adapters.otlp import messages, otlp_json, wire
from adapters.otlp.limits import DecodeLimits, decode_limits
from adapters.otlp.reader import Frame, Origin, SpanReader
from adapters.otlp.values import ValueReader, integer
from adapters.vocabularies.registry import VOCABULARIES
from monitor.errors import MalformedPayload, PayloadTooLarge, UnsupportedPayload
from monitor.model import AgentSpan, JsonValue
from monitor.ports import Decoded, Rejection, Vocabulary

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
_ERROR_CODES: Final = frozenset({2, "2", "STATUS_CODE_ERROR"})

Attributes = dict[str, JsonValue]
Events = list[tuple[str, Attributes]]


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
        vocabularies: Sequence[Vocabulary] = VOCABULARIES,
    ) -> None:
        """The named attributes, of a span or its resource, go before all others of their kind."""
        self.limits = decode_limits(limits)
        self.reader = SpanReader(vocabularies, conversation_attribute, release_attribute)

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


def media_type(content_type: str) -> str:
    """The content type without parameters. Raises UnsupportedPayload for any but the two."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind not in (PROTOBUF, JSON):
        raise UnsupportedPayload(
            f"content type must be {PROTOBUF} or {JSON}; the sender must choose one of them"
        )
    return kind


def check_size(payload: bytes, limits: DecodeLimits) -> None:
    """Raises PayloadTooLarge for a payload beyond `body_bytes`."""
    if len(payload) > limits.body_bytes:
        raise PayloadTooLarge(
            f"the inflated body is beyond the limit `body_bytes` of {limits.body_bytes}; "
            "the sender must split it",
            "body_bytes",
        )


class Attributed:
    """Reads the attributes that matter, of one payload, in either encoding."""

    def __init__(self, limits: DecodeLimits, reader: SpanReader) -> None:
        self.limits = limits
        self.reader = reader
        self.values = ValueReader(limits)

    def mapped(self, pairs: Mapping[str, Any]) -> Attributes:
        """From a `Span`'s protobuf map."""
        if len(pairs) > self.limits.attributes:
            raise over("attributes")
        keys, read = self.reader.keys, self.values.of_span
        found: Attributes = {}
        for key in pairs:
            if key in keys:
                value = pairs[key]
                # Nearly every value is a text that is not empty: asking for it first is cheapest.
                found[key] = value.string_value or read(value)
        if self.reader.prefixes:
            for key in pairs:
                if self._numbered(key):
                    found[key] = read(pairs[key])
        return found

    def listed(self, pairs: Sequence[Any]) -> Attributes:
        """From a protobuf list whose keys are bytes."""
        if len(pairs) > self.limits.attributes:
            raise over("attributes")
        found: Attributes = {}
        for pair in pairs:
            key = self.values.text(pair.key)
            if key in self.reader.keys or self._numbered(key):
                found[key] = self.values.protobuf(pair.value)
        return found

    def from_json(self, pairs: list[otlp_json.JsonKeyValue] | None) -> Attributes:
        """From a JSON list; a later pair of the same key wins, as in a protobuf map."""
        found: Attributes = {}
        if pairs is None:
            return found
        if len(pairs) > self.limits.attributes:
            raise over("attributes")
        for pair in pairs:
            key = pair.key
            if key in self.reader.keys or self._numbered(key):
                found[key] = self.values.json(pair.value)
        return found

    def _numbered(self, key: str) -> bool:
        if not self.reader.prefixes or not key.startswith(self.reader.prefixes):
            return False
        # A number this high would make a reader allocate what no span holds.
        limit = self.limits.index
        if any(part.isdecimal() and int(part[:10]) > limit for part in key.split(".")):
            raise over("index")
        return True

    def origin(self, resource: Attributes, scope: str) -> Origin:
        """What the resource and scope say for all their records."""
        return self.reader.origin(resource, scope)

    def protobuf_origin(self, group: wire.Group) -> Origin:
        """The same, from their encoded messages."""
        try:
            resource = messages.Resource.FromString(group.resource)
            scope = messages.Scope.FromString(group.scope)
        except DecodeError as error:
            raise MalformedPayload("a resource or scope is not protobuf") from error
        attributes: Attributes = {}
        for pair in resource.attributes[: self.limits.attributes]:
            key = self.values.text(pair.key)
            if key in self.reader.origin_keys:
                attributes[key] = self.values.protobuf(pair.value)
        return self.origin(attributes, self.values.text(scope.name))


class _Step:
    """One payload's decoding."""

    def __init__(self, decoder: OtlpDecoder) -> None:
        self._limits = decoder.limits
        self._reader = decoder.reader
        self._attributed = Attributed(decoder.limits, decoder.reader)
        self._values = self._attributed.values
        self._spans: list[AgentSpan] = []
        self._rejections: list[Rejection] = []
        self._left = decoder.limits.items
        self._alien = 0
        self._salvaged = False

    def decoded(self) -> Decoded:
        if self._alien and not self._spans and self._alien == len(self._rejections):
            raise MalformedPayload(
                "no record of the body is a span; was another signal sent to this address?"
            )
        return Decoded(self._spans, self._rejections, self._salvaged or self._values.salvaged)

    def read_protobuf(self, body: bytes) -> None:
        for group in wire.groups(body, self._limits.items):
            origin = self._attributed.protobuf_origin(group)
            self._each(origin, group.records, self._protobuf_span)

    def read_json(self, body: bytes) -> None:
        for group in otlp_json.spans_of(body, self._limits):
            origin = self._attributed.origin(
                self._attributed.from_json(group.resource), group.scope
            )
            self._each(origin, group.records, self._json_span)

    def _each(
        self,
        origin: Origin,
        records: Iterable[Any],
        read: Callable[[Origin, Any], AgentSpan | None],
    ) -> None:
        for record in records:
            try:
                span = read(origin, record)
            except PayloadTooLarge as error:
                if error.limit == "items":
                    raise
                self._reject(error.limit, f"a span was refused: {error}")
            except _Foreign as error:
                self._alien += 1
                self._reject("malformed_span", f"a span was refused: {error}")
            else:
                if span is not None:
                    self._spans.append(span)

    def _reject(self, why: str, message: str) -> None:
        self._rejections.append(Rejection(why, message))

    def _spend(self, items: int) -> None:
        self._left -= items
        if self._left < 0:
            raise wire.too_many()

    def _protobuf_span(self, origin: Origin, record: bytes) -> AgentSpan | None:
        span, patient = self._parse(record)
        trace_id, span_id = span.trace_id, span.span_id
        if len(trace_id) != 16 or len(span_id) != 8 or not (any(trace_id) and any(span_id)):
            if not trace_id and not span_id and not span.start_time_unix_nano:
                raise _Foreign("it has neither ids nor a start")
            self._reject("invalid_id", _NO_IDS)
            return None
        events = span.events
        parent = span.parent_span_id
        frame = Frame(
            trace_id.hex(),
            span_id.hex(),
            parent.hex() if len(parent) == 8 and any(parent) else None,
            self._values.text(span.name) if patient else span.name,
            span.start_time_unix_nano,
            span.end_time_unix_nano,
            span.status.code == 2,
            span.dropped_attributes_count,
            span.dropped_events_count,
        )
        pairs = span.attributes
        self._spend(len(pairs) + len(events))
        try:
            attributes = (
                self._attributed.listed(pairs) if patient else self._attributed.mapped(pairs)
            )
            return self._reader.read(
                origin, frame, attributes, self._protobuf_events(events) if events else ()
            )
        except MalformedPayload as error:
            raise _Foreign(str(error)) from error

    def _parse(self, record: bytes) -> tuple[Any, bool]:
        """The span's message, and whether it is a patient one."""
        if len(record) > wire.COUNTED_FIRST_BYTES:
            try:
                wire.count_items(record, wire.SPAN_ITEMS, self._left)
            except MalformedPayload as error:
                raise _Foreign("it is not protobuf") from error
        try:
            return messages.Span.FromString(record), False
        except DecodeError:
            return _parse_patiently(record), True

    def _protobuf_events(self, events: Sequence[bytes]) -> Events:
        if len(events) > self._limits.events:
            raise over("events")
        found: Events = []
        for encoded in events:
            try:
                event = messages.Event.FromString(encoded)
            except DecodeError as error:
                raise _Foreign("an event is not protobuf") from error
            name = self._values.text(event.name)
            found.append((name, self._attributed.listed(event.attributes)))
        return found

    def _json_span(self, origin: Origin, record: msgspec.Raw) -> AgentSpan | None:
        try:
            span, mended = otlp_json.read_span(record)
        except MalformedPayload as error:
            raise _Foreign(str(error)) from error
        self._salvaged |= mended
        trace_id = otlp_json.hex_id("traceId", span.trace_id, 16)
        span_id = otlp_json.hex_id("spanId", span.span_id, 8)
        parent_id = otlp_json.hex_id("parentSpanId", span.parent_span_id, 8)
        if trace_id is None or span_id is None:
            self._reject("invalid_id", _NO_IDS)
            return None
        try:
            frame = Frame(
                trace_id,
                span_id,
                parent_id,
                span.name or "",
                integer(span.start_time_unix_nano),
                integer(span.end_time_unix_nano),
                span.status is not None and span.status.code in _ERROR_CODES,
                integer(span.dropped_attributes_count),
                integer(span.dropped_events_count),
            )
            attributes = self._attributed.from_json(span.attributes)
            return self._reader.read(origin, frame, attributes, self._json_events(span.events))
        except MalformedPayload as error:
            raise _Foreign(str(error)) from error

    def _json_events(self, events: list[otlp_json.JsonEvent] | None) -> Events:
        if events is None:
            return []
        if len(events) > self._limits.events:
            raise over("events")
        return [
            (event.name or "", self._attributed.from_json(event.attributes)) for event in events
        ]


_NO_IDS = "a span was refused: its trace id must be 16 bytes and its span id 8, not all zero"


class _Foreign(Exception):
    """A record that is no well-formed span."""


def over(limit: str) -> PayloadTooLarge:
    """A record beyond a limit."""
    return PayloadTooLarge(f"it is beyond the limit `{limit}`", limit)


def _parse_patiently(record: bytes) -> Any:
    try:
        return messages.PatientSpan.FromString(record)
    except DecodeError as error:
        raise _Foreign("it is not protobuf") from error
