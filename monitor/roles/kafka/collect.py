"""The collect role: receivers and pollers to Kafka; senders are answered when it has the spans."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from monitor.codec import encode_spans
from monitor.errors import BackendUnavailable, Overloaded
from monitor.model import AgentSpan
from monitor.pipeline.partitions import partition_of
from monitor.ports import Decoded, Receiver
from monitor.roles.kafka.outputs import Output
from monitor.roles.kafka.records import (
    ENVELOPE_BYTES,
    Envelope,
    Outcome,
    compressed,
    packed,
    written,
)
from monitor.roles.kafka.sending import KafkaSending
from monitor.roles.kafka.stages import Plan
from monitor.roles.service import Companion

LOG = logging.getLogger("agent_monitor")
RETRY_AFTER_S: Final = 5


class Collecting:
    """Takes what receivers decode. Keeps nothing, so any number of processes may do it."""

    def __init__(
        self,
        plan: Plan,
        sending: KafkaSending,
        receivers: Sequence[Receiver],
        beside: Sequence[Companion],
        in_flight_bytes: int,
        redact: Callable[[Sequence[AgentSpan]], Sequence[AgentSpan]] = list,
        clock: Callable[[], float] = time.time,
        say: Callable[[str], None] = LOG.info,
    ) -> None:
        """`redact` sees all spans before they are sent."""
        self._plan = plan
        self._sending = sending
        self._receivers = tuple(receivers)
        self._beside = tuple(beside)
        self._limit_bytes = in_flight_bytes
        self._redact = redact
        self._clock = clock
        self._say = say
        self._in_flight = 0
        self._stopping = False
        self.counters: dict[str, int] = Counter()
        """Faults of this process."""

    async def start(self) -> None:
        """Listen once the broker answers. Raises BackendUnavailable, ConfigurationError."""
        await self._sending.start()
        for companion in self._beside:
            await companion.start()
        for receiver in self._receivers:
            self._say(f"receiving {receiver.name} on {await receiver.start(self.accept)}")

    async def stop(self) -> None:
        """Answer what is under way first."""
        for receiver in self._receivers:
            await receiver.stop()
        self._stopping = True
        for companion in self._beside:
            await companion.stop()
        await self._sending.stop()

    def fault(self) -> str | None:
        """None: while the broker is away, senders are told to wait."""
        return None

    def unready(self) -> str | None:
        """Why senders should wait."""
        return "too much waits for the broker" if self._full(0) else None

    def probe(self) -> Output:
        """A record that says nothing, to learn whether records are taken again."""
        value = written(Envelope("effects", self._clock(), body=packed(Outcome())))
        return Output(self._plan.names.reports, 0, b"probe", value)

    async def accept(self, decoded: Decoded, payload_bytes: int) -> None:
        """Return when all copies have the spans (port `Accept`)."""
        if self._stopping or self._full(payload_bytes):
            raise Overloaded("the monitor is at its limit; send again later", RETRY_AFTER_S)
        self._in_flight += payload_bytes
        try:
            await self._sending.send([*self._outputs(decoded)])
        except BackendUnavailable as error:
            self.counters["fault:store"] += 1
            raise Overloaded(f"the broker does not answer: {error}", RETRY_AFTER_S) from error
        finally:
            self._in_flight -= payload_bytes

    def _full(self, payload_bytes: int) -> bool:
        return self._in_flight + payload_bytes > self._limit_bytes

    def _outputs(self, decoded: Decoded) -> Iterator[Output]:
        now, names = self._clock(), self._plan.names
        counts = Counter(f"rejected:{rejection.why}" for rejection in decoded.rejections)
        homes: dict[int, list[AgentSpan]] = {}
        for span in self._redact(decoded.spans):
            home = partition_of(_name(span), self._plan.partitions)
            homes.setdefault(home, []).append(span)
        for home, spans in homes.items():
            for some, body in self._bodies(spans, counts):
                value = written(Envelope("spans", now, body=body))
                yield Output(names.traces, home, _name(some[0]), value)
        if counts:
            home = partition_of(repr(sorted(counts)).encode(), self._plan.partitions)
            value = written(Envelope("effects", now, body=packed(Outcome(counts=dict(counts)))))
            yield Output(names.reports, home, b"collect", value)

    def _bodies(
        self, spans: list[AgentSpan], counts: Counter[str]
    ) -> Iterator[tuple[list[AgentSpan], bytes]]:
        """The spans in records that are small enough; one that is too large alone is refused."""
        body = compressed(encode_spans(spans))
        if len(body) <= self._plan.record_bytes - ENVELOPE_BYTES:
            yield spans, body
        elif len(spans) == 1:
            counts["rejected:record_bytes"] += 1
            LOG.error("a span of %d bytes is too large for a record", len(body))
        else:
            middle = len(spans) // 2
            yield from self._bodies(spans[:middle], counts)
            yield from self._bodies(spans[middle:], counts)


def _name(span: AgentSpan) -> bytes:
    return span.trace_id.encode("utf-8", "surrogatepass")
