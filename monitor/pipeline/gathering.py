"""The first stage on its own: spans by trace, and closed traces to where they are at home."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, MutableMapping, Sequence
from typing import Final

import msgspec

from monitor.model import AgentSpan
from monitor.pipeline.deadlines import Deadlines
from monitor.pipeline.handed import HandedTrace, home_of, home_of_name
from monitor.pipeline.limits import PipelineLimits
from monitor.pipeline.shelf import NO_SPANS, HomesRecord, Shelf
from monitor.pipeline.traces import ClosedTrace, TraceStage

TOUCHES: Final = 4
"""How often at least, within a conversation's quiet time, an open trace tells that it goes on."""


class Gathered(msgspec.Struct, frozen=True):
    """What one step hands on, by home."""

    handed: dict[int, list[HandedTrace]]
    touched: dict[int, list[str]]
    counts: dict[str, int]


class Gathering:
    """One of several first stages, each for its own traces. Not safe for several threads.

    A closed trace goes whole to the home of each of its conversations, and again when late spans
    change it. Its spans are held as long as a conversation takes them; what comes then is late.
    """

    def __init__(
        self, store: MutableMapping[str, bytes], limits: PipelineLimits, homes: int
    ) -> None:
        """Goes on from the store. Raises StateError when another version wrote it."""
        self._limits = limits
        self._homes = homes
        self._shelf = Shelf(store)
        self._traces = TraceStage(self._shelf, limits)
        self._due: dict[str, float] = {}
        self._over = Deadlines(self._due.get)
        self._touched: dict[str, float] = {}
        for trace_id in self._shelf.handed():
            record = self._shelf.homes(trace_id)
            if record is not None:
                self._watch(trace_id, record.due)

    @property
    def open_spans(self) -> int:
        """Accepted spans whose trace has not closed yet."""
        return self._traces.open_spans

    def observe(self, spans: Sequence[AgentSpan], now: float) -> Gathered:
        """Take spans in, then do what is due. `now` must not run backwards."""
        counts: Counter[str] = Counter()
        self._traces.observe(spans, now, counts)
        touched = self._touch(spans, now)
        closed = []
        while (limit := self._traces.crowded()) is not None:
            counts[f"early:{limit}"] += 1
            closed += self._next(None)
        return self._advance(now, counts, closed, touched)

    def tick(self, now: float) -> Gathered:
        """Do what is due."""
        return self._advance(now, Counter(), [], {})

    def flush(self, now: float) -> Gathered:
        """Close every trace, due or not."""
        closed = []
        while found := self._next(None):
            closed += found
        return self._advance(now, Counter(), closed, {})

    def next_deadline(self) -> float | None:
        """When `tick` has something to do next."""
        over = self._over.next()
        deadlines = (self._traces.next_deadline(), None if over is None else over[0])
        return min((when for when in deadlines if when is not None), default=None)

    def checkpoint(self) -> None:
        """Write all changes into the store."""
        self._traces.save()
        self._shelf.write()

    def _advance(
        self,
        now: float,
        counts: Counter[str],
        closed: list[ClosedTrace],
        touched: dict[int, list[str]],
    ) -> Gathered:
        while found := self._next(now):
            closed += found
        handed: dict[int, list[HandedTrace]] = {}
        for trace in closed:
            counts["dropped:no_agent"] += trace.unclaimed
            for home, each in self._hand_on(trace):
                handed.setdefault(home, []).append(each)
        while (trace_id := self._over.pop(now)) is not None:
            self._let_go(trace_id)
        counts["damaged_state"] += self._shelf.damaged
        self._shelf.damaged = 0
        return Gathered(handed, touched, {name: n for name, n in counts.items() if n})

    def _next(self, due: float | None) -> list[ClosedTrace]:
        closed = self._traces.close_next(due)
        return [] if closed is None else [closed]

    def _hand_on(self, closed: ClosedTrace) -> Iterator[tuple[int, HandedTrace]]:
        before = self._shelf.homes(closed.trace_id)
        homes = {home_of(part, self._homes) for part in closed.segments}
        every = sorted(homes | set(before.homes if before else ()))
        if not every:
            return
        record = self._shelf.trace(closed.trace_id)
        spans = record.spans if record is not None and closed.segments else NO_SPANS
        due = closed.seen_at + self._limits.idle_s + self._limits.late_s
        self._shelf.keep_homes(closed.trace_id, HomesRecord(tuple(every), due))
        self._watch(closed.trace_id, due)
        times = closed.opened_at, closed.seen_at
        for home in every:
            yield home, HandedTrace(closed.trace_id, *times, spans, closed.fresh)

    def _touch(self, spans: Sequence[AgentSpan], now: float) -> dict[int, list[str]]:
        """Conversations that an open trace keeps from falling idle meanwhile."""
        wait, touched = self._limits.idle_s / TOUCHES, dict[int, list[str]]()
        for name, trace_id in {s.conversation_id: s.trace_id for s in spans}.items():
            opened_at = self._traces.opened_at(trace_id)
            if name is None or opened_at is None:
                continue
            if now - max(opened_at, self._touched.get(name, opened_at)) >= wait:
                self._touched[name] = now
                touched.setdefault(home_of_name(name, self._homes), []).append(name)
        if len(self._touched) > self._limits.open_traces:
            self._touched.clear()
        return touched

    def _watch(self, trace_id: str, due: float) -> None:
        self._due[trace_id] = due
        self._over.add(trace_id, due)

    def _let_go(self, trace_id: str) -> None:
        """First of the spans, so that what comes is late; much later of the trace."""
        record, trace = self._shelf.homes(trace_id), self._shelf.trace(trace_id)
        if record is None or self._traces.opened_at(trace_id) is not None:
            self._due.pop(trace_id, None)
            return
        if trace is not None and not trace.remembered:
            self._traces.forget(trace_id, remember=True)
            record.due += self._limits.remember_s
            self._shelf.keep_homes(trace_id, record)
            self._watch(trace_id, record.due)
            return
        self._traces.forget_remembered(trace_id)
        self._shelf.drop_homes(trace_id)
        self._due.pop(trace_id, None)
