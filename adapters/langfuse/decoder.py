"""Decodes answers of Langfuse's read API kept as files: a trace with its observations."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from adapters.langfuse.observations import ObservationReader
from adapters.langfuse.rows import TraceRow, trace_of
from adapters.shapes.content import mend_surrogates
from monitor.errors import MalformedPayload, PayloadTooLarge, UnsupportedPayload
from monitor.model import AgentSpan, JsonValue
from monitor.ports import Decoded, Rejection

BODY_BYTES: Final = 20 * 1024 * 1024
OBSERVATIONS: Final = 50_000
_MEDIA: Final = frozenset(
    {"", "application/json", "application/jsonl", "application/x-ndjson", "application/x-jsonlines"}
)


class LangfuseTraceDecoder:
    """Port SpanDecoder, of one document or one a line.

    A document is `{"trace": {..}, "observations": [..]}`, a trace with its observations inside, a
    page `{"data": [..]}` of observations, a list of observations, or one observation.
    """

    def __init__(
        self,
        body_bytes: int = BODY_BYTES,
        observations: int = OBSERVATIONS,
        *,
        conversation_attribute: str | None = None,
        release_attribute: str | None = None,
    ) -> None:
        """Limits of one payload, and names that go before all others of their kind."""
        self._body_bytes = body_bytes
        self._observations = observations
        self._reader = ObservationReader(conversation_attribute, release_attribute)

    def decode(self, payload: bytes, content_type: str = "application/json") -> Decoded:
        """See the port. Content types: JSON, and JSON lines under any of their names."""
        if content_type.partition(";")[0].strip().lower() not in _MEDIA:
            raise UnsupportedPayload("a Langfuse trace is JSON; the sender must say so")
        if len(payload) > self._body_bytes:
            raise too_large("body_bytes")
        text, salvaged = text_of(payload)
        intake = RowIntake(self._reader, self._observations)
        for document in documents(text):
            for trace, rows in rows_of(document):
                intake.take(rows, trace)
        return intake.decoded(salvaged)


class RowIntake:
    """Spans and refusals of one payload as they grow; a bad row costs itself only."""

    def __init__(self, reader: ObservationReader, observations: int = OBSERVATIONS) -> None:
        self._reader = reader
        self._left = observations
        self.spans: list[AgentSpan] = []
        self.rejections: list[Rejection] = []

    def take(self, rows: list[JsonValue], trace: TraceRow) -> None:
        """Read the rows. Raises PayloadTooLarge beyond the payload's limit."""
        self._left -= len(rows)
        if self._left < 0:
            raise too_large("observations")
        for row in rows:
            self.take_one(row, trace)

    def take_one(self, row: JsonValue, trace: TraceRow) -> AgentSpan | None:
        """Read one row; None when it was refused."""
        try:
            span = self._reader.read(row, trace)
        except PayloadTooLarge as error:
            self.refuse(error.limit, str(error))
        except MalformedPayload as error:
            self.refuse("malformed_observation", str(error))
        else:
            self.spans.append(span)
            return span
        return None

    def refuse(self, why: str, message: str) -> None:
        """Count a refusal; the message holds no content."""
        self.rejections.append(Rejection(why, f"an observation was refused: {message}"))

    def decoded(self, salvaged: bool = False) -> Decoded:
        """What was read."""
        return Decoded(self.spans, self.rejections, salvaged)


def text_of(payload: bytes) -> tuple[str, bool]:
    """The payload as text without half surrogates, and whether it had to be mended."""
    try:
        text, salvaged = payload.decode(), False
    except UnicodeDecodeError:
        text, salvaged = payload.decode(errors="replace"), True
    mended = mend_surrogates(text)
    return mended, salvaged or mended != text


def documents(text: str) -> Iterator[JsonValue]:
    """The JSON documents: one, or one a line. Raises MalformedPayload, PayloadTooLarge."""
    if not text.strip():
        return
    try:
        yield json_of(text)
        return
    except MalformedPayload:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
    for line in lines:
        yield json_of(line)


def json_of(text: str) -> JsonValue:
    """One JSON document. Raises MalformedPayload, PayloadTooLarge."""
    try:
        return msgspec.json.decode(text)
    except RecursionError as error:
        raise too_large("nesting") from error
    except (msgspec.MsgspecError, ValueError):
        pass
    try:
        # Only the standard library reads NaN and Infinity, which Python writes.
        return json.loads(text, strict=False, parse_constant=str, parse_float=_finite)
    except RecursionError as error:
        raise too_large("nesting") from error
    except ValueError as error:
        raise MalformedPayload("the payload is no JSON, nor JSON lines") from error


def _finite(digits: str) -> float | str:
    number = float(digits)
    return number if math.isfinite(number) else digits


def rows_of(document: JsonValue) -> Iterator[tuple[TraceRow, list[JsonValue]]]:
    """A document's rows, with what is known of their trace.

    Raises MalformedPayload for a document of another kind. An empty object is legal and empty.
    """
    if isinstance(document, list):
        yield trace_of(None), document
        return
    if not isinstance(document, Mapping):
        raise MalformedPayload("the document is neither an object nor a list of observations")
    if not document:
        return
    yield _of_object(document)


def _of_object(document: Mapping[str, Any]) -> tuple[TraceRow, list[JsonValue]]:
    trace = document.get("trace")
    rows = document.get("observations")
    if isinstance(trace, Mapping):
        nested = trace.get("observations")
        rows = rows if isinstance(rows, list) else nested
    elif isinstance(rows, list):
        trace = document
    elif isinstance(document.get("data"), list):
        rows = document["data"]
    elif "traceId" in document or "trace_id" in document:
        rows = [document]
    if not isinstance(rows, list):
        raise MalformedPayload("the document holds no observations")
    return trace_of(trace), rows


def too_large(limit: str) -> PayloadTooLarge:
    """A payload beyond a named limit."""
    return PayloadTooLarge(
        f"the payload is beyond the limit `{limit}`; the sender must split it", limit
    )
