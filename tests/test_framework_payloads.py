"""What single frameworks write beside the common form: modes, wrappings, agents, streams."""

from __future__ import annotations

import json
from typing import Any

import pytest
from document_decoder_conformance import conversations_of
from framework_documents import AGENTCORE, ARGUMENTS, LANGGRAPH, QUERY, REPLY, RESULT, STRANDS

from monitor.entry_points import load_adapter
from monitor.model import ActionTurn, Conversation, ResponseTurn


def only(format_: str, document: Any) -> Conversation:
    decoder = load_adapter(format_)()
    decoded = decoder.decode(json.dumps(document).encode(), "application/json")
    assert decoded.rejections == []
    [conversation] = conversations_of(decoded.spans)
    return conversation


def story(conversation: Conversation) -> list[tuple[Any, ...]]:
    return [
        (turn.call.name, turn.call.arguments, turn.result, turn.error_type)
        if isinstance(turn, ActionTurn)
        else (turn.text,)
        for turn in conversation.turns
    ]


SHOP = [("find_order", ARGUMENTS, RESULT, None), (REPLY,)]
HUMAN: dict[str, Any] = {"type": "human", "content": QUERY, "id": "m1"}
ASKS: dict[str, Any] = {
    "type": "ai",
    "content": "",
    "id": "m2",
    "tool_calls": [{"name": "find_order", "args": ARGUMENTS, "id": "c1"}],
}
ANSWERS: dict[str, Any] = {
    "type": "tool",
    "content": json.dumps(RESULT),
    "tool_call_id": "c1",
    "id": "m3",
}
REPLIES: dict[str, Any] = {"type": "ai", "content": REPLY, "id": "m4"}
WRAPPED: list[Any] = [
    {"type": message["type"], "data": message} for message in (HUMAN, ASKS, ANSWERS, REPLIES)
]
MODES: dict[str, list[Any]] = {
    "updates": [
        {"agent": {"messages": ASKS}},
        {"tools": [{"messages": [ANSWERS]}]},
        {"agent": {"messages": [REPLIES]}},
    ],
    "updates with a mode": [
        ["updates", {"agent": {"messages": [ASKS]}}],
        ["updates", {"tools": {"messages": [ANSWERS]}}],
        ["updates", {"agent": {"messages": [REPLIES]}}],
    ],
    "values without ids": [
        {"messages": [{k: v for k, v in m.items() if k != "id"} for m in messages]}
        for messages in ([HUMAN], [HUMAN, ASKS], [HUMAN, ASKS, ANSWERS, REPLIES])
    ],
    "parts by type": [
        {"type": "updates", "ns": [], "data": {"agent": {"messages": [ASKS]}}},
        {"type": "updates", "ns": [], "data": {"tools": {"messages": [ANSWERS]}}},
        {"type": "custom", "ns": [], "data": {"progress": 1}},
        {"type": "updates", "ns": [], "data": {"agent": {"messages": [REPLIES]}}},
    ],
    "events of runnables": [
        {"event": "on_chain_start", "data": {"input": {}}},
        {
            "event": "on_chat_model_end",
            "metadata": {"langgraph_node": "agent"},
            "data": {"output": ASKS},
        },
        {"event": "on_tool_end", "data": {"output": ANSWERS}},
        {"event": "on_chat_model_end", "data": {"output": REPLIES}},
    ],
    "messages in chunks": [
        [ASKS, {"langgraph_node": "agent"}],
        [ANSWERS, {"langgraph_node": "tools"}],
        [{"type": "AIMessageChunk", "content": REPLY[:4], "id": "m4"}, {"langgraph_node": "agent"}],
        [{"type": "AIMessageChunk", "content": REPLY[4:], "id": "m4"}, {"langgraph_node": "agent"}],
    ],
    "updates and values together": [
        ["values", {"messages": [HUMAN]}],
        ["updates", {"agent": {"messages": [ASKS]}}],
        ["values", {"messages": [HUMAN, ASKS]}],
        ["updates", {"tools": {"messages": [ANSWERS]}}],
        ["values", {"messages": [HUMAN, ASKS, ANSWERS]}],
        ["updates", {"agent": {"messages": [REPLIES]}}],
        ["values", {"messages": [HUMAN, ASKS, ANSWERS, REPLIES]}],
    ],
}


@pytest.mark.parametrize("mode", MODES)
def test_a_stream_is_read_in_every_mode(mode: str) -> None:
    document = {
        "config": {"configurable": {"thread_id": "t-1"}},
        "input": {"question": QUERY},
        "stream_events": MODES[mode],
    }
    conversation = only("langgraph", document)
    assert conversation.conversation_id == "t-1"
    assert conversation.queries == (QUERY,)
    assert story(conversation) == SHOP


def test_a_state_with_its_messages_is_a_record() -> None:
    state = {"values": {"messages": [HUMAN, ASKS, ANSWERS, REPLIES]}, "next": []}
    assert story(only("langgraph", state)) == SHOP


def test_a_subgraphs_messages_are_a_sub_agents() -> None:
    events = [
        [
            [],
            {
                "boss": {
                    "messages": [
                        {
                            "type": "ai",
                            "content": "",
                            "tool_calls": [{"name": "ask_worker", "args": {}, "id": "w"}],
                        }
                    ]
                }
            },
        ],
        [["worker:1f"], {"agent": {"messages": [ASKS]}}],
        [["worker:1f"], {"tools": {"messages": [ANSWERS]}}],
        [["worker:1f"], {"agent": {"messages": [{"type": "ai", "content": "sent"}]}}],
        [[], {"boss": {"messages": [REPLIES]}}],
    ]
    conversation = only("langgraph", {"query": QUERY, "stream_events": events})
    calls = [turn for turn in conversation.turns if isinstance(turn, ActionTurn)]
    assert [(turn.call.name, turn.agent, turn.depth) for turn in calls] == [
        ("ask_worker", "boss", 0),
        ("find_order", "worker", 1),
    ]
    assert [turn.text for turn in conversation.turns if isinstance(turn, ResponseTurn)] == [REPLY]


def test_turns_are_ordered_by_their_number_however_they_come() -> None:
    turns = [{**LANGGRAPH[0], "turn_id": number} for number in (10, 9, 2)]
    lines = b"\n".join(json.dumps(turn).encode() for turn in turns)
    decoded = load_adapter("langgraph")().decode(lines, "application/x-ndjson")
    positions = sorted({int(span.trace_id[:8], 16) for span in decoded.spans})
    assert positions == [1, 8, 9]


def test_steps_in_their_serialised_form_are_calls() -> None:
    action = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "agent", "AgentAction"],
        "kwargs": {"tool": "find_order", "tool_input": "{'order_id': 'SO-10012'}", "log": ""},
    }
    document = {
        "input": QUERY,
        "intermediate_steps": [{"action": action, "observation": json.dumps(RESULT)}],
        "output": REPLY,
    }
    assert story(only("langchain", document)) == SHOP


def test_a_call_that_messages_and_steps_both_tell_counts_once() -> None:
    document = {
        "messages": [HUMAN, ASKS, REPLIES],
        "intermediate_steps": [
            [{"tool": "find_order", "tool_input": ARGUMENTS, "tool_call_id": "c1"}, RESULT]
        ],
    }
    assert story(only("langchain", document)) == SHOP


def test_history_that_came_with_the_input_is_told_first() -> None:
    document = {
        "inputs": {"chat_history": [["human", "Hi"], ["ai", "Hello!"]], "input": QUERY},
        "outputs": {"output": REPLY},
    }
    conversation = only("langchain", document)
    assert conversation.queries == ("Hi", QUERY)
    assert story(conversation) == [("Hello!",), (REPLY,)]


def test_cycles_of_the_event_loop_give_a_strands_run_its_times() -> None:
    second = 1_000_000_000
    cycle = [
        {"start_time": 100.0, "end_time": 103.0, "children": [{"end_time": 101.0}]},
        {"start_time": 103.0, "end_time": 105.0, "children": []},
    ]
    summary = {**STRANDS["metrics_summary"], "traces": cycle}
    action, reply = only("strands", {**STRANDS, "metrics_summary": summary}).turns
    assert (action.start_ns, action.end_ns) == (101 * second, 103 * second)
    assert (reply.start_ns, reply.end_ns) == (100 * second, 105 * second)


def test_strands_agents_of_one_run_reply_once() -> None:
    writer = {
        "messages": [
            {"role": "user", "content": [{"text": "Write it down."}]},
            {"role": "assistant", "content": [{"text": REPLY}]},
        ]
    }
    finder = {
        "messages": [*STRANDS["messages"][:3], {"role": "assistant", "content": [{"text": "sent"}]}]
    }
    document = {"agents": {"finder": finder, "writer": writer}, "session_id": "s-1"}
    conversation = only("strands", document)
    assert conversation.queries == (QUERY,)
    assert story(conversation) == SHOP
    assert [turn.agent for turn in conversation.turns] == ["finder", "writer"]


def test_chunks_are_the_answer_where_no_other_is_kept() -> None:
    lines = [f"data: {json.dumps(part)}\n\n" for part in (REPLY[:3], REPLY[3:])]
    document = {"user_input": QUERY, "response_chunks": lines}
    assert story(only("agentcore", document)) == [(REPLY,)]


@pytest.mark.parametrize(
    "answer",
    [
        REPLY,
        {"result": REPLY},
        {"response": {"role": "assistant", "content": [{"text": REPLY}]}},
        json.dumps({"output": {"message": {"content": [{"text": REPLY}]}}}),
        {"result": {"role": "assistant", "content": [{"text": REPLY}]}},
    ],
)
def test_an_answer_is_found_in_every_wrapping(answer: Any) -> None:
    document = {"user_input": QUERY, "final_response": answer}
    assert story(only("agentcore", document)) == [(REPLY,)]


def test_a_log_of_inputs_and_outputs_is_read_too() -> None:
    def line(given: Any, said: Any, second: int) -> str:
        body = {
            "input": {"messages": [{"role": "user", "content": given}]},
            "output": {"messages": [{"role": "assistant", "content": said}]},
        }
        return json.dumps({"timeUnixNano": 10**18 + second, "body": body, "attributes": {}})

    call = {"name": "find_order", "args": ARGUMENTS, "id": "c1"}
    asked = {"generations": [[{"text": "", "message": {"tool_calls": [call], "content": ""}}]]}
    answered = {
        "type": "tool",
        "name": "find_order",
        "content": json.dumps(RESULT),
        "tool_call_id": "c1",
    }
    said = {"generations": [[{"text": REPLY}]]}
    trace = [
        line(QUERY, json.dumps(asked), 1),
        line(str(ARGUMENTS), json.dumps(answered), 2),
        line(QUERY, "__end__", 3),
        line(QUERY, json.dumps(said), 4),
    ]
    document = {"user_input": QUERY, "final_response": REPLY, "trace": trace}
    conversation = only("agentcore", document)
    assert conversation.queries == (QUERY,)
    assert story(conversation) == SHOP


def test_the_runtimes_session_is_found_in_its_log() -> None:
    document = {**AGENTCORE, "session_id": None}
    entry = json.loads(document["trace"][1])
    entry["attributes"]["session.id"] = "from the log"
    document["trace"] = [*document["trace"][2:], json.dumps(entry)]
    assert only("agentcore", document).conversation_id == "from the log"


def test_a_stream_of_converse_is_put_together() -> None:
    pieces = json.dumps(ARGUMENTS)
    events = [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"delta": {"text": "Let me "}, "contentBlockIndex": 0}},
        {"contentBlockDelta": {"delta": {"text": "look."}, "contentBlockIndex": 0}},
        {
            "contentBlockStart": {
                "start": {"toolUse": {"toolUseId": "c", "name": "find_order"}},
                "contentBlockIndex": 1,
            }
        },
        {
            "contentBlockDelta": {
                "delta": {"toolUse": {"input": pieces[:7]}},
                "contentBlockIndex": 1,
            }
        },
        {
            "contentBlockDelta": {
                "delta": {"toolUse": {"input": pieces[7:]}},
                "contentBlockIndex": 1,
            }
        },
        {"messageStop": {"stopReason": "tool_use"}},
        {"metadata": {"usage": {"inputTokens": 5, "outputTokens": 6}}},
    ]
    conversation = only("bedrock", {"user_input": QUERY, "event_stream": events})
    assert story(conversation) == [("Let me look.",), ("find_order", ARGUMENTS, None, None)]
    assert conversation.usage is not None
    assert conversation.usage.output_tokens == 6


def test_adk_transfers_speak_with_one_voice() -> None:
    def event(author: str, *parts: Any, second: int) -> dict[str, Any]:
        role = "user" if author == "user" else "model"
        return {
            "author": author,
            "content": {"role": role, "parts": list(parts)},
            "timestamp": 1e9 + second,
        }

    transfer = {"name": "transfer_to_agent", "args": {"agent_name": "billing"}, "id": "t"}
    session = {
        "id": "s-1",
        "events": [
            event("user", {"text": QUERY}, second=0),
            event("triage", {"functionCall": transfer}, second=1),
            event(
                "triage",
                {
                    "functionResponse": {
                        "name": "transfer_to_agent",
                        "id": "t",
                        "response": {"result": None},
                    }
                },
                second=2,
            ),
            event("billing", {"text": REPLY}, second=3),
        ],
    }
    conversation = only("adk_session", session)
    [action, reply] = conversation.turns
    assert isinstance(action, ActionTurn)
    assert (action.agent, action.depth, action.result) == ("triage", 1, {"result": None})
    assert isinstance(reply, ResponseTurn)
    assert (reply.agent, reply.text) == ("billing", REPLY)


@pytest.mark.parametrize("format_", ["langchain", "langgraph"])
@pytest.mark.parametrize(
    "messages",
    [
        [HUMAN, ASKS, ANSWERS, REPLIES],
        WRAPPED,
        [["human", QUERY], ASKS, ANSWERS, ["ai", REPLY]],
    ],
    ids=["plain", "under data", "pairs"],
)
def test_a_bare_list_of_messages_is_one_conversation(format_: str, messages: list[Any]) -> None:
    assert story(only(format_, messages)) == SHOP
