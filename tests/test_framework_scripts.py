"""Any scripted conversation, written as each framework writes it, is read back as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from document_decoder_conformance import conversations_of
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.entry_points import load_adapter
from monitor.model import ActionTurn

NAMES = st.sampled_from(["find_order", "refund", "now"])
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=9)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["order_id", "amount", "note"]),
    st.integers(-(2**40), 2**40) | TEXTS | st.booleans() | st.lists(TEXTS, max_size=2),
    max_size=3,
)


class Call(NamedTuple):
    name: str
    arguments: dict[str, Any]
    result: dict[str, Any]
    failed: bool


class Exchange(NamedTuple):
    query: str
    rounds: list[list[Call]]
    reply: str


CALLS = st.builds(
    Call, NAMES, ARGUMENTS, st.fixed_dictionaries({"said": TEXTS}), st.just(False) | st.booleans()
)
EXCHANGES = st.builds(
    Exchange,
    TEXTS.map("asked {}".format),
    st.lists(st.lists(CALLS, min_size=1, max_size=3), max_size=3),
    TEXTS.map("replied {}".format),
)
SCRIPTS = st.lists(EXCHANGES, min_size=1, max_size=3)


def id_of(at: tuple[int, int, int]) -> str:
    return f"call-{at[0]}-{at[1]}-{at[2]}"


def langgraph_turn(number: int, exchange: Exchange) -> dict[str, Any]:
    events: list[Any] = [
        {"__start__": {"messages": [{"type": "human", "content": exchange.query}]}}
    ]
    for message in langchain_rounds(number, exchange):
        node = "tools" if message["type"] == "tool" else "agent"
        events.append({node: {"messages": [message]}})
    return {"session_id": "s", "turn_id": number + 1, "stream_events": events}


def langchain_rounds(number: int, exchange: Exchange) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for at, calls in enumerate(exchange.rounds):
        ids = [id_of((number, at, place)) for place in range(len(calls))]
        asked = [
            {"name": call.name, "args": call.arguments, "id": id_}
            for call, id_ in zip(calls, ids, strict=True)
        ]
        messages.append({"type": "ai", "content": "", "tool_calls": asked})
        answers = [
            {
                "type": "tool",
                "content": json.dumps(call.result),
                "tool_call_id": id_,
                "status": "error" if call.failed else "success",
            }
            for call, id_ in zip(calls, ids, strict=True)
        ]
        # Answers of parallel calls come as they come.
        messages += reversed(answers)
    return [*messages, {"type": "ai", "content": exchange.reply}]


def langgraph(script: list[Exchange]) -> Any:
    return [langgraph_turn(number, exchange) for number, exchange in enumerate(script)][::-1]


def langgraph_states(script: list[Exchange]) -> Any:
    """Stream mode `values`: each event repeats the whole state."""
    messages = langchain(script)["messages"]
    events = [{"messages": messages[: at + 1]} for at in range(len(messages))]
    return {"session_id": "s", "stream_events": events}


def langchain(script: list[Exchange]) -> Any:
    messages: list[dict[str, Any]] = []
    for number, exchange in enumerate(script):
        messages.append({"type": "human", "content": exchange.query})
        messages += langchain_rounds(number, exchange)
    return {"session_id": "s", "messages": messages}


def openai_messages(script: list[Exchange]) -> Any:
    """As clients of compatible endpoints keep them, read by the default mapping."""
    messages: list[dict[str, Any]] = []
    for number, exchange in enumerate(script):
        messages.append({"role": "user", "content": exchange.query})
        for message in langchain_rounds(number, exchange):
            if message["type"] == "tool":
                messages.append(
                    {
                        "role": "tool",
                        "tool_call_id": message["tool_call_id"],
                        "content": message["content"],
                    }
                )
                continue
            calls = [
                {
                    "id": call["id"],
                    "type": "function",
                    "function": {"name": call["name"], "arguments": json.dumps(call["args"])},
                }
                for call in message.get("tool_calls", ())
            ]
            told = {"role": "assistant", "content": message["content"] or None}
            messages.append({**told, "tool_calls": calls} if calls else told)
    return {"session_id": "s", "messages": messages}


def strands(script: list[Exchange]) -> Any:
    messages: list[dict[str, Any]] = []
    for number, exchange in enumerate(script):
        messages.append({"role": "user", "content": [{"text": exchange.query}]})
        for at, calls in enumerate(exchange.rounds):
            ids = [id_of((number, at, place)) for place in range(len(calls))]
            asked = [
                {"toolUse": {"toolUseId": id_, "name": call.name, "input": call.arguments}}
                for call, id_ in zip(calls, ids, strict=True)
            ]
            messages.append({"role": "assistant", "content": asked})
            answers = [
                {
                    "toolResult": {
                        "toolUseId": id_,
                        "status": "error" if call.failed else "success",
                        "content": [{"json": call.result}],
                    }
                }
                for call, id_ in zip(calls, ids, strict=True)
            ]
            messages.append({"role": "user", "content": answers[::-1]})
        messages.append({"role": "assistant", "content": [{"text": exchange.reply}]})
    return {"session_id": "s", "messages": messages}


def adk_session(script: list[Exchange]) -> Any:
    """Without call ids, as older versions write: answers stand in the order of their calls."""
    events: list[dict[str, Any]] = []

    def add(author: str, role: str, parts: list[Any]) -> None:
        content = {"role": role, "parts": parts}
        events.append({"author": author, "content": content, "timestamp": 1e9 + len(events)})

    for exchange in script:
        add("user", "user", [{"text": exchange.query}])
        for calls in exchange.rounds:
            asked = [
                {"function_call": {"name": call.name, "args": call.arguments}} for call in calls
            ]
            answers = [
                {"function_response": {"name": call.name, "response": call.result}}
                for call in calls
            ]
            add("agent", "model", asked)
            add("agent", "user", answers)
        add("agent", "model", [{"text": exchange.reply}])
    return {"id": "s", "events": events}


def agent_trace(script: list[Exchange]) -> Any:
    """A session of one trace per turn."""
    traces = []
    for number, exchange in enumerate(script):
        calls = [
            {
                "name": call.name,
                "arguments": call.arguments,
                "result": call.result,
                "error": "it failed" if call.failed else None,
                "timestamp": None,
            }
            for round_ in exchange.rounds
            for call in round_
        ]
        messages = [
            {"role": "user", "content": exchange.query},
            {"role": "assistant", "content": exchange.reply},
        ]
        trace = {"trace_id": f"t-{number}", "messages": messages, "tool_calls": calls}
        traces.append(trace)
    return {"session_id": "s", "per_turn_traces": traces, "full_trace": {}}


WRITERS: dict[str, tuple[str, Callable[[list[Exchange]], Any], bool]] = {
    "langgraph": ("langgraph", langgraph, True),
    "langgraph in states": ("langgraph", langgraph_states, True),
    "langchain": ("langchain", langchain, True),
    "generic": ("generic", openai_messages, False),
    "strands": ("strands", strands, True),
    "adk_session": ("adk_session", adk_session, False),
    "agent_trace": ("agent_trace", agent_trace, True),
}
"""By what it is: the format, who writes it, and whether it can tell that a call failed."""


@pytest.mark.parametrize("kind", WRITERS)
@settings(max_examples=60)
@given(script=SCRIPTS)
def test_a_script_is_read_back_as_it_was(kind: str, script: list[Exchange]) -> None:
    name, write, tells_failures = WRITERS[kind]
    decoded = load_adapter(name)().decode(json.dumps(write(script)).encode(), "application/json")
    assert decoded.rejections == []
    [conversation] = conversations_of(decoded.spans[::-1])
    assert conversation.conversation_id == "s"
    assert list(conversation.queries) == [exchange.query for exchange in script]
    told: list[Any] = []
    for turn in conversation.turns:
        if isinstance(turn, ActionTurn):
            failed = turn.error_type is not None if tells_failures else None
            told.append((turn.exchange, turn.call.name, turn.call.arguments, turn.result, failed))
        else:
            told.append((turn.exchange, turn.text))
    expected: list[Any] = []
    for number, exchange in enumerate(script):
        for call in (call for calls in exchange.rounds for call in calls):
            failed = call.failed if tells_failures else None
            expected.append((number, call.name, call.arguments, call.result, failed))
        expected.append((number, exchange.reply))
    assert told == expected
