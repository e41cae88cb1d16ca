"""Observations of every shape, as spans."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langfuse_rows import CALL, CITY, TRACE, span, tool

from adapters.langfuse.observations import ObservationReader
from adapters.langfuse.rows import VALUE_CHARACTERS, TraceRow
from monitor.model import Message, ToolCall, ToolDefinition, ToolResult, Usage

ASKED = Message("assistant", calls=(CALL,))
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
FUNCTION = {"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}


OPENAI_CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'},
}
SHAPES_OF_A_CALL: dict[str, Any] = {
    "openai": {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]},
    "openai completion": {
        "choices": [{"message": {"role": "assistant", "tool_calls": [OPENAI_CALL]}}]
    },
    "openai calls alone": [OPENAI_CALL],
    "anthropic": {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "c1", "name": "get_weather", "input": CITY}],
    },
    "langchain": {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"name": "get_weather", "args": CITY, "id": "c1", "type": "tool_call"}],
    },
    "langchain additional": {
        "role": "assistant",
        "content": "",
        "additional_kwargs": {"tool_calls": [OPENAI_CALL]},
    },
    "langchain js": {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain_core", "messages", "AIMessage"],
        "kwargs": {
            "content": "",
            "tool_calls": [{"name": "get_weather", "args": CITY, "id": "c1"}],
        },
    },
    "ai sdk": [{"toolCallId": "c1", "toolName": "get_weather", "input": CITY}],
    "ai sdk args": [
        {"type": "tool-call", "toolCallId": "c1", "toolName": "get_weather", "args": CITY}
    ],
    "responses": [
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "get_weather",
            "arguments": '{"city": "Paris"}',
        }
    ],
    "genai": [
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": "c1", "name": "get_weather", "arguments": CITY}],
        }
    ],
}


@pytest.mark.parametrize("as_text", [True, False])
@pytest.mark.parametrize("shape", SHAPES_OF_A_CALL)
def test_a_call_is_read_in_every_shape(shape: str, as_text: bool) -> None:
    output = SHAPES_OF_A_CALL[shape]
    found = span(output=json.dumps(output) if as_text else output).messages_out
    assert found is not None
    assert [call for message in found for call in message.calls] == [CALL]
    assert [message.text for message in found if message.text] == []


def test_a_gemini_call_has_no_id() -> None:
    part = {"functionCall": {"name": "get_weather", "args": CITY}}
    output = {"candidates": [{"content": {"role": "model", "parts": [part]}}]}
    calls = (ToolCall("get_weather", CITY),)
    assert span(output=output).messages_out == (Message("assistant", calls=calls),)


SHAPES_OF_AN_ANSWER: dict[str, Any] = {
    "openai": {"role": "tool", "tool_call_id": "c1", "content": "18"},
    "anthropic": {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "18"}],
    },
    "ai sdk": {
        "role": "tool",
        "content": [
            {
                "type": "tool-result",
                "toolCallId": "c1",
                "output": {"type": "text", "value": "18"},
            }
        ],
    },
    "responses": {"type": "function_call_output", "call_id": "c1", "output": "18"},
}


@pytest.mark.parametrize("shape", SHAPES_OF_AN_ANSWER)
def test_an_answer_is_no_word_of_the_users(shape: str) -> None:
    given = span(input=[{"role": "user", "content": "Hot?"}, SHAPES_OF_AN_ANSWER[shape]])
    assert given.messages_in is not None
    assert given.messages_in[0] == Message("user", "Hot?")
    assert given.messages_in[1].results == (ToolResult("18", "c1"),)
    assert given.messages_in[1].text is None


def test_a_request_tells_its_tools() -> None:
    found = span(input={"tools": [FUNCTION], "messages": [{"role": "user", "content": "Hot?"}]})
    assert found.messages_in == (Message("user", "Hot?"),)
    assert found.tool_definitions == (ToolDefinition("get_weather", parameters=SCHEMA),)


@pytest.mark.parametrize("as_text", [True, False])
def test_a_definition_among_the_messages_is_none_of_them(as_text: bool) -> None:
    content = json.dumps(FUNCTION) if as_text else FUNCTION
    messages = [{"role": "user", "content": "Hot?"}, {"role": "tool", "content": content}]
    found = span(input=messages)
    assert found.messages_in == (Message("user", "Hot?"),)
    assert found.tool_definitions == (ToolDefinition("get_weather", parameters=SCHEMA),)


def test_a_prompt_that_langchain_recorded_as_the_users_is_the_system_prompt() -> None:
    messages = [{"role": "user", "content": "Be brief."}, {"role": "user", "content": "Hot?"}]
    found = span(input=messages, metadata={"ls_provider": "openai"})
    assert found.messages_in == (Message("system", "Be brief."), Message("user", "Hot?"))
    assert found.system == "Be brief."
    elsewhere = span(input=messages)
    assert elsewhere.messages_in == (Message("user", "Be brief."), Message("user", "Hot?"))


def test_a_conversation_rendered_into_one_text_is_taken_apart() -> None:
    found = span(input="system: Be brief.\nuser: Is it\nhot?\nassistant: None\ntool: 18")
    assert found.messages_in == (
        Message("system", "Be brief."),
        Message("user", "Is it\nhot?"),
        Message("assistant"),
        Message("tool", results=(ToolResult("18"),)),
    )


def test_media_that_the_server_refers_to_are_no_words() -> None:
    mark = "@@@langfuseMedia:type=image/png|id=m1|source=base64_data_uri@@@"
    (seen,) = span(input=[{"role": "user", "content": f"What is this? {mark}"}]).messages_in or ()
    assert seen.text == "What is this?"
    assert [found.partition(":")[0] for found in seen.media] == ["image"]
    (alone,) = span(input=mark).messages_in or ()
    assert (alone.text, len(alone.media)) == (None, 1)


def test_a_users_own_words_are_not_taken_apart() -> None:
    found = span(input="Translate this:\nassistant: hello")
    assert found.messages_in == (Message("user", "Translate this:\nassistant: hello"),)


@pytest.mark.parametrize("hidden", ["__REDACTED__", "null", "None", None])
def test_what_is_hidden_is_not_known(hidden: str | None) -> None:
    found = span(input=hidden, output=hidden)
    assert (found.messages_in, found.messages_out, found.truncated) == (None, None, False)


def test_an_empty_reply_is_known_to_be_empty() -> None:
    for output in ("", '""', {"role": "assistant", "content": ""}):
        assert span(input="", output=output).messages_out == (Message("assistant", ""),)
        assert not span(input="", output=output).messages_in


def test_a_value_over_the_limit_counts_as_cut() -> None:
    long = "x" * (VALUE_CHARACTERS + 1)
    found = span(input=long, output="yes")
    assert (found.messages_in, found.truncated) == (None, True)
    assert span(input=long[1:]).messages_in == (Message("user", long[1:]),)
    assert tool(input=long).call == ToolCall("get_weather", None, None, "truncated")


def test_a_text_of_too_many_roles_is_one_text() -> None:
    text = "user: a\n" * 5_000
    assert span(input=text).messages_in == (Message("user", text),)


@pytest.mark.parametrize(
    "cut", ["<truncated due to size exceeding limit>", '[{"role": "user", "content": "Is it ho']
)
def test_what_is_cut_is_marked(cut: str) -> None:
    assert span(input=cut, output="yes").truncated
    assert span(input="hot?", output=cut).truncated


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("Hot?", "Yes."),
        ({"query": "Hot?"}, {"answer": "Yes."}),
        ({"messages": [{"role": "user", "content": "Hot?"}]}, {"output": "Yes."}),
        (
            {"messages": [{"type": "human", "content": "Hot?"}]},
            {
                "messages": [
                    {"type": "human", "content": "Hot?"},
                    {"type": "ai", "content": "Yes."},
                ]
            },
        ),
        ({"args": ["Hot?"], "kwargs": {}}, "Yes."),
    ],
)
def test_an_agents_query_and_answer_are_found(given: Any, said: Any) -> None:
    found = span(type="AGENT", name="helper", input=given, output=said)
    assert found.kind == "agent"
    assert found.agent == "helper"
    assert found.messages_in == (Message("user", "Hot?"),)
    assert found.messages_out == (Message("assistant", "Yes."),)


def test_a_recorded_root_is_the_agents_run_whatever_its_type() -> None:
    assert span(type="SPAN", input="Hot?").kind == "agent"
    assert span(type="CHAIN", output="Yes.").kind == "agent"
    assert span(type="SPAN").kind == "other"
    assert span(type="SPAN", input="Hot?", parentObservationId="ef" * 8).kind == "other"
    # A logical root may still have a parent, which was not exported.
    beneath: Any = {"parentObservationId": "ef" * 8, "isRootObservation": True}
    assert span(type="SPAN", input="Hot?", **beneath).kind == "agent"


@pytest.mark.parametrize("type_", ["EMBEDDING", "RETRIEVER", "GUARDRAIL", "EVALUATOR", "EVENT"])
def test_other_types_carry_no_turn(type_: str) -> None:
    assert span(type=type_, input="x", output="y").kind == "other"


def test_cached_tokens_are_among_those_that_went_in() -> None:
    details = {"input": 17_903, "input_cached": 17_817, "output": 12, "total": 17_915}
    assert span(usageDetails=details).usage == Usage(17_903, 12)
    attributes = {"gen_ai.usage.input_tokens": "17903", "gen_ai.usage.output_tokens": "12"}
    less = {"input": 86, "input_cached_tokens": 17_817, "output": 12}
    assert span(usageDetails=less, metadata={"attributes": attributes}).usage == Usage(17_903, 12)


def test_tokens_of_former_rows_are_read() -> None:
    assert span(usage={"input": 3, "output": 5, "unit": "TOKENS"}).usage == Usage(3, 5)
    assert span(usage={"promptTokens": 3, "completionTokens": None}).usage == Usage(3, None)
    assert span(usageDetails={}).usage is None


def test_the_session_goes_before_other_names_of_the_conversation() -> None:
    metadata = {"thread_id": "t1", "attributes": {"gen_ai.conversation.id": "g1"}}
    assert span(sessionId="s1", metadata=metadata).conversation_id == "s1"
    assert span(TraceRow(session_id="s2"), metadata=metadata).conversation_id == "s2"
    assert span(metadata=metadata).conversation_id == "g1"
    assert span(metadata={"thread_id": "t1"}).conversation_id == "t1"
    changing = {"attributes": {"gen_ai.conversation.id": "resp_1"}}
    assert span(metadata=changing).conversation_id is None


def test_configured_names_go_first() -> None:
    reader = ObservationReader("chat", "build")
    row = {"id": "cd" * 8, "traceId": TRACE, "sessionId": "s1", "release": "r1"}
    found = reader.read({**row, "metadata": {"chat": "c9", "attributes": {"build": "b9"}}})
    assert (found.conversation_id, found.release) == ("c9", "b9")


def test_the_release_is_declared_or_the_services_version() -> None:
    service = {"resourceAttributes": {"service.version": "2.1"}}
    assert span(metadata=service).release == "2.1"
    assert span(TraceRow(release="r1"), metadata=service).release == "r1"


def test_derived_calls_stand_in_for_an_output_that_tells_none() -> None:
    calls = ['{"id": "c1", "arguments": "{\\"city\\": \\"Paris\\"}", "type": "function"}']
    found = span(output=None, toolCalls=calls, toolCallNames=["get_weather"])
    assert found.messages_out == (ASKED,)
    told = span(output=json.dumps(SHAPES_OF_A_CALL["openai"]), toolCalls=calls)
    assert told.messages_out == (ASKED,)


def test_derived_definitions_are_read() -> None:
    derived = {"get_weather": json.dumps({"description": "Weather", "parameters": SCHEMA})}
    assert span(toolDefinitions=derived).tool_definitions == (
        ToolDefinition("get_weather", parameters=SCHEMA, description="Weather"),
    )


def test_a_reference_may_be_carried() -> None:
    expected: Any = {"turns": []}
    metadata = {"agent_monitor.expected": json.dumps(expected)}
    assert span(metadata=metadata).expected == expected
