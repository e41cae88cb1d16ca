"""From accepted spans to committed totals, over one SQLite file.

The order of the promises: accepted rows are durable before their sender is answered; outputs,
state and source position of scored rows commit in one transaction; a report leaves the outbox only
when its sink has taken it. The engine reads no clock: its host passes `now`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from monitor.codec import decode_spans
from monitor.errors import MonitorError
from monitor.ledger.database import Database
from monitor.ledger.judge_book import Opinions
from monitor.ledger.outbox import Outbox
from monitor.ledger.spool import Spool
from monitor.ledger.state import StateStore
from monitor.ledger.totals import Folded, Ledger
from monitor.model import AgentSpan
from monitor.pipeline import Pipeline
from monitor.ports import Sink
from monitor.releases.standing import Shown
from monitor.roles.estimating import Estimating
from monitor.roles.judge_desk import JudgeDesk
from monitor.roles.orders import Orders
from monitor.roles.watching import Watching
from monitor.verdict import Effects, JudgeCase, Report

SOURCE = "spool"
READ_AHEAD_ROWS = 64
SINK_BATCH = 500


@dataclass(frozen=True, slots=True)
class Batch:
    """One accepted payload: its spans, and the same spans encoded for the spool."""

    spans: Sequence[AgentSpan]
    payload: bytes
    rejections: Mapping[str, int] = field(default_factory=dict)
    """Spans of the payload that were refused, by reason."""


@dataclass(slots=True)
class Stores:
    """The tables of one file, opened together."""

    database: Database
    spool: Spool
    state: StateStore
    ledger: Ledger
    outbox: Outbox


class Engine:
    """The single writer of the file. Not thread-safe: one thread calls it."""

    def __init__(
        self,
        stores: Stores,
        build: Callable[[StateStore], Pipeline],
        sinks: Sequence[Sink] = (),
        watching: Watching | None = None,
        desk: JudgeDesk | None = None,
        estimating: Estimating | None = None,
        seen: Callable[[Report, float], None] | None = None,
    ) -> None:
        """`build` makes a pipeline that continues from the state in the store.

        Without `desk` nobody is asked here; what was said elsewhere comes with the reports.

        `seen` is told of each committed report, and when it was made.
        """
        self._seen = seen
        self._watching = watching
        self._desk = desk
        self._estimating = estimating
        self.orders = Orders()
        self._stores = stores
        self._build = build
        self._sinks = tuple(sinks)
        self._ready: deque[tuple[int, float, Sequence[AgentSpan]]] = deque()
        self._effects: list[tuple[float, Effects]] = []
        self._counts: dict[str, int] = {}
        self._observed = 0
        self._accepted = 0
        self._observing: int | None = None
        self.sink_failures = 0
        self.pipeline = build(stores.state)
        self.recover()

    def recover(self) -> None:
        """Go back to the last committed transaction: rebuild state, forget uncommitted work.

        Accepted rows beyond the committed position are read from the spool again.
        """
        self._ready.clear()
        self._effects.clear()
        self._counts.clear()
        self.pipeline = self._build(self._stores.state)
        self._observed = self._stores.ledger.position(SOURCE)
        self._accepted = max(self._observed, self._stores.spool.last())
        watching = self._watching
        damaged = watching.restore(self._stores.ledger.detectors()) if watching else 0
        if damaged:
            self._counts["damaged_state"] = damaged
        if self._desk is not None:
            self._desk.restore()

    def accept(self, batches: Sequence[Batch], now: float) -> None:
        """Make the batches durable, all or none. Raises LedgerError, and then none is accepted."""
        stores = self._stores
        rows: list[tuple[int, Batch]] = []
        with stores.database.transaction():
            for batch in batches:
                seq = stores.spool.append(batch.payload, now, len(batch.spans))
                rows.append((seq, batch))
                for why, count in batch.rejections.items():
                    stores.ledger.count({f"rejected:{why}": count})
        for seq, batch in rows:
            tail = self._ready[-1][0] if self._ready else self._observed
            if tail == self._accepted and len(self._ready) < READ_AHEAD_ROWS:
                self._ready.append((seq, now, batch.spans))
            self._accepted = seq

    def work(self, now: float, rows: int) -> bool:
        """Observe at most `rows` accepted batches, then what time has brought. True: more waits."""
        self.orders.carry_out()
        for _ in range(rows):
            row = self._next_row()
            if row is None:
                break
            seq, arrived_s, spans = row
            self._observing = seq
            self._keep(arrived_s, self.pipeline.observe(spans, arrived_s))
            self._observing = None
            self._observed = seq
        more = self._observed < self._accepted
        if not more:
            self._keep(now, self.pipeline.tick(now))
        return more

    def give_up_row(self) -> bool:
        """After `work` failed: move the row it failed on to the quarantine, and recover.

        False when no row was being observed, so that the failure is not one payload's fault.
        """
        seq, self._observing = self._observing, None
        if seq is not None:
            with self._stores.database.transaction():
                spans = self._stores.spool.set_aside(seq)
                self._stores.ledger.count({"accepted": spans, "dead_lettered": spans})
        self.recover()
        return seq is not None

    def declare(self, release: str, model: str | None) -> bool:
        """Open the series of a release at zero, before its first report; whether there is room."""
        with self._stores.database.transaction():
            return self._stores.ledger.declare(release, model)

    def clear(self, release: str) -> bool:
        """Drop the evidence against a release; whether it is known."""
        return self._watching is not None and self._settle(self._watching.clear, release)

    def accept_release(self, release: str) -> bool:
        """Take a release as it is; whether it is known."""
        return self._watching is not None and self._settle(self._watching.accept, release)

    def take(self, at: float, effects: Effects) -> None:
        """Take in what was made elsewhere; it is in the file with the next commit."""
        self._keep(at, effects)

    def settle(self, seq: int, case: JudgeCase, opinions: Opinions, now: float) -> None:
        """Take in what came of asking about a drawn conversation, on the writer's thread."""
        if self._desk is None or not self._desk.answer(seq, case, opinions):
            return
        if not self.pipeline.revise(case.conversation_id):
            self._keep(now, Effects(reports=(self._desk.late(case, opinions),)))

    def flush(self, now: float) -> None:
        """Close every open conversation, after all accepted rows were observed."""
        while self.work(now, READ_AHEAD_ROWS):
            pass
        self._keep(now, self.pipeline.flush(now))

    @property
    def shown(self) -> Shown:
        """What the detectors say of committed reports; any thread may ask."""
        return Shown() if self._watching is None else self._watching.shown

    @property
    def dirty(self) -> bool:
        """Whether scored work waits for its commit."""
        observed = self._observed > self._stores.ledger.position(SOURCE)
        judged = self._desk is not None and self._desk.dirty
        return observed or judged or bool(self._effects) or bool(self._counts)

    def commit(self, now: float) -> list[tuple[float, Report]]:
        """Commit totals, state, position and outbox together; each report with when it was made.

        Raises LedgerError; the engine has then gone back to the last commit, nothing is lost and
        nothing counted twice.
        """
        stores = self._stores
        made = [(at, report) for at, effects in self._effects for report in effects.reports]
        reports = [report for _, report in made]
        try:
            with stores.database.transaction():
                self.pipeline.checkpoint()
                folded = stores.ledger.fold(reports)
                self._weigh(folded, now)
                stores.ledger.count(self._counts)
                stores.ledger.set_gauges(
                    {
                        "open_spans": self.pipeline.open_spans,
                        "open_turns": self.pipeline.open_turns,
                        "open_conversations": self.pipeline.open_conversations,
                    }
                )
                stores.ledger.set_position(SOURCE, self._observed)
                stores.outbox.append([report for report in reports if report.closed])
                stores.spool.release(self._observed)
                stores.ledger.prune(now)
        except MonitorError:
            self.recover()
            raise
        self._effects.clear()
        self._counts.clear()
        if self._watching is not None and folded:
            self._watching.publish()
        if self._desk is not None:
            self._desk.publish()
        if self._seen is not None:
            for at, report in made:
                self._seen(report, at)
        return made

    def _weigh(self, folded: Sequence[Folded], now: float) -> None:
        """What follows from the reports, in their transaction."""
        if self._watching is not None:
            self._stores.ledger.keep_detectors(self._watching.fold(folded))
        if self._estimating is not None:
            self._estimating.fold(folded)
        if self._desk is not None:
            self._desk.fold(folded, now)

    def deliver(self) -> None:
        """Hand committed reports to the sinks; what a sink refuses stays for the next call.

        Any one thread may call it beside the writer's: a slow sink holds nobody up.
        """
        outbox = self._stores.outbox
        for sink in self._sinks:
            while pending := self._pending(sink.name):
                try:
                    sink.write([report for _, report in pending])
                except (MonitorError, OSError):
                    self.sink_failures += 1
                    break
                with self._stores.database.transaction():
                    outbox.delivered(sink.name, pending[-1][0])
                    outbox.prune()

    def _settle(self, decide: Callable[[str], bool], release: str) -> bool:
        stores, watching = self._stores, self._watching
        if watching is None or not decide(release):
            return False
        try:
            with stores.database.transaction():
                stores.ledger.keep_detectors(watching.changes())
        except MonitorError:
            self.recover()
            raise
        watching.publish()
        return True

    def _pending(self, sink: str) -> list[tuple[int, Report]]:
        # The transaction keeps out what the writer has not committed yet.
        with self._stores.database.transaction():
            return self._stores.outbox.pending(sink, SINK_BATCH)

    def _next_row(self) -> tuple[int, float, Sequence[AgentSpan]] | None:
        if not self._ready and self._observed < self._accepted:
            self._read_ahead()
        return self._ready.popleft() if self._ready else None

    def _read_ahead(self) -> None:
        for row in self._stores.spool.read(self._observed, READ_AHEAD_ROWS):
            self._observing = row.seq
            self._ready.append((row.seq, row.arrived_s, decode_spans(row.payload)))
            self._observing = None
        if not self._ready:
            self._observed = self._accepted

    def _keep(self, at: float, effects: Effects) -> None:
        if effects.reports or effects.cases:
            self._effects.append((at, effects))
        for name, count in effects.counts.items():
            self._counts[name] = self._counts.get(name, 0) + count
