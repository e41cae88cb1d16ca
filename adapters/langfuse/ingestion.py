"""Langfuse's former ingestion: batches of events that create and update observations."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from adapters.langfuse.decoder import RowIntake, text_of, too_large
from adapters.langfuse.observations import ObservationReader, carrier_of
from adapters.langfuse.rows import NO_TRACE, TraceRow, is_outcome, trace_of
from adapters.langfuse.seen import encoded_row
from monitor.errors import MalformedPayload, PayloadTooLarge, UnsupportedPayload
from monitor.model import JsonValue
from monitor.ports import Decoded

BODY_BYTES: Final = 4_718_592
"""4.5 MiB, where Langfuse itself stops."""
EVENTS: Final = 10_000
REMEMBERED: Final = 10_000
REMEMBERED_BYTES: Final = 32 * 1024 * 1024
_CREATED: Final = 201
_BAD: Final = 400
_TYPES: Final[dict[str, str | None]] = {
    "span-create": "SPAN",
    "span-update": "SPAN",
    "generation-create": "GENERATION",
    "generation-update": "GENERATION",
    "event-create": "EVENT",
    "observation-create": None,
    "observation-update": None,
}
SCORE: Final = "score-create"
_PASSED_OVER: Final = frozenset({SCORE, "sdk-log"})


class LangfuseIngestion:
    """Port SpanDecoder, with an answer of its own; what came before is remembered.

    An update tells only what is new, so an observation's events are joined as they come, within
    bounds: each payload gives the observations it touches as far as they are known. A later,
    fuller span of the same identity stands for the earlier ones.
    """

    def __init__(
        self,
        body_bytes: int = BODY_BYTES,
        remembered: int = REMEMBERED,
        remembered_bytes: int = REMEMBERED_BYTES,
        *,
        conversation_attribute: str | None = None,
        release_attribute: str | None = None,
    ) -> None:
        """The oldest observations are forgotten beyond either bound of memory."""
        self._body_bytes = body_bytes
        self._reader = ObservationReader(conversation_attribute, release_attribute)
        self._rows = _Memory(remembered, remembered_bytes)
        self._traces = _Memory(remembered, remembered_bytes)

    def decode(self, payload: bytes, content_type: str = "application/json") -> Decoded:
        """See the port. Raises UnsupportedPayload for anything but JSON."""
        if content_type.partition(";")[0].strip().lower() not in ("", "application/json"):
            raise UnsupportedPayload("an ingestion batch is JSON; the sender must say so")
        return self.ingest(payload)[0]

    def ingest(self, body: bytes) -> tuple[Decoded, bytes]:
        """The spans of a batch, and the body of the answer 207 once they are accepted.

        Raises MalformedPayload for what is no batch, PayloadTooLarge at a limit.
        """
        if len(body) > self._body_bytes:
            raise too_large("body_bytes")
        text, salvaged = text_of(body)
        events = _events(text)
        if len(events) > EVENTS:
            raise too_large("events")
        batch = _Batch(self._rows, self._traces)
        for event in events:
            batch.take(event)
        intake = RowIntake(self._reader)
        batch.read_into(intake)
        return intake.decoded(salvaged), msgspec.json.encode(
            {"successes": batch.successes, "errors": batch.errors}
        )


def _events(text: str) -> list[JsonValue]:
    try:
        document = msgspec.json.decode(text)
    except RecursionError as error:
        raise too_large("nesting") from error
    except (msgspec.MsgspecError, ValueError) as error:
        raise MalformedPayload("the body is no JSON; the sender must mend it") from error
    events = document.get("batch") if isinstance(document, Mapping) else None
    if not isinstance(events, list):
        raise MalformedPayload("the body holds no list `batch`; the sender must mend it")
    return events


class _BadEvent(Exception):
    """What is wrong with one event, for its sender."""


class _Batch:
    """One batch: what each event was answered, and which observations it touched."""

    def __init__(self, rows: _Memory, traces: _Memory) -> None:
        self._rows = rows
        self._traces = traces
        self._touched: dict[str, dict[str, JsonValue]] = {}
        self._told: dict[str, TraceRow] = {}
        self.successes: list[dict[str, JsonValue]] = []
        self.errors: list[dict[str, JsonValue]] = []

    def take(self, event: JsonValue) -> None:
        """Remember one event; a bad one is answered with its fault."""
        if not isinstance(event, Mapping):
            self._refuse("", "an event is no object")
            return
        own_id = event.get("id")
        own_id = own_id if isinstance(own_id, str) else ""
        try:
            self._remember(event)
        except (_BadEvent, PayloadTooLarge) as fault:
            self._refuse(own_id, str(fault))
        else:
            self.successes.append({"id": own_id, "status": _CREATED})

    def _refuse(self, own_id: str, fault: str) -> None:
        self.errors.append({"id": own_id, "status": _BAD, "message": fault})

    def _remember(self, event: Mapping[str, Any]) -> None:
        kind: JsonValue = event.get("type")
        body: JsonValue = event.get("body")
        if not isinstance(kind, str):
            raise _BadEvent("the event has no type")
        if kind == SCORE and isinstance(body, dict) and is_outcome(body):
            self._remember_outcome(body)
        if kind in _PASSED_OVER:
            return
        name = body.get("id") if isinstance(body, dict) else None
        if not isinstance(name, str) or not name:
            raise _BadEvent("the event has no body with an id")
        if kind == "trace-create":
            # Read alone first, so that what cannot be read is not remembered.
            trace_of(body)
            self._told[name] = trace_of(self._traces.join(name, _told_in(body)))
        elif kind in _TYPES:
            typed = _TYPES[kind]
            self._join(name, {**({} if typed is None else {"type": typed}), **_told_in(body)})
        else:
            raise _BadEvent("the event's type is not known")

    def _remember_outcome(self, score: dict[str, Any]) -> None:
        """Of a trace; a score of a whole session names no span that could carry it."""
        name = score.get("traceId")
        if isinstance(name, str) and name:
            told = {key: score.get(key) for key in ("name", "value", "stringValue", "timestamp")}
            self._told[name] = trace_of(self._traces.join(name, {"scores": [told]}))

    def _join(self, name: str, told: Mapping[str, JsonValue]) -> None:
        key = f"{told.get('traceId') or ''}\n{name}"
        if not told.get("traceId"):
            # An update may leave the trace out; its observation knows it.
            key = self._rows.ending(f"\n{name}") or key
        self._touched[key] = self._rows.join(key, told)

    def read_into(self, intake: RowIntake) -> None:
        """Read what was touched, each observation once."""
        for trace_id, trace in self._told.items():
            carrier = carrier_of(trace, trace_id)
            if carrier is not None:
                intake.spans.append(carrier)
        for row in self._touched.values():
            name = row.get("traceId")
            known = trace_of(self._traces.found(name)) if isinstance(name, str) else NO_TRACE
            intake.take_one(row, known)


def _told_in(body: Mapping[str, Any]) -> dict[str, JsonValue]:
    """What an event tells; an update repeats the fields that it leaves as they are as null."""
    return {key: value for key, value in body.items() if value is not None}


class _Memory:
    """Objects by key, joined as more of them is told; the oldest are forgotten at a bound."""

    def __init__(self, entries: int, size: int) -> None:
        self._entries = entries
        self._bytes = size
        self._held = 0
        self._found: OrderedDict[str, tuple[dict[str, JsonValue], int]] = OrderedDict()
        self._by_ending: dict[str, str] = {}

    def join(self, key: str, told: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """Add what is told, and return all of it; objects in `metadata` are joined."""
        known, size = self._found.pop(key, ({}, 0))
        joined = {**known, **told}
        before, now = known.get("metadata"), told.get("metadata")
        if isinstance(before, dict) and isinstance(now, dict):
            joined["metadata"] = {**before, **now}
        self._held -= size
        size = len(encoded_row(joined))
        self._held += size
        self._found[key] = joined, size
        self._by_ending[_ending(key)] = key
        while len(self._found) > self._entries or self._held > self._bytes:
            oldest, (_, size) = self._found.popitem(last=False)
            self._held -= size
            self._by_ending.pop(_ending(oldest), None)
        return joined

    def found(self, key: str) -> dict[str, JsonValue]:
        """What is known; empty when it was forgotten."""
        return self._found.get(key, ({}, 0))[0]

    def ending(self, ending: str) -> str | None:
        """The latest key with this ending."""
        return self._by_ending.get(ending)


def _ending(key: str) -> str:
    return key[max(0, key.find("\n")) :]
