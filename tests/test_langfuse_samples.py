"""Answers of a real Langfuse server: what is known to have happened, as turns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from langfuse_server import documents

from adapters.langfuse.decoder import LangfuseTraceDecoder
from adapters.langfuse.rows import span_id_of
from monitor.assembly.segments import segments_of
from monitor.assembly.spans import SpanSet
from monitor.assembly.turns import Part, TraceTurns, trace_turns
from monitor.model import ActionTurn, AgentSpan, ResponseTurn

SAMPLES = 11


class Read(NamedTuple):
    """One sample as it was understood."""

    spans: list[AgentSpan]
    conversation_id: str
    synthetic: bool
    trace: TraceTurns

    @property
    def part(self) -> Part:
        (part,) = self.trace.parts
        return part

    @property
    def calls(self) -> list[ActionTurn]:
        return [turn for turn in self.part.turns if isinstance(turn, ActionTurn)]

    @property
    def replies(self) -> list[str | None]:
        return [turn.text for turn in self.part.turns if isinstance(turn, ResponseTurn)]


def read(shared_data: Path, name: str) -> Read:
    path = shared_data / "traces" / "langfuse_api" / f"{name}.trace.json"
    decoded = LangfuseTraceDecoder().decode(path.read_bytes(), "application/json")
    assert decoded.rejections == []
    assert not decoded.salvaged
    assert not any(span.truncated for span in decoded.spans)
    spans = decoded.spans
    (segment,) = segments_of(spans[0].trace_id, SpanSet(spans).merged())
    return Read(spans, segment.conversation_id, segment.synthetic, trace_turns(segment))


def called(found: Read) -> list[tuple[str, Any, str | None]]:
    return [(turn.call.name, turn.call.arguments, turn.call.call_id) for turn in found.calls]


def test_agno_searches_once_though_each_model_call_is_traced_twice(shared_data: Path) -> None:
    found = read(shared_data, "agno-2025-06-11")
    assert found.conversation_id == "35cc6c90-b657-4819-b66c-c931c03ad569"
    assert found.trace.model == "gpt-4o-mini"
    assert found.part.query == "What is currently trending on Twitter?"
    assert [(name, given) for name, given, _ in called(found)] == [
        ("duckduckgo_search", {"query": "currently trending on Twitter"})
    ]
    (reply,) = found.replies
    assert (reply or "").startswith("To find out what's currently trending on Twitter")
    # The tool came as an untyped span.
    assert [span.kind for span in found.spans if span.name == "duckduckgo_search"] == ["tool"]


def test_autogen_answers_a_rendered_question(shared_data: Path) -> None:
    found = read(shared_data, "autogen-2025-06-06")
    assert found.conversation_id == "session_abc"
    assert found.trace.model == "gpt-4o"
    assert found.part.query == "Say 'Hello World!'"
    assert (found.trace.system or "").startswith("You are a helpful AI assistant.")
    assert called(found) == []
    assert found.replies == ["Hello World!"]


def test_claude_agent_asks_for_both_cities(shared_data: Path) -> None:
    found = read(shared_data, "claude-agent-2025-12-22")
    assert found.conversation_id == "6fb9b4b8-dd4d-4d41-8d4f-c0c0799a6559"
    assert not found.synthetic
    assert found.part.query == "What's the weather like in Berlin and New York?"
    assert called(found) == [
        ("mcp__weather__get_weather", {"city": "Berlin"}, "toolu_01TKoqQLvY2UWuC49qnD48y7"),
        ("mcp__weather__get_weather", {"city": "New York"}, "toolu_01NtVat4vJLFfVd5TqdLHcA7"),
    ]
    assert [turn.result for turn in found.calls] == [
        "Weather in Berlin: Cloudy, 59°F",
        "Weather in New York: Sunny, 75°F",
    ]
    assert (found.replies[-1] or "").startswith("Great! Here's the current weather")


def test_crewai_ends_with_a_page(shared_data: Path) -> None:
    found = read(shared_data, "crewai-2025-07-11")
    assert found.synthetic
    assert called(found) == []
    assert "Hello World! Langfuse monitors your CrewAI agent!" in (found.part.query or "")
    (reply,) = found.replies
    assert "<title>Hello World</title>" in (reply or "")
    crew = next(span for span in found.spans if span.name == "Crew.kickoff")
    assert crew.messages_in is None
    assert crew.messages_out is not None
    assert (crew.messages_out[0].text or "").startswith("```html")


def test_gemini_answers_one_question(shared_data: Path) -> None:
    found = read(shared_data, "google-gemini-2025-08-01")
    assert found.synthetic
    assert found.trace.model == "gemini-2.5-flash"
    assert found.part.query == "What is Langfuse?"
    (reply,) = found.replies
    assert (reply or "").startswith("**Langfuse** is an **open-source observability")


def test_langgraph_tells_prompt_from_question_and_definition_from_answer(
    shared_data: Path,
) -> None:
    found = read(shared_data, "langgraph-python-2025-08-22")
    assert found.conversation_id == "demo-thread-1"
    assert found.trace.model == "gpt-4o-2024-08-06"
    assert found.trace.system == "Be helpful!"
    assert found.part.query == "Search the web for 'example' and summarize."
    assert called(found) == [("Web-Search", {"query": "example"}, "call_1oGK863sxQHlPreFhDdEs3yl")]
    assert found.calls[0].result == [
        {"url": "https://example.com", "title": "Example Result", "q": "example"}
    ]
    # The tool's own span came untyped; its answer gives it away.
    assert found.calls[0].span_ids == ("21441266a9f21251",)
    assert [tool.name for tool in found.trace.tools] == ["Web-Search"]
    assert found.trace.tools[0].parameters == {
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
        "type": "object",
    }
    (reply,) = found.replies
    assert (reply or "").startswith('The search for "example" primarily leads')


def test_microsofts_response_ids_are_no_conversation(shared_data: Path) -> None:
    found = read(shared_data, "microsoft-agent-2025-12-17")
    assert found.synthetic
    assert {span.conversation_id for span in found.spans} == {None}
    assert found.part.query == "What's the weather in Tokyo?"
    assert called(found) == [
        ("get_weather", {"location": "Tokyo, Japan"}, "call_CwaJHuXTm9dmHFQPlVbqyzJ0")
    ]
    assert [tool.name for tool in found.trace.tools] == ["get_weather"]
    assert found.replies == ["Current conditions in Tokyo, Japan: stormy, high around 23°C."]


@pytest.mark.parametrize("name", ["pydantic-ai-2025-06-06", "pydantic-ai-tools-2025-06-06"])
def test_pydantic_ai_of_the_oldest_format(shared_data: Path, name: str) -> None:
    found = read(shared_data, name)
    assert found.conversation_id == "session_abc"
    assert {span.model for span in found.spans if span.kind == "model"} == {"gpt-4o-2024-08-06"}
    assert found.part.query == "What is Langfuse?"
    assert called(found) == []
    (reply,) = found.replies
    assert (reply or "").startswith("Langfuse is a tool designed for observability")


def test_pydantic_ai_calls_three_tools_at_once(shared_data: Path) -> None:
    found = read(shared_data, "pydantic-ai-tools-2025-12-04")
    assert found.trace.model == "gpt-4o-mini-2024-07-18"
    assert called(found)[:3] == [
        ("get_pun_suggestion", {"topic": "programming"}, "call_X0OSgjUukT5inyEQvuZQnHrk"),
        ("get_dad_joke_suggestion", {"topic": "programming"}, "call_WxZcCvSDhGT4RJHlcU01k10x"),
        ("get_one_liner_suggestion", {"topic": "programming"}, "call_aRaObiWKKt6GzgDkkUl3bu1Q"),
    ]
    assert all(turn.has_result for turn in found.calls[:3])
    agents = {span.agent for span in found.spans if span.kind == "agent"}
    assert {"joke_agent", "evaluator_agent"} <= agents


def test_pydantic_ai_with_gemini_answers_in_json(shared_data: Path) -> None:
    found = read(shared_data, "pydantic-ai-with-gemini-2025-12-24")
    assert found.trace.model == "gemini-2.5-flash"
    (reply,) = found.replies
    assert json.loads(reply or "")["answer"] == "2"


def test_times_are_those_of_the_rows(shared_data: Path) -> None:
    spans = read(shared_data, "google-gemini-2025-08-01").spans
    # 2025-08-01T13:22:00.147Z, and 12.032 s later.
    assert spans[0].start_ns == 1_754_054_520_147_000_000
    assert spans[0].end_ns - spans[0].start_ns == 12_032_000_000


def test_another_projects_reading_of_the_samples_found_nothing_more(shared_data: Path) -> None:
    """A second opinion: every call and every word of a user or assistant that it found."""
    folder = shared_data / "traces" / "langfuse_api"
    names = documents(shared_data)
    assert len(names) == SAMPLES
    compared = 0
    for name in names:
        spans = {span.span_id: span for span in read(shared_data, name).spans}
        theirs = json.loads((folder / f"{name}.chatml.json").read_bytes())
        for own_id, sides in theirs.items():
            span = spans[span_id_of(own_id)]
            for side in sides.values():
                if side and side.get("success") and span.kind in ("model", "agent"):
                    compared += 1
                    assert missing(span, side["data"]) == [], (name, own_id)
    assert compared > 30


def missing(span: AgentSpan, messages: list[dict[str, Any]]) -> list[Any]:
    """What of these messages the span does not tell."""
    own = [*(span.messages_in or ()), *(span.messages_out or ())]
    texts = {message.text for message in own} | {span.system}
    calls = {(call.name, call.call_id) for message in own for call in message.calls}
    lost: list[Any] = []
    for message in messages:
        said = message.get("content")
        if isinstance(said, str) and said and message.get("role") != "tool" and said not in texts:
            lost.append(said)
        for call in message.get("tool_calls", ()):
            if (call["name"], call.get("id")) not in calls:
                lost.append(call)
    return lost
