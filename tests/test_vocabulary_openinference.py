"""OpenInference in the dialects of its instrumentations."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openinference_reading import LOOK, PARIS, call, numbered, read

from adapters.vocabularies.openinference import OpenInference
from adapters.vocabularies.openinference_messages import HIDDEN
from monitor.model import AgentSpan, Message, ToolCall, ToolResult, Usage


def given(*messages: dict[str, Any], **more: Any) -> tuple[Message, ...] | None:
    return read("LLM", numbered("llm.input_messages", *messages), **more).messages_in


def said(*messages: dict[str, Any]) -> tuple[Message, ...] | None:
    return read("LLM", numbered("llm.output_messages", *messages)).messages_out


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("LLM", "model"),
        ("llm", "model"),
        ("AGENT", "agent"),
        ("TOOL", "tool"),
        ("CHAIN", "other"),
        ("RETRIEVER", "other"),
        ("EVALUATOR", "other"),
    ],
)
def test_the_kind_of_a_span_is_its_own_word_for_it(kind: str, expected: str) -> None:
    assert read(kind, {}).kind == expected


def test_a_span_without_a_kind_is_another_conventions() -> None:
    span = AgentSpan("t", "s", "other", scope="shop")
    assert OpenInference().read({"input.value": "hello"}, (), span) is None


def test_a_kind_that_a_limit_dropped_is_known_by_what_is_left() -> None:
    left = numbered("llm.output_messages", {"role": "assistant", "content": "hi"})
    assert read(None, left).kind == "model"
    assert read(None, {"tool.name": "look"}).kind == "tool"
    first_lost = {"llm.input_messages.3.message.role": "user"}
    content = {"llm.input_messages.3.message.content": "and then?"}
    assert read(None, {**first_lost, **content}).truncated


def test_messages_are_read_in_the_order_of_their_numbers() -> None:
    texts = [f"message {number}" for number in range(12)]
    found = given(*[{"role": "user", "content": text} for text in texts])
    assert [message.text for message in found or ()] == texts


def test_calls_and_answers_keep_their_ids() -> None:
    asked = {"role": "assistant", **call(0, "look", PARIS, "call-1")}
    answer = {"role": "tool", "content": '{"sky": "blue"}', "tool_call_id": "call-1"}
    assert given(asked, answer) == (
        Message("assistant", calls=(LOOK,)),
        Message("tool", results=(ToolResult({"sky": "blue"}, "call-1"),)),
    )


def test_a_call_that_stands_in_a_block_too_is_one_call() -> None:
    block = "contents.0.message_content"
    copy = "contents.1.tool_call"
    message = {
        "role": "assistant",
        f"{block}.type": "text",
        f"{block}.text": "Let me look.",
        "contents.1.message_content.type": "tool_use",
        f"{copy}.id": "call-1",
        f"{copy}.function.name": "look",
        f"{copy}.function.arguments": PARIS,
    }
    alone = Message("assistant", "Let me look.", calls=(LOOK,))
    assert said(message) == (alone,)
    assert said({**message, **call(0, "look", PARIS, "call-1")}) == (alone,)


def test_text_that_stands_in_a_block_too_is_said_once() -> None:
    message = {"role": "assistant", "content": "Hello."}
    block = {"contents.0.message_content.type": "text", "contents.0.message_content.text": "Hello."}
    assert said({**message, **block}) == (Message("assistant", "Hello."),)


def test_media_are_digests_and_reasoning_is_left_out() -> None:
    found = given(
        {
            "role": "user",
            "contents.0.message_content.type": "reasoning",
            "contents.0.message_content.text": "hm",
            "contents.1.message_content.type": "image",
            "contents.1.message_content.image.image.url": "https://example.org/a.png",
        }
    )
    assert found
    assert found[0].text is None
    assert len(found[0].media) == 1


def test_a_legacy_function_call_is_a_call() -> None:
    message = {
        "role": "assistant",
        "function_call_name": "look",
        "function_call_arguments_json": PARIS,
    }
    assert said(message) == (Message("assistant", calls=(ToolCall("look", {"city": "Paris"}),)),)


def test_blocks_that_are_numbered_below_the_text_are_the_text() -> None:
    found = said({"role": "assistant", "content.0": "one", "content.1": "two"})
    assert found == (Message("assistant", "one\ntwo"),)


def test_a_result_that_looks_like_the_users_words_is_a_result() -> None:
    messages = (
        {"role": "user", "content": "weather?"},
        {"role": "assistant", **call(0, "look", PARIS)},
        {"role": "user", "content": "sunny"},
    )
    look = ToolCall("look", {"city": "Paris"})
    assert given(*messages, dialect="anthropic") == (
        Message("user", "weather?"),
        Message("assistant", calls=(look,)),
        Message("tool", results=(ToolResult("sunny"),)),
    )


def test_the_whole_request_is_read_where_its_messages_lost_their_results() -> None:
    messages = numbered(
        "llm.input_messages",
        {"role": "user", "content": "weather?"},
        {"role": "assistant", **call(0, "look", PARIS)},
        {"role": "user", "content": "sunny"},
    )
    request = {
        "messages": [
            {"role": "user", "content": "weather?"},
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "call-1", "name": "look", "input": {"city": "Paris"}}
                ],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "call-1", "content": "sunny"}],
            },
        ]
    }
    found = read("LLM", {**messages, "input.value": json.dumps(request)}, dialect="anthropic")
    assert found.messages_in == (
        Message("user", "weather?"),
        Message("assistant", calls=(LOOK,)),
        Message("user", results=(ToolResult("sunny", "call-1"),)),
    )


def test_roles_of_smolagents_are_the_assistants_and_the_tools() -> None:
    asked = [
        {"id": "c", "type": "function", "function": {"name": "look", "arguments": {"city": "x"}}}
    ]
    found = given(
        {"role": "tool-call", "content": f"Calling tools:\n{asked!r}"},
        {"role": "tool-response", "content": "Observation:\nsunny"},
    )
    assert found == (
        Message("assistant", calls=(ToolCall("look", {"city": "x"}, "c"),)),
        Message("tool", results=(ToolResult("Observation:\nsunny"),)),
    )


def test_completions_without_roles_are_a_question_and_an_answer() -> None:
    found = read("LLM", {"llm.prompts.0.prompt.text": "2+2?", "llm.choices.0.completion.text": "4"})
    assert found.messages_in == (Message("user", "2+2?"),)
    assert found.messages_out == (Message("assistant", "4"),)


def test_whole_values_are_read_where_no_message_is_numbered() -> None:
    items = [
        {"role": "user", "content": "weather?"},
        {"type": "function_call", "call_id": "call-1", "name": "look", "arguments": PARIS},
        {"type": "function_call_output", "call_id": "call-1", "output": "sunny"},
    ]
    found = read("LLM", {"input.value": json.dumps(items), "output.value": "It is sunny."})
    assert found.messages_in == (
        Message("user", "weather?"),
        Message("assistant", calls=(LOOK,)),
        Message("tool", results=(ToolResult("sunny", "call-1"),)),
    )
    assert found.messages_out == (Message("assistant", "It is sunny."),)


@pytest.mark.parametrize(
    "hidden",
    [
        {"input.value": HIDDEN, "output.value": HIDDEN},
        {
            **numbered("llm.input_messages", {"role": "user", "content": HIDDEN}),
            **numbered("llm.output_messages", {"role": "assistant", "content": HIDDEN}),
        },
        {
            **numbered("llm.input_messages", {"role": "user"}),
            **numbered("llm.output_messages", {"role": "assistant"}),
        },
        {},
    ],
)
def test_hidden_and_absent_messages_are_unknown(hidden: dict[str, Any]) -> None:
    found = read("LLM", hidden)
    assert (found.messages_in, found.messages_out) == (None, None)


def test_hidden_arguments_and_results_are_unknown() -> None:
    hidden = {"tool.name": "look", "input.value": HIDDEN, "output.value": HIDDEN}
    found = read("TOOL", hidden)
    assert found.call == ToolCall("look", arguments_state="absent")
    assert (found.result, found.has_result) == (None, False)
    asked = said({"role": "assistant", **call(0, "look", HIDDEN, "call-1")})
    unknown = ToolCall("look", None, "call-1", "absent")
    assert asked == (Message("assistant", calls=(unknown,)),)


def test_the_whole_state_goes_before_the_one_message_that_is_numbered() -> None:
    first = numbered("llm.input_messages", {"role": "user", "content": "weather?"})
    said_since = [{"type": "human", "content": "and tomorrow?"}]
    state = json.dumps({"messages": [*STATE["messages"], *said_since]})
    found = read("AGENT", {**first, "input.value": state})
    assert found.messages_in == (Message("user", "and tomorrow?"),)


STATE = {
    "messages": [
        {"type": "human", "content": "weather?"},
        {"type": "ai", "content": "", "tool_calls": [{"name": "look", "args": {}, "id": "1"}]},
        {"type": "tool", "content": "sunny", "tool_call_id": "1"},
        {"type": "ai", "content": "It is sunny."},
    ]
}


def test_the_state_of_a_graph_is_a_question_and_an_answer() -> None:
    asked = json.dumps({"messages": [{"kwargs": {"content": "weather?", "type": "human"}}]})
    found = read("CHAIN", {"input.value": asked, "output.value": json.dumps(STATE)})
    assert found.kind == "other"
    assert found.messages_in == (Message("user", "weather?"),)
    assert found.messages_out == (Message("assistant", "It is sunny."),)


def test_a_state_that_holds_no_reply_is_none() -> None:
    asked = json.dumps({"messages": STATE["messages"][:2]})
    found = read("CHAIN", {"output.value": asked})
    assert found.messages_out is None
    assert read("CHAIN", {"output.value": '{"route": {"next": 1}}'}).messages_out is None


def test_the_nodes_of_a_graph_are_not_read_again() -> None:
    values = {"input.value": json.dumps(STATE), "metadata": '{"langgraph_node": "agent"}'}
    assert read("CHAIN", values).messages_in is None


def test_a_crew_is_an_agent_whose_answer_is_raw() -> None:
    output = json.dumps({"raw": "<p>done</p>", "tasks_output": [], "token_usage": {}})
    values = {"crew_key": "k", "input.value": '{"topic": "bees"}', "output.value": output}
    found = read("CHAIN", values, dialect="crewai")
    assert found.kind == "agent"
    assert found.messages_in == (Message("user", "bees"),)
    assert found.messages_out == (Message("assistant", "<p>done</p>"),)


def test_an_agents_run_of_smolagents_is_its_task_and_its_answer() -> None:
    values = {
        "input.value": json.dumps({"task": "count bees", "stream": False, "reset": True}),
        "output.value": "42",
        "llm.token_count.prompt": 900,
    }
    found = read("AGENT", values, dialect="smolagents")
    assert found.messages_in == (Message("user", "count bees"),)
    assert found.messages_out == (Message("assistant", "42"),)
    assert found.usage is None


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ('{"thread_id": "th-1", "session_id": "se-1"}', "th-1"),
        ({"session_id": "se-1"}, "se-1"),
        ('{"conversation_id": 7}', "7"),
        ('{"thread_id": "null"}', None),
        ("not json", None),
        ("[1]", None),
    ],
)
def test_the_metadata_names_the_conversation(metadata: Any, expected: str | None) -> None:
    assert read("LLM", {"metadata": metadata}).conversation_id == expected
    own = read("LLM", {"metadata": metadata}, conversation_id="own")
    assert own.conversation_id == "own"


def test_the_model_that_answered_goes_before_the_one_that_was_asked() -> None:
    names = {"gen_ai.request.model": "d", "llm.model_name": "c", "llm.response.model_name": "b"}
    assert read("LLM", names).model == "b"
    assert read("LLM", {**names, "gen_ai.response.model": "a"}).model == "a"


def test_tokens_are_a_model_calls_own() -> None:
    tokens = {"llm.token_count.prompt": 120, "llm.token_count.completion": 20}
    assert read("LLM", tokens).usage == Usage(120, 20)
    assert read("LLM", {}).usage is None
    # Cached tokens are among those of the prompt.
    cached = {"llm.token_count.prompt": 17_903, "llm.token_count.prompt_details.cache_read": 17_817}
    assert read("LLM", cached).usage == Usage(17_903)


def test_tools_and_instructions_may_stand_among_the_parameters_of_the_call() -> None:
    tool = {"name": "look", "description": "d", "input_schema": {"type": "object"}}
    beside = {"system": "Be brief.", "tools": [tool]}
    found = read("LLM", {"llm.invocation_parameters": json.dumps(beside)})
    assert found.system == "Be brief."
    assert [definition.name for definition in found.tool_definitions or ()] == ["look"]
    own = {"llm.tools.0.tool.json_schema": json.dumps({"type": "function", "function": tool})}
    assert read("LLM", own).tool_definitions == found.tool_definitions


def test_a_span_of_two_conventions_is_read_once() -> None:
    both = {
        **numbered("llm.input_messages", {"role": "user", "content": "weather?"}),
        "gen_ai.input.messages": json.dumps(
            [{"role": "user", "parts": [{"type": "text", "content": "weather?"}]}]
        ),
    }
    found = read("LLM", both)
    assert found.messages_in == (Message("user", "weather?"),)
    assert found.vocabulary == "openinference_genai"
    call_ = {
        "tool.name": "look",
        "input.value": '{"city": "Rome"}',
        "gen_ai.tool.call.arguments": PARIS,
    }
    assert read("TOOL", call_).call == ToolCall("look", {"city": "Paris"})
