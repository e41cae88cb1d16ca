"""The two stages behind one face: observe, tick, flush."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, MutableMapping, Sequence
from typing import Final, TypeAlias

from monitor.assembly.segments import Segment
from monitor.codec import VERSION, reader_of, seal, unseal
from monitor.model import AgentSpan
from monitor.pipeline.conversations import ConversationStage
from monitor.pipeline.handed import HandedTrace
from monitor.pipeline.limits import PipelineLimits
from monitor.pipeline.shelf import Shelf
from monitor.pipeline.traces import TraceStage
from monitor.verdict import Effects, Report

Evaluate: TypeAlias = Callable[..., Report]
"""`evaluate(conversation, *, closed: bool, revision: int) -> Report`, pure."""


class Pipeline:
    """Spans in any order to reports, the same final ones for the same spans.

    Every accepted span ends in one count: attached, duplicate, late or `dropped:<why>`, or is
    among `open_spans`. State lies in the store as of the last `checkpoint`; a new pipeline over
    the same store goes on from there. Not safe for several threads.
    """

    def __init__(
        self,
        evaluate: Evaluate,
        store: MutableMapping[str, bytes],
        limits: PipelineLimits | None = None,
        here: Callable[[Segment], bool] = lambda _: True,
    ) -> None:
        """Raises StateError when the store was written by another version.

        A damaged record costs itself only, and is counted as `damaged_state`. `here` tells which
        parts of handed traces are at home in this pipeline, where it is one of several.
        """
        self._evaluate = evaluate
        self._here = here
        self._limits = limits or PipelineLimits()
        self._shelf = Shelf(store)
        self._build()

    @property
    def open_spans(self) -> int:
        """Accepted spans whose trace has not closed yet."""
        return self._traces.open_spans

    @property
    def open_conversations(self) -> int:
        """Conversations that have not closed yet."""
        return self._conversations.open_conversations

    @property
    def open_turns(self) -> int:
        """Turns without a verdict, since the evaluation of their conversation failed."""
        return self._conversations.open_turns

    @property
    def failure(self) -> str | None:
        """What the last failed evaluation said; counted as `evaluation_failed`."""
        return self._conversations.failure

    def observe(self, spans: Sequence[AgentSpan], now: float) -> Effects:
        """Take spans in, then do what is due. `now` must not run backwards."""
        counts: Counter[str] = Counter()
        self._traces.observe(spans, now, counts)
        for name in dict.fromkeys(span.conversation_id for span in spans):
            if name is not None:
                self._conversations.touch(name, now)
        while (limit := self._traces.crowded()) is not None:
            counts[f"early:{limit}"] += 1
            self._close_next_trace(None, counts)
        return self._advance(now, counts)

    def take(self, handed: Sequence[HandedTrace], touched: Sequence[str], now: float) -> Effects:
        """Take traces in that closed at a first stage elsewhere, which counts their spans.

        `touched` are conversations that open traces name there.
        """
        counts: Counter[str] = Counter()
        for name in touched:
            self._conversations.touch(name, now)
        for each in handed:
            closed = self._traces.receive(each, self._here, counts)
            if closed is not None:
                self._conversations.attach(closed, counts)
        return self._advance(now, counts)

    def tick(self, now: float) -> Effects:
        """Do what is due."""
        return self._advance(now, Counter())

    def flush(self, now: float) -> Effects:
        """Close every trace and every conversation, due or not."""
        counts: Counter[str] = Counter()
        while self._close_next_trace(None, counts):
            pass
        self._conversations.close_all(now)
        return self._advance(now, counts)

    def revise(self, conversation_id: str) -> bool:
        """Have the next step report a closed conversation anew, since its evaluator knows more.

        False when it is still open, or no longer takes revisions.
        """
        return self._conversations.revise(conversation_id)

    def next_deadline(self) -> float | None:
        """When `tick` has something to do next; None when nothing is open."""
        deadlines = (self._traces.next_deadline(), self._conversations.next_deadline())
        return min((when for when in deadlines if when is not None), default=None)

    def checkpoint(self) -> None:
        """Write all changes into the store; hosts call it inside their transaction."""
        self._traces.save()
        self._conversations.save()
        self._shelf.write()

    def snapshot(self) -> bytes:
        """The whole state, for a host whose store does not last."""
        self.checkpoint()
        return seal(_SNAPSHOT, self._shelf.everything())

    def restore(self, data: bytes) -> None:
        """Go on from a snapshot, forgetting all else. Raises StateError."""
        self._shelf.replace(unseal(_SNAPSHOT, data, _SNAPSHOT_READERS))
        self._build()

    def _build(self) -> None:
        self._traces = TraceStage(self._shelf, self._limits)
        self._conversations = ConversationStage(
            self._evaluate, self._shelf, self._traces, self._limits
        )

    def _advance(self, now: float, counts: Counter[str]) -> Effects:
        while self._close_next_trace(now, counts):
            pass
        self._conversations.close_due(now)
        while self._conversations.crowded():
            counts["early:open_conversations"] += 1
            self._conversations.close_next(now)
        reports = self._conversations.evaluate_raised(counts)
        self._conversations.let_go_due(now, counts)
        counts["damaged_state"] += self._shelf.damaged
        self._shelf.damaged = 0
        kept = {name: count for name, count in counts.items() if count}
        return Effects(reports=tuple(reports), counts=kept)

    def _close_next_trace(self, due: float | None, counts: Counter[str]) -> bool:
        closed = self._traces.close_next(due)
        if closed is None:
            return False
        self._conversations.attach(closed, counts)
        return True


_SNAPSHOT: Final = b"K"
_SNAPSHOT_READERS: Final = {VERSION: reader_of(dict[str, bytes])}
