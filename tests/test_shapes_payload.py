"""Requests, replies and tool runs that are kept as one value, told by what they look like."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.shapes.payload import read_answer, read_arguments, read_given, read_said
from monitor.errors import PayloadTooLarge
from monitor.model import Message, ToolCall, ToolResult

HI = (Message("user", "Hi"),)
HELLO = (Message("assistant", "Hello."),)
MESSAGE = {"role": "user", "content": "Hi"}
REPLY = {"role": "assistant", "content": "Hello."}
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["messages", "input", "role", "content", "output", "args", "x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=10,
)


@pytest.mark.parametrize(
    "value",
    [
        "Hi",
        {"query": "Hi"},
        {"input": "Hi", "chat_history": []},
        {"args": ["Hi"], "kwargs": {}},
        [MESSAGE],
        {"messages": [MESSAGE]},
        {"messages": [[{"lc": 1, "id": ["HumanMessage"], "kwargs": {"content": "Hi"}}]]},
        {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
        [{"text": "Hi"}],
        [{"type": "text", "text": "Hi"}],
    ],
)
def test_what_was_asked_is_found_in_any_wrapping(value: Any) -> None:
    assert read_given(value).messages == HI
    assert read_given(json.dumps(value)).messages == HI


@pytest.mark.parametrize(
    "value",
    [
        "Hello.",
        {"answer": "Hello."},
        REPLY,
        {"choices": [{"message": REPLY}], "usage": {}},
        {"message": REPLY},
        {"output": {"message": {"role": "assistant", "content": [{"text": "Hello."}]}}},
        {"content": {"role": "model", "parts": [{"text": "Hello."}]}},
        {"messages": [MESSAGE, REPLY]},
        {"generations": [[{"text": "Hello."}]]},
    ],
)
def test_what_was_said_is_found_in_any_wrapping(value: Any) -> None:
    assert read_said(value).messages == HELLO
    assert read_said(json.dumps(value)).messages == HELLO


def test_a_request_tells_its_instructions_tools_and_model() -> None:
    found = read_given(
        {
            "model": "gemini-x",
            "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
            "config": {
                "system_instruction": "Be brief.",
                "tools": [
                    {"function_declarations": [{"name": "f", "parameters": {"type": "OBJECT"}}]}
                ],
            },
        }
    )
    assert (found.messages, found.system, found.model) == (HI, "Be brief.", "gemini-x")
    assert found.tools == [{"name": "f", "parameters": {"type": "object"}}]
    converse = {"toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {}}}}]}}
    assert read_given({"messages": [MESSAGE], **converse}).tools == [
        {"name": "f", "inputSchema": {"json": {}}}
    ]


def test_a_structured_answer_is_the_answer_only_where_it_is_wanted() -> None:
    answer = {"price": 5, "currency": "EUR"}
    assert read_said(answer).messages == (Message("assistant", '{"price":5,"currency":"EUR"}'),)
    assert read_said(answer, structured=False).messages is None


@pytest.mark.parametrize("text", ['{"messages": [{"role": "us', '[{"role": "user"'])
def test_the_beginning_of_a_value_is_no_value(text: str) -> None:
    assert read_given(text)._replace(cut=False) == read_given(None)
    assert read_given(text).cut
    assert read_said(text).cut


def test_messages_of_a_skill_are_read_as_strands_keeps_them(shared_data: Path) -> None:
    path = shared_data / "traces" / "strands" / "strands_agent_skills.json"
    loaded = json.loads(path.read_text())["loaded"]
    found = read_given(loaded)
    assert found.system is not None
    assert found.system.startswith("You are a helpful agent.")
    asked, called, answered, said = found.messages or ()
    assert asked == Message("user", "Extract text from report.pdf")
    assert called.calls == (ToolCall("skills", {"skill_name": "pdf-processing"}, "tu-1"),)
    (result,) = answered.results
    assert (answered.role, answered.text, result.call_id) == ("user", None, "tu-1")
    assert isinstance(result, ToolResult)
    assert str(result.result).startswith("# PDF Processing Skill")
    assert said == Message("assistant", "Extracted and summarized.")


@given(value=JSON_VALUES)
def test_any_value_is_read_without_an_error(value: Any) -> None:
    for given_value in (value, json.dumps(value)):
        read_given(given_value)
        read_said(given_value)
        read_arguments(given_value)
        read_answer(given_value)


def test_a_value_that_is_too_deep_is_refused() -> None:
    deep: Any = "x"
    for _ in range(100):
        deep = {"input": deep}
    with pytest.raises(PayloadTooLarge):
        read_given(deep)
