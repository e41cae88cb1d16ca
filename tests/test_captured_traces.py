"""Traces that real SDKs sent, and the labelled trajectories, read span by span."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from otlp_building import JSON, PROTOBUF, body, json_body, pairs, span

from adapters.otlp.decoder import OtlpDecoder
from monitor.model import AgentSpan, Message, ToolCall, ToolDefinition, ToolResult, Usage

PYDANTIC = ["fmt2", "fmt5"]
DATA = Path(__file__).parent / "data"
PARIS = {"city": "Paris", "temp_c": 18.5, "sky": "sunny"}
LONDON = {"city": "London", "temp_c": 14.0, "sky": "rainy"}
QUERIES = [
    "What is the weather in Paris and London?",
    "Convert Paris to Fahrenheit please",
    "Thanks!",
]
REPLIES = [
    "Paris: 18.5C and sunny. London: 14.0C and rainy.",
    "18.5C is 65.3F.",
    "Hello! How can I help?",
]


def captured(name: str) -> list[AgentSpan]:
    """Own captures of Pydantic AI 2.68, as its exporter sent them."""
    decoded = OtlpDecoder().decode((DATA / f"pydantic_ai_{name}.pb").read_bytes(), PROTOBUF)
    assert decoded.rejections == []
    return decoded.spans


@pytest.mark.parametrize("name", PYDANTIC)
def test_pydantic_ai_reads_alike_from_json(shared_data: Path, name: str) -> None:
    path = shared_data / "traces" / "pydantic_ai" / f"captured_pydantic_ai_2.68_{name}.otlp.json"
    assert OtlpDecoder().decode(path.read_bytes(), JSON).spans == captured(name)


@pytest.mark.parametrize("name", PYDANTIC)
def test_pydantic_ai_spans_have_their_kind_and_conversation(name: str) -> None:
    spans = captured(name)
    assert Counter(item.kind for item in spans) == {"model": 5, "tool": 3, "agent": 3}
    assert len({item.trace_id for item in spans}) == 3
    assert {item.vocabulary for item in spans} == {"pydantic_ai"}
    assert {item.release for item in spans} == {"1.2.3"}
    assert {item.agent for item in spans} == {"weather_agent"}
    assert not any(item.truncated for item in spans)
    conversations = {item.conversation_id for item in spans}
    assert len(conversations) == 1
    assert None not in conversations


@pytest.mark.parametrize("name", PYDANTIC)
def test_pydantic_ai_tool_runs_carry_arguments_and_results(name: str) -> None:
    tools = [item for item in captured(name) if item.kind == "tool"]
    assert [item.call for item in tools] == [
        ToolCall("get_weather", {"city": "Paris"}, "call_01_0"),
        ToolCall("get_weather", {"city": "London"}, "call_01_1"),
        ToolCall("convert_temp", {"celsius": 18.5, "to": "F"}, "call_03_0"),
    ]
    assert [item.result for item in tools[:2]] == [PARIS, LONDON]
    assert all(item.has_result for item in tools)


@pytest.mark.parametrize("name", PYDANTIC)
def test_pydantic_ai_model_calls_carry_the_conversation(name: str) -> None:
    calls = [item for item in captured(name) if item.kind == "model"]
    assert {item.model for item in calls} == {"gpt-4o-mini-2024-07-18"}
    assert calls[0].usage == Usage(120, 20)
    assert calls[0].system == "You are a weather assistant."
    assert calls[0].messages_in == (
        Message("system", "You are a weather assistant."),
        Message("user", QUERIES[0]),
    )
    # The arguments stand as text in the messages, and are an object all the same.
    asked = (
        ToolCall("get_weather", {"city": "Paris"}, "call_01_0"),
        ToolCall("get_weather", {"city": "London"}, "call_01_1"),
    )
    assert calls[0].messages_out == (Message("assistant", calls=asked),)
    # The results come in a message of the role `user`, which is no user turn.
    assert calls[1].messages_in
    assert calls[1].messages_in[-1] == Message(
        "user",
        results=(
            ToolResult(PARIS, "call_01_0", "get_weather"),
            ToolResult(LONDON, "call_01_1", "get_weather"),
        ),
    )
    said = [item.messages_out[0].text for item in calls if item.messages_out]
    assert [text for text in said if text] == REPLIES
    names = [definition.name for definition in calls[0].tool_definitions]
    assert names == ["get_weather", "convert_temp"]
    assert calls[0].tool_definitions
    assert calls[0].tool_definitions[0] == ToolDefinition(
        "get_weather",
        parameters={
            "additionalProperties": False,
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "type": "object",
        },
        description="Weather",
    )


@pytest.mark.parametrize("name", PYDANTIC)
def test_pydantic_ai_agents_carry_query_and_reply(name: str) -> None:
    agents = [item for item in captured(name) if item.kind == "agent"]
    assert all(item.parent_id is None and item.usage is None for item in agents)
    queries = [
        [message.text for message in item.messages_in if message.role == "user" and message.text]
        for item in agents
    ]
    assert queries == [QUERIES[:1], QUERIES[:2], QUERIES[:3]]
    assert [item.messages_out for item in agents] == [
        (Message("assistant", reply),) for reply in REPLIES
    ]


def convention_spans(shared_data: Path) -> list[AgentSpan]:
    """The convention's sample, a flat list of span objects, sent in both encodings."""
    path = shared_data / "traces" / "otel_genai" / "otel_genai_convention_spans.json"
    items = [_as_span(item) for item in json.loads(path.read_text())]
    scope = "my-weather-app"
    first = OtlpDecoder().decode(body(*items, scope=scope), PROTOBUF)
    assert OtlpDecoder().decode(json_body(*items, scope=scope), JSON) == first
    assert first.rejections == []
    return first.spans


def _as_span(item: dict[str, Any]) -> Any:
    events = [(event["event_name"], event["attributes"]) for event in item["span_events"]]
    return span(
        item["attributes"],
        trace_id=item["trace_id"],
        span_id=item["span_id"],
        parent_id=item["parent_span_id"] or "",
        name=item["name"],
        start=item["start_time"],
        end=item["end_time"],
        failed=item["status"]["code"] == "ERROR",
        events=events,
    )


def test_the_conventions_own_sample_is_read_right(shared_data: Path) -> None:
    agent, first, paris, london, last = convention_spans(shared_data)
    assert [item.kind for item in (agent, first, paris, london, last)] == [
        "agent",
        "model",
        "tool",
        "tool",
        "model",
    ]
    spans = (agent, first, paris, london, last)
    assert {item.conversation_id for item in spans} == {"conv_otel_test_001"}
    assert {item.model for item in (agent, first, last)} == {"gpt-4o"}
    assert paris.call == ToolCall("get_weather", {"location": "Paris"}, "call_paris_001")
    assert (paris.result, paris.has_result, paris.error_type) == ("rainy, 57°F", True, None)
    assert london.call == ToolCall("get_weather", {"location": "London"}, "call_london_001")
    assert (london.has_result, london.error_type) == (False, "TimeoutError")
    # The content of the model calls stands in structured events.
    query = "What's the weather in Paris and London?"
    assert first.messages_in == (Message("user", query),)
    assert first.messages_out
    assert first.messages_out[0].calls == (paris.call, london.call)
    assert [result.result for message in last.messages_in for result in message.results] == [
        "rainy, 57°F",
        "Error: TimeoutError",
    ]
    assert agent.messages_out == last.messages_out
    assert first.usage == Usage(80, 25)
    assert agent.usage is None


def test_the_official_json_example_is_read(shared_data: Path) -> None:
    folder = shared_data / "traces" / "otlp_json"
    decoded = OtlpDecoder().decode((folder / "proto_examples_trace.json").read_bytes(), JSON)
    assert decoded.spans == [
        AgentSpan(
            "5b8efff798038103d269b633813fc60c",
            "eee19b7ec3c1b174",
            "other",
            name="I'm a server span",
            parent_id="eee19b7ec3c1b173",
            start_ns=1544712660000000000,
            end_ns=1544712661000000000,
            scope="my.library",
            service="my.service",
        )
    ]


def trajectories(shared_data: Path) -> Iterator[tuple[Path, list[bytes]]]:
    for path in sorted((shared_data / "trajectories").glob("*/traces*.jsonl.gz")):
        with gzip.open(path) as lines:
            yield path, list(lines)


def attributes_of(item: dict[str, Any]) -> dict[str, Any]:
    """String attributes as they were sent."""
    return {
        pair["key"]: pair["value"]["stringValue"]
        for pair in item["attributes"]
        if "stringValue" in pair["value"]
    }


def sent_spans(line: bytes) -> list[dict[str, Any]]:
    return [
        item
        for group in json.loads(line)["resourceSpans"]
        for scoped in group["scopeSpans"]
        for item in scoped["spans"]
    ]


KINDS = {"chat": "model", "execute_tool": "tool", "invoke_agent": "agent"}


def test_every_trajectory_is_read_without_a_refusal(shared_data: Path) -> None:
    decoder = OtlpDecoder()
    spans = 0
    for path, lines in trajectories(shared_data):
        for line in lines:
            decoded = decoder.decode(line, JSON)
            assert decoded.rejections == [], path
            sent = sent_spans(line)
            assert len(decoded.spans) == len(sent)
            for found, item in zip(decoded.spans, sent, strict=True):
                _check_against_sent(found, item)
            spans += len(sent)
    assert spans > 29_000


def _check_against_sent(found: AgentSpan, item: dict[str, Any]) -> None:
    sent = attributes_of(item)
    assert (found.trace_id, found.span_id) == (item["traceId"], item["spanId"])
    assert found.parent_id == (item.get("parentSpanId") or None)
    assert found.kind == KINDS[sent["gen_ai.operation.name"]]
    assert found.conversation_id == sent["gen_ai.conversation.id"]
    assert found.agent == sent.get("gen_ai.agent.name")
    assert (found.error_type is not None) == (item["status"].get("code") == 2)
    assert not found.truncated
    if found.kind == "tool":
        _check_tool(found, sent)
        return
    assert _plain(found.messages_in) == _sent(sent.get("gen_ai.input.messages"))
    assert _plain(found.messages_out) == _sent(sent.get("gen_ai.output.messages"))


def _check_tool(found: AgentSpan, sent: dict[str, Any]) -> None:
    assert found.call is not None
    assert found.call.name == sent["gen_ai.tool.name"]
    assert found.call.call_id == sent["gen_ai.tool.call.id"]
    assert found.call.arguments == json.loads(sent["gen_ai.tool.call.arguments"])
    assert found.has_result == ("gen_ai.tool.call.result" in sent)
    assert found.result == _result(sent.get("gen_ai.tool.call.result"))


def _result(text: Any) -> Any:
    """JSON objects, lists and texts as values; anything else as its own text."""
    if not isinstance(text, str):
        return text
    if text.strip()[:1] in ("{", "[", '"') or text in ("true", "false", "null"):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _plain(messages: tuple[Message, ...] | None) -> Any:
    if messages is None:
        return None
    return [
        (
            message.role,
            message.text,
            [(call.call_id, call.name, call.arguments) for call in message.calls],
            [(result.call_id, result.result) for result in message.results],
        )
        for message in messages
    ]


def _sent(text: str | None) -> Any:
    if text is None:
        return None
    found = []
    for message in json.loads(text):
        parts = message["parts"]
        texts = [part["content"] for part in parts if part["type"] == "text"]
        found.append(
            (
                message["role"],
                "\n".join(texts) if texts else None,
                [
                    (part["id"], part["name"], part["arguments"])
                    for part in parts
                    if part["type"] == "tool_call"
                ],
                [
                    (part["id"], _result(part["response"]))
                    for part in parts
                    if part["type"] == "tool_call_response"
                ],
            )
        )
    return found


def test_a_trajectory_sent_as_protobuf_reads_as_from_json(shared_data: Path) -> None:
    for path, lines in trajectories(shared_data):
        for line in lines[:3]:
            request = _as_protobuf(line)
            first = OtlpDecoder().decode(request, PROTOBUF)
            assert first == OtlpDecoder().decode(line, JSON), path


def _as_protobuf(line: bytes) -> bytes:
    request = ExportTraceServiceRequest()
    for sent in json.loads(line)["resourceSpans"]:
        group = request.resource_spans.add()
        group.resource.attributes.extend(pairs(_values(sent["resource"]["attributes"])))
        for scope in sent["scopeSpans"]:
            scoped = group.scope_spans.add()
            scoped.scope.name = scope["scope"]["name"]
            for item in scope["spans"]:
                scoped.spans.append(
                    span(
                        _values(item["attributes"]),
                        trace_id=item["traceId"],
                        span_id=item["spanId"],
                        parent_id=item.get("parentSpanId", ""),
                        name=item["name"],
                        start=int(item["startTimeUnixNano"]),
                        end=int(item["endTimeUnixNano"]),
                        failed=item["status"].get("code") == 2,
                        events=[
                            (event["name"], _values(event.get("attributes", [])))
                            for event in item.get("events", [])
                        ],
                    )
                )
    return request.SerializeToString()


def _values(items: list[dict[str, Any]]) -> dict[str, Any]:
    return {item["key"]: _value(item["value"]) for item in items}


def _value(value: dict[str, Any]) -> Any:
    ((kind, found),) = value.items()
    if kind == "intValue":
        return int(found)
    if kind == "arrayValue":
        return [_value(item) for item in found.get("values", [])]
    if kind == "kvlistValue":
        return _values(found.get("values", []))
    return found
