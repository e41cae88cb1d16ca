"""The roles apart give what one process gives, whoever dies in between."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from assembly_builders import exchange, fake_evaluate
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka_apart import NAMES, Apart, final_lines
from test_pipeline_properties import EVALUATES, SPANS

from monitor.model import AgentSpan, Conversation
from monitor.pipeline import Evaluate, Pipeline
from monitor.roles.kafka.records import Envelope, written
from monitor.verdict import Report

WINDOW = "y6"
"""A history whose beginning was trimmed away; it is joined in one process only."""
WHOLE = [span for span in SPANS if span.trace_id != WINDOW]
OUTCOMES = ("accepted", "attached", "duplicate", "late", "dropped:no_agent")


def together(spans: list[AgentSpan], evaluate: Evaluate = fake_evaluate) -> dict[str, bytes]:
    """The final reports of one process."""
    pipeline = Pipeline(evaluate, {})
    effects = pipeline.observe(spans, 0.0).plus(pipeline.flush(40.0))
    return final_lines(effects.reports)


def told(apart: Apart) -> dict[str, int]:
    counts = apart.counts()
    return {name: counts[name] for name in OUTCOMES if counts[name]}


@pytest.mark.parametrize("evaluate", EVALUATES.values(), ids=EVALUATES)
def test_workers_give_the_reports_of_one_process(evaluate: Evaluate) -> None:
    apart = Apart(evaluate=evaluate)
    apart.feed(WHOLE)
    apart.work().flush()
    assert apart.final() == together(WHOLE, evaluate)


@settings(max_examples=12)
@given(seed=st.integers(0, 2**32), batch=st.integers(1, 30), rate=st.sampled_from([0, 0.02, 0.1]))
def test_any_order_and_any_death_leaves_reports_and_counts_as_they_were(
    seed: int, batch: int, rate: float
) -> None:
    chance = random.Random(seed)
    spans = [*WHOLE, *chance.sample(WHOLE, 5)]
    chance.shuffle(spans)
    apart = Apart(lambda: chance.random() < rate)
    for at in range(0, len(spans), batch):
        apart.feed(spans[at : at + batch], chance.randrange(3))
        if chance.random() < 0.3:
            apart.work()
        if chance.random() < 0.3:
            apart.pass_time(chance.choice([1.0, 40.0]))
    apart.work().flush()
    assert apart.final() == together(WHOLE)
    counts = apart.counts()
    assert counts["accepted"] == len(spans)
    assert counts["duplicate"] == 5
    assert counts["accepted"] == sum(counts[name] for name in OUTCOMES[1:])


def test_small_records_are_cut_and_joined_again() -> None:
    chance = random.Random(7)
    apart = Apart(lambda: chance.random() < 0.01, record_bytes=1_024)
    apart.feed(WHOLE)
    apart.work().flush()
    assert apart.final() == together(WHOLE)
    sizes = [
        len(value or b"")
        for (topic, _), log in apart.broker.logs.items()
        for _, value in log
        if topic != NAMES.source
    ]
    assert max(sizes) <= 1_024
    kept = [len(c.value or b"") for log in apart.broker.states.values() for c in log]
    assert max(kept) <= 1_024
    assert apart.deaths > 0


def test_a_record_that_cannot_be_read_is_set_aside_and_blocks_nothing() -> None:
    apart = Apart()
    apart.feed(exchange("a"))
    apart.raw(b"poison")
    apart.feed(exchange("b", start_s=9))
    apart.work().flush()
    (letter,) = apart.dead_letters()
    assert (letter.topic, letter.partition, letter.offset) == (NAMES.source, 0, 1)
    assert letter.why.startswith("DamagedState: ")
    assert letter.value is None
    assert apart.counts()["rejected:malformed"] == 1
    assert apart.final() == together([*exchange("a"), *exchange("b", start_s=9)])


def test_a_record_that_brings_a_defect_out_is_set_aside_with_its_spans_counted() -> None:
    apart = Apart()
    apart.feed(exchange("a"))
    apart.work()
    partition = next(n for n in range(3) if apart.broker.log(NAMES.traces, n))
    good = apart.broker.log(NAMES.traces, partition)[0]
    for value in (written(Envelope("spans", 0.0, body=b"\xff" * 9)), good[1]):
        apart.broker.log(NAMES.traces, partition).append((b"", value))
    apart.work().flush()
    assert [(letter.topic, letter.offset) for letter in apart.dead_letters()] == [(NAMES.traces, 1)]
    assert apart.dead_letters()[0].value is not None
    assert apart.final() == together(exchange("a"))


def test_an_evaluator_that_fails_stops_no_other_conversation() -> None:
    def failing(conversation: Conversation, *, closed: bool, revision: int) -> Report:
        if conversation.conversation_id == "c2":
            raise ValueError("a defect")
        return fake_evaluate(conversation, closed=closed, revision=revision)

    apart = Apart(evaluate=failing)
    apart.feed(WHOLE)
    apart.work().flush()
    assert "c2" not in apart.final()
    assert apart.counts()["evaluation_failed"] > 0
    assert apart.dead_letters() == []


def test_a_late_root_takes_its_trace_to_the_conversation_it_names() -> None:
    spans = exchange("a")
    apart = Apart()
    unnamed = [s for s in spans if s.conversation_id is None]
    named = [s for s in spans if s.conversation_id is not None]
    apart.feed(unnamed or spans[1:])
    apart.work().pass_time(60.0)
    apart.feed(named or spans[:1])
    apart.work().pass_time(60.0).flush()
    assert apart.final()["c1"] == together(spans)["c1"]


def test_spans_that_come_after_the_hold_are_late() -> None:
    spans = exchange("a")
    apart = Apart()
    apart.feed(spans[:-1])
    apart.work().pass_time(60.0).pass_time(1_300.0)
    apart.feed(spans[-1:])
    apart.work().flush()
    assert told(apart) == Counter(accepted=len(spans), attached=len(spans) - 1, late=1)
