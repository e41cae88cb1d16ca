"""Guardrails, evaluators and model calls without tokens, from the wire to the counts."""

from __future__ import annotations

from typing import Any

import pytest
from monitored import QUERY, REPLY, S, agent, chat, exchange, made, monitored, said, sent, user
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from otlp_building import START

KINDS = [
    ("openinference.span.kind", "GUARDRAIL"),
    ("openinference.span.kind", "EVALUATOR"),
    ("langfuse.observation.type", "guardrail"),
    ("langfuse.observation.type", "evaluator"),
]
ASKS = "Is this text safe? Where is my order SO-7?"


def aside(key: str, kind: str, number: int = 50, **fields: Any) -> Span:
    return made(number, None, fields.pop("parent", 1), more={key: kind}, **fields)


def guarding(inner_agent: bool, start: int) -> list[Span]:
    """What runs below an aside: a model that judges, bare or by an agent of its own."""
    times = {"start": START + start * S, "end": START + (start + 1) * S}
    if not inner_agent:
        return [chat(51, [user(ASKS)], said("SAFE"), parent=50, **times)]
    return [
        agent(ASKS, "SAFE", None, 52, 50, **times),
        chat(53, [user(ASKS)], said("SAFE"), parent=52, **times),
    ]


@pytest.mark.parametrize(("key", "kind"), KINDS)
@pytest.mark.parametrize("inner_agent", [False, True])
@pytest.mark.parametrize("start", [101, 180])
def test_what_guards_or_evaluates_takes_no_turn(
    key: str, kind: str, inner_agent: bool, start: int
) -> None:
    """Before the run's own calls, as a guard of the input, and after them."""
    times = {"start": START + start * S, "end": START + (start + 2) * S}
    spans = [*exchange(), aside(key, kind, **times), *guarding(inner_agent, start)]
    outcome = monitored(sent(*spans))
    assert outcome.only.queries == (QUERY,)
    assert (outcome.replies, outcome.verdicts) == ([REPLY], ["pass", "pass"])


def test_a_guard_around_the_whole_run_is_only_a_wrapper() -> None:
    spans = exchange()
    spans[0].parent_span_id = bytes.fromhex(f"{1:08x}{50:08x}")
    wrapper = aside(*KINDS[0], parent=None, start=START + 100 * S, end=START + 195 * S)
    assert monitored(sent(wrapper, *spans)).verdicts == ["pass", "pass"]


def test_an_evaluation_with_a_trace_of_its_own_has_no_turn() -> None:
    wrapper = aside(*KINDS[1], parent=None)
    assert monitored(sent(wrapper, *guarding(False, 101))).reports == []


USED = {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5}


def test_a_model_call_without_tokens_is_counted_and_adds_nothing() -> None:
    spans = [
        agent(expected=None),
        chat(2, [user(QUERY)], said("One moment."), more=dict(USED)),
        chat(4, [user(QUERY)], said(REPLY)),
    ]
    outcome = monitored(sent(*spans))
    assert outcome.counts["usage_missing"] == 1
    assert (outcome.reports[0].input_tokens, outcome.reports[0].output_tokens) == (10, 5)


def test_tokens_told_by_the_call_around_are_not_missing() -> None:
    outer = chat(2, [user(QUERY)], said(REPLY), more=dict(USED), end=START + 110 * S)
    inner = chat(3, [user(QUERY)], said(REPLY), parent=2)
    outcome = monitored(sent(agent(expected=None), outer, inner))
    assert outcome.counts.get("usage_missing", 0) == 0


def test_what_guards_spend_is_part_of_the_sum() -> None:
    guard = chat(51, [user(ASKS)], said("SAFE"), parent=50, more=dict(USED))
    outcome = monitored(sent(*exchange(), aside(*KINDS[0]), guard))
    assert outcome.reports[0].input_tokens == 10
    assert outcome.counts["usage_missing"] == 2
