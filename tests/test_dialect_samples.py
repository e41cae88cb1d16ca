"""Traces of single frameworks, from the exporter's bytes to turns, held against what happened.

The files in `data/captured` were sent by the real libraries, at the version in their name, in runs
with a scripted model; a golden file beside each shows all that was understood.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from assembly_builders import conversations, story
from otlp_building import JSON, body, span
from telling import conversations_of, decoded, flat_export, told

from adapters.otlp.decoder import OtlpDecoder
from monitor.model import ActionTurn, AgentSpan, Conversation, ResponseTurn, ToolCall, Usage

DATA = Path(__file__).parent / "data"
CAPTURED = {
    "langfuse_5.0.4": ("langfuse_5.0.4",),
    "langfuse_5.0.4_observe": ("langfuse_5.0.4_observe",),
    "strands_1.62_events": ("strands_1.62_events_1", "strands_1.62_events_2"),
    "strands_1.62_latest": ("strands_1.62_latest",),
    "strands_1.62_latest_copies": ("strands_1.62_latest_copies",),
    "strands_1.62_redacted": ("strands_1.62_redacted",),
    "pydantic_ai_0.8_fmt1": ("pydantic_ai_0.8_fmt1",),
    "pydantic_ai_2.68_fmt3": ("pydantic_ai_2.68_fmt3",),
    "pydantic_ai_2.68_fmt4": ("pydantic_ai_2.68_fmt4",),
    "pydantic_ai_2.68_fmt6": ("pydantic_ai_2.68_fmt6",),
    "google_adk_2.13_v1": ("google_adk_2.13_v1",),
    "google_adk_2.13_v2": ("google_adk_2.13_v2",),
    "google_adk_2.13_content_off": ("google_adk_2.13_content_off",),
    "ai_sdk_5_generate": ("ai_sdk_5_generate",),
    "ai_sdk_5_stream": ("ai_sdk_5_stream",),
    "ai_sdk_7_generate": ("ai_sdk_7_generate",),
    "langsmith_0.15_langgraph": ("langsmith_0.15_langgraph",),
    "logfire_4.16_clients": ("logfire_4.16_clients",),
    "mlflow_3.17_agent": ("mlflow_3.17_agent",),
    "langwatch_1.4_trace": ("langwatch_1.4_trace",),
    "agent_framework_1.23": ("agent_framework_1.23",),
}
QUERIES = (
    "What is the weather in Paris and London?",
    "Convert Paris to Fahrenheit please",
    "Thanks!",
)
CALLS = [
    ToolCall("get_weather", {"city": "Paris"}, "call_01_0"),
    ToolCall("get_weather", {"city": "London"}, "call_01_1"),
    ToolCall("convert_temp", {"celsius": 18.5, "to": "F"}, "call_03_0"),
]
RESULTS = [
    {"city": "Paris", "temp_c": 18.5, "sky": "sunny"},
    {"city": "London", "temp_c": 14.0, "sky": "rainy"},
    {"value": 65.3, "unit": "F"},
]
REPLIES = ["Paris: 18.5C and sunny. London: 14.0C and rainy.", "18.5C is 65.3F."]
SHORT = [
    '0 get_weather {"city":"Paris"} -> {"city":"Paris","temp_c":18.5}',
    '0 get_weather {"city":"London"} -> {"city":"London","temp_c":14.0}',
    '0 "Paris: 18.5C. London: 14.0C."',
    '1 "Converting."',
    '1 convert_temp {"celsius":18.5,"to":"F"} -> "65.3 F"',
    '1 "18.5C is 65.3F."',
]


def captured(name: str) -> list[AgentSpan]:
    paths = [DATA / "captured" / f"{part}.pb.gz" for part in CAPTURED[name]]
    return decoded(*[gzip.decompress(path.read_bytes()) for path in paths])


def understood(name: str) -> list[Conversation]:
    """What the pipeline makes of a capture; assembly alone where nothing names a conversation."""
    spans = captured(name)
    if any(span.conversation_id for span in spans):
        return conversations_of(spans)
    return sorted(conversations(spans).values(), key=lambda found: found.turns[0].start_ns)


def actions(conversation: Conversation) -> list[ActionTurn]:
    return [turn for turn in conversation.turns if isinstance(turn, ActionTurn)]


def replies(conversation: Conversation) -> list[ResponseTurn]:
    return [turn for turn in conversation.turns if isinstance(turn, ResponseTurn)]


@pytest.mark.parametrize("name", CAPTURED)
def test_a_capture_is_understood_as_its_golden_file_shows(name: str) -> None:
    text = told(understood(name))
    golden = DATA / "golden" / f"{name}.txt"
    if os.environ.get("REWRITE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
        pytest.skip("rewritten; look at the difference before you commit it")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CAPTURED)
def test_a_capture_reads_alike_in_any_order_and_twice(name: str) -> None:
    spans = captured(name)
    assert told(conversations_of([*spans[::-1], *spans])) == told(conversations_of(spans))


def payloads(folder: Path, name: str) -> list[bytes]:
    if name.endswith(".jsonl"):
        lines = (folder / name).read_text().splitlines()
        return [base64.b64decode(json.loads(line)["value_base64"]) for line in lines]
    return [path.read_bytes() for path in sorted(folder.glob(name))]


SCRIPTED = {
    "langfuse_otlp/captured_langfuse_py_5.0.4.req1.pb": (
        "sess-lf-1",
        'You are welcome - "bye" ☃',
        "gpt-4o-mini-2024-07-18",
    ),
    "langfuse_otlp/captured_langfuse_py_5.0.4.otlp.json": (
        "sess-lf-1",
        'You are welcome - "bye" ☃',
        "gpt-4o-mini-2024-07-18",
    ),
    "strands/captured_strands_1.62_legacy_events.req*.pb": (
        "sess-strands-1",
        "Hello! How can I help?",
        "gpt-4o-mini",
    ),
    "strands/captured_strands_1.62_legacy_events.otlp.json": (
        "sess-strands-1",
        "Hello! How can I help?",
        "gpt-4o-mini",
    ),
    "kafka_derived/strands_default.partition_traces_by_id.jsonl": (
        "sess-strands-1",
        "Hello! How can I help?",
        "gpt-4o-mini",
    ),
}


@pytest.mark.parametrize("name", SCRIPTED)
def test_the_scripted_conversation_is_understood(shared_data: Path, name: str) -> None:
    folder, _, pattern = name.partition("/")
    conversation_id, last, model = SCRIPTED[name]
    spans = decoded(*payloads(shared_data / "traces" / folder, pattern))
    (conversation,) = conversations_of(spans)
    assert conversation.conversation_id == conversation_id
    assert not conversation.synthetic_id
    assert conversation.queries == QUERIES
    assert [turn.call for turn in actions(conversation)] == CALLS
    assert [turn.result for turn in actions(conversation)] == RESULTS
    assert not any(turn.error_type for turn in actions(conversation))
    said = replies(conversation)
    assert [(turn.text or "").strip() for turn in said] == [*REPLIES, last]
    assert {turn.model for turn in conversation.turns} == {model}
    # The prompts of five calls: 120, 150, 170, 190, 210; each answered in 20 tokens.
    assert conversation.usage == Usage(840, 100)
    assert conversation.system == "You are a weather assistant."
    roots = sorted((item for item in spans if item.parent_id is None), key=lambda s: s.start_ns)
    latencies = [turn.end_ns - turn.start_ns for turn in said]
    assert latencies == [root.end_ns - root.start_ns for root in roots]


def test_records_of_kafka_carry_their_own_trace_each(shared_data: Path) -> None:
    path = shared_data / "traces" / "kafka_derived" / "strands_default.partition_traces_by_id.jsonl"
    keys = [json.loads(line)["key"] for line in path.read_text().splitlines()]
    found = [{s.trace_id for s in decoded(value)} for value in payloads(path.parent, path.name)]
    assert found == [{key} for key in keys]
    assert len(set(keys)) == 3


def test_the_kits_two_layers_are_one_call(shared_data: Path) -> None:
    exports = flat_export(shared_data / "traces" / "google_adk" / "adk_live_spans.json")
    spans = decoded(*exports)
    (conversation,) = conversations_of(spans)
    assert conversation.conversation_id == "b4866a2a-a3d4-4d2f-8f40-6bb0d03d135c"
    assert conversation.queries == ("What is 15 multiplied by 37?",)
    assert story(conversation) == [
        '0 calculator {"expression":"15 * 37"} -> {"result":"555"}',
        '0 "15 multiplied by 37 is 555."',
    ]
    (made,) = actions(conversation)
    assert (made.call.call_id, made.error_type) == ("uwpsprd2", None)
    assert {turn.model for turn in conversation.turns} == {"gemini-3.5-flash"}
    # 157 and 222 in, 51 and 33 out: each told by both layers, and counted once.
    assert conversation.usage == Usage(379, 84)
    assert [tool.name for tool in conversation.tools] == ["calculator"]
    assert conversation.system is not None
    assert conversation.system.startswith("You are a math assistant.")


def test_names_alone_are_not_empty_arguments(shared_data: Path) -> None:
    exports = flat_export(shared_data / "traces" / "autogen" / "autogen_live_spans.json")
    (conversation,) = conversations_of(decoded(*exports))
    assert conversation.synthetic_id
    (made,) = actions(conversation)
    assert made.call == ToolCall("calculate", None, "toolu_bdrk_011nDreLrC9nv8NZs6iGrx6d", "absent")
    assert not made.has_result
    # There is no content, so there is nothing to grade.
    assert [turn.text for turn in replies(conversation)] == [None]
    assert conversation.queries == (None,)


def opencode(shared_data: Path) -> tuple[dict[str, Any], AgentSpan]:
    path = shared_data / "traces" / "langwatch_canon" / "opencode-B.doStream.json"
    sample = json.loads(path.read_text())
    attributes: dict[str, Any] = {}
    flatten("", sample["attributes"], attributes)
    payload = body(span(attributes, name=sample["spanName"]), scope=sample["scopeName"])
    (found,) = decoded(payload)
    return attributes, found


def flatten(prefix: str, value: Any, into: dict[str, Any]) -> None:
    """A tree of attributes as the names that were sent; a relay's wrapping stays a value."""
    if isinstance(value, dict) and "values" not in value:
        for key, inner in value.items():
            flatten(f"{prefix}.{key}" if prefix else key, inner, into)
    else:
        into[prefix] = value


def test_a_streamed_call_of_the_ai_sdk_is_read(shared_data: Path) -> None:
    attributes, found = opencode(shared_data)
    assert (found.kind, found.vocabulary) == ("model", "vercel")
    assert found.conversation_id == "ses_163f6d41affe5UvQOoAwyu4xVP"
    assert found.model == "claude-haiku-4-5-20251001"
    assert found.usage == Usage(12632, 13)
    assert found.messages_out is not None
    assert [message.text for message in found.messages_out] == ["PONG-OPENCODE-B1"]
    sent = json.loads(attributes["ai.prompt.messages"])
    assert found.messages_in is not None
    assert [message.role for message in found.messages_in] == [item["role"] for item in sent]
    assert found.system is not None
    assert found.system.startswith("You are OpenCode")
    definitions = attributes["ai.prompt.tools"]["values"]
    assert found.tool_definitions is not None
    assert [tool.name for tool in found.tool_definitions] == [
        json.loads(item["stringValue"])["name"] for item in definitions
    ]


def test_ids_of_zeros_are_refused_alone(shared_data: Path) -> None:
    path = shared_data / "traces" / "langwatch_canon" / "raw_otlp_advanced.json"
    found = OtlpDecoder().decode(path.read_bytes(), JSON)
    assert found.spans == []
    assert [rejection.why for rejection in found.rejections] == ["invalid_id"]


@pytest.mark.parametrize(
    "name",
    [*(f"pydantic_ai_2.68_fmt{number}" for number in (3, 4, 6)), "langwatch_1.4_trace"],
)
def test_frameworks_that_name_the_conversation_are_read_alike(name: str) -> None:
    (conversation,) = conversations_of(captured(name))
    assert not conversation.synthetic_id
    assert conversation.queries == QUERIES
    assert story(conversation) == [*SHORT, '2 "Bye!"']


@pytest.mark.parametrize(
    "name", ["pydantic_ai_0.8_fmt1", "mlflow_3.17_agent", "agent_framework_1.23"]
)
def test_frameworks_that_name_no_conversation_are_read_alike(name: str) -> None:
    found = understood(name)
    assert [conversation.synthetic_id for conversation in found] == [True] * 3
    assert [conversation.queries for conversation in found] == [(query,) for query in QUERIES]
    assert [line[2:] for conversation in found for line in story(conversation)] == [
        line[2:] for line in [*SHORT, '2 "Bye!"']
    ]


@pytest.mark.parametrize("name", ["strands_1.62_latest", "strands_1.62_latest_copies"])
def test_strands_latest_convention_reads_alike(name: str) -> None:
    (conversation,) = conversations_of(captured(name))
    assert conversation.conversation_id == "s-1"
    assert story(conversation) == [
        *SHORT,
        '2 broken {} -> "Error: no luck"',
        '2 "It failed."',
        '3 "Bye!"',
    ]
    assert [turn.error_type for turn in actions(conversation)] == [None, None, None, "ValueError"]
    assert conversation.usage == Usage(70, 35)


def test_placeholders_of_hidden_content_are_no_content() -> None:
    (conversation,) = conversations_of(captured("strands_1.62_redacted"))
    assert set(conversation.queries) == {None}
    assert conversation.system is None
    assert {turn.text for turn in replies(conversation)} == {None}
    assert {turn.call.arguments_state for turn in actions(conversation)} == {"absent"}
    assert not any(turn.has_result for turn in actions(conversation))


@pytest.mark.parametrize("name", ["google_adk_2.13_v1", "google_adk_2.13_v2"])
def test_an_agent_that_takes_over_serves_the_same_user_message(name: str) -> None:
    (conversation,) = conversations_of(captured(name))
    assert conversation.queries == (
        QUERIES[0],
        QUERIES[1],
        "What is 6 times 7?",
        "Thanks!",
    )
    assert story(conversation) == [
        *SHORT[:4],
        '1 convert_temp {"celsius":18.5,"to":"F"} -> {"result":"65.3 F"}',
        SHORT[5],
        '2 transfer_to_agent {"agent_name":"math_agent"} -> {"result":null}',
        '2 multiply {"a":6,"b":7} -> {"result":42}',
        '2 "6 times 7 is 42."',
        '3 "6 times 7 is 42."',
    ]
    # Eight calls of the model, each of 10 and 5 tokens.
    assert conversation.usage == Usage(80, 40)


def test_the_kit_with_content_off_leaves_all_unknown() -> None:
    (conversation,) = conversations_of(captured("google_adk_2.13_content_off"))
    assert {turn.call.arguments_state for turn in actions(conversation)} == {"absent"}
    assert not any(turn.has_result for turn in actions(conversation))
    assert {turn.text for turn in replies(conversation)} == {None}


def test_a_decorated_function_frames_its_turn() -> None:
    (conversation,) = conversations_of(captured("langfuse_5.0.4_observe"))
    assert (conversation.conversation_id, conversation.release) == ("s-9", "r7@gpt-x")
    assert conversation.queries == QUERIES
    first, second, failed = actions(conversation)
    # Positional arguments have no names; the model's own call tells them.
    assert (first.call.arguments, second.call.arguments) == ({"city": "Paris"}, {"city": "London"})
    assert (second.call.call_id, second.result) == ("c1", {"city": "London", "temp_c": 14.0})
    assert (failed.call.name, failed.error_type) == ("convert_temp", "error")
    assert [turn.text for turn in replies(conversation)] == [
        "Paris: 18.5C. London: 14.0C.",
        "Converting.",
        "I could not.",
        "Bye!",
    ]
    # What was read from the cache is a part of the 10 tokens of each of five calls.
    assert conversation.usage == Usage(50, 25)


@pytest.mark.parametrize("name", ["ai_sdk_5_generate", "ai_sdk_5_stream"])
def test_the_outer_span_of_the_ai_sdk_is_no_second_call(name: str) -> None:
    (conversation,) = conversations_of(captured(name))
    assert conversation.conversation_id == "sess-v"
    assert conversation.queries == QUERIES
    assert [line.replace("14.0}", "14}") for line in [*SHORT, '2 "Bye!"']] == story(conversation)
    # Five calls of 10 and 5 tokens; the outer spans repeat their sums.
    assert conversation.usage == Usage(50, 25)
    assert conversation.system == "You are a weather assistant."


def test_the_newer_tracer_of_the_ai_sdk_names_no_conversation() -> None:
    found = understood("ai_sdk_7_generate")
    assert [conversation.queries for conversation in found] == [(query,) for query in QUERIES]
    assert [conversation.usage for conversation in found] == [
        Usage(20, 10),
        Usage(20, 10),
        Usage(10, 5),
    ]
    assert {conversation.agent for c in found for conversation in c.turns} == {"weather"}


def test_an_interrupted_graph_is_one_turn_without_an_error() -> None:
    spans = captured("langsmith_0.15_langgraph")
    assert len({span.trace_id for span in spans}) == 5
    (conversation,) = conversations_of(spans)
    assert (conversation.conversation_id, conversation.model) == ("th-1", "scripted-1")
    assert conversation.queries == (QUERIES[0], QUERIES[1], "Pay 5 please", "Thanks!")
    assert story(conversation) == [
        *SHORT,
        '2 pay {"amount":5} -> "paid yes"',
        '2 "Paid."',
        '3 "Bye!"',
    ]
    assert not any(turn.error_type for turn in actions(conversation))
    assert conversation.usage == Usage(70, 35)


def test_requests_and_streams_of_logfires_clients_are_calls() -> None:
    weather, stream, oslo = understood("logfire_4.16_clients")
    assert story(weather)[-1] == '0 "Paris: 18.5C. London: 14.0C."'
    assert [turn.call.arguments for turn in actions(weather)] == [
        {"city": "Paris"},
        {"city": "London"},
    ]
    # The request of a stream and the log behind it are one call.
    assert story(stream) == ['0 "Bye!"']
    # Anthropic's arguments stand inside `input`, and its calls lose their ids.
    (made,) = actions(oslo)
    assert made.call == ToolCall("get_weather", {"city": "Oslo"})
    assert (made.result, oslo.system, oslo.usage) == ("sunny", "Be brief.", Usage(20, 10))
