"""Span trees as frameworks draw them: graphs that repeat themselves, agents beside their tools."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from assembly_builders import only, story

from monitor.assembly.frames import Frames
from monitor.assembly.hosts import hosted
from monitor.assembly.spans import SpanSet
from monitor.assembly.tree import Tree
from monitor.model import AgentSpan, Message, ToolCall


def made(span_id: str, kind: Any, start: int, end: int, parent: str | None = None, **told):
    return AgentSpan("t", span_id, kind, span_id, parent, start, end, "c", **told)


def asked(text: str) -> tuple[Message, ...]:
    return (Message("user", text),)


def answered(text: str) -> tuple[Message, ...]:
    return (Message("assistant", text),)


QUERY = "What is the weather in Paris?"
GRAPH = (
    made("root", "other", 1, 90, messages_in=asked(QUERY), messages_out=answered("Sunny.")),
    made("step", "other", 2, 20, "root", messages_in=asked(QUERY)),
    made("route_to_agent", "agent", 3, 4, "root", messages_out=answered("done")),
    made(
        *("llm-1", "model", 5, 10, "step"),
        messages_in=asked(f"Answer this: {QUERY}"),
        messages_out=(Message("assistant", calls=(ToolCall("look", {"at": "Paris"}),)),),
    ),
    made("look", "tool", 21, 30, "root", call=ToolCall("look", {"at": "Paris"})),
    made("llm-2", "model", 40, 50, "root", messages_out=answered("Sunny.")),
)


def test_a_graph_is_one_run_whatever_its_nodes_are_called():
    conversation = only(GRAPH)
    assert conversation.queries == (QUERY,)
    assert [line.split(" -> ")[0] for line in story(conversation)] == [
        '0 look {"at":"Paris"}',
        '0 "Sunny."',
    ]


def test_a_span_that_was_asked_something_else_leaves_its_runs_to_themselves():
    script = made("script", "other", 0, 100, messages_in=asked("three questions about the shop"))
    first, second = (
        made(
            *(f"llm-{number}", "model", number, number + 1, "script"),
            messages_in=asked(query),
            messages_out=answered(f"reply {number}"),
        )
        for number, query in ((1, "Is it open?"), (5, "Is it far?"))
    )
    assert only([script, first, second]).queries == ("Is it open?", "Is it far?")


def test_a_deep_chain_is_looked_through_once():
    chain = [made("s0", "other", 0, 9, messages_in=asked("x"))]
    chain += [
        made(f"s{n}", "other", 0, 9, f"s{n - 1}", messages_in=asked("x")) for n in range(1, 4_000)
    ]
    leaf = made("m", "model", 1, 2, "s3999", messages_in=asked("something else"))
    tree = Tree([*chain, leaf])
    frames = Frames(tree)
    assert not any(frames.holds_run(node) for node in tree.nodes)


RESEARCH = "current price of the stock"
BESIDE = (
    made("flow", "agent", 0, 100),
    made("lead", "agent", 1, 99, "flow"),
    made("llm-1", "model", 2, 10, "lead", messages_in=asked(QUERY)),
    made(
        *("ask_research", "tool", 11, 50, "lead"),
        call=ToolCall("ask_research", {"query": RESEARCH}),
        result="It is 240.",
        has_result=True,
    ),
    made("research", "agent", 12, 49, "flow"),
    made(
        *("llm-2", "model", 13, 40, "research"),
        messages_in=asked(RESEARCH),
        messages_out=answered("It is 240."),
    ),
    made("llm-3", "model", 60, 90, "lead", messages_out=answered("So it costs 240.")),
)


def test_an_agent_that_a_tool_ran_works_inside_the_tool():
    conversation = only(BESIDE)
    assert conversation.queries == (QUERY,)
    assert story(conversation) == [
        '0 ask_research {"query":"current price of the stock"} -> "It is 240."',
        '0 "So it costs 240."',
    ]


@pytest.mark.parametrize(
    "other",
    [
        made("research", "agent", 12, 80, "flow"),
        made("research", "agent", 12, 49),
        made("research", "agent", 12, 49, "ask_research"),
    ],
)
def test_an_agent_that_outlived_the_tool_or_hangs_elsewhere_stays_where_it_is(other):
    spans = [other if span.span_id == "research" else span for span in BESIDE]
    assert hosted(spans) == spans


def test_an_agent_that_was_asked_something_else_stays_where_it_is():
    model = made("llm-2", "model", 13, 40, "research", messages_in=asked("what else is new?"))
    spans = [model if span.span_id == "llm-2" else span for span in BESIDE]
    assert hosted(spans) == spans


def detail(kind: Any = "other", start: int = 0, **told):
    return AgentSpan("t", "s", kind, start_ns=start, detail=True, **told)


def test_a_detail_that_tells_both_ways_is_read_as_the_span_says():
    both = detail(
        messages_in=asked('{"at":"Paris"}'),
        messages_out=answered("sunny"),
        call=ToolCall("", {"at": "Paris"}, "call-1"),
        result="sunny",
        has_result=True,
    )
    run = made("s", "tool", 1, 2, call=ToolCall("look", arguments_state="absent"))
    (tool,) = SpanSet([run, both]).merged()
    assert tool.call == ToolCall("look", {"at": "Paris"}, "call-1")
    assert (tool.result, tool.has_result, tool.messages_in) == ("sunny", True, None)
    (model,) = SpanSet([made("s", "model", 1, 2), both]).merged()
    assert (model.messages_in, model.call, model.has_result) == (both.messages_in, None, False)


def test_details_stand_in_the_order_of_their_events_and_alone_at_their_time():
    events = [
        detail("model", 7, messages_in=asked("a")),
        detail("model", 8, messages_in=answered("b")),
        detail("model", 9, messages_out=answered("c")),
    ]
    for order in itertools.permutations(events):
        (span,) = SpanSet(order).merged()
        assert span.messages_in == (*asked("a"), *answered("b"))
        assert (span.start_ns, span.end_ns, span.detail) == (7, 9, False)


def test_messages_that_lost_their_words_get_them_from_the_details():
    calls = Message("assistant", calls=(ToolCall("look", {}, "call-1"),))
    lost = made("s", "model", 1, 2, messages_out=(calls,))
    (span,) = SpanSet([lost, detail(messages_out=answered("Let me look."))]).merged()
    assert span.messages_out == (calls, *answered("Let me look."))
