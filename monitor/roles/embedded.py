"""All four roles in one process: receivers and pages on the event loop, one writer thread.

The event loop decodes and answers; the writer thread owns the file. A payload is answered once the
transaction that holds it has committed, whatever scoring is doing.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from monitor.codec import encode_spans
from monitor.errors import LedgerError, MonitorError, Overloaded
from monitor.model import AgentSpan
from monitor.ports import Decoded, Receiver
from monitor.roles.engine import Batch, Engine

LOG = logging.getLogger("agent_monitor")
RETRY_AFTER_S = 2
ROWS_PER_STEP = 16
GROUP_BATCHES = 256
IDLE_WAIT_S = 0.2
FAILED_STORE_WAIT_S = 0.5
STALLED_S = 60.0
SINK_RETRY_S = 5.0
DELIVERY_S = 20.0


@dataclass(slots=True)
class Pending:
    """A batch that waits for its durable acceptance."""

    batch: Batch
    size: int
    done: asyncio.Future[None]
    loop: asyncio.AbstractEventLoop

    def resolve(self, error: Exception | None = None) -> None:
        """Wake the waiting request, from any thread."""
        self.loop.call_soon_threadsafe(self._settle, error)

    def _settle(self, error: Exception | None) -> None:
        if self.done.done():
            return
        if error is None:
            self.done.set_result(None)
        else:
            self.done.set_exception(error)


@dataclass(frozen=True, slots=True)
class EmbeddedLimits:
    """Named bounds of the process, see the configuration's `[limits]` and `[ledger]`."""

    in_flight_bytes: int = 64 * 1024 * 1024
    spool_bytes: int = 1024 * 1024 * 1024
    commit_interval_s: float = 0.5


@dataclass(slots=True)
class Health:
    """What the process counts about itself, apart from the ledger."""

    ready: bool = False
    store_failures: int = 0
    store_failing: bool = False
    """The last attempt to write the file failed."""
    writer_failures: int = 0
    last_step_s: float = 0.0
    fatal: str | None = None
    """Why the writer had to stop; the process should end."""

    def counts(self) -> dict[str, int]:
        """By the names that the catalogue knows."""
        return {
            "fault:store": self.store_failures,
            "fault:writer": self.writer_failures,
        }


class CountingReceiver(Receiver, Protocol):
    """A receiver that tells what it refused."""

    counters: dict[str, int]


@runtime_checkable
class Faulty(Protocol):
    """A receiver that reads a source which may fail it for long."""

    name: str
    fault: str | None


class Embedded:
    """The service of `agent-monitor run`."""

    def __init__(
        self,
        engine: Engine,
        receivers: Sequence[Receiver],
        limits: EmbeddedLimits,
        spool_bytes: Callable[[], int],
        lag: Callable[[float], None],
        health: Health,
        clock: Callable[[], float] = time.time,
        redact: Callable[[Sequence[AgentSpan]], Sequence[AgentSpan]] = list,
    ) -> None:
        """`spool_bytes` tells how much waits to be scored; `lag` takes that of each report.

        `redact` sees all spans before they are queued or stored; the default keeps them as they
        are.
        """
        self._engine = engine
        self._receivers = tuple(receivers)
        self._limits = limits
        self._spool_bytes = spool_bytes
        self._lag = lag
        self._clock = clock
        self._redact = redact
        self._queue: queue.SimpleQueue[Pending] = queue.SimpleQueue()
        self._in_flight = 0
        self._stopping = threading.Event()
        self._flush = False
        self._committed_at = 0.0
        self._committed = threading.Event()
        self._writer = threading.Thread(target=self._write, name="writer", daemon=True)
        self._deliverer = threading.Thread(target=self._deliver, name="deliverer", daemon=True)
        self.health = health

    @property
    def sources(self) -> tuple[str, ...]:
        """The receivers' names, in order."""
        return tuple(receiver.name for receiver in self._receivers)

    def source_faults(self) -> dict[str, str | None]:
        """What keeps each source that is read from reading; None where nothing does."""
        return {
            receiver.name: receiver.fault
            for receiver in self._receivers
            if isinstance(receiver, Faulty)
        }

    def degraded(self) -> str | None:
        """What does not work though senders need not wait, for /readyz; None when all does."""
        faults = self.source_faults().items()
        return "; ".join(f"{name}: {fault}" for name, fault in faults if fault) or None

    async def start(self) -> list[str]:
        """Start the writer, then the receivers; the addresses they listen on."""
        self.health.last_step_s = self._clock()
        self._writer.start()
        self._deliverer.start()
        addresses = [await receiver.start(self.accept) for receiver in self._receivers]
        self.health.ready = True
        return addresses

    async def stop(self, *, flush: bool = False) -> None:
        """Answer what is under way, commit everything accepted, and end the writer.

        With `flush`, open conversations are closed and reported; without it they stay open in the
        file and the next start goes on with them.
        """
        self.health.ready = False
        for receiver in self._receivers:
            await receiver.stop()
        self._flush = flush
        self._stopping.set()
        if self._writer.ident is not None:  # otherwise the start failed before it
            await asyncio.to_thread(self._join)

    async def accept(self, decoded: Decoded, payload_bytes: int) -> None:
        """Wait until the decoded spans are durable (port `Accept`)."""
        if self._stopping.is_set() or self.health.fatal or self._full(payload_bytes):
            raise Overloaded("the monitor is at its limit; send again later", RETRY_AFTER_S)
        loop = asyncio.get_running_loop()
        rejections = Counter(rejection.why for rejection in decoded.rejections)
        spans = self._redact(decoded.spans)
        batch = Batch(spans, encode_spans(spans), dict(rejections))
        pending = Pending(batch, payload_bytes, loop.create_future(), loop)
        self._in_flight += payload_bytes
        self._queue.put(pending)
        try:
            await pending.done
        finally:
            self._in_flight -= payload_bytes

    def fault(self) -> str | None:
        """What is wrong with the process, for /healthz; None when it works."""
        if self.health.fatal:
            return "the writer has stopped"
        silent_s = self._clock() - self.health.last_step_s
        if self.health.last_step_s and silent_s > STALLED_S:
            return f"the writer has not moved for {silent_s:.0f} s"
        return None

    def unready(self) -> str | None:
        """Why senders should wait, for /readyz; None when they need not."""
        if not self.health.ready:
            return "starting or stopping"
        if self.health.store_failing:
            return "the ledger cannot be written"
        return "the spool is full" if self._full(0) else self.fault()

    def _full(self, payload_bytes: int) -> bool:
        over = self._in_flight + payload_bytes > self._limits.in_flight_bytes
        return over or self._spool_bytes() > self._limits.spool_bytes

    def _write(self) -> None:
        """The writer's loop; the outermost one, so it alone catches everything, and counts."""
        try:
            self._write_until_stopped()
        except MonitorError as error:
            self.health.fatal = str(error)
            LOG.error("the writer stops: %s", error)  # noqa: TRY400  an operator reads it
        while not self._queue.empty():
            self._queue.get().resolve(Overloaded("the monitor has stopped", RETRY_AFTER_S))

    def _write_until_stopped(self) -> None:
        more = False
        while not (self._stopping.is_set() and self._queue.empty() and not more):
            try:
                more = self._step(wait_s=0.0 if more else IDLE_WAIT_S)
            except LedgerError as error:
                more = self._failed_store(error)
            except Exception as error:  # noqa: BLE001  the outermost loop; counted
                more = self._failed_step(error)
        self._finish()

    def _step(self, wait_s: float) -> bool:
        """Accept what has come, observe a little, commit when it is time. True: more waits."""
        waiting = self._drain(wait_s)
        now = self._clock()
        if waiting:
            self._accept(waiting, now)
        more = self._engine.work(now, ROWS_PER_STEP)
        self.health.last_step_s = now
        # A file that failed is tried again even when nobody dares to send.
        due = self._engine.dirty or self.health.store_failing
        if due and now - self._committed_at >= self._limits.commit_interval_s:
            self._commit(now)
        return more

    def _accept(self, waiting: Sequence[Pending], now: float) -> None:
        try:
            self._engine.accept([pending.batch for pending in waiting], now)
        except Exception as error:
            failed = isinstance(error, MonitorError)
            if failed:
                self._note_failed_store(error)
            refusal = Overloaded("the monitor cannot store spans now", RETRY_AFTER_S)
            for pending in waiting:
                pending.resolve(refusal)
            if not failed:
                raise
            return
        self.health.store_failing = False
        for pending in waiting:
            pending.resolve()

    def _commit(self, now: float) -> None:
        made = self._engine.commit(now)
        self.health.store_failing = False
        self._committed_at = now
        for at, _ in made:
            self._lag(self._clock() - at)
        if made:
            self._committed.set()

    def _failed_step(self, error: Exception) -> bool:
        """A defect: set the payload aside that it struck at, if it was one, and go on."""
        self.health.writer_failures += 1
        one_payload = self._engine.give_up_row()
        # The error's own text may quote a customer, so only its kind and place are logged.
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}"
        blame = "set one payload aside" if one_payload else "goes back to the last commit"
        LOG.error("the writer %s after %s; report it with the version", blame, place)
        self._stopping.wait(0.0 if one_payload else FAILED_STORE_WAIT_S)
        return True

    def _failed_store(self, error: MonitorError) -> bool:
        self._note_failed_store(error)
        self._stopping.wait(FAILED_STORE_WAIT_S)
        return False

    def _note_failed_store(self, error: Exception) -> None:
        self.health.store_failures += 1
        if not self.health.store_failing:
            LOG.error("the ledger cannot be written, senders are told to wait: %s", error)
        self.health.store_failing = True

    def _join(self) -> None:
        self._writer.join()
        self._committed.set()
        self._deliverer.join(DELIVERY_S)

    def _deliver(self) -> None:
        """Hand reports to the sinks, on a thread of its own: they may be slow, or far away."""
        while True:
            self._committed.wait(SINK_RETRY_S)
            self._committed.clear()
            last = not self._writer.is_alive()
            try:
                self._engine.deliver()
            except LedgerError as error:
                self._note_failed_store(error)
            except Exception as error:  # noqa: BLE001  the thread's outermost loop; counted
                self.health.writer_failures += 1
                LOG.error("a sink failed with %s", type(error).__name__)  # noqa: TRY400  no text
            if last:
                return

    def _finish(self) -> None:
        now = self._clock()
        try:
            if self._flush:
                self._engine.flush(now)
            self._commit(now)
        except LedgerError as error:
            self._failed_store(error)

    def _drain(self, wait_s: float) -> list[Pending]:
        waiting: list[Pending] = []
        try:
            waiting.append(self._queue.get(timeout=wait_s) if wait_s else self._queue.get_nowait())
            while len(waiting) < GROUP_BATCHES:
                waiting.append(self._queue.get_nowait())
        except queue.Empty:
            pass
        return waiting
