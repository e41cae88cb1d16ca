"""Runs of tools out of observations: arguments, results, failures."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langfuse_rows import CALL, CITY, span, tool

from monitor.model import ToolCall


@pytest.mark.parametrize(
    "given",
    [
        CITY,
        '{"city": "Paris"}',
        '"{\\"city\\": \\"Paris\\"}"',
        "{'city': 'Paris'}",
        {"input": CITY},
        '{"input": {"city": "Paris"}}',
        {"args": [], "kwargs": CITY},
    ],
)
def test_a_tools_arguments_are_read_out_of_any_wrapping(given: Any) -> None:
    assert tool(input=given).call == ToolCall("get_weather", CITY)


@pytest.mark.parametrize(
    ("given", "call"),
    [
        (None, ToolCall("get_weather", None, None, "absent")),
        ({}, ToolCall("get_weather", {})),
        ({"input": "Paris"}, ToolCall("get_weather", {"input": "Paris"})),
        ("Paris, please", ToolCall("get_weather", "Paris, please", None, "raw")),
        ('{"city": "Par', ToolCall("get_weather", '{"city": "Par', None, "truncated")),
    ],
)
def test_absent_empty_and_unreadable_arguments_stay_apart(given: Any, call: ToolCall) -> None:
    found = tool(input=given)
    assert found.call == call
    assert found.truncated == (call.arguments_state == "truncated")


def test_a_result_message_tells_the_calls_id_and_its_failure() -> None:
    message = {
        "type": "tool",
        "content": '{"temp": 18}',
        "tool_call_id": "c1",
        "status": "error",
        "name": "get_weather",
    }
    found = tool(input=CITY, output=json.dumps(message))
    assert found.call == CALL
    assert (found.result, found.has_result, found.error_type) == ({"temp": 18}, True, "error")


def test_an_untyped_tool_is_known_by_the_message_that_it_gives() -> None:
    message = {"type": "tool", "content": "18", "tool_call_id": "c1", "status": "success"}
    js = {"lc": 1, "type": "constructor", "id": ["ToolMessage"], "kwargs": message}
    for output in (message, json.dumps(message), js):
        found = span(type="SPAN", name="get_weather", input="{'city': 'Paris'}", output=output)
        assert (found.kind, found.call, found.result) == ("tool", CALL, "18")
    node = span(type="SPAN", parentObservationId="ef" * 8, output={"messages": [message]})
    assert node.kind == "other"


def test_a_tool_servers_answer_is_its_text() -> None:
    answer = {"content": [{"type": "text", "text": "18 degrees"}], "isError": False}
    found = tool(output=answer)
    assert (found.result, found.error_type) == ("18 degrees", None)
    failed = tool(output={**answer, "isError": True})
    assert failed.error_type == "error"


def test_a_null_result_is_not_an_unknown_one() -> None:
    assert not tool(output=None).has_result
    found = tool(output="null")
    assert (found.result, found.has_result) == (None, True)
    found = tool(output="")
    assert (found.result, found.has_result) == ("", True)
    assert not tool(output="__REDACTED__").has_result


@pytest.mark.parametrize("as_text", [True, False])
def test_an_untyped_tool_is_known_by_its_attributes(as_text: bool) -> None:
    attributes: Any = {
        "openinference.span.kind": "TOOL",
        "tool.name": "get_weather",
        "input.value": '{"city": "Paris"}',
    }
    metadata = {"attributes": json.dumps(attributes) if as_text else attributes}
    found = span(type="SPAN", name="run", metadata=metadata, output="18")
    assert found.kind == "tool"
    assert found.call == ToolCall("get_weather", CITY)
    assert found.result == "18"


def test_attributes_tell_what_the_fields_do_not() -> None:
    attributes = {
        "gen_ai.tool.name": "get_weather",
        "gen_ai.tool.call.id": "c1",
        "tool_arguments": '{"city": "Paris"}',
        "tool_response": "18",
    }
    metadata = {"attributes": attributes, "scope": {"name": "pydantic-ai"}}
    found = span(type="TOOL", name="running tool", input=None, output=None, metadata=metadata)
    assert found.call == CALL
    assert (found.result, found.scope) == ("18", "pydantic-ai")


def test_an_interrupt_is_no_error() -> None:
    failed = tool(level="ERROR", statusMessage="TimeoutError: no answer")
    assert failed.error_type == "error"
    asked = tool(level="ERROR", statusMessage="GraphInterrupt((Interrupt(value='ok?'),))")
    assert asked.error_type is None
