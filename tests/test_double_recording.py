"""One call that was recorded twice, or summed up above, is one call; unknown is not zero."""

from __future__ import annotations

import json
from typing import Any

from otlp_building import END, START, body, span
from telling import conversations_of, decoded

from monitor.model import ActionTurn, Conversation, ResponseTurn, Usage

LLM = {"openinference.span.kind": "LLM"}
MESSAGES = {
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": "weather?",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "Sunny.",
    "llm.token_count.prompt": 500,
    "llm.token_count.completion": 80,
}


def only(*payloads: bytes) -> Conversation:
    (conversation,) = conversations_of(decoded(*payloads))
    return conversation


def chat(span_id: str, parent: str, **tokens: int) -> Any:
    usage = {f"gen_ai.usage.{name}_tokens": count for name, count in tokens.items()}
    return span(
        {"gen_ai.operation.name": "chat", "gen_ai.completion": "Sunny.", **usage},
        span_id=span_id,
        parent_id=parent,
    )


def agent(**attributes: Any) -> Any:
    name = {"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": "c-1"}
    return span({**name, **attributes}, span_id="a" * 16)


def test_a_call_that_two_instrumentations_record_is_one_call() -> None:
    outer = span({**LLM, **MESSAGES}, span_id="1" * 16, name="OpenAI.Chat")
    inner = span(
        {**LLM, **MESSAGES},
        span_id="2" * 16,
        parent_id="1" * 16,
        name="ChatCompletion",
        start=START + 1,
        end=END - 1,
    )
    conversation = only(
        body(outer, scope="openinference.instrumentation.langchain"),
        body(inner, scope="openinference.instrumentation.openai"),
    )
    assert conversation.usage == Usage(500, 80)
    assert [turn.text for turn in conversation.turns if isinstance(turn, ResponseTurn)] == [
        "Sunny."
    ]


def test_a_call_of_two_conventions_is_one_call() -> None:
    outer = span({**LLM, **MESSAGES}, span_id="1" * 16)
    numbered = {
        "llm.request.type": "chat",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "weather?",
        "gen_ai.completion.0.content": "Sunny.",
        "gen_ai.usage.prompt_tokens": 500,
        "gen_ai.usage.completion_tokens": 80,
    }
    inner = span(numbered, span_id="2" * 16, parent_id="1" * 16, start=START + 1)
    conversation = only(body(outer, scope="openinference.x"), body(inner, scope="other"))
    assert conversation.usage == Usage(500, 80)
    assert len(conversation.turns) == 1


def test_an_agents_sum_is_not_added_to_its_calls() -> None:
    conversation = only(
        body(
            agent(**{"gen_ai.usage.input_tokens": 300}),
            chat("1" * 16, "a" * 16, input=100),
            chat("2" * 16, "a" * 16, input=200),
        )
    )
    assert conversation.usage == Usage(300, None)


def test_cached_tokens_are_among_the_input() -> None:
    cached = {"gen_ai.usage.cache_read.input_tokens": 17_817, "gen_ai.usage.input_tokens": 17_903}
    conversation = only(body(span({"gen_ai.operation.name": "chat", **cached})))
    assert conversation.usage == Usage(17_903, None)


def test_a_call_that_tells_no_tokens_leaves_them_unknown() -> None:
    assert only(body(agent(), chat("1" * 16, "a" * 16))).usage is None


def test_a_session_that_an_inner_library_names_does_not_split_the_conversation() -> None:
    root = span({"openinference.span.kind": "AGENT", "session.id": "A"}, span_id="1" * 16)
    inner = span({**LLM, **MESSAGES, "session.id": "cli"}, span_id="2" * 16, parent_id="1" * 16)
    child = span({**LLM, **MESSAGES}, span_id="3" * 16, parent_id="1" * 16)
    conversation = only(body(root, inner, child, scope="openinference.x"))
    assert conversation.conversation_id == "A"


def test_a_parallel_call_without_a_tool_span_has_no_result_and_no_error() -> None:
    asked = {
        f"llm.output_messages.0.message.tool_calls.{at}.tool_call.{name}": value
        for at, city in enumerate(("Paris", "London"))
        for name, value in (
            ("id", f"call-{at}"),
            ("function.name", "look"),
            ("function.arguments", json.dumps({"city": city})),
        )
    }
    model = span({**LLM, **asked}, span_id="1" * 16)
    run = {"openinference.span.kind": "TOOL", "tool.name": "look", "tool.id": "call-0"}
    tool = span({**run, "output.value": "sunny"}, span_id="2" * 16, start=START + 5)
    conversation = only(body(model, tool, scope="openinference.x"))
    turns = [turn for turn in conversation.turns if isinstance(turn, ActionTurn)]
    assert [turn.call.arguments for turn in turns] == [{"city": "Paris"}, {"city": "London"}]
    assert [turn.has_result for turn in turns] == [True, False]
    assert [turn.error_type for turn in turns] == [None, None]
