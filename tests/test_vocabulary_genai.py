"""Spans of the GenAI conventions and of Pydantic AI, in the monitor's words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adapters.vocabularies.genai import DETAILS_EVENT, GenAi
from adapters.vocabularies.pydantic_ai import PydanticAi
from adapters.vocabularies.registry import VOCABULARIES
from monitor.model import AgentSpan, Message, ToolCall, ToolDefinition, ToolResult, Usage

BARE = AgentSpan("a" * 32, "b" * 16, "other", name="a span")
ASKED = [{"role": "user", "parts": [{"type": "text", "content": "weather?"}]}]
SAID = [{"role": "assistant", "parts": [{"type": "text", "content": "sunny"}]}]


def read(attributes: dict[str, Any], events: Any = (), **fields: Any) -> AgentSpan:
    bare = AgentSpan("a" * 32, "b" * 16, "other", **{"name": "a span", **fields})
    for vocabulary in VOCABULARIES:
        found = vocabulary.read(attributes, events, bare)
        if found is not None:
            return found
    return bare


def test_a_model_call_is_read_whole() -> None:
    found = read(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.agent.name": "helper",
            "gen_ai.request.model": "gpt-4o",
            "gen_ai.response.model": "gpt-4o-2024-08-06",
            "gen_ai.usage.input_tokens": 120,
            "gen_ai.usage.output_tokens": 20,
            "gen_ai.system_instructions": '[{"type": "text", "content": "be kind"}]',
            "gen_ai.input.messages": json.dumps(ASKED),
            "gen_ai.output.messages": json.dumps(SAID),
            "gen_ai.tool.definitions": json.dumps([{"type": "function", "name": "get_weather"}]),
        }
    )
    assert found == AgentSpan(
        "a" * 32,
        "b" * 16,
        "model",
        name="a span",
        agent="helper",
        model="gpt-4o-2024-08-06",
        system="be kind",
        messages_in=(Message("user", "weather?"),),
        messages_out=(Message("assistant", "sunny"),),
        tool_definitions=(ToolDefinition("get_weather"),),
        usage=Usage(120, 20),
        vocabulary="genai",
    )


@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        ("chat", "model"),
        ("generate_content", "model"),
        ("text_completion", "model"),
        ("llm_call", "model"),
        ("invoke_agent", "agent"),
        ("invoke_workflow", "agent"),
        ("execute_tool", "tool"),
        ("create_agent", "other"),
        ("embeddings", "other"),
        ("execute_event_loop_cycle", "other"),
        ("agent_step", "other"),
        ("something_new", "other"),
    ],
)
def test_the_operation_tells_the_kind(operation: str, kind: str) -> None:
    assert read({"gen_ai.operation.name": operation}).kind == kind


def test_without_an_operation_the_content_tells_the_kind() -> None:
    assert read({"gen_ai.tool.name": "f"}).kind == "tool"
    assert read({"gen_ai.output.messages": SAID}).kind == "model"
    assert read({}, [(DETAILS_EVENT, {"gen_ai.input.messages": ASKED})]).kind == "model"


def test_a_custom_operation_that_carries_messages_is_a_model_call() -> None:
    assert read({"gen_ai.operation.name": "mine", "gen_ai.input.messages": ASKED}).kind == "model"


def test_a_span_of_no_convention_is_left_as_it_is() -> None:
    assert read({}, [("exception", {})]) == BARE
    assert read({"gen_ai.agent.name": "helper"}) == BARE


def test_unknown_content_is_not_empty_content() -> None:
    found = read({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"})
    assert (found.messages_in, found.messages_out, found.system, found.usage) == (None,) * 4
    assert found.model == "m"


def test_old_names_of_the_token_counts_are_read() -> None:
    counts = {"gen_ai.usage.prompt_tokens": 3, "gen_ai.usage.completion_tokens": 0}
    assert read({"gen_ai.operation.name": "chat", **counts}).usage == Usage(3, 0)


def test_the_tokens_of_an_agent_are_its_calls_sum_and_not_read() -> None:
    counts = {"gen_ai.usage.input_tokens": 3}
    assert read({"gen_ai.operation.name": "invoke_agent", **counts}).usage is None


@pytest.mark.parametrize("count", [12, 12.0, "12"])
def test_a_token_count_may_have_been_stored_as_text_or_as_a_double(count: Any) -> None:
    found = read({"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": count})
    assert found.usage == Usage(12, None)


@pytest.mark.parametrize("odd", ["twelve", "-3", "1" * 19, True, -1, 1.5, float("inf")])
def test_a_token_count_that_is_no_count_is_unknown(odd: Any) -> None:
    assert read({"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": odd}).usage is None


def test_the_system_prompt_may_be_the_first_message() -> None:
    messages = [{"role": "developer", "parts": [{"type": "text", "content": "be kind"}]}, *ASKED]
    found = read({"gen_ai.operation.name": "chat", "gen_ai.input.messages": messages})
    assert found.system == "be kind"
    assert found.messages_in == (Message("developer", "be kind"), Message("user", "weather?"))


def test_cut_messages_make_the_span_truncated() -> None:
    cut = json.dumps(ASKED)[:40]
    found = read({"gen_ai.operation.name": "chat", "gen_ai.input.messages": cut})
    assert found.truncated
    assert found.messages_in is None


def test_several_detail_events_are_merged() -> None:
    first = {"role": "assistant", "parts": [{"type": "text", "content": "su"}]}
    other = {"role": "assistant", "parts": [{"type": "text", "content": "clear"}]}
    found = read(
        {"gen_ai.operation.name": "chat"},
        [
            (DETAILS_EVENT, {"gen_ai.input.messages": ASKED}),
            ("unrelated", {"gen_ai.input.messages": SAID}),
            (DETAILS_EVENT, {"gen_ai.input.messages": json.dumps(SAID)}),
            (DETAILS_EVENT, {"gen_ai.output.messages": [first, other]}),
            (DETAILS_EVENT, {"gen_ai.output.messages": json.dumps(SAID)}),
            (DETAILS_EVENT, {"gen_ai.system_instructions": [{"type": "text", "content": "kind"}]}),
        ],
    )
    assert found.messages_in == (Message("user", "weather?"), Message("assistant", "sunny"))
    # The last word on each choice stands: the first choice came twice.
    assert found.messages_out == (Message("assistant", "sunny"), Message("assistant", "clear"))
    assert found.system == "kind"


def test_an_attribute_of_the_span_goes_before_its_events() -> None:
    found = read(
        {"gen_ai.operation.name": "chat", "gen_ai.input.messages": ASKED},
        [(DETAILS_EVENT, {"gen_ai.input.messages": SAID, "gen_ai.output.messages": SAID})],
    )
    assert found.messages_in == (Message("user", "weather?"),)
    assert found.messages_out == (Message("assistant", "sunny"),)


def test_a_detail_event_that_was_cut_makes_the_span_truncated() -> None:
    found = read(
        {"gen_ai.operation.name": "chat"},
        [(DETAILS_EVENT, {"gen_ai.input.messages": json.dumps(ASKED)[:30]})],
    )
    assert found.truncated
    assert found.messages_in is None


def tool(**attributes: Any) -> dict[str, Any]:
    names = {
        "name": "gen_ai.tool.name",
        "call_id": "gen_ai.tool.call.id",
        "arguments": "gen_ai.tool.call.arguments",
        "result": "gen_ai.tool.call.result",
    }
    return {
        "gen_ai.operation.name": "execute_tool",
        **{names[key]: value for key, value in attributes.items()},
    }


def test_a_tool_run_is_read_whole() -> None:
    found = read(
        tool(
            name="get_weather",
            call_id=" call_1",
            arguments='{"city": "Paris"}',
            result="rainy, 57°F",
        )
    )
    assert found.kind == "tool"
    assert found.call == ToolCall("get_weather", {"city": "Paris"}, "call_1")
    assert (found.result, found.has_result) == ("rainy, 57°F", True)
    assert found.error_type is None


def test_a_tool_without_content_has_unknown_arguments_and_no_result() -> None:
    found = read(tool(name="calculate", call_id="<not specified>"))
    assert found.call == ToolCall("calculate", None, None, "absent")
    assert (found.result, found.has_result) == (None, False)


def test_a_null_result_is_a_result() -> None:
    found = read(tool(name="f", result="null"))
    assert (found.result, found.has_result) == (None, True)


@pytest.mark.parametrize("prefix", ["execute_tool ", "running tool: "])
def test_a_tool_may_be_named_by_its_span_alone(prefix: str) -> None:
    assert read(tool(), name=prefix + "get_weather").call.name == "get_weather"


def test_a_tool_fails_by_status_by_attribute_or_by_an_unhandled_exception() -> None:
    assert read(tool(name="f"), error_type="TimeoutError").error_type == "TimeoutError"
    assert read({**tool(name="f"), "gen_ai.tool.status": "error"}).error_type == "error"
    assert read(tool(name="f"), [("exception", {})]).error_type == "error"
    assert read(tool(name="f", result="fine"), [("exception", {})]).error_type is None
    assert read(tool(name="f", result="Error: no such city")).error_type is None


def test_cut_arguments_make_a_tool_span_truncated_and_a_cut_result_does_not() -> None:
    assert read(tool(name="f", arguments='{"city": "Pa')).truncated
    assert not read(tool(name="f", arguments="{}", result='{"city": "Pa')).truncated


def test_pydantic_ai_names_arguments_and_result_its_own_way() -> None:
    found = read(
        {
            "gen_ai.tool.name": "get_weather",
            "gen_ai.tool.call.id": "call_1",
            "tool_arguments": '{"city":"Paris"}',
            "tool_response": '{"sky":"sunny"}',
        },
        name="running tool",
        scope="pydantic-ai",
    )
    assert found.vocabulary == "pydantic_ai"
    assert found.call == ToolCall("get_weather", {"city": "Paris"}, "call_1")
    assert (found.result, found.has_result) == ({"sky": "sunny"}, True)


def test_pydantic_ai_is_known_by_its_names_in_another_scope() -> None:
    assert read({"gen_ai.tool.name": "f", "tool_arguments": "{}"}).vocabulary == "pydantic_ai"


def test_an_agents_history_is_split_from_its_answer() -> None:
    history = [
        {"role": "system", "parts": [{"type": "text", "content": "be kind"}]},
        *ASKED,
        {"role": "assistant", "parts": [{"type": "tool_call", "name": "f", "arguments": "{}"}]},
        {"role": "user", "parts": [{"type": "tool_call_response", "result": {"sky": "sunny"}}]},
        *SAID,
    ]
    found = read(
        {
            "gen_ai.operation.name": "invoke_agent",
            "agent_name": "helper",
            "pydantic_ai.all_messages": json.dumps(history),
            "pydantic_ai.new_message_index": 99,
            "final_result": "sunny",
        },
        scope="pydantic-ai",
    )
    assert (found.kind, found.agent, found.system) == ("agent", "helper", "be kind")
    assert found.messages_in == (
        Message("system", "be kind"),
        Message("user", "weather?"),
        Message("assistant", calls=(ToolCall("f", {}),)),
        Message("user", results=(ToolResult({"sky": "sunny"}),)),
    )
    assert found.messages_out == (Message("assistant", "sunny"),)


def test_an_answer_by_an_output_tool_is_the_final_result() -> None:
    call = {"type": "tool_call", "name": "final_result", "arguments": '{"sky": "sunny"}'}
    found = read(
        {
            "gen_ai.operation.name": "invoke_agent",
            "pydantic_ai.all_messages": [*ASKED, {"role": "assistant", "parts": [call]}],
            "final_result": '{"sky": "sunny"}',
        },
        scope="pydantic-ai",
    )
    assert found.messages_out == (Message("assistant", '{"sky": "sunny"}'),)
    assert found.messages_in is not None
    assert len(found.messages_in) == 2


def test_a_span_of_pydantic_ai_that_only_groups_others_is_other() -> None:
    assert read({}, name="running 2 tools", scope="pydantic-ai").kind == "other"


@pytest.mark.parametrize("vocabulary", [GenAi(), PydanticAi()])
def test_a_vocabulary_says_nothing_of_what_it_does_not_know(vocabulary: Any) -> None:
    assert vocabulary.read({}, (), BARE) is None
    assert vocabulary.read({"llm.model_name": "m"}, (), BARE) is None
