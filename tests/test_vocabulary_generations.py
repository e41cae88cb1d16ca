"""The older generations of the GenAI conventions: message events and numbered attributes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adapters.vocabularies.genai import GenAi
from monitor.model import AgentSpan, Message, ToolCall, ToolDefinition, ToolResult

CHAT = {"gen_ai.operation.name": "chat"}
LOOK = ToolCall("look", {"city": "Paris"}, "call-1")
CALLS = [
    {
        "id": "call-1",
        "type": "function",
        "function": {"name": "look", "arguments": '{"city": "Paris"}'},
    }
]


def read(attributes: dict[str, Any], *events: tuple[str, dict[str, Any]]) -> AgentSpan:
    found = GenAi().read(attributes, events, AgentSpan("t", "s", "other"))
    assert found is not None
    return found


def events(encode: Any = lambda value: value) -> list[tuple[str, dict[str, Any]]]:
    """A conversation, with nested values as they are or as their JSON text."""
    return [
        ("gen_ai.system.message", {"content": "Be brief."}),
        ("gen_ai.user.message", {"content": "weather?"}),
        ("gen_ai.assistant.message", {"tool_calls": encode(CALLS)}),
        ("gen_ai.tool.message", {"content": '{"sky": "blue"}', "id": "call-1"}),
        (
            "gen_ai.choice",
            {
                "index": 0,
                "finish_reason": "stop",
                "message": encode({"role": "assistant", "content": "It is blue."}),
            },
        ),
    ]


HEARD = (
    Message("system", "Be brief."),
    Message("user", "weather?"),
    Message("assistant", calls=(LOOK,)),
    Message("tool", results=(ToolResult({"sky": "blue"}, "call-1"),)),
)


@pytest.mark.parametrize("encode", [lambda value: value, json.dumps])
def test_one_event_for_each_message_makes_the_conversation(encode: Any) -> None:
    found = read(CHAT, *events(encode))
    assert found.messages_in == HEARD
    assert found.messages_out == (Message("assistant", "It is blue."),)
    assert (found.system, found.vocabulary) == ("Be brief.", "genai_events")


def test_all_fields_may_stand_in_one_attribute() -> None:
    whole = [(name, {"gen_ai.event.content": json.dumps(fields)}) for name, fields in events()]
    assert read(CHAT, *whole).messages_in == HEARD


def test_choices_stand_by_their_index() -> None:
    choices = [
        ("gen_ai.choice", {"index": at, "message": {"content": f"choice {at}"}}) for at in (1, 0)
    ]
    found = read(CHAT, *choices).messages_out
    assert [message.text for message in found or ()] == ["choice 0", "choice 1"]


def test_a_choice_that_is_plain_text_is_the_answer() -> None:
    found = read(CHAT, ("gen_ai.choice", {"message": "It is blue."}))
    assert found.messages_out == (Message("assistant", "It is blue."),)


def test_events_without_content_leave_it_unknown() -> None:
    bare: list[tuple[str, dict[str, Any]]] = [
        ("gen_ai.user.message", {"gen_ai.system": "openai"}),
        ("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": {"role": "assistant"}}),
    ]
    found = read(CHAT, *bare)
    assert (found.messages_in, found.messages_out) == (None, None)
    assert (found.kind, found.vocabulary) == ("model", "genai")


def test_cut_calls_are_known_as_cut() -> None:
    cut = ("gen_ai.assistant.message", {"tool_calls": json.dumps(CALLS)[:40]})
    assert read(CHAT, cut).truncated


def test_the_span_s_own_messages_go_before_its_events() -> None:
    own = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "own"}]}])
    found = read({**CHAT, "gen_ai.input.messages": own}, *events())
    assert (found.messages_in, found.messages_out) == ((Message("user", "own"),), None)


NUMBERED = {
    "llm.request.type": "chat",
    "gen_ai.prompt.0.role": "system",
    "gen_ai.prompt.0.content": "Be brief.",
    "gen_ai.prompt.1.role": "user",
    "gen_ai.prompt.1.content": "weather?",
    "gen_ai.prompt.2.role": "assistant",
    "gen_ai.prompt.2.tool_calls.0.id": "call-1",
    "gen_ai.prompt.2.tool_calls.0.name": "look",
    "gen_ai.prompt.2.tool_calls.0.arguments": '{"city": "Paris"}',
    "gen_ai.prompt.3.role": "tool",
    "gen_ai.prompt.3.content": '{"sky": "blue"}',
    "gen_ai.prompt.3.tool_call_id": "call-1",
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.content": "It is blue.",
    "gen_ai.completion.0.finish_reason": "stop",
}


def test_numbered_attributes_make_the_conversation() -> None:
    found = read(NUMBERED)
    assert found.messages_in == HEARD
    assert found.messages_out == (Message("assistant", "It is blue."),)
    assert (found.kind, found.vocabulary) == ("model", "genai_indexed")


def test_numbers_are_sorted_as_numbers() -> None:
    many = {f"gen_ai.prompt.{number}.content": str(number) for number in (10, 9, 0, 11, 2)}
    found = read(many).messages_in
    assert [message.text for message in found or ()] == ["0", "2", "9", "10", "11"]


def test_a_lost_beginning_is_cut_and_a_missing_finish_reason_is_not() -> None:
    left = {key: value for key, value in NUMBERED.items() if not key.startswith("gen_ai.prompt.0")}
    assert read(left).truncated
    assert not read(NUMBERED).truncated


def test_numbered_blocks_of_content_are_read_as_blocks() -> None:
    blocks = [{"type": "text", "text": "look:"}, {"type": "image_url", "image_url": {"url": "u"}}]
    found = read({"gen_ai.prompt.0.content": json.dumps(blocks)}).messages_in
    assert found
    assert (found[0].text, len(found[0].media)) == ("look:", 1)
    told = read({"gen_ai.prompt.0.content": "[1] is a footnote"}).messages_in
    assert told == (Message("user", "[1] is a footnote"),)


def test_functions_are_the_tools_that_were_offered() -> None:
    offered = {
        "llm.request.functions.1.name": "second",
        "llm.request.functions.0.name": "first",
        "llm.request.functions.0.description": "d",
        "llm.request.functions.0.parameters": '{"type": "object"}',
    }
    assert read({**CHAT, **offered}).tool_definitions == (
        ToolDefinition("first", parameters={"type": "object"}, description="d"),
        ToolDefinition("second"),
    )


def test_a_whole_prompt_is_messages_or_a_question() -> None:
    messages = json.dumps([{"role": "user", "content": "weather?"}])
    found = read({"gen_ai.prompt": messages, "gen_ai.completion": "It is blue."})
    assert found.messages_in == (Message("user", "weather?"),)
    assert found.messages_out == (Message("assistant", "It is blue."),)
    assert read({"gen_ai.prompt": "weather?"}).messages_in == (Message("user", "weather?"),)


def test_content_events_carry_whole_prompts() -> None:
    found = read(
        CHAT,
        ("gen_ai.content.prompt", {"gen_ai.prompt": "weather?"}),
        ("gen_ai.content.completion", {"gen_ai.completion": "It is blue."}),
    )
    assert found.messages_in == (Message("user", "weather?"),)
    assert found.messages_out == (Message("assistant", "It is blue."),)


@pytest.mark.parametrize("asked", ["embedding", "rerank", "unknown"])
def test_other_requests_are_no_model_calls(asked: str) -> None:
    assert read({"llm.request.type": asked}).kind == "other"
