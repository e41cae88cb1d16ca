"""The tool spans of OpenInference, in the dialects of its instrumentations."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openinference_reading import LOOK, PARIS, read

from monitor.model import ToolCall

SCHEMA = '{"type": "object", "properties": {"city": {"type": "string"}}}'
MESSAGE = {"content": '{"sky": "blue"}', "type": "tool", "name": "look", "tool_call_id": "call-1"}


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"input.value": PARIS, "tool.parameters": SCHEMA}, {"city": "Paris"}),
        ({"input.value": "{'city': 'Paris'}"}, {"city": "Paris"}),
        ({"input.value": "{\"input\": \"{'city': 'Paris'}\"}"}, {"city": "Paris"}),
        ({"input.value": '{"input": {"city": "Paris"}, "options": {}}'}, {"city": "Paris"}),
        ({"input.value": json.dumps({"args": [], "kwargs": {"city": "Paris"}})}, {"city": "Paris"}),
        (
            {
                "input.value": json.dumps(
                    {"args": ["Paris"], "kwargs": {}, "sanitize_inputs_outputs": True}
                ),
                "tool.parameters": '{"city": {"type": "string", "description": "where"}}',
            },
            {"city": "Paris"},
        ),
        (
            {
                "input.value": json.dumps(
                    {"tool": "T", "tool_string": "", "calling": {"arguments": {"city": "Paris"}}}
                )
            },
            {"city": "Paris"},
        ),
        ({"tool.parameters": PARIS}, {"city": "Paris"}),
        ({"tool.parameters": SCHEMA}, None),
        ({"tool.parameters": '{"city": {"type": "string"}}'}, None),
        ({"input.value": "{}"}, {}),
        ({}, None),
    ],
)
def test_arguments_are_told_from_schemas_and_taken_out_of_wrappings(
    attributes: dict[str, Any], expected: Any
) -> None:
    found = read("TOOL", {"tool.name": "look", **attributes})
    assert found.call
    assert found.call.arguments == expected
    assert (found.call.arguments_state == "absent") == (expected is None)


@pytest.mark.parametrize("text", ["Paris", "[1, 2]", "5"])
def test_a_text_whose_name_was_left_out_stays_text(text: str) -> None:
    found = read("TOOL", {"tool.name": "look", "input.value": text})
    assert found.call == ToolCall("look", text, arguments_state="raw")


def test_a_tool_that_takes_an_input_keeps_it() -> None:
    found = read("TOOL", {"tool.name": "calculate", "input.value": '{"input": "2+2"}'})
    assert found.call
    assert found.call.arguments == {"input": "2+2"}


@pytest.mark.parametrize(
    "output",
    [
        json.dumps({**MESSAGE, "status": "success"}),
        json.dumps({"output": MESSAGE}),
        json.dumps({"lc": 1, "id": ["langchain", "ToolMessage"], "kwargs": MESSAGE}),
        "content='{\"sky\": \"blue\"}' name='look' tool_call_id='call-1'",
    ],
)
def test_a_result_comes_out_of_langchains_message(output: str) -> None:
    found = read("TOOL", {"tool.name": "look", "input.value": PARIS, "output.value": output})
    assert found.call == LOOK
    assert (found.result, found.has_result, found.error_type) == ({"sky": "blue"}, True, None)


def test_a_message_that_says_it_failed_is_an_error() -> None:
    failed = json.dumps({**MESSAGE, "content": "timed out", "status": "error"})
    found = read("TOOL", {"tool.name": "look", "output.value": failed})
    assert (found.result, found.error_type) == ("timed out", "error")
    text = "content='timed out' name='look' tool_call_id='call-1' status='error'"
    again = read("TOOL", {"tool.name": "look", "output.value": text})
    assert (again.result, again.error_type) == ("timed out", "error")


def test_an_exception_without_a_result_is_an_error() -> None:
    events: tuple[Any, ...] = (("exception", {}),)
    assert read("TOOL", {"tool.name": "look"}, events=events).error_type == "error"
    answered = {"tool.name": "look", "output.value": "sunny"}
    assert read("TOOL", answered, events=events).error_type is None


def test_a_handoff_has_the_name_by_which_the_model_asked_for_it() -> None:
    values = {"input.value": "lead", "output.value": "Math Expert"}
    found = read("TOOL", values, name="handoff to Math Expert", dialect="openai_agents")
    assert found.call == ToolCall("transfer_to_math_expert", arguments_state="absent")
    assert found.result == "Math Expert"
