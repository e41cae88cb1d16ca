"""UAEF's AgentTrace: nothing is lost on the way into spans and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from document_decoder_conformance import conversations_of
from framework_documents import AGENT_TRACE, ARGUMENTS, QUERY, REPLY, RESULT
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.frameworks.agent_trace import (
    REMAINDER,
    AgentTrace,
    AgentTraceDecoder,
    TracedCall,
    TracedMessage,
    read_trace,
    spans_of_trace,
    traces_of,
)
from monitor.codec import decode_spans, encode_spans
from monitor.model import ActionTurn, ResponseTurn, Usage

TEXTS = st.text(max_size=12)
NUMBERS = st.integers(0, 10**6) | st.floats(0, 1e6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(-1e9, 1e9) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=5,
)
TIMES = st.none() | st.sampled_from(
    ["2026-03-01T10:00:00", "2026-03-01T10:00:01.5Z", "2026-03-01T11:00:02+01:00", "soon"]
)
CALLS = st.builds(
    TracedCall,
    name=st.sampled_from(["find_order", "refund"]),
    arguments=st.dictionaries(TEXTS, VALUES, max_size=2),
    result=VALUES,
    timestamp=TIMES,
    execution_time=st.none() | NUMBERS,
    error=st.none() | TEXTS,
)
MESSAGES = st.builds(
    TracedMessage,
    role=st.sampled_from(["user", "assistant", "system", "tool"]),
    content=TEXTS | st.just(REPLY) | st.just("a long text that stands in a span " * 5),
    tool_calls=st.lists(CALLS, max_size=2),
    metadata=st.dictionaries(TEXTS, VALUES, max_size=2),
    timestamp=TIMES,
)
TRACES = st.builds(
    AgentTrace,
    trace_id=st.uuids().map(str) | st.just("not a uuid"),
    session_id=st.none() | TEXTS,
    messages=st.lists(MESSAGES, min_size=1, max_size=5),
    tool_calls=st.lists(CALLS, max_size=3),
    input_tokens=st.none() | st.integers(0, 10**9),
    output_tokens=st.none() | st.integers(0, 10**9),
    latency=st.none() | NUMBERS,
    cost=st.none() | NUMBERS,
    metadata=st.dictionaries(TEXTS, VALUES, max_size=2),
    framework=st.none() | TEXTS,
    timestamp=TIMES,
)


@settings(max_examples=300)
@given(trace=TRACES)
def test_a_trace_comes_back_from_its_spans_as_it_was(trace: AgentTrace) -> None:
    kept = decode_spans(encode_spans(spans_of_trace(trace)))
    assert repr(traces_of(kept)) == repr([trace])


@given(trace=TRACES)
def test_the_order_of_the_spans_does_not_matter(trace: AgentTrace) -> None:
    assert repr(traces_of(spans_of_trace(trace)[::-1])) == repr([trace])


def test_a_number_keeps_its_kind() -> None:
    for value in (1, 1.0, True, "1", None):
        call = TracedCall(name="t", arguments={"a": value}, result=value)
        trace = AgentTrace(trace_id="t", tool_calls=[call])
        [again] = traces_of(spans_of_trace(trace))
        assert repr(again.tool_calls[0].arguments) == repr({"a": value})
        assert repr(again.tool_calls[0].result) == repr(value)


def test_texts_and_arguments_are_held_once() -> None:
    long = "a reply so long that it would be a pity to keep it twice over in the same trace " * 3
    trace = AgentTrace(
        trace_id="t",
        messages=[
            TracedMessage(role="user", content="hi"),
            TracedMessage(role="assistant", content=long),
        ],
    )
    [remainder] = [span for span in spans_of_trace(trace) if span.name == REMAINDER]
    assert long not in json.dumps(remainder.result)


def test_the_remainder_is_no_turn() -> None:
    [conversation] = conversations_of(spans_of_trace(read_trace(AGENT_TRACE)))
    assert [type(turn) for turn in conversation.turns] == [ActionTurn, ResponseTurn]


def test_an_answer_that_stands_under_the_role_of_the_user_is_no_query() -> None:
    messages = list(AGENT_TRACE["messages"])
    told = {"role": "user", "content": "sent on Monday", "timestamp": "2026-03-01T10:00:02Z"}
    messages.insert(2, told)
    call = {**AGENT_TRACE["tool_calls"][0], "result": "sent on Monday"}
    document = {**AGENT_TRACE, "messages": messages, "tool_calls": [call]}
    [conversation] = conversations_of(spans_of_trace(read_trace(document)))
    assert conversation.queries == (QUERY,)
    assert len(conversation.turns) == 2
    assert traces_of(spans_of_trace(read_trace(document))) == [read_trace(document)]


def test_the_agents_of_one_run_reply_once() -> None:
    asked = {"role": "user", "content": QUERY}
    worker = {
        "trace_id": "w",
        "messages": [asked, {"role": "assistant", "content": "It was sent."}],
        "tool_calls": [{"name": "find_order", "arguments": ARGUMENTS, "result": RESULT}],
    }
    task = {"role": "user", "content": "Put it nicely: it was sent."}
    speaker = {
        "trace_id": "s",
        "messages": [task, {"role": "assistant", "content": REPLY}],
    }
    document: dict[str, Any] = {
        "trace_id": "m",
        "session_id": "s-1",
        "agent_traces": {"worker": worker, "speaker": speaker},
        "coordination_events": [],
        "workflow_status": "COMPLETED",
    }
    decoded = AgentTraceDecoder().decode(json.dumps(document).encode(), "application/json")
    [conversation] = conversations_of(decoded.spans)
    assert conversation.queries == (QUERY,)
    action, response = conversation.turns
    assert isinstance(action, ActionTurn)
    assert isinstance(response, ResponseTurn)
    assert (action.agent, action.depth, action.result) == ("worker", 1, RESULT)
    assert (response.agent, response.text) == ("speaker", REPLY)


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        ({"messages": [{"content": "no role"}]}, "role"),
        ({"messages": "text"}, "messages"),
        ({"latency": "fast"}, "latency"),
        ({"tool_calls": [{"arguments": {}}]}, "name"),
    ],
)
def test_a_fault_is_refused_with_its_place(fault: dict[str, Any], named: str) -> None:
    document = {**AGENT_TRACE, **fault}
    decoded = AgentTraceDecoder().decode(json.dumps(document).encode(), "application/json")
    assert decoded.spans == []
    [rejection] = decoded.rejections
    assert rejection.why == "unreadable_document"
    assert named in rejection.message


def test_an_absurd_number_of_tokens_is_unknown_and_leaves_the_spans_storable() -> None:
    for absurd in (10**30, -1):
        document = {**AGENT_TRACE, "input_tokens": absurd, "output_tokens": 7}
        spans = AgentTraceDecoder().decode(json.dumps(document).encode(), "application/json").spans
        assert decode_spans(encode_spans(spans)) == spans
        assert [one.usage for one in spans if one.usage] == [Usage(None, 7)]
