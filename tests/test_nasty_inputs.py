"""What comes twice, late, torn, oversized or under wrong names, from the wire to the verdict."""

from __future__ import annotations

import json
from typing import Any

import pytest
from monitored import (
    EXPECTED,
    ORDER,
    QUERY,
    REPLY,
    S,
    agent,
    chat,
    decoded,
    exchange,
    made,
    monitored,
    observed,
    said,
    sent,
    tool,
    user,
)
from otlp_building import START, as_json, export

from adapters.otlp.decoder import OtlpDecoder
from monitor.comparison.ladder import Ladder
from monitor.errors import PayloadTooLarge
from monitor.evaluator import Evaluator
from monitor.ledger.database import Database
from monitor.ledger.totals import Ledger
from monitor.model import Usage
from monitor.pipeline import Pipeline
from monitor.references.carried import CarriedReference
from monitor.references.contracts import ToolContracts

TWO_PASS = ["pass", "pass"]


def test_a_span_that_comes_twice_is_scored_once() -> None:
    spans = exchange()
    fuller = chat(4, [user(QUERY)], said(REPLY), more={"gen_ai.usage.input_tokens": 9}, end=START)
    fuller.end_time_unix_nano = spans[3].end_time_unix_nano + S
    outcome = monitored(sent(*spans), sent(*spans), sent(fuller))
    assert outcome.verdicts == TWO_PASS
    assert outcome.only.usage == Usage(9, None)
    counted = {name: outcome.counts[name] for name in ("accepted", "attached", "duplicate")}
    assert counted == {"accepted": 9, "attached": 4, "duplicate": 5}
    assert outcome.counts["conflict"] == 1


def test_a_call_that_two_instrumentations_recorded_is_one_call() -> None:
    usage = {"gen_ai.usage.input_tokens": 580, "gen_ai.response.id": "r-1"}
    inner = {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": QUERY,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": REPLY,
        "llm.token_count.prompt": 580,
    }
    outer = chat(2, [user(QUERY)], said(REPLY), more=usage)
    below = made(3, None, 2, more=inner, start=outer.start_time_unix_nano + 1, end=START + 103 * S)
    posted = made(4, None, 3, conversation=None, more={"http.request.method": "POST"})
    outcome = monitored(sent(agent(expected=None), outer), sent(below, posted, scope="second"))
    assert outcome.replies == [REPLY]
    assert outcome.only.usage == Usage(580, None)


def test_children_come_first_and_a_late_span_makes_a_revision_that_counts_once() -> None:
    evaluator = Evaluator([CarriedReference()], ToolContracts(()), Ladder())
    pipeline = Pipeline(evaluator.evaluate, {})
    root, *children = (decoded(OtlpDecoder(), sent(one)).spans for one in exchange())
    late = decoded(OtlpDecoder(), sent(tool(5, "note", {}, "kept", call_id="call_2"))).spans
    told = [pipeline.observe(spans, 100.0 + n) for n, spans in enumerate([*children, root])]
    told += [pipeline.tick(105.0), pipeline.observe(late, 200.0), pipeline.tick(202.0)]
    assert [len(effects.reports) for effects in told] == [0, 0, 0, 0, 1, 0, 1]
    first, second = told[4].reports[0], told[6].reports[0]
    assert (first.revision, second.revision) == (1, 2)
    assert [len(report.turns) for report in (first, second)] == [2, 3]

    database = Database.open(":memory:")
    ledger = Ledger(database)
    with database.transaction():
        ledger.fold([first])
        ledger.fold([second])
    counted = ledger.totals(database.reader()).counters["turns"]
    assert sum(counted.values()) == 3


def test_spans_whose_parent_never_comes_stand_for_themselves_in_their_order() -> None:
    spans = [
        chat(6, [user("And SO-8?")], said("On its way."), parent=77),
        chat(2, [user(QUERY)], said(REPLY), parent=99),
    ]
    outcome = monitored(sent(*spans))
    assert outcome.replies == [REPLY, "On its way."]
    assert outcome.counts["attached"] == 2
    root, asked, run, replied = exchange()
    for present in ([root, run, replied], [root, asked, replied], [asked, run, replied]):
        outcome = monitored(sent(*present))
        assert [turn.call.arguments for turn in outcome.actions] == [ORDER]
        assert outcome.replies == [REPLY]


def test_one_conversation_in_many_traces_is_one_by_its_id_else_by_its_history() -> None:
    named = monitored(*(sent(*exchange(n)) for n in (2, 1)))
    assert named.only.conversation_id == "c-1"
    assert len(named.only.queries) == 2
    first = [user(QUERY)]
    second = [user(QUERY), said(REPLY), user("By which carrier?")]
    bare = {"parent": None, "conversation": None}
    outcome = monitored(
        sent(chat(2, second, said("By rail."), trace=2, **bare)),
        sent(chat(2, first, said(REPLY), trace=1, **bare)),
    )
    assert outcome.only.queries == (QUERY, "By which carrier?")
    assert outcome.replies == [REPLY, "By rail."]
    assert outcome.only.synthetic_id


def test_many_conversations_in_one_trace_are_never_merged() -> None:
    batch = made(1, None, None, conversation="nightly", more={"openinference.span.kind": "CHAIN"})
    runs = [
        agent(f"Question {n}?", f"Answer {n}.", None, n * 10, 1, conversation=f"c-{n}")
        for n in (1, 2)
    ]
    calls = [
        chat(n * 10 + 1, [user(f"Question {n}?")], said(f"Answer {n}."), parent=n * 10)
        for n in (1, 2)
    ]
    for call in calls:
        del call.attributes[1]
    outcome = monitored(sent(batch, *runs, *calls))
    assert {one.conversation_id: one.queries for one in outcome.conversations} == {
        "c-1": ("Question 1?",),
        "c-2": ("Question 2?",),
    }


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("resp_0a1b2c", "response"),
        ("default_session", "constant"),
        ("", "constant"),
        ("null", "constant"),
        ("shop", "service"),
    ],
)
def test_an_id_that_names_no_conversation_is_refused_and_counted(wrong: str, why: str) -> None:
    payloads = [
        sent(*exchange(n, conversation=wrong), resource={"service.name": "shop"}) for n in (1, 2)
    ]
    outcome = monitored(*payloads)
    assert [one.synthetic_id for one in outcome.conversations] == [True, True]
    assert outcome.counts[f"refused_id:{why}"] == 8
    crowd = [sent(*exchange(n, conversation="prod")) for n in range(1, 6)]
    assert monitored(*crowd, turns_per_hour=5).counts["quarantine:turns_per_hour"] == 1


@pytest.mark.parametrize(
    ("written", "arguments", "state"),
    [
        (json.dumps(ORDER), ORDER, "parsed"),
        (json.dumps(json.dumps(ORDER)), ORDER, "parsed"),
        (json.dumps(json.dumps(json.dumps(ORDER))), ORDER, "parsed"),
        (repr(ORDER), ORDER, "parsed"),
        ('{"order_id": 9007199254740993}', {"order_id": 9007199254740993}, "parsed"),
        ('{"price": 18.50}', {"price": 18.5}, "parsed"),
        ("__import__('os').getpid()", "__import__('os').getpid()", "raw"),
        ("", None, "absent"),
        ("N/A", "N/A", "raw"),
    ],
)
def test_arguments_are_decoded_within_bounds_and_never_run(
    written: str, arguments: Any, state: str
) -> None:
    asked = chat(2, [user(QUERY)], None)
    outcome = monitored(sent(agent(), asked, tool(3, "find_order", written, "{}")))
    (action,) = outcome.actions
    assert (action.call.arguments, action.call.arguments_state) == (arguments, state)
    if arguments == ORDER:
        assert outcome.verdicts == TWO_PASS
    elif state != "parsed":
        assert outcome.verdicts[0] == "content_missing"


@pytest.mark.parametrize("wrapping", [{"input": ORDER}, {"args": [], "kwargs": ORDER}, ORDER])
def test_arguments_lose_what_a_framework_wrapped_around_them(wrapping: Any) -> None:
    run = {
        "openinference.span.kind": "TOOL",
        "tool.name": "find_order",
        "input.value": repr(wrapping),
        "output.value": "{}",
    }
    outcome = monitored(sent(agent()), sent(made(3, None, more=run), scope="openinference"))
    assert [action.call.arguments for action in outcome.actions] == [ORDER]
    assert outcome.verdicts == TWO_PASS


def test_what_was_cut_is_unscored_and_not_wrong() -> None:
    cut = json.dumps(ORDER)[:-3]
    assert monitored(sent(agent(), tool(3, "find_order", cut))).verdicts[0] == "truncated"
    dropped = tool(3, "find_order", {"order": 1}, dropped_attributes_count=2)
    assert monitored(sent(agent(), dropped)).verdicts[0] == "truncated"
    numbered = {
        "gen_ai.prompt.1.role": "user",
        "gen_ai.prompt.1.content": QUERY,
        "gen_ai.completion.1.role": "assistant",
        "gen_ai.completion.1.content": "It was lost.",
        "agent_monitor.expected": EXPECTED,
    }
    outcome = monitored(sent(made(2, "chat", None, more=numbered)))
    assert "truncated" in outcome.verdicts
    assert outcome.reports[0].turns[-1].verdict != "pass"


def test_one_bad_byte_costs_itself_and_no_other_span() -> None:
    wrong = agent(reply="Geschäft zu", expected=None)
    wrong.attributes[-1].value.string_value = "Gesch@ft zu"
    payload = sent(wrong, *exchange(2, conversation="c-2")).replace(b"Gesch@ft", b"Gesch\xe4ft")
    found = decoded(OtlpDecoder(), payload)
    assert (found.salvaged, len(found.spans), found.rejections) == (True, 5, [])
    outcome = observed([found])
    assert {one.conversation_id for one in outcome.conversations} == {"c-1", "c-2"}
    document = json.dumps(as_json(export(*exchange(reply="Packed: @."))))
    torn = document.replace("@", "\\\\ud83d and \\\\u0000").encode()
    assert monitored(torn).replies == ["Packed: \ufffd and \x00."]


def test_what_is_too_large_is_refused_alone() -> None:
    deep = tool(5, "find_order", "[" * 100 + "]" * 100)
    far = chat(6, None, None, more={"gen_ai.prompt.999999999.content": "Hi"})
    long = chat(7, None, None, more={"gen_ai.input.messages": "x" * 2_000_000})
    many = chat(8, None, None, more={f"gen_ai.prompt.{n}.content": "x" for n in range(5_000)})
    found = decoded(OtlpDecoder(), sent(*exchange(), deep, far, long, many))
    assert [rejection.why for rejection in found.rejections] == [
        "nesting",
        "index",
        "value_bytes",
        "attributes",
    ]
    assert observed([found]).verdicts == TWO_PASS
    with pytest.raises(PayloadTooLarge, match="body_bytes"):
        decoded(OtlpDecoder({"body_bytes": 1_000}), sent(*exchange()))


def test_wrong_clocks_change_neither_order_nor_give_time_back() -> None:
    root, asked, run, replied = exchange()
    asked.end_time_unix_nano = asked.start_time_unix_nano - S
    run.start_time_unix_nano = run.end_time_unix_nano = 0
    replied.start_time_unix_nano = START - 3_600 * S
    replied.end_time_unix_nano = START + 10**9 * S
    for payload in (sent(root, asked, run, replied), sent(replied, run, asked, root)):
        outcome = monitored(payload)
        assert [turn.call.arguments for turn in outcome.actions] == [ORDER]
        assert outcome.replies == [REPLY]
        assert outcome.verdicts == TWO_PASS
        latencies = [turn.latency_s for turn in outcome.reports[0].turns]
        assert min(found for found in latencies if found is not None) >= 0
        assert outcome.counts["skew"] >= 1
