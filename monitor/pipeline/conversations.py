"""Second stage: keeps conversations, has them evaluated, and knows when they are over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from hashlib import blake2b

import msgspec

from monitor.assembly.conversation import conversation_of
from monitor.assembly.turns import TraceTurns
from monitor.codec import encode_report
from monitor.pipeline.cache import Live, LiveConversations
from monitor.pipeline.deadlines import Deadlines
from monitor.pipeline.identity import Identities, Move
from monitor.pipeline.limits import PipelineLimits
from monitor.pipeline.quarantine import Quarantine
from monitor.pipeline.shelf import ConversationRecord, Shelf
from monitor.pipeline.traces import ClosedTrace, TraceStage
from monitor.pipeline.trimming import trimmed
from monitor.verdict import Report


class ConversationStage:
    """Conversations by id. Keyed by conversation: it needs no other conversation's traces."""

    def __init__(
        self,
        evaluate: Callable[..., Report],
        shelf: Shelf,
        traces: TraceStage,
        limits: PipelineLimits,
    ) -> None:
        self._evaluate = evaluate
        self._shelf = shelf
        self._traces = traces
        self._limits = limits
        self._quarantine = Quarantine(shelf, limits)
        self._identities = Identities(shelf, self._quarantine, limits)
        self._live = LiveConversations(shelf, limits.cache_bytes, keep_turns=limits.keep_turns)
        self._reported = ("open", "closed") if limits.report_open else ("closed",)
        self._due: dict[str, float] = {}
        self._raised: dict[str, None] = {}
        self._open = Deadlines(self._due.get)
        self._over = Deadlines(self._due.get)
        self._gone: dict[str, None] = {}
        self.open_conversations = 0
        self.open_turns = 0
        self.failure: str | None = None
        """What the last evaluation that failed said, for the host's log."""
        self._load()

    def attach(self, closed: ClosedTrace, counts: Counter[str]) -> None:
        """Take a complete trace in, in place of what was known of it before."""
        moves = self._identities.place(closed, counts)
        for name in closed.left:
            self._detach(name, closed.trace_id)
        counts["dropped:no_agent"] += closed.unclaimed
        taken = [self._take(closed, name, counts) for name in closed.turns]
        if taken and not any(taken):
            self._give_up(closed.trace_id, remember=True)
        for move in moves:
            self._move(move)

    def touch(self, conversation_id: str, now: float) -> None:
        """A span that names the conversation came: it is not idle."""
        if conversation_id not in self._due or conversation_id in self._quarantine:
            return
        live = self._live.find(conversation_id)
        if live is not None and live.record.phase == "open" and now > live.record.seen_at:
            live.record.seen_at = now
            self._schedule(live)

    def crowded(self) -> bool:
        """Whether more conversations are open than may be."""
        return self.open_conversations > self._limits.open_conversations

    def evaluate_raised(self, counts: Counter[str]) -> list[Report]:
        """One report for each conversation that changed, unless it equals the last one."""
        reports = []
        for name in self._raised:
            live = self._live.find(name)
            if live is not None and live.record.phase in self._reported:
                reports += self._report(live, counts)
            self._live.shrink()
        self._raised = {}
        return reports

    def close_due(self, now: float) -> None:
        """Close what is idle or too old."""
        while (name := self._open.pop(now)) is not None:
            self._close(name, now)

    def let_go_due(self, now: float, counts: Counter[str]) -> None:
        """Let go of what was closed long enough, after what changed in it was evaluated."""
        while (name := self._over.pop(now)) is not None:
            self._move_on(name, counts)

    def close_next(self, now: float) -> None:
        """Close the open conversation that is next in line."""
        name = self._open.pop()
        if name is not None:
            self._close(name, now)

    def close_all(self, now: float) -> None:
        """Close every open conversation."""
        while (name := self._open.pop()) is not None:
            self._close(name, now)

    def next_deadline(self) -> float | None:
        """When the next conversation falls due."""
        found = [queue.next() for queue in (self._open, self._over)]
        return min((entry[0] for entry in found if entry is not None), default=None)

    def save(self) -> None:
        """Put what changed on the shelf."""
        self._live.save()

    def revise(self, name: str) -> bool:
        """Have a closed conversation evaluated anew; False when it is open, or let go already."""
        live = self._live.find(name)
        if live is None or live.record.phase != "closed":
            return False
        self._raised[name] = None
        return True

    def _take(self, closed: ClosedTrace, name: str, counts: Counter[str]) -> bool:
        trace_id, fresh = closed.trace_id, closed.fresh[name]
        live = self._live.find(name) or self._begin(name, closed.opened_at, closed.seen_at)
        record = live.record
        if record.phase == "gone" and self._is_another_life(record, closed):
            self._revive(record, closed)
            counts["revived"] += 1
        if record.phase == "gone":
            counts["late"] += fresh
            record.traces.setdefault(trace_id, (0, 0))
            self._live.changed(live)
            return False
        limit = self._limits.traces_per_conversation
        if trace_id not in record.traces and len(record.traces) >= limit:
            counts["dropped:traces_per_conversation"] += fresh
            return False
        counts["attached"] += fresh
        turns = closed.turns[name]
        if not closed.again:
            counts["skew"] += turns.skewed
            counts["usage_missing"] += turns.usage_missing
            record.turns += sum([len(part.turns) for part in turns.parts])
        record.traces[trace_id] = (closed.start_ns, closed.stored_bytes)
        record.seen_at = max(record.seen_at, closed.seen_at)
        record.synthetic = name in closed.synthetic
        self._live.put_turns(live, trace_id, turns)
        self._raised[name] = None
        self._schedule(live)
        self._trim(live, counts)
        self._quarantine.watch(record, counts)
        return True

    def _begin(self, name: str, opened_at: float, seen_at: float) -> Live:
        record = ConversationRecord(name, opened_at=opened_at, seen_at=seen_at)
        self.open_conversations += 1
        live = self._live.add(record)
        self._schedule(live)
        return live

    def _is_another_life(self, record: ConversationRecord, closed: ClosedTrace) -> bool:
        """Whether the user came back: a trace that is new and began after all that is known."""
        latest_ns = max([start_ns for start_ns, _ in record.traces.values()], default=0)
        return not closed.again and closed.start_ns > latest_ns

    def _revive(self, record: ConversationRecord, closed: ClosedTrace) -> None:
        """Start the conversation over; of its former life only late spans are still known."""
        for trace_id in record.former:
            self._traces.forget_remembered(trace_id)
        record.former, record.traces = list(record.traces), {}
        record.phase, record.revision, record.digest, record.trimmed = "open", 0, b"", []
        record.opened_at, record.seen_at, record.turns = closed.opened_at, closed.seen_at, 0
        self._gone.pop(record.conversation_id, None)
        self.open_conversations += 1

    def _detach(self, name: str, trace_id: str) -> None:
        live = self._live.find(name)
        if live is None or live.record.phase == "gone":
            return
        live.record.traces.pop(trace_id, None)
        self._live.drop_turns(live, trace_id)
        self._live.changed(live)
        self._raised[name] = None

    def _move(self, move: Move) -> None:
        """Take a trace from one conversation to another, as it was told when it closed."""
        live = self._live.find(move.former)
        if live is None or move.trace_id not in live.record.traces or live.record.phase == "gone":
            return
        former, turns = live.record, self._live.turns(live, move.trace_id)
        # By now the trace knows its own name under the conversation it moves to.
        turns = turns or self._traces.turns(move.trace_id, move.own)
        kept, trimmed = former.traces[move.trace_id], move.trace_id in former.trimmed
        opened_at, seen_at = self._traces.times(move.trace_id)
        self._detach(move.former, move.trace_id)
        live = self._live.find(move.conversation_id)
        live = live or self._begin(move.conversation_id, opened_at, seen_at)
        record = live.record
        record.traces[move.trace_id] = kept
        record.trimmed += [move.trace_id] if trimmed else []
        record.seen_at = max(record.seen_at, seen_at)
        record.synthetic = True
        self._live.put_turns(live, move.trace_id, turns)
        self._raised[move.conversation_id] = None
        self._schedule(live)

    def _report(self, live: Live, counts: Counter[str]) -> list[Report]:
        record = live.record
        if not record.traces and not record.revision:
            self._forget(record)
            return []
        traces = {trace_id: self._turns(live, trace_id) for trace_id in record.traces}
        conversation = conversation_of(record.conversation_id, traces, synthetic=record.synthetic)
        self.open_turns -= record.unreported
        record.unreported = 0
        self._live.changed(live)
        try:
            report = self._evaluate(
                conversation, closed=record.phase == "closed", revision=record.revision + 1
            )
        except Exception as error:  # noqa: BLE001  one conversation must not stop all others
            counts["evaluation_failed"] += 1
            self.failure = f"conversation {record.conversation_id!r}: {error!r}"
            record.unreported = len(conversation.turns)
            self.open_turns += record.unreported
            return []
        digest = _digest(report)
        if digest == record.digest:
            return []
        record.revision += 1
        record.digest = digest
        return [report]

    def _turns(self, live: Live, trace_id: str) -> TraceTurns:
        turns = self._live.turns(live, trace_id)
        if turns is None:
            own = self._identities.own(trace_id, live.record.conversation_id)
            turns = self._traces.turns(trace_id, own)
            self._live.put_turns(live, trace_id, turns)
        return turns

    def _trim(self, live: Live, counts: Counter[str]) -> None:
        """Cut the text of the oldest traces until the conversation fits; never the newest's."""
        record, limit = live.record, self._limits.text_per_conversation_bytes
        total = sum(size for _, size in record.traces.values())
        if total <= limit:
            return
        oldest_first = sorted(
            record.traces, key=lambda trace_id: (record.traces[trace_id][0], trace_id)
        )
        for trace_id in oldest_first[:-1]:
            if total <= limit:
                break
            if trace_id in record.trimmed:
                continue
            start_ns, size = record.traces[trace_id]
            cut = self._traces.rewrite(trace_id, trimmed)
            record.trimmed.append(trace_id)
            record.traces[trace_id] = (start_ns, cut.stored_bytes)
            for name, turns in cut.turns.items():
                part = self._live.find(self._identities.conversation(trace_id, name))
                if part is not None:
                    self._live.put_turns(part, trace_id, turns)
            counts["trimmed_traces"] += 1
            total -= size - cut.stored_bytes

    def _close(self, name: str, now: float) -> None:
        live = self._live.find(name)
        if live is None:
            return
        live.record.phase = "closed"
        live.record.closed_at = now
        self.open_conversations -= 1
        self._raised[name] = None
        self._schedule(live)

    def _move_on(self, name: str, counts: Counter[str]) -> None:
        live = self._live.find(name)
        if live is None:
            return
        if live.record.phase == "gone":
            self._forget(live.record)
        elif live.record.phase == "closed":
            self._let_go(live, counts)

    def _let_go(self, live: Live, counts: Counter[str]) -> None:
        """No more revisions: keep only what tells late spans."""
        record = live.record
        self.open_turns -= record.unreported
        record.phase, record.unreported = "gone", 0
        for trace_id in record.traces:
            self._live.drop_turns(live, trace_id)
            self._identities.let_go(trace_id)
            if self._all_gone(trace_id):
                self._give_up(trace_id, remember=True)
        self._schedule(live)
        self._gone[record.conversation_id] = None
        while len(self._gone) > self._limits.remembered_conversations:
            oldest = self._live.find(next(iter(self._gone)))
            counts["forgotten"] += 1
            if oldest is not None:
                self._forget(oldest.record)

    def _forget(self, record: ConversationRecord) -> None:
        name = record.conversation_id
        if record.phase == "open":
            self.open_conversations -= 1
        for trace_id in record.traces:
            if self._all_gone(trace_id):
                self._give_up(trace_id, remember=False)
        for trace_id in record.former:
            self._traces.forget_remembered(trace_id)
        self._gone.pop(name, None)
        self._due.pop(name, None)
        self._live.remove(name)

    def _give_up(self, trace_id: str, *, remember: bool) -> None:
        self._traces.forget(trace_id, remember=remember)
        self._identities.forget(trace_id)

    def _all_gone(self, trace_id: str) -> bool:
        for name in self._traces.conversations(trace_id):
            live = self._live.find(self._identities.conversation(trace_id, name))
            if live is not None and live.record.phase != "gone":
                return False
        return True

    def _schedule(self, live: Live) -> None:
        self._live.changed(live)
        self._queue(live.record)

    def _queue(self, record: ConversationRecord) -> None:
        limits = self._limits
        if record.phase == "open":
            due = min(record.seen_at + limits.idle_s, record.opened_at + limits.max_age_s)
        elif record.phase == "closed":
            due = record.closed_at + limits.late_s
        else:
            due = record.closed_at + limits.late_s + limits.remember_s
        self._due[record.conversation_id] = due
        queue = self._open if record.phase == "open" else self._over
        queue.add(record.conversation_id, due)

    def _load(self) -> None:
        """Deadlines and gauges from the shelf; the conversations themselves stay there."""
        gone = []
        for record in self._shelf.conversations():
            self.open_conversations += record.phase == "open"
            self.open_turns += record.unreported
            self._queue(record)
            if record.phase == "gone":
                gone.append((record.closed_at, record.conversation_id))
        self._gone = dict.fromkeys(name for _, name in sorted(gone))


def _digest(report: Report) -> bytes:
    data = encode_report(msgspec.structs.replace(report, revision=0))
    return blake2b(data, digest_size=12).digest()
