"""Traces that name no conversation, and a pipeline that tells what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assembly_builders import Trace, fake_evaluate, said, user

from monitor.model import Conversation, Message
from monitor.pipeline import Pipeline, PipelineLimits
from monitor.verdict import Report

ORDER, FLIGHT = "Where is my order number 7, please?", "When does flight 9 leave from Oslo?"
OPENING = [user(ORDER), said("It is packed.")]
SECOND = [*OPENING, user("And when will it come?")]
ENDED = [*SECOND, said("On Monday.")]


class Run:
    """A pipeline, and the last conversation of each name that it told."""

    def __init__(self, **limits: Any) -> None:
        self.found: dict[str, Conversation] = {}
        self.counts: dict[str, int] = {}
        self.store: dict[str, bytes] = {}
        self.limits = PipelineLimits(**limits)
        self.now = 0.0
        self.pipeline = Pipeline(self._evaluate, self.store, self.limits)

    def feed(self, *traces: Trace, wait: float = 40.0) -> Run:
        for trace in traces:
            self._count(self.pipeline.observe(trace.spans, self.now).counts)
        self.now += wait
        self._count(self.pipeline.tick(self.now).counts)
        return self

    def restart(self) -> Run:
        self.pipeline.checkpoint()
        self.pipeline = Pipeline(self._evaluate, self.store, self.limits)
        return self

    def traces(self) -> dict[str, list[str]]:
        """The traces of each conversation that has any, in their order."""
        return {
            name: list(dict.fromkeys(turn.trace_id for turn in conversation.turns))
            for name, conversation in sorted(self.found.items())
            if conversation.turns
        }

    def _evaluate(self, conversation: Conversation, *, closed: bool, revision: int) -> Report:
        self.found[conversation.conversation_id] = conversation
        return fake_evaluate(conversation, closed=closed, revision=revision)

    def _count(self, counts: dict[str, int]) -> None:
        for name, count in counts.items():
            self.counts[name] = self.counts.get(name, 0) + count


def bare(trace_id: str, at: float, given: Sequence[Message], *out: Message, **more: Any) -> Trace:
    """A model call that is a trace of its own."""
    return Trace(trace_id, None, at).model("m", given, out, None, **more)


def conversation_of(*traces: Trace) -> dict[str, list[str]]:
    return Run().feed(*traces).traces()
