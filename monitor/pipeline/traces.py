"""First stage: collects the spans of each trace and hands the trace on when it is complete."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import Final

from monitor.assembly.segments import AGENTIC, Segment, segments_of
from monitor.assembly.spans import SpanSet
from monitor.assembly.turns import trace_turns
from monitor.codec import decode_spans, encode_spans
from monitor.model import AgentSpan, Message
from monitor.pipeline.deadlines import Deadlines
from monitor.pipeline.limits import PipelineLimits
from monitor.pipeline.shelf import OPEN_TRACE, OpenTraceRecord, Shelf, TraceRecord

DORMANT_TRACES: Final = 64


class ClosedTrace:
    """A complete trace on its way to the second stage."""

    def __init__(self, trace_id: str, segments: tuple[Segment, ...], seen_at: float) -> None:
        self.trace_id = trace_id
        self.turns = {part.conversation_id: trace_turns(part) for part in segments}
        """What the trace tells, by conversation."""
        self.synthetic = {part.conversation_id for part in segments if part.synthetic}
        starts = [span.start_ns for part in segments for span in part.spans if span.start_ns]
        self.start_ns = min(starts, default=0)
        self.seen_at = seen_at
        self.fresh: dict[str, int] = {}
        """Deliveries since the last close, by conversation."""
        self.left: tuple[str, ...] = ()
        """Conversations that the trace was part of at its last close, and no longer is."""
        self.again = False
        """The trace was closed before."""
        self.stored_bytes = 0


class TraceStage:
    """Traces by id. Keyed by trace: it needs no other trace's spans and knows no turn."""

    def __init__(self, shelf: Shelf, limits: PipelineLimits) -> None:
        self._shelf = shelf
        self._limits = limits
        self._open: dict[str, _Trace] = {}
        self._dormant: OrderedDict[str, _Trace] = OrderedDict()
        self._unsaved: dict[str, None] = {}
        self._deadlines = Deadlines(self._deadline_of)
        self._text_bytes = 0
        self.open_spans = 0
        for trace_id in shelf.keys(OPEN_TRACE):
            self._reopen_stored(trace_id)

    def observe(self, spans: Iterable[AgentSpan], now: float, counts: Counter[str]) -> None:
        """Take spans in; each is counted by its outcome, or is open until its trace closes."""
        touched: dict[str, _Trace] = {}
        for span in spans:
            counts["accepted"] += 1
            trace = touched.get(span.trace_id) or self._find(span.trace_id, now)
            if trace is None:
                counts["late"] += 1
                continue
            touched[span.trace_id] = trace
            self._add(trace, span, counts)
        for trace_id, trace in touched.items():
            if trace.unsaved:
                trace.seen_at = now
                self._unsaved[trace_id] = None
                self._deadlines.add(trace_id, trace.deadline(self._limits))

    def crowded(self) -> str | None:
        """The limit under which a trace must close before its time, if one bites."""
        if len(self._open) > self._limits.open_traces:
            return "open_traces"
        if self._text_bytes > self._limits.open_text_bytes:
            return "open_text"
        return None

    def close_next(self, now: float | None = None) -> ClosedTrace | None:
        """Close the trace that is next in line; only one that is due, when `now` is given."""
        trace_id = self._deadlines.pop(now)
        return None if trace_id is None else self._close(trace_id)

    def next_deadline(self) -> float | None:
        """When the next trace falls due."""
        found = self._deadlines.next()
        return None if found is None else found[0]

    def save(self) -> None:
        """Put what came since the last time on the shelf."""
        for trace_id in self._unsaved:
            trace = self._open.get(trace_id)
            if trace is not None and trace.unsaved:
                trace.pieces += 1
                record = OpenTraceRecord(trace.opened_at, trace.seen_at, trace.pieces)
                self._shelf.keep_open_trace(trace_id, record, trace.unsaved)
                trace.unsaved = []
        self._unsaved = {}

    def rewrite(self, trace_id: str, change: Callable[[AgentSpan], AgentSpan]) -> ClosedTrace:
        """Replace a closed trace's spans by changed ones, and tell the trace anew."""
        self._dormant.pop(trace_id, None)
        record = self._shelf.trace(trace_id) or TraceRecord(())
        spans = [change(span) for span in decode_spans(record.spans)] if record.spans else []
        record.spans = encode_spans(spans)
        segments = segments_of(trace_id, SpanSet(spans).merged())
        closed = ClosedTrace(trace_id, segments, record.seen_at)
        closed.stored_bytes = self._shelf.keep_trace(trace_id, record)
        return closed

    def forget(self, trace_id: str, *, remember: bool) -> None:
        """Give up a closed trace's spans; remembered, what still comes for it is late."""
        self._dormant.pop(trace_id, None)
        record = self._shelf.trace(trace_id)
        if remember and record is not None:
            self._shelf.keep_trace(trace_id, TraceRecord(record.conversations))
        else:
            self._shelf.drop_trace(trace_id)

    def conversations(self, trace_id: str) -> tuple[str, ...]:
        """The conversations that a closed trace is part of."""
        record = self._shelf.trace(trace_id)
        return record.conversations if record is not None else ()

    def _find(self, trace_id: str, now: float) -> _Trace | None:
        """The trace, opened if need be; None when all that comes for it is late."""
        trace = self._open.get(trace_id) or self._dormant.get(trace_id)
        if trace is not None:
            return trace
        record = self._shelf.trace(trace_id)
        if record is None:
            return _Trace(trace_id, now)
        if record.spans is None:
            return None
        trace = _Trace(trace_id, record.opened_at)
        trace.take_record(record)
        self._dormant[trace_id] = trace
        if len(self._dormant) > DORMANT_TRACES:
            self._dormant.popitem(last=False)
        return trace

    def _add(self, trace: _Trace, span: AgentSpan, counts: Counter[str]) -> None:
        limits = self._limits
        if len(trace.spans) >= limits.spans_per_trace and not trace.spans.knows(span.span_id):
            counts["dropped:spans_per_trace"] += 1
            return
        size = text_bytes(span)
        if trace.text_bytes + size > limits.text_per_trace_bytes:
            counts["dropped:text_per_trace"] += 1
            return
        arrival = trace.spans.add(span)
        if arrival == "duplicate":
            counts["duplicate"] += 1
            return
        if trace.trace_id not in self._open:
            self._dormant.pop(trace.trace_id, None)
            self._open[trace.trace_id] = trace
            self._text_bytes += trace.text_bytes
        trace.unsaved.append(span)
        trace.note(span, size)
        self._text_bytes += size
        if arrival == "conflict":
            counts["duplicate"] += 1
            counts["conflict"] += 1
            return
        trace.fresh[span.span_id] = trace.fresh.get(span.span_id, 0) + 1
        self.open_spans += 1

    def _close(self, trace_id: str) -> ClosedTrace:
        trace = self._open.pop(trace_id)
        self._text_bytes -= trace.text_bytes
        self.open_spans -= sum(trace.fresh.values())
        segments = segments_of(trace_id, trace.spans.merged())
        closed = ClosedTrace(trace_id, segments, trace.seen_at)
        closed.again = bool(trace.conversations)
        left = dict(trace.fresh)
        for segment in segments:
            closed.fresh[segment.conversation_id] = sum(
                left.pop(span.span_id, 0) for span in segment.spans
            )
        closed.fresh[""] = sum(left.values())
        names = tuple(closed.turns)
        closed.left = tuple(name for name in trace.conversations if name not in names)
        if trace.pieces:
            self._shelf.drop_open_trace(trace_id, trace.pieces)
        if names:
            spans = encode_spans(list(trace.spans))
            record = TraceRecord(names, trace.opened_at, trace.seen_at, spans)
            closed.stored_bytes = self._shelf.keep_trace(trace_id, record)
        return closed

    def _deadline_of(self, trace_id: str) -> float | None:
        trace = self._open.get(trace_id)
        return None if trace is None else trace.deadline(self._limits)

    def _reopen_stored(self, trace_id: str) -> None:
        record = self._shelf.open_trace(trace_id)
        trace = _Trace(trace_id, record.opened_at)
        before = self._shelf.trace(trace_id)
        if before is not None:
            trace.take_record(before)
        trace.seen_at, trace.pieces = record.seen_at, record.pieces
        self._open[trace_id] = trace
        for span in self._shelf.pieces(trace_id, record.pieces):
            trace.note(span, text_bytes(span))
            if trace.spans.add(span) == "new":
                trace.fresh[span.span_id] = trace.fresh.get(span.span_id, 0) + 1
        self.open_spans += sum(trace.fresh.values())
        self._text_bytes += trace.text_bytes
        self._deadlines.add(trace_id, trace.deadline(self._limits))


class _Trace:
    """A trace that collects."""

    __slots__ = (
        *("agentic", "conversations", "fresh", "opened_at", "pieces", "rooted", "seen_at"),
        *("spans", "text_bytes", "trace_id", "unsaved"),
    )

    def __init__(self, trace_id: str, now: float) -> None:
        self.trace_id = trace_id
        self.opened_at = now
        self.seen_at = now
        self.spans = SpanSet()
        self.fresh: dict[str, int] = {}
        self.unsaved: list[AgentSpan] = []
        self.pieces = 0
        self.text_bytes = 0
        self.rooted = False
        self.agentic = False
        self.conversations: tuple[str, ...] = ()

    def take_record(self, record: TraceRecord) -> None:
        self.conversations = record.conversations
        for span in decode_spans(record.spans or b""):
            self.spans.add(span)
            self.note(span, text_bytes(span))

    def note(self, span: AgentSpan, size: int) -> None:
        self.text_bytes += size
        if span.parent_id is None and not span.detail:
            self.rooted = True
        if span.kind in AGENTIC:
            self.agentic = True

    def deadline(self, limits: PipelineLimits) -> float:
        # A root in which no agent acts may be the first span of a trace that comes from afar.
        wait = limits.settle_s if self.rooted and self.agentic else limits.quiet_s
        return min(self.seen_at + wait, self.opened_at + max(limits.max_age_s, wait))


def text_bytes(span: AgentSpan) -> int:
    """Rough size of a span's content: enough to bound memory, too cheap to matter."""
    size = 200 + len(span.system or "")
    for messages in (span.messages_in, span.messages_out):
        for message in messages or ():
            size += _message_bytes(message)
    if span.call is not None:
        size += _value_bytes(span.call.arguments)
    if span.has_result:
        size += _value_bytes(span.result)
    return size


def _message_bytes(message: Message) -> int:
    size = 50 + len(message.text or "")
    for call in message.calls:
        size += 50 + _value_bytes(call.arguments)
    for result in message.results:
        size += 50 + _value_bytes(result.result)
    return size


def _value_bytes(value: object) -> int:
    if isinstance(value, str):
        return 50 + len(value)
    if isinstance(value, dict):
        return 50 + sum(50 + len(key) + _value_bytes(item) for key, item in value.items())
    if isinstance(value, list):
        return 50 + sum(map(_value_bytes, value))
    return 10
