"""Mistakes that comparable systems made with tokens, sessions and turns; the right numbers here."""

from __future__ import annotations

import json
from typing import Any

from otlp_building import END, START, body, span
from telling import conversations_of, decoded

from monitor.model import ActionTurn, Conversation, Usage

TRACES = ("0af7651916cd43dd8448eb211c80319c", "1af7651916cd43dd8448eb211c80319c")
S = 1_000_000_000


def spoken(text: str, role: str = "user") -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def made(number: int, attributes: dict[str, Any], parent: int | None = None, **fields: Any) -> Any:
    """A span that starts and ends inside those of lower numbers."""
    return span(
        attributes,
        span_id=f"{number:016x}",
        parent_id="" if parent is None else f"{parent:016x}",
        start=START + number * S,
        end=END + (100 - number) * S,
        **fields,
    )


def call(given: Any = None, said: Any = None, **more: Any) -> dict[str, Any]:
    found = {
        "gen_ai.operation.name": "chat",
        "gen_ai.conversation.id": "c1",
        "gen_ai.input.messages": spoken("Hi"),
        "gen_ai.output.messages": spoken("Hello.", "assistant"),
        **more,
    }
    if given is not None:
        found["gen_ai.usage.input_tokens"] = given
    if said is not None:
        found["gen_ai.usage.output_tokens"] = said
    return found


def only(*exports: bytes) -> Conversation:
    (conversation,) = conversations_of(decoded(*exports))
    return conversation


def test_cached_tokens_are_a_part_of_the_input() -> None:
    details = {"input": 17903, "input_cached": 17817, "output": 5}
    langfuse = {
        "langfuse.observation.type": "generation",
        "langfuse.observation.input": "Hi",
        "langfuse.observation.output": "Hello.",
        "langfuse.observation.usage_details": json.dumps(details),
    }
    assert only(body(made(1, langfuse))).usage == Usage(17903, 5)
    convention = call(17903, 5, **{"gen_ai.usage.cache_read.input_tokens": 17817})
    assert only(body(made(1, convention))).usage == Usage(17903, 5)


def test_an_agents_sum_is_not_added_to_its_calls() -> None:
    agent = call(300, 30, **{"gen_ai.operation.name": "invoke_agent"})
    cycle = call(300, 30, **{"gen_ai.operation.name": "execute_event_loop_cycle"})
    spans = [
        made(1, agent),
        made(2, cycle, 1),
        made(3, call(100, 10), 2),
        made(4, call(200, 20), 2),
    ]
    assert only(body(*spans)).usage == Usage(300, 30)


def test_a_call_that_two_instrumentations_recorded_is_one() -> None:
    outer = made(1, call(580, 7))
    inner = made(2, call(580, 7), 1)
    conversation = only(body(outer, scope="first"), body(inner, scope="second"))
    assert conversation.usage == Usage(580, 7)
    assert len(conversation.turns) == 1


def test_tokens_that_nobody_told_are_unknown_and_not_none() -> None:
    assert only(body(made(1, call()))).usage is None
    assert only(body(made(1, call(5)))).usage == Usage(5, None)


def test_the_applications_session_holds_for_the_whole_trace() -> None:
    root = call(**{"gen_ai.operation.name": "invoke_agent", "session.id": "A"})
    inner = call(**{"session.id": "0b5c6a52-uuid-of-the-library"})
    conversation = only(body(made(1, root), made(2, inner, 1), made(3, inner, 2)))
    assert conversation.conversation_id == "A"


def test_an_interrupt_is_neither_an_error_nor_the_end_of_the_turn() -> None:
    pay = {"type": "tool_call", "id": "c1", "name": "pay", "arguments": {"amount": 5}}
    asks = [{"role": "assistant", "parts": [pay]}]
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "pay",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.arguments": '{"amount": 5}',
        "gen_ai.conversation.id": "c1",
    }
    raised = ("exception", {"exception.type": "GraphInterrupt", "exception.message": "sure?"})
    first = body(
        made(1, call(**{"gen_ai.output.messages": json.dumps(asks)}), trace_id=TRACES[0]),
        made(2, tool, failed=True, events=[raised], trace_id=TRACES[0]),
    )
    answer = {"type": "tool_call_response", "id": "c1", "response": "paid"}
    history = json.loads(spoken("Hi")) + asks + [{"role": "tool", "parts": [answer]}]
    resumed = call(
        **{
            "gen_ai.input.messages": json.dumps(history),
            "gen_ai.output.messages": spoken("Paid.", "assistant"),
        }
    )
    second = body(
        made(11, {**tool, "gen_ai.tool.call.result": "paid"}, trace_id=TRACES[1]),
        made(12, resumed, trace_id=TRACES[1]),
    )
    conversation = only(first, second)
    assert conversation.queries == ("Hi",)
    action, reply = conversation.turns
    assert isinstance(action, ActionTurn)
    assert (action.error_type, action.result, action.attempt) == (None, "paid", 1)
    assert reply == only(second, first).turns[1]


def test_a_tools_values_are_found_under_each_name() -> None:
    for arguments, result in (
        ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result"),
        ("tool_arguments", "tool_response"),
    ):
        tool = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "look",
            arguments: '{"a": "18.50"}',
            result: "rainy, 57°F",
        }
        (action,) = only(body(made(1, tool))).turns
        assert isinstance(action, ActionTurn)
        assert (action.call.arguments, action.result) == ({"a": "18.50"}, "rainy, 57°F")


def test_a_call_without_its_run_is_no_failure() -> None:
    calls = [
        {"type": "tool_call", "id": f"c{n}", "name": "look", "arguments": {"a": n}} for n in (1, 2)
    ]
    asks = call(**{"gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": calls}])})
    run = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.arguments": '{"a": 1}',
        "gen_ai.tool.call.result": "1",
    }
    turns = [
        turn
        for turn in only(body(made(1, asks), made(2, run))).turns
        if isinstance(turn, ActionTurn)
    ]
    assert [(turn.has_result, turn.error_type) for turn in turns] == [(True, None), (False, None)]
