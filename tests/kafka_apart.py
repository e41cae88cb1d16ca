"""The roles apart over a broker in memory, whose workers may die between any two promises."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from assembly_builders import fake_evaluate

from monitor.codec import decode_spans, encode_spans, report_line
from monitor.model import AgentSpan
from monitor.pipeline import Evaluate, PipelineLimits
from monitor.ports import Decoded
from monitor.roles.kafka.dead_letters import DeadLetter, letter_of
from monitor.roles.kafka.failpoints import Failpoints
from monitor.roles.kafka.inbox import Inbox
from monitor.roles.kafka.lane import Input, Lane
from monitor.roles.kafka.names import Names
from monitor.roles.kafka.outputs import Output
from monitor.roles.kafka.records import Envelope, Outcome, unpacked, written
from monitor.roles.kafka.stages import ConverseStage, DecodeStage, GatherStage, Plan, Stage
from monitor.roles.kafka.state import Change, PartitionState
from monitor.verdict import Report

PARTITIONS = 3
NAMES = Names("source", "test")
SHORT = {NAMES.source: "s", NAMES.traces: "t", NAMES.conversations: "c"}


def final_lines(reports: Iterable[Report]) -> dict[str, bytes]:
    """Of those that kept a turn: what continues another may have been one of its own at first."""
    last = {report.conversation_id: report for report in reports}
    return {
        name: report_line(report).replace(b'"revision":%d' % report.revision, b"")
        for name, report in last.items()
        if report.turns
    }


class Died(BaseException):
    """The worker is gone; nothing in it may notice."""


class SpanDecoder:
    """Reads the state codec, so that tests need no wire format; an error for anything else."""

    def decode(self, payload: bytes, content_type: str) -> Decoded:
        return Decoded(decode_spans(payload), [])


class MemoryBroker:
    """Topics as lists, and who may die when: each promise asks `dies` first."""

    def __init__(self, dies: Callable[[], bool] = lambda: False) -> None:
        self.logs: dict[tuple[str, int], list[tuple[bytes, bytes | None]]] = {}
        self.states: dict[tuple[str, int], list[Change]] = {}
        self.acked: dict[tuple[str, int], int] = {}
        self._dies = dies

    def log(self, topic: str, partition: int) -> list[tuple[bytes, bytes | None]]:
        return self.logs.setdefault((topic, partition), [])

    async def send(self, outputs: Sequence[Output]) -> None:
        for output in outputs:
            self._point()
            self.log(output.topic, output.partition or 0).append((output.key, output.value))
        self._point()

    async def keep(self, topic: str, partition: int, state: PartitionState) -> None:
        for change in state.changes():
            self._point()
            self.states.setdefault((topic, partition), []).append(change)
        self._point()

    async def require_own(self, topic: str, partition: int) -> None:
        """Nobody else works here."""

    async def load(self, topic: str, partition: int, state: PartitionState) -> list[DeadLetter]:
        state.load(self.states.get((topic, partition), []))
        return []

    def _point(self) -> None:
        if self._dies():
            raise Died


class Apart:
    """Feeds spans in, lets workers work, die and be replaced, and folds what they say."""

    def __init__(
        self,
        dies: Callable[[], bool] = lambda: False,
        evaluate: Evaluate = fake_evaluate,
        record_bytes: int = 900_000,
    ) -> None:
        self.broker = MemoryBroker(dies)
        self.now = 0.0
        self.plan = Plan(NAMES, PARTITIONS, record_bytes)
        self.evaluate = evaluate
        self.limits = PipelineLimits(keep_turns=False)
        self.deaths = 0

    def feed(self, spans: Sequence[AgentSpan], partition: int = 0) -> None:
        self.raw(encode_spans(spans), partition)

    def raw(self, value: bytes, partition: int = 0) -> None:
        """A record of the source as it comes."""
        self.broker.log(NAMES.source, partition).append((b"", value))

    def work(self) -> Apart:
        """Until nobody has anything to do."""
        for topic in SHORT:
            for partition in range(PARTITIONS):
                self._drain(topic, partition)
        return self

    def pass_time(self, wait_s: float) -> Apart:
        """Let it be later, as the workers' timers tell."""
        self.now += wait_s
        return self._tell("tick")

    def flush(self) -> Apart:
        """Close everything, stage by stage."""
        return self._tell("flush")

    def final(self) -> dict[str, bytes]:
        """The last report of each conversation, its revision apart."""
        return final_lines(report for outcome in self.outcomes() for report in outcome.reports)

    def counts(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for outcome in self.outcomes():
            found.update(outcome.counts)
        return found

    def outcomes(self) -> Iterator[Outcome]:
        """As the export reads them: each once."""
        for partition in range(PARTITIONS):
            inbox = Inbox({}, {})
            for _, value in self.broker.log(NAMES.reports, partition):
                envelope = inbox.take(value)
                if envelope is not None:
                    yield unpacked(envelope.body, Outcome)

    def dead_letters(self) -> list[DeadLetter]:
        return [letter_of(value or b"") for _, value in self.broker.log(NAMES.dead_letters, 0)]

    def _tell(self, kind: Any) -> Apart:
        for topic in (NAMES.traces, NAMES.conversations):
            for partition in range(PARTITIONS):
                value = written(Envelope(kind, self.now))
                self.broker.log(topic, partition).append((b"tick", value))
            self.work()
        return self

    def _drain(self, topic: str, partition: int) -> None:
        place = topic, partition
        while self.broker.acked.get(place, 0) < len(self.broker.log(*place)):
            try:
                asyncio.run(self._work_once(topic, partition))
            except Died:
                self.deaths += 1

    async def _work_once(self, topic: str, partition: int) -> None:
        """What one worker does before it dies, or has nothing left."""
        place = topic, partition
        lane = self._lane(topic, partition)
        await lane._ready()
        begin = self.broker.acked.get(place, 0)
        records = self.broker.log(*place)[begin : begin + 7]

        def ack(offset: int) -> Callable[[], None]:
            return lambda: self.broker.acked.update({place: offset + 1})

        group = [
            Input(offset, key, value, ack(offset))
            for offset, (key, value) in enumerate(records, begin)
        ]
        await lane._work(group)

    def _lane(self, topic: str, partition: int) -> Lane:
        return Lane(
            topic,
            partition,
            SHORT[topic],
            lambda state: self._stage(topic, partition, state),
            self.broker,
            NAMES,
            partitions=PARTITIONS,
            record_bytes=self.plan.record_bytes,
            stateful=topic != NAMES.source,
            keep_payloads=False,
            failpoints=Failpoints({}),
            held_up_s=600.0,
            after_source=_nothing,
            clock=lambda: self.now,
        )

    def _stage(self, topic: str, partition: int, state: PartitionState) -> Stage:
        if topic == NAMES.source:
            return DecodeStage(self.plan, SpanDecoder(), list)
        if topic == NAMES.traces:
            return GatherStage(self.plan, state, self.limits)
        return ConverseStage(self.plan, partition, state, self.limits, self.evaluate)


async def _nothing() -> None:
    return None
