"""Every bound of the pipeline bites where it says, and is counted when it does."""

from __future__ import annotations

from collections import Counter
from typing import Any

from assembly_builders import Trace, exchange, fake_evaluate, said, user

from monitor.model import AgentSpan, Conversation
from monitor.pipeline import Pipeline, PipelineLimits
from monitor.verdict import Report


def pipeline(**limits: Any) -> Pipeline:
    return Pipeline(fake_evaluate, {}, PipelineLimits(**limits))


def balance(counts: Counter[str], monitor: Pipeline) -> int:
    ended = sum(
        count
        for name, count in counts.items()
        if name in ("attached", "duplicate", "late") or name.startswith("dropped:")
    )
    return counts["accepted"] - ended - monitor.open_spans


def chat(trace_id: str, conversation: str = "c1", text: str = "x") -> list[AgentSpan]:
    return Trace(trace_id, conversation).model("m", [user(text)], [said(text)], None).spans


def test_spans_per_trace():
    monitor = pipeline(spans_per_trace=3)
    effects = monitor.observe(exchange("a") + exchange("a"), 0.0)
    assert effects.counts == {
        "accepted": 8,
        "duplicate": 3,
        "dropped:spans_per_trace": 2,
    }
    assert monitor.open_spans == 3


def test_bytes_per_trace():
    monitor = pipeline(bytes_per_trace=20_000)
    spans = [AgentSpan("a", str(n), "model", messages_in=(user("x" * 5_000),)) for n in range(3)]
    effects = monitor.observe(spans, 0.0)
    assert effects.counts == {"accepted": 3, "dropped:bytes_per_trace": 2}


def test_a_history_that_is_repeated_is_held_and_kept_once():
    store: dict[str, bytes] = {}
    monitor = Pipeline(fake_evaluate, store, PipelineLimits(bytes_per_trace=2_000_000))
    history = [user(f"{n} " + "x" * 10_000) for n in range(40)]
    trace = Trace("a")
    for n in range(40):
        trace.model(f"m{n}", history[: n + 1], [said(f"{n}")])
    effects = monitor.observe(trace.agent().spans, 0.0)
    assert effects.counts == {"accepted": 41}
    assert monitor.observe(trace.spans, 0.0).counts == {"accepted": 41, "duplicate": 41}
    monitor.tick(3.0)
    monitor.checkpoint()
    assert len(store["t:a"]) < 500_000
    assert monitor.observe(trace.spans, 4.0).counts == {"accepted": 41, "duplicate": 41}


def test_open_traces():
    monitor = pipeline(open_traces=2)
    effects = monitor.observe(chat("a") + chat("b") + chat("c"), 0.0)
    assert effects.counts == {
        "accepted": 3,
        "early:open_traces": 1,
        "attached": 1,
        "usage_missing": 1,
    }
    assert (monitor.open_spans, len(effects.reports)) == (2, 1)


def test_open_bytes():
    monitor = pipeline(open_bytes=50_000)
    effects = monitor.observe(chat("a", text="x" * 9_000) + chat("b", text="y" * 9_000), 0.0)
    assert effects.counts == {
        "accepted": 2,
        "early:open_bytes": 1,
        "attached": 1,
        "usage_missing": 1,
    }


def test_open_conversations():
    monitor = pipeline(open_conversations=2)
    for number, name in enumerate(("c1", "c2", "c3")):
        monitor.observe(chat(name, name), float(number))
    effects = monitor.tick(10.0)
    assert effects.counts["early:open_conversations"] == 1
    assert [(r.conversation_id, r.closed) for r in effects.reports if r.closed] == [("c1", True)]
    assert monitor.open_conversations == 2


def test_traces_per_conversation():
    monitor = pipeline(traces_per_conversation=2)
    monitor.observe(chat("a") + chat("b") + chat("c"), 0.0)
    effects = monitor.tick(10.0)
    assert effects.counts == {
        "attached": 3,
        "quarantine:traces_per_conversation": 1,
        "quarantine:traces": 1,
        "usage_missing": 3,
    }
    assert sorted(report.conversation_id for report in effects.reports) == ["c", "c1"]


def test_text_per_conversation_cuts_the_oldest_traces_and_keeps_their_turns():
    seen: list[Conversation] = []

    def evaluate(conversation: Conversation, *, closed: bool, revision: int) -> Report:
        seen.append(conversation)
        return fake_evaluate(conversation, closed=closed, revision=revision)

    limits = PipelineLimits(text_per_conversation_bytes=6_000)
    monitor = Pipeline(evaluate, {}, limits)
    counts: Counter[str] = Counter()
    for number in range(4):
        spans = exchange(f"t{number}", start_s=number * 60, reply=f"{number}" * 2_000)
        counts.update(monitor.observe(spans, 0.0).counts)
        counts.update(monitor.tick(3.0).counts)
    replies = [turn for turn in seen[-1].turns if turn.turn_id and hasattr(turn, "text")]
    assert [len(reply.text or "") for reply in replies] == [200, 200, 200, 2_000]
    assert [reply.truncated for reply in replies] == [True, True, True, False]
    assert [t.turn_id for t in seen[0].turns] == [t.turn_id for t in seen[-1].turns[:2]]
    assert len(seen[-1].turns) == 8
    assert counts["trimmed_traces"] == 3


def test_remembered_conversations():
    monitor = pipeline(remembered_conversations=1)
    monitor.observe(chat("a", "c1") + chat("b", "c2"), 0.0)
    monitor.tick(700.0)
    assert monitor.tick(1_400.0).counts == {"forgotten": 1}


def test_the_cache_is_a_bound_and_changes_no_report():
    def reports(cache_bytes: int) -> list[Report]:
        monitor = pipeline(cache_bytes=cache_bytes)
        found: list[Report] = []
        for number in range(40):
            spans = exchange(f"t{number}", f"c{number % 8}", start_s=number)
            found += monitor.observe(spans, number * 1.0).reports
            monitor.checkpoint()
        return found + list(monitor.flush(100.0).reports)

    assert reports(1) == reports(10_000_000)


def test_turns_that_are_not_kept_are_built_anew():
    def reports(keep_turns: bool) -> list[Report]:
        monitor = Pipeline(fake_evaluate, {}, PipelineLimits(keep_turns=keep_turns, cache_bytes=1))
        found: list[Report] = []
        for number in range(20):
            spans = exchange(f"t{number}", f"c{number % 4}", start_s=number)
            found += monitor.observe(spans, number * 1.0).reports
        return found + list(monitor.flush(100.0).reports)

    assert reports(keep_turns=True) == reports(keep_turns=False)


def test_every_span_ends_in_one_count_whatever_bites():
    monitor = pipeline(
        spans_per_trace=3, open_traces=3, open_conversations=2, traces_per_conversation=2
    )
    counts: Counter[str] = Counter()
    for number in range(30):
        spans = exchange(f"t{number % 11}", f"c{number % 3}", start_s=number)
        counts.update(monitor.observe(spans, number * 97.0).counts)
        counts.update(monitor.tick(number * 97.0 + 40.0).counts)
        assert balance(counts, monitor) == 0
    counts.update(monitor.flush(5_000.0).counts)
    assert balance(counts, monitor) == 0
    assert monitor.open_spans == 0
    assert {name for name in counts if name.startswith(("dropped", "early", "late"))} >= {
        "dropped:spans_per_trace"
    }
