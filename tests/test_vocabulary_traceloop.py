"""Traceloop's workflows, tasks, agents and tools."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adapters.vocabularies.traceloop import Traceloop
from monitor.model import AgentSpan, Message, ToolCall, ToolDefinition, Usage


def read(kind: str, attributes: dict[str, Any], **fields: Any) -> AgentSpan:
    span = AgentSpan("t", "s", "other", fields.pop("name", "span"), **fields)
    found = Traceloop().read({"traceloop.span.kind": kind, **attributes}, (), span)
    assert found is not None
    return found


def values(given: Any = None, returned: Any = None) -> dict[str, str]:
    told = {"traceloop.entity.input": given, "traceloop.entity.output": returned}
    return {key: json.dumps(value) for key, value in told.items() if value is not None}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("workflow", "agent"),
        ("agent", "agent"),
        ("task", "other"),
        ("tool", "tool"),
        ("x", "other"),
    ],
)
def test_the_kind_of_a_span_is_its_own_word_for_it(kind: str, expected: str) -> None:
    assert read(kind, {}).kind == expected


def test_a_span_that_is_not_traceloops_own_is_anothers() -> None:
    span = AgentSpan("t", "s", "other")
    assert Traceloop().read({"traceloop.entity.name": "x", "a": 1}, (), span) is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"args": [], "kwargs": {"city": "Paris"}}, {"city": "Paris"}),
        ({"input_str": "{'city': 'Paris'}", "tags": [], "metadata": {}}, {"city": "Paris"}),
        ({"input_str": '{"city": "Paris"}', "inputs": None}, {"city": "Paris"}),
        ({"inputs": {"city": "Paris"}, "input_str": "x", "tags": ["a"]}, {"city": "Paris"}),
        ({"city": "Paris"}, {"city": "Paris"}),
        ({"args": [], "kwargs": {}}, {}),
        (None, None),
    ],
)
def test_arguments_are_taken_out_of_what_called_the_tool(given: Any, expected: Any) -> None:
    found = read("tool", {"traceloop.entity.name": "look", **values(given)})
    assert found.call
    assert (found.call.name, found.call.arguments) == ("look", expected)
    assert (found.call.arguments_state == "absent") == (expected is None)


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ({"output": {"sky": "blue"}, "kwargs": {"tags": []}}, {"sky": "blue"}),
        ({"outputs": "sunny"}, "sunny"),
        ({"output": "sunny", "wind": 3}, {"output": "sunny", "wind": 3}),
        ("sunny", "sunny"),
        ({"content": "sunny", "tool_call_id": "c-1", "type": "tool"}, "sunny"),
    ],
)
def test_results_are_what_the_function_returned(returned: Any, expected: Any) -> None:
    found = read("tool", {"traceloop.entity.name": "look", **values(returned=returned)})
    assert (found.result, found.has_result) == (expected, True)


def test_a_tool_of_genai_names_is_read_by_them() -> None:
    own = {
        "gen_ai.tool.name": "look",
        "gen_ai.tool.call.arguments": '{"city": "Paris"}',
        "gen_ai.tool.call.result": "sunny",
    }
    found = read("tool", {**own, **values({"args": []}, "other")}, name="look.tool")
    assert found.call == ToolCall("look", {"city": "Paris"})
    assert (found.result, found.vocabulary) == ("sunny", "traceloop_genai")


def test_what_langchain_tells_its_callbacks_may_stand_under_genai_names() -> None:
    message = {"content": "sunny", "type": "tool", "tool_call_id": "call-1", "status": "success"}
    callback = {
        "input_str": "{'city': 'Paris'}",
        "inputs": {"city": "Paris"},
        "tags": [],
        "metadata": {"thread_id": "t"},
        "kwargs": {"tool_call_id": "call-1"},
    }
    own = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.call.arguments": json.dumps(callback),
        "gen_ai.tool.call.result": json.dumps(
            {"output": {"lc": 1, "kwargs": message}, "kwargs": {}}
        ),
    }
    found = read("tool", own)
    assert found.call == ToolCall("look", {"city": "Paris"}, "call-1")
    assert (found.result, found.has_result) == ("sunny", True)


def test_a_tool_without_a_name_has_its_spans() -> None:
    found = read("tool", {}, name="look.tool")
    assert found.call == ToolCall("look", arguments_state="absent")
    assert not found.has_result


@pytest.mark.parametrize(
    ("given", "returned"),
    [
        ({"args": ["weather?"], "kwargs": {}}, "It is sunny."),
        ({"args": [], "kwargs": {"query": "weather?"}}, {"answer": "It is sunny."}),
        (
            {"inputs": {"messages": [{"type": "human", "content": "weather?"}]}, "tags": []},
            {"outputs": {"messages": [{"type": "ai", "content": "It is sunny."}]}, "kwargs": {}},
        ),
    ],
)
def test_a_workflow_was_asked_and_answered(given: Any, returned: Any) -> None:
    found = read("workflow", values(given, returned))
    assert found.messages_in == (Message("user", "weather?"),)
    assert found.messages_out == (Message("assistant", "It is sunny."),)


def test_an_agent_has_its_entitys_name() -> None:
    assert read("agent", {"traceloop.entity.name": "helper"}).agent == "helper"
    both = {"traceloop.entity.name": "helper", "gen_ai.agent.name": "named"}
    assert read("agent", both).agent == "named"
    assert read("workflow", {"traceloop.entity.name": "flow"}).agent is None


def test_content_that_was_left_out_is_unknown() -> None:
    for kind in ("workflow", "agent", "task"):
        found = read(kind, {"traceloop.entity.name": "x"})
        assert (found.messages_in, found.messages_out) == (None, None)


def test_numbered_prompts_of_a_decorated_call_are_read() -> None:
    prompts = {
        "gen_ai.operation.name": "chat",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "hi",
        "llm.request.functions.0.name": "look",
        "gen_ai.usage.prompt_tokens": 3,
    }
    found = read("task", prompts)
    assert (found.kind, found.usage) == ("model", Usage(3))
    assert found.messages_in == (Message("user", "hi"),)
    assert found.tool_definitions == (ToolDefinition("look"),)
