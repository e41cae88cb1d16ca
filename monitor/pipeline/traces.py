"""First stage: collects the spans of each trace and hands the trace on when it is complete."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from monitor.assembly.chores import Chores
from monitor.assembly.segments import Segment, segments_of
from monitor.assembly.spans import SpanSet
from monitor.assembly.turns import TraceTurns, trace_turns
from monitor.codec import encode_span, nested_spans, spans_of
from monitor.model import AgentSpan
from monitor.pipeline.deadlines import Deadlines
from monitor.pipeline.handed import HandedTrace
from monitor.pipeline.limits import PipelineLimits
from monitor.pipeline.open_trace import OpenTrace
from monitor.pipeline.shelf import OpenTraceRecord, Shelf, TraceRecord

DORMANT_TRACES: Final = 64


class ClosedTrace:
    """A complete trace on its way to the second stage."""

    def __init__(
        self, trace_id: str, segments: tuple[Segment, ...], times: tuple[float, float]
    ) -> None:
        self.trace_id = trace_id
        self.segments = segments
        self.turns = {part.conversation_id: trace_turns(part) for part in segments}
        """What the trace tells, by conversation."""
        self.synthetic = {part.conversation_id for part in segments if part.synthetic}
        starts = [span.start_ns for part in segments for span in part.spans if span.start_ns]
        self.start_ns = min(starts, default=0)
        self.opened_at, self.seen_at = times
        self.fresh: dict[str, int] = {}
        """Deliveries since the last close, by conversation."""
        self.unclaimed = 0
        """Deliveries since the last close that belong to no conversation."""
        self.left: tuple[str, ...] = ()
        """Conversations that the trace was part of at its last close, and no longer is."""
        self.again = False
        """The trace was closed before."""
        self.before: tuple[str, ...] = ()
        """The trace's own names at its last close."""
        self.stored_bytes = 0

    def rename(self, former: Mapping[str, str], names: Mapping[str, str]) -> None:
        """Take other names for conversations than the trace has; `former` are its last ones."""
        self.turns = {names.get(own, own): turns for own, turns in self.turns.items()}
        self.fresh = {names.get(own, own): count for own, count in self.fresh.items()}
        self.synthetic = {names.get(own, own) for own in self.synthetic}
        before = [former.get(own, own) for own in self.before]
        self.left = tuple([name for name in before if name not in self.turns])


class TraceStage:
    """Traces by id. Keyed by trace: it needs no other trace's spans and knows no turn."""

    def __init__(self, shelf: Shelf, limits: PipelineLimits) -> None:
        self._shelf = shelf
        self._limits = limits
        self._chores = Chores(limits.chores, limits.own_instructions)
        self._open: dict[str, OpenTrace] = {}
        self._dormant: OrderedDict[str, OpenTrace] = OrderedDict()
        self._unsaved: dict[str, None] = {}
        self._deadlines = Deadlines(self._deadline_of)
        self._held_bytes = 0
        self.open_spans = 0
        for trace_id in shelf.open_traces():
            self._reopen_stored(trace_id)

    def observe(self, spans: Sequence[AgentSpan], now: float, counts: Counter[str]) -> None:
        """Take spans in; each is counted by its outcome, or is open until its trace closes."""
        counts["accepted"] += len(spans)
        touched: dict[str, OpenTrace] = {}
        for span in spans:
            trace = touched.get(span.trace_id)
            if trace is None:
                trace = self._find(span.trace_id, now)
                if trace is None:
                    counts["late"] += 1
                    continue
                touched[span.trace_id] = trace
            outcome = self._add(trace, self._chores.silenced(span))
            if outcome is not None:
                counts[outcome] += 1
                counts["duplicate"] += outcome == "conflict"
            elif span.id_remark is not None and span.conversation_id is None:
                counts[f"refused_id:{span.id_remark}"] += 1
        for trace_id, trace in touched.items():
            if trace.unsaved:
                trace.seen_at = now
                self._unsaved[trace_id] = None
                self._deadlines.add(trace_id, trace.deadline(self._limits))

    def crowded(self) -> str | None:
        """The limit under which a trace must close before its time, if one bites."""
        if len(self._open) > self._limits.open_traces:
            return "open_traces"
        if self._held_bytes > self._limits.open_bytes:
            return "open_bytes"
        return None

    def close_next(self, now: float | None = None) -> ClosedTrace | None:
        """Close the trace that is next in line; only one that is due, when `now` is given."""
        trace_id = self._deadlines.pop(now)
        return None if trace_id is None else self._close(trace_id)

    def receive(
        self, handed: HandedTrace, here: Callable[[Segment], bool], counts: Counter[str]
    ) -> ClosedTrace | None:
        """A trace that closed at a first stage elsewhere, as if it had closed here.

        Only its parts that are at home here are told. None when all that comes for it is late.
        """
        trace_id, record = handed.trace_id, self._shelf.trace(handed.trace_id)
        spans = [] if memoryview(handed.spans).nbytes == 1 else spans_of(handed.spans)
        merged = SpanSet(spans).merged()
        segments = tuple([part for part in segments_of(trace_id, merged) if here(part)])
        if record is not None and record.remembered:
            counts["late"] += sum([handed.fresh.get(s.conversation_id, 0) for s in segments])
            return None
        closed = ClosedTrace(trace_id, segments, (handed.opened_at, handed.seen_at))
        names = tuple(closed.turns)
        closed.fresh = {name: handed.fresh.get(name, 0) for name in names}
        closed.before = record.conversations if record is not None else ()
        closed.again = bool(closed.before)
        closed.left = tuple([name for name in closed.before if name not in names])
        if names:
            kept = TraceRecord(names, handed.opened_at, handed.seen_at, handed.spans)
            closed.stored_bytes = self._shelf.keep_trace(trace_id, kept)
        return closed

    def opened_at(self, trace_id: str) -> float | None:
        """When the first span of an open trace came; None when the trace is not open."""
        trace = self._open.get(trace_id)
        return None if trace is None else trace.opened_at

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

    def turns(self, trace_id: str, conversation_id: str) -> TraceTurns:
        """What a closed trace tells of a conversation, from its spans."""
        record = self._shelf.trace(trace_id)
        spans = [] if record is None or record.remembered else spans_of(record.spans)
        for segment in segments_of(trace_id, SpanSet(spans).merged()):
            if segment.conversation_id == conversation_id:
                return trace_turns(segment)
        return TraceTurns(())

    def rewrite(self, trace_id: str, change: Callable[[AgentSpan], AgentSpan]) -> ClosedTrace:
        """Replace a closed trace's spans by changed ones, and tell the trace anew."""
        self._dormant.pop(trace_id, None)
        record = self._shelf.trace(trace_id) or TraceRecord(())
        spans = [] if record.remembered else [change(s) for s in spans_of(record.spans)]
        record.spans = nested_spans(spans)
        segments = segments_of(trace_id, SpanSet(spans).merged())
        closed = ClosedTrace(trace_id, segments, (record.opened_at, record.seen_at))
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

    def forget_remembered(self, trace_id: str) -> None:
        """No longer know what comes for the trace as late, unless its spans are still held."""
        record = self._shelf.trace(trace_id)
        if record is not None and record.remembered:
            self._shelf.drop_trace(trace_id)

    def conversations(self, trace_id: str) -> tuple[str, ...]:
        """The conversations that a closed trace is part of."""
        record = self._shelf.trace(trace_id)
        return record.conversations if record is not None else ()

    def times(self, trace_id: str) -> tuple[float, float]:
        """When the first and the last of a closed trace's spans came."""
        record = self._shelf.trace(trace_id)
        return (record.opened_at, record.seen_at) if record is not None else (0.0, 0.0)

    def _find(self, trace_id: str, now: float) -> OpenTrace | None:
        """The trace, opened if need be; None when all that comes for it is late."""
        trace = self._open.get(trace_id) or self._dormant.get(trace_id)
        if trace is not None:
            return trace
        record = self._shelf.trace(trace_id)
        if record is None:
            return OpenTrace(trace_id, now)
        if record.remembered:
            return None
        trace = OpenTrace(trace_id, record.opened_at)
        trace.take_record(record)
        self._dormant[trace_id] = trace
        if len(self._dormant) > DORMANT_TRACES:
            self._dormant.popitem(last=False)
        return trace

    def _add(self, trace: OpenTrace, span: AgentSpan) -> str | None:
        """The span's outcome, if it has one already; None: it is open."""
        limits, row = self._limits, encode_span(span)
        if len(trace.spans) >= limits.spans_per_trace and not trace.spans.knows(span.span_id):
            return "dropped:spans_per_trace"
        before = trace.held_bytes
        arrival = trace.take(span, row, limits.bytes_per_trace)
        if arrival is None:
            return "dropped:bytes_per_trace"
        if arrival == "duplicate":
            return "duplicate"
        if not trace.open:
            trace.open = True
            self._dormant.pop(trace.trace_id, None)
            self._open[trace.trace_id] = trace
            before = 0
        self._held_bytes += trace.held_bytes - before
        trace.unsaved.append(row)
        if arrival == "conflict":
            return "conflict"
        trace.fresh[span.span_id] = trace.fresh.get(span.span_id, 0) + 1
        self.open_spans += 1
        return None

    def _close(self, trace_id: str) -> ClosedTrace:
        trace = self._open.pop(trace_id)
        trace.open = False
        self._held_bytes -= trace.held_bytes
        left = trace.fresh
        self.open_spans -= sum(left.values())
        segments = segments_of(trace_id, trace.spans.merged())
        closed = ClosedTrace(trace_id, segments, (trace.opened_at, trace.seen_at))
        for segment in segments:
            fresh = 0
            for span in segment.spans:
                fresh += left.pop(span.span_id, 0)
            closed.fresh[segment.conversation_id] = fresh
        closed.unclaimed = sum(left.values())
        closed.before = trace.conversations
        closed.again = bool(trace.conversations)
        names = tuple(closed.turns)
        closed.left = tuple([name for name in trace.conversations if name not in names])
        if trace.pieces:
            self._shelf.drop_open_trace(trace_id, trace.pieces)
        if names:
            record = TraceRecord(names, trace.opened_at, trace.seen_at, trace.encoded())
            closed.stored_bytes = self._shelf.keep_trace(trace_id, record)
        return closed

    def _deadline_of(self, trace_id: str) -> float | None:
        trace = self._open.get(trace_id)
        return None if trace is None else trace.deadline(self._limits)

    def _reopen_stored(self, trace_id: str) -> None:
        record = self._shelf.open_trace(trace_id)
        if record is None:
            return
        trace = OpenTrace(trace_id, record.opened_at)
        before = self._shelf.trace(trace_id)
        if before is not None:
            trace.take_record(before)
        trace.seen_at, trace.pieces = record.seen_at, record.pieces
        self._open[trace_id] = trace
        for span in self._shelf.pieces(trace_id, record.pieces):
            if trace.take(span, encode_span(span)) == "new":
                trace.fresh[span.span_id] = trace.fresh.get(span.span_id, 0) + 1
        trace.open = True
        self.open_spans += sum(trace.fresh.values())
        self._held_bytes += trace.held_bytes
        self._deadlines.add(trace_id, trace.deadline(self._limits))
