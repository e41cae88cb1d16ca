"""Observations of every shape, as spans."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adapters.langfuse.observations import ObservationReader
from adapters.langfuse.rows import TraceRow, span_id_of, time_ns, trace_id_of
from monitor.errors import MalformedPayload
from monitor.model import AgentSpan, Message, ToolCall, ToolDefinition, ToolResult, Usage

TRACE = "ab" * 16
CITY = {"city": "Paris"}
CALL = ToolCall("get_weather", CITY, "c1")
ASKED = Message("assistant", calls=(CALL,))
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
FUNCTION = {"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}


def span(trace: TraceRow | None = None, **row: Any) -> AgentSpan:
    whole = {
        "id": "cd" * 8,
        "traceId": TRACE,
        "type": "GENERATION",
        "startTime": "2026-05-01T12:00:00.000Z",
        "endTime": "2026-05-01T12:00:01.500Z",
        **row,
    }
    return ObservationReader().read(whole, trace or TraceRow())


def tool(**row: Any) -> AgentSpan:
    return span(type="TOOL", name="get_weather", **row)


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


def test_a_users_own_words_are_not_taken_apart() -> None:
    found = span(input="Translate this:\nassistant: hello")
    assert found.messages_in == (Message("user", "Translate this:\nassistant: hello"),)


@pytest.mark.parametrize("hidden", ["__REDACTED__", "null", "None", "", '""', None])
def test_what_is_hidden_is_not_known(hidden: str | None) -> None:
    found = span(input=hidden, output=hidden)
    assert (found.messages_in, found.messages_out, found.truncated) == (None, None, False)


@pytest.mark.parametrize(
    "cut", ["<truncated due to size exceeding limit>", '[{"role": "user", "content": "Is it ho']
)
def test_what_is_cut_is_marked(cut: str) -> None:
    assert span(input=cut, output="yes").truncated
    assert span(input="hot?", output=cut).truncated


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
    beneath = {"parentObservationId": "ef" * 8, "isRootObservation": True}
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


def test_an_interrupt_is_no_error() -> None:
    failed = tool(level="ERROR", statusMessage="TimeoutError: no answer")
    assert failed.error_type == "error"
    asked = tool(level="ERROR", statusMessage="GraphInterrupt((Interrupt(value='ok?'),))")
    assert asked.error_type is None


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
    expected = {"turns": []}
    metadata = {"agent_monitor.expected": json.dumps(expected)}
    assert span(metadata=metadata).expected == expected


def test_rows_of_an_export_read_like_rows_of_the_api() -> None:
    exported = ObservationReader().read(
        {
            "id": "cd" * 8,
            "trace_id": TRACE,
            "parent_observation_id": "ef" * 8,
            "type": "GENERATION",
            "start_time": "2026-05-01 12:00:00.000000",
            "end_time": "2026-05-01 12:00:01.500000",
            "session_id": "s1",
            "provided_model_name": "m",
            "usage_details": {"input": 3, "output": 5},
            "input": "Hot?",
            "output": "Yes.",
        }
    )
    assert exported == span(
        parentObservationId="ef" * 8,
        sessionId="s1",
        model="m",
        usageDetails={"input": 3, "output": 5},
        input="Hot?",
        output="Yes.",
    )


@pytest.mark.parametrize("row", [None, [], "x", {}, {"id": "a"}, {"id": "a", "traceId": ""}])
def test_a_row_without_identity_is_malformed(row: Any) -> None:
    with pytest.raises(MalformedPayload):
        ObservationReader().read(row)


def test_ids_become_hexadecimal_and_stay_what_they_are() -> None:
    assert trace_id_of("AB" * 16) == TRACE
    assert trace_id_of("abababab-abab-abab-abab-abababababab") == TRACE
    assert span_id_of("cd" * 8) == "cd" * 8
    for made in (trace_id_of("my trace"), trace_id_of("0" * 32)):
        assert len(made) == 32
        assert int(made, 16) > 0
    assert len(span_id_of("abababab-abab-abab-abab-abababababab")) == 16
    assert span_id_of("a") != span_id_of("b")


@pytest.mark.parametrize(
    ("told", "ns"),
    [
        ("1970-01-01T00:00:01.250Z", 1_250_000_000),
        ("1970-01-01T01:00:01.25+01:00", 1_250_000_000),
        ("1970-01-01 00:00:01.250000", 1_250_000_000),
        ("1969-12-31T00:00:00Z", 0),
        ("soon", 0),
        (None, 0),
        (17, 0),
    ],
)
def test_times_of_any_spelling(told: Any, ns: int) -> None:
    assert time_ns(told) == ns
