"""Native payloads of the shared data against the facts that are known of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from document_decoder_conformance import conversations_of

from monitor.entry_points import load_adapter
from monitor.model import ActionTurn, Conversation, ResponseTurn


def only(format_: str, document: Any) -> Conversation:
    decoded = load_adapter(format_)().decode(json.dumps(document).encode(), "application/json")
    assert decoded.rejections == []
    [conversation] = conversations_of(decoded.spans)
    return conversation


def story(conversation: Conversation) -> list[tuple[Any, ...]]:
    return [
        (turn.call.name, turn.call.arguments, turn.result, turn.error_type)
        if isinstance(turn, ActionTurn)
        else (turn.text,)
        for turn in conversation.turns
    ]


def test_the_sample_of_strands_messages(shared_data: Path) -> None:
    path = shared_data / "traces" / "strands" / "strands_agent_skills.json"
    decoded = load_adapter("strands")().decode(path.read_bytes(), "application/json")
    assert decoded.rejections == []
    found = conversations_of(decoded.spans)
    assert len(found) == 6
    calls = [
        (conversation.queries[0], turn.call.name, turn.call.arguments, turn.call.call_id)
        for conversation in found
        for turn in conversation.turns
        if isinstance(turn, ActionTurn)
    ]
    loaded = ("skills", {"skill_name": "pdf-processing"}, "tu-1")
    assert ("Extract text from report.pdf", *loaded) in calls
    assert all(
        isinstance(turn, ResponseTurn) or turn.has_result
        for conversation in found
        for turn in conversation.turns
    )


def test_the_sample_of_an_adk_session(shared_data: Path) -> None:
    path = shared_data / "traces" / "google_adk_sessions" / "successful_test.session.json"
    conversation = only("adk_session", json.loads(path.read_bytes()))
    assert conversation.conversation_id == "ead43200-b575-4241-9248-233b4be4f29a"
    assert len(conversation.queries) == 2
    assert [tool.name for tool in conversation.tools] == ["update_fc"]
    assert conversation.tools[0].parameters is not None
    assert conversation.tools[0].parameters["type"] == "object"
    assert [row[0] for row in story(conversation)] == [
        "Hello! 👋  How can I help you today? \n",
        "update_fc",
        "OK. I've updated the data. Anything else? \n",
    ]
    action = conversation.turns[1]
    assert isinstance(action, ActionTurn)
    assert action.call.arguments["data_four"] == ["1", "hello", "3.14"]
    assert (action.result, action.has_result) == ({}, True)


def test_the_samples_of_agentcores_span_records(shared_data: Path) -> None:
    folder = shared_data / "traces" / "agentcore_adot"
    decode = load_adapter("agentcore")().decode
    path = folder / "openinference_adot_spans.json"
    found = conversations_of(decode(path.read_bytes(), "application/json").spans)
    told = {conversation.queries: story(conversation) for conversation in found}
    assert told == {
        ("What is the weather in Alaska?",): [
            ("get_weather", {"city": "Alaska"}, "Weather in Alaska: -5C, snowy", None),
            ("The weather in Alaska is -5C and snowy.",),
        ],
        ("Tell me a joke",): [("Why did the chicken cross the road? To get to the other side!",)],
    }
    path = folder / "openai_agents_openinference_adot_spans.json"
    [conversation] = conversations_of(decode(path.read_bytes(), "application/json").spans)
    assert conversation.conversation_id == "29fb7129-8624-4bd2-b37b-dea182f63ce8"
    assert ("multiply_numbers", {"a": 42, "b": 7}, "294.0", None) in story(conversation)
