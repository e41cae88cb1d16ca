"""Any arrival order, any duplication, any batching, any restarts: the same final reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec
import pytest
from assembly_builders import T0, S, Trace, asked, call, exchange, fake_evaluate, said, told, user
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.codec import report_line
from monitor.comparison import Ladder
from monitor.evaluator import Evaluator
from monitor.model import AgentSpan
from monitor.pipeline import Evaluate, Pipeline, PipelineLimits
from monitor.references.by_id import ReferenceStore
from monitor.references.contracts import ToolContracts
from monitor.verdict import ExpectedAction, ExpectedResponse, Reference

CACHE_BYTES = 4_000
NAMES = ["c1", "c2", "c3", "c4", "u", "v1", "v2", "v4", "y1", "y4", "y6", "z1", "z2", "z3"]
REFERENCE = Reference(
    "c1",
    "conversation_id",
    turns=(
        ExpectedAction("get_order", args={"order_id": 7}),
        ExpectedResponse("It was packed."),
        ExpectedAction("get_order", args={"order_id": 9}),
    ),
)
EVALUATOR = Evaluator([ReferenceStore([REFERENCE])], ToolContracts(), Ladder())
EVALUATES: dict[str, Evaluate] = {"fake": fake_evaluate, "real": EVALUATOR.evaluate}


def traffic() -> list[AgentSpan]:
    """Three conversations: whole runs, a bare client, sub-agents, an untagged trace, skew."""
    made, deep = call("plan", "1"), call("look", "2", q="x")
    nested = Trace("n", "c2", 50).model("m", [user("Plan")], [asked(made)]).tool("t", made, "p")
    nested.agent("sub", "t").model("s", [user("Look")], [asked(deep)], "sub")
    nested.tool("d", deep, "hit", "sub").model("e", [told("p", "1")], [said("Planned.")]).agent()
    bare = Trace("b1", "c3").model("m", [user("Go")], [asked(made)], None).spans
    given = [user("Go"), asked(made), told("x", "1")]
    bare += Trace("b2", "c3", 9).model("m", given, [said("Gone.")], None).spans
    untagged = exchange("u", None, 5)
    skewed = [
        msgspec.structs.replace(span, end_ns=T0 - S) if span.kind == "tool" else span
        for span in exchange("s", "c1", 99, query="And 9?")
    ]
    detail = AgentSpan("s", "s-m2", "model", system="Be kind.", detail=True)
    mixed = Trace("x", None).agent("one", conversation_id="c1").agent("two", conversation_id="c4")
    mixed.model("m1", [user("A?")], [said("A.")], "one", conversation_id=None)
    mixed.model("m2", [user("B?")], [said("B.")], "two", conversation_id=None)
    named = [*exchange("a"), *skewed, detail, *nested.spans, *bare, *untagged, *mixed.spans]
    return [*named, *unnamed_traffic()]


def unnamed_traffic() -> list[AgentSpan]:
    """Model calls that name nothing: one conversation with a branch, common openings, a window."""
    made = call("get_order", "call_8", order_id=8)
    asks = [user("Where is my order number 8, please?")]
    loop = [*asks, asked(made), told("lost", "call_8")]
    told_so = [*loop, said("It is lost.")]
    again = [*told_so, user("Then I want all my money back.")]
    refunded = [*again, said("Refunded.")]
    window = [*refunded[-3:], user("Thank you!")]
    greeted = [user("hi"), said("Hello!")]
    calls = {
        "y1": (asks, [asked(made)]),
        "y2": (loop, [said("It is lost.")]),
        "y3": (again, [said("Refunded.")]),
        "y4": ([*told_so, user("Give me a title")], [said("Lost order")]),
        "y5": ([*refunded, user("Really?")], [said("Yes.")]),
        "y6": (window, [said("Welcome.")]),
        "z1": (greeted[:1], greeted[1:]),
        "z2": (greeted[:1], greeted[1:]),
        "z3": ([*greeted, user("Open?")], [said("Yes.")]),
    }
    spans = users_traffic()
    for number, (trace_id, (before, out)) in enumerate(calls.items()):
        spans += Trace(trace_id, None, 200 + 3 * number).model("m", before, out, None).spans
    return spans


def users_traffic() -> list[AgentSpan]:
    """Two users with equal words: replies made anew, one kept in other words, one edited."""
    asks = [user("Which of your shops are open today?"), said("All of them.")]
    again = [*asks, user("Until when?")]
    kept = [*again, said("Until 6."), user("Thanks!")]
    calls = [
        ("v1", "v", asks[:1], asks[1]),
        ("v2", "w", asks[:1], asks[1]),
        ("v3", "v", again, said("Until six.")),
        ("v4", "w", again, said("Until six.")),
        ("v5", "w", again, said("Until 6.")),
        ("v6", "v", kept, said("Welcome.")),
        ("v7", "w", kept, said("Welcome.")),
    ]
    spans: list[AgentSpan] = []
    for number, (trace_id, who, before, out) in enumerate(calls):
        trace = Trace(trace_id, None, 300 + 3 * number)
        spans += trace.model("m", before, [out], None, user_id=who).spans
    return spans


SPANS = traffic()


class Run:
    """A host that feeds a pipeline, restarts it now and then, and keeps the last reports."""

    def __init__(self, evaluate: Evaluate = fake_evaluate) -> None:
        self.evaluate = evaluate
        self.store: dict[str, bytes] = {}
        self.limits = PipelineLimits(cache_bytes=CACHE_BYTES)
        self.counts: Counter[str] = Counter()
        self.final: dict[str, bytes] = {}
        self.revisions: dict[str, list[int]] = {}
        self.now = 1_000.0
        self.pipeline = Pipeline(self.evaluate, self.store, self.limits)

    def feed(self, batch: Sequence[AgentSpan]) -> None:
        self._keep(self.pipeline.observe(batch, self.now))

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self._keep(self.pipeline.tick(self.now))

    def restart(self) -> None:
        self.pipeline.checkpoint()
        self.pipeline = Pipeline(self.evaluate, self.store, self.limits)

    def move(self) -> None:
        snapshot = self.pipeline.snapshot()
        self.store = {}
        self.pipeline = Pipeline(self.evaluate, self.store, self.limits)
        self.pipeline.restore(snapshot)

    def end(self) -> None:
        self._keep(self.pipeline.flush(self.now))

    def _keep(self, effects) -> None:
        self.counts.update(effects.counts)
        ended = sum(
            count
            for name, count in self.counts.items()
            if name in ("attached", "duplicate", "late") or name.startswith("dropped:")
        )
        assert self.counts["accepted"] == ended + self.pipeline.open_spans
        for report in effects.reports:
            name = report.conversation_id
            self.revisions.setdefault(name, []).append(report.revision)
            self.final[name] = report_line(msgspec.structs.replace(report, revision=0))
            if not report.turns:
                del self.final[name]


def in_order(evaluate: Evaluate) -> dict[str, bytes]:
    run = Run(evaluate)
    run.feed(SPANS)
    run.end()
    return run.final


FINAL = {name: in_order(evaluate) for name, evaluate in EVALUATES.items()}


def test_the_reference_run_holds_every_conversation():
    assert [sorted(final) for final in FINAL.values()] == [NAMES] * 2


@pytest.mark.parametrize("name", EVALUATES)
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_any_order_duplication_batching_and_restarts_give_the_same_final_reports(name, data):
    arrivals = data.draw(st.permutations(SPANS))
    again = data.draw(st.lists(st.sampled_from(SPANS), max_size=20))
    for span in again:
        arrivals.insert(data.draw(st.integers(0, len(arrivals))), span)
    run = Run(EVALUATES[name])
    while arrivals:
        size = data.draw(st.integers(1, 12))
        run.feed(arrivals[:size])
        arrivals = arrivals[size:]
        step = data.draw(st.sampled_from(["on", "wait", "quiet", "restart", "move"]))
        if step == "wait":
            run.wait(data.draw(st.floats(0, 5)))
        elif step == "quiet":
            run.wait(31.0)
        elif step == "restart":
            run.restart()
        elif step == "move":
            run.move()
    run.end()
    assert run.final == FINAL[name]
    assert run.pipeline.failure is None
    assert run.counts["attached"] == len(SPANS)
    assert run.counts["duplicate"] == len(again)
    for revisions in run.revisions.values():
        assert revisions == list(range(1, len(revisions) + 1))


@pytest.mark.parametrize("name", EVALUATES)
@settings(max_examples=50, deadline=None)
@given(arrivals=st.permutations(SPANS), cut=st.integers(1, 25))
def test_spans_that_come_after_the_close_give_the_same_final_reports(name, arrivals, cut):
    run = Run(EVALUATES[name])
    run.feed(arrivals[:cut])
    run.wait(700.0)
    run.feed(arrivals[cut:])
    run.wait(50.0)
    run.end()
    assert run.final == FINAL[name]


@settings(max_examples=30, deadline=None)
@given(st.permutations(SPANS), st.integers(1, 10))
def test_the_same_calls_give_the_same_effects(arrivals, size):
    runs = []
    for _ in range(2):
        pipeline = Pipeline(fake_evaluate, {}, PipelineLimits(cache_bytes=CACHE_BYTES))
        batches = [arrivals[at : at + size] for at in range(0, len(arrivals), size)]
        runs.append([pipeline.observe(batch, number * 3.0) for number, batch in enumerate(batches)])
    assert runs[0] == runs[1]
