"""The three steps of scoring, each over one partition of its topic: bytes in, outputs out.

A stage reads no clock and sends nothing. Its state changes in memory only, until its host has it
written; equal records in equal state give equal outputs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from monitor.codec import decode_spans, encode_spans
from monitor.errors import DamagedState, MonitorError
from monitor.model import AgentSpan
from monitor.pipeline import Evaluate, Pipeline, PipelineLimits
from monitor.pipeline.gathering import Gathered, Gathering
from monitor.pipeline.handed import home_of
from monitor.pipeline.partitions import partition_of
from monitor.ports import SpanDecoder
from monitor.roles.encodings import media_of
from monitor.roles.kafka.drawing import Drawing
from monitor.roles.kafka.inbox import Inbox
from monitor.roles.kafka.names import Names
from monitor.roles.kafka.outputs import Outputs
from monitor.roles.kafka.records import (
    Case,
    HandedOn,
    Outcome,
    Said,
    compressed,
    inflated,
    packed,
    read,
    unpacked,
)
from monitor.roles.kafka.state import PartitionState
from monitor.verdict import Effects, Report


class Plan(NamedTuple):
    """What stages are told of the topics."""

    names: Names
    partitions: int
    record_bytes: int


class Stage(Protocol):
    """One step of the way, for one partition."""

    def take(self, value: bytes | None, outputs: Outputs, now: float) -> None:
        """Work on one record. Any error is the record's own; the state is then of no use."""
        ...

    def lost(self, value: bytes | None) -> dict[str, int]:
        """What to count for a record that could not be worked on."""
        ...

    def checkpoint(self) -> None:
        """Put all changes into the state."""
        ...

    def is_due(self, now: float) -> bool:
        """Whether time alone gives it something to do."""
        ...


class DecodeStage:
    """Source records to redacted spans by trace. Keeps nothing."""

    def __init__(
        self,
        plan: Plan,
        decoder: SpanDecoder,
        redact: Callable[[Sequence[AgentSpan]], Sequence[AgentSpan]],
    ) -> None:
        self._plan = plan
        self._decoder = decoder
        self._redact = redact

    def take(self, value: bytes | None, outputs: Outputs, now: float) -> None:
        """Raises MonitorError for what cannot be decoded."""
        payload = value or b""
        decoded = self._decoder.decode(payload, media_of(payload))
        counts = Counter(f"rejected:{rejection.why}" for rejection in decoded.rejections)
        add_spans(self._plan, self._redact(decoded.spans), outputs, counts)
        if counts:
            body = packed(Outcome(counts=dict(counts)))
            outputs.add(self._plan.names.reports, outputs.home, b"source", "effects", body)

    def lost(self, value: bytes | None) -> dict[str, int]:
        """How many spans it held, nobody knows."""
        return {"rejected:malformed": 1}

    def checkpoint(self) -> None:
        """There is nothing to keep."""

    def is_due(self, now: float) -> bool:
        """Never."""
        return False


class GatherStage:
    """Spans by trace to closed traces, each to the homes of its conversations."""

    def __init__(self, plan: Plan, state: PartitionState, limits: PipelineLimits) -> None:
        self._plan = plan
        self._state = state
        self._inbox = Inbox(state.position.lines, state)
        self._gathering = Gathering(state, limits, plan.partitions)
        self._told: dict[str, int] = {}

    def take(self, value: bytes | None, outputs: Outputs, now: float) -> None:
        """Take spans in, or do what is due."""
        envelope = self._inbox.take(value)
        if envelope is None:
            return
        now = _advanced(self._state, envelope.at)
        if envelope.kind == "spans":
            found = self._gathering.observe(decode_spans(inflated(envelope.body)), now)
        elif envelope.kind == "flush":
            found = self._gathering.flush(now)
        else:
            found = self._gathering.tick(now)
        self._send(found, outputs)

    def lost(self, value: bytes | None) -> dict[str, int]:
        """The spans, if so much can be read."""
        try:
            spans = len(decode_spans(inflated(read(value).body)))
        except MonitorError:
            return {"rejected:malformed": 1}
        return {"accepted": spans, "dead_lettered": spans}

    def checkpoint(self) -> None:
        """Put all changes into the state."""
        self._gathering.checkpoint()

    def is_due(self, now: float) -> bool:
        """Whether a trace has been quiet long enough."""
        return _is_due(self._gathering.next_deadline(), now)

    def _send(self, found: Gathered, outputs: Outputs) -> None:
        names = self._plan.names
        for home in sorted({*found.handed, *found.touched}):
            traces = found.handed.get(home, [])
            body = packed(HandedOn(traces, found.touched.get(home, [])))
            key = traces[0].trace_id.encode() if traces else b"touch"
            outputs.add(names.conversations, home, key, "traces", body)
        gauges = {"open_spans": self._gathering.open_spans}
        if found.counts or gauges != self._told:
            self._told = gauges
            body = packed(Outcome([], found.counts, gauges))
            outputs.add(names.reports, outputs.home, b"spans", "effects", body)


class ConverseStage:
    """Closed traces by conversation to reports."""

    def __init__(
        self,
        plan: Plan,
        partition: int,
        state: PartitionState,
        limits: PipelineLimits,
        evaluate: Evaluate,
        drawing: Drawing | None = None,
    ) -> None:
        """With `drawing`, conversations are drawn for the judge."""
        self._plan = plan
        self._partition = partition
        self._state = state
        self._drawing = drawing
        self._told: dict[str, int] = {}
        self._inbox = Inbox(state.position.lines, state)
        self._pipeline = Pipeline(
            drawing.evaluate if drawing else evaluate,
            state,
            limits,
            lambda part: home_of(part, plan.partitions) == partition,
        )

    def take(self, value: bytes | None, outputs: Outputs, now: float) -> None:
        """Take traces or opinions in, or do what is due."""
        envelope = self._inbox.take(value)
        if envelope is None:
            return
        now = _advanced(self._state, envelope.at)
        if envelope.kind == "traces":
            handed = unpacked(envelope.body, HandedOn)
            effects = self._pipeline.take(handed.traces, handed.touched, now)
        elif envelope.kind == "opinions":
            effects = self._settle(unpacked(envelope.body, Said), now)
        elif envelope.kind == "flush":
            effects = self._pipeline.flush(now)
        else:
            effects = self._pipeline.tick(now)
        self._send(effects, outputs, now)

    def lost(self, value: bytes | None) -> dict[str, int]:
        """The spans of the traces, if so much can be read."""
        try:
            envelope = read(value)
            if envelope.kind != "traces" or envelope.parts > 1:
                return {"rejected:malformed": 1}
            handed = unpacked(envelope.body, HandedOn)
        except DamagedState:
            return {"rejected:malformed": 1}
        return {"dead_lettered": sum(sum(each.fresh.values()) for each in handed.traces)}

    def checkpoint(self) -> None:
        """Put all changes into the state."""
        self._pipeline.checkpoint()

    def is_due(self, now: float) -> bool:
        """Whether a conversation has been quiet long enough."""
        return _is_due(self._pipeline.next_deadline(), now)

    def _settle(self, said: Said, now: float) -> Effects:
        """A later revision with what the judge said; also of a conversation that is over."""
        drawing = self._drawing
        if drawing is None or not drawing.answer(said, now):
            return Effects()
        if self._pipeline.revise(said.conversation_id):
            return self._pipeline.tick(now)
        late: Report | None = drawing.late(said)
        return Effects() if late is None else Effects(reports=(late,))

    def _send(self, effects: Effects, outputs: Outputs, now: float) -> None:
        names, partition = self._plan.names, self._partition
        cases = self._drawing.drawn(now) if self._drawing else []
        gauges = {
            "open_turns": self._pipeline.open_turns,
            "open_conversations": self._pipeline.open_conversations,
        }
        if effects.reports or effects.counts or gauges != self._told:
            self._told = gauges
            body = packed(Outcome(list(effects.reports), effects.counts, gauges))
            name = effects.reports[0].conversation_id if effects.reports else "turns"
            key = name.encode("utf-8", "surrogatepass")
            outputs.add(names.reports, outputs.home, key, "effects", body)
        for case in cases:
            key = case.conversation_id.encode("utf-8", "surrogatepass")
            outputs.add(names.cases, partition, key, "case", packed(Case(case, partition)))


def add_spans(
    plan: Plan, spans: Sequence[AgentSpan], outputs: Outputs, counts: Counter[str]
) -> None:
    """One record for each partition that the spans go to; each trace is whole in one."""
    parted: dict[int, list[AgentSpan]] = {}
    for span in spans:
        home = partition_of(span.trace_id.encode("utf-8", "surrogatepass"), plan.partitions)
        parted.setdefault(home, []).append(span)
    for home, some in parted.items():
        key = some[0].trace_id.encode("utf-8", "surrogatepass")
        outputs.add(plan.names.traces, home, key, "spans", compressed(encode_spans(some)))


def _advanced(state: PartitionState, at: float) -> float:
    """The partition's clock: the latest time that any of its records told."""
    state.position.now = max(state.position.now, at)
    return state.position.now


def _is_due(deadline: float | None, now: float) -> bool:
    return deadline is not None and deadline <= now
