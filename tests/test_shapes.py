"""Message shapes of providers and frameworks against the messages that they stand for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shape_samples import ANSWERS, ASKS, CALLS, FAILURES, FIND

from adapters.shapes import aisdk, anthropic, converse, gemini, langchain, mixed, openai, responses
from monitor.errors import PayloadTooLarge
from monitor.model import Message, ToolCall, ToolResult, Usage

ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["user", "ai", "tool", "tool_use", "function_call", "lc", '{"a":', "[1]"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "role",
                    "type",
                    "content",
                    "parts",
                    "tool_calls",
                    "text",
                    "kwargs",
                    "id",
                    "data",
                    "toolUse",
                    "toolResult",
                    "functionCall",
                    "function",
                    "name",
                    "input",
                    "args",
                    "lc",
                    "messages",
                    "output",
                    "status",
                    "value",
                    "source",
                    "image",
                    "additional_kwargs",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_beside_text_is_read_in_every_shape(name: str):
    shape, item = CALLS[name]
    assert shape.read_message(item) == ASKS


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_recognised_without_being_told_the_shape(name: str):
    assert mixed.read_messages([CALLS[name][1]], "user") == (ASKS,)


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_unwrapped_in_every_shape(name: str):
    shape, item, expected = ANSWERS[name]
    assert shape.read_message(item) == expected
    assert mixed.read_messages([item], "user") == (expected,)


@pytest.mark.parametrize(("shape", "item"), FAILURES)
def test_an_answer_that_is_an_error_says_so(shape: Any, item: dict[str, Any]):
    assert shape.read_message(item).results == (
        ToolResult("no such order", "call-1", None, is_error=True),
    )


def test_calls_in_a_row_of_responses_items_were_asked_for_together():
    items = [
        {"role": "user", "content": "Where are both?"},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "a", "name": "find", "arguments": '{"id": 1}'},
        {"type": "function_call", "call_id": "b", "name": "find", "arguments": '{"id": 2}'},
        {"type": "function_call_output", "call_id": "b", "output": "sent"},
        {"type": "function_call_output", "call_id": "a", "output": "lost"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "One is lost."}],
        },
    ]
    expected = (
        Message("user", "Where are both?"),
        Message(
            "assistant", None, (ToolCall("find", {"id": 1}, "a"), ToolCall("find", {"id": 2}, "b"))
        ),
        Message("tool", None, (), (ToolResult("sent", "b"),)),
        Message("tool", None, (), (ToolResult("lost", "a"),)),
        Message("assistant", "One is lost."),
    )
    assert responses.read_items(items) == expected
    assert mixed.read_messages(items, "user") == expected


def test_a_finished_call_of_the_user_interface_carries_its_answer():
    item = {
        "role": "assistant",
        "parts": [
            {
                "type": "dynamic-tool",
                "toolName": "find_order",
                "toolCallId": "call-1",
                "state": "output-error",
                "input": {"order_id": "SO-10012"},
                "errorText": "no such order",
            }
        ],
    }
    assert aisdk.read_message(item) == Message(
        "assistant",
        None,
        (FIND,),
        (ToolResult("no such order", "call-1", "find_order", is_error=True),),
    )


def test_absent_arguments_are_not_an_empty_object():
    item = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "now"}}]}
    assert openai.read_message(item).calls == (ToolCall("now", None, "1", "absent"),)
    item = {"type": "ai", "content": "", "tool_calls": [{"name": "now", "args": {}, "id": "1"}]}
    found = langchain.read_message(item)
    assert found is not None
    assert found.calls == (ToolCall("now", {}, "1", "parsed"),)


def test_arguments_that_a_model_wrote_badly_are_kept_as_text():
    item = {
        "type": "ai",
        "content": "",
        "tool_calls": [],
        "invalid_tool_calls": [{"name": "now", "args": '{"zone": ', "id": "1", "error": "eh"}],
    }
    found = langchain.read_message(item)
    assert found is not None
    assert found.calls == (ToolCall("now", '{"zone": ', "1", "truncated"),)


def test_a_list_that_a_tool_really_answered_stays_a_list():
    item = {
        "type": "tool",
        "content": [{"text": "a", "score": 1}, {"text": "b", "score": 2}],
        "tool_call_id": "1",
    }
    found = langchain.read_message(item)
    assert found is not None
    assert found.results[0].result == [{"text": "a", "score": 1}, {"text": "b", "score": 2}]


def test_an_image_is_told_by_its_digest_and_never_kept():
    item = {
        "role": "user",
        "content": [{"image": {"format": "png", "source": {"bytes": "aGVsbG8="}}}],
    }
    digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    assert converse.read_message(item).media == (f"image:png:{digest}:5",)


def test_tokens_and_model_are_told_under_every_name():
    item = {
        "type": "ai",
        "content": "Hi",
        "usage_metadata": {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9},
        "response_metadata": {"model_name": "m-1"},
    }
    assert langchain.told(item) == langchain.Told("m-1", Usage(7, 2))
    assert langchain.usage_of({"inputTokens": 3, "outputTokens": "4"}) == Usage(3, None)
    assert langchain.usage_of({"total": 3}) is None


def test_messages_are_found_inside_the_envelopes_of_requests_and_answers():
    message = {"role": "assistant", "content": "Hi"}
    for value in (
        {"messages": [message]},
        {"choices": [{"index": 0, "message": message}]},
        {"generations": [[{"text": "Hi", "message": {"type": "ai", "content": "Hi"}}]]},
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]}}]},
        {"output": {"messages": [message]}},
        message,
        [["ai", "Hi"]],
    ):
        assert mixed.read_messages(value, "user") == (Message("assistant", "Hi"),), value


def test_what_is_no_message_is_none():
    assert mixed.read_messages({"answer": 1}, "user") is None
    assert mixed.read_messages(7, "user") is None
    assert mixed.read_messages([], "user") == ()


@given(value=ANY_JSON)
def test_any_json_is_read_or_is_no_message(value: Any):
    try:
        mixed.read_messages(value, "user")
        for item in value if isinstance(value, list) else [value]:
            langchain.read_message(item)
            langchain.told(item)
            if isinstance(item, dict):
                for shape in (openai, anthropic, converse, gemini, aisdk, responses):
                    shape.read_message(item)
        responses.read_items(value)
    except PayloadTooLarge:
        pass
