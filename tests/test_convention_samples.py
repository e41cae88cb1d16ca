"""Samples of the conventions that many frameworks share, from bytes to turns.

The files in `data/captured` were sent by the real libraries, at the version in their name, in runs
with a scripted model; a golden file beside each shows all that was understood.
"""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from otlp_building import JSON
from telling import conversations_of, decoded, decoded_logs, flat_export, moved_logs, told

from adapters.otlp.decoder import OtlpDecoder
from adapters.otlp.logs import OtlpLogDecoder
from monitor.model import (
    ActionTurn,
    AgentSpan,
    Conversation,
    ResponseTurn,
    SpanKind,
    ToolCall,
    Usage,
)

DATA = Path(__file__).parent / "data"
TRACES = (
    "openinference_openai_0.1.66",
    "openinference_agents_2.6.0",
    "openinference_langgraph_0.1.80",
    "openinference_smolagents_0.1.43",
    "openinference_agno_1.0.15",
    "openllmetry_0.40.14_numbered",
    "openllmetry_0.62.4_content_off",
    "traceloop_sdk_0.62.4",
    "traceloop_langgraph_0.62.4",
    "otel_openai_v2_2.1b0",
)
LOGS = {"otel_openai_v2_2.1b0": "otel_openai_v2_2.1b0_logs"}
PARIS = {"city": "Paris", "temp_c": 18.5, "sky": "sunny"}
LONDON = {"city": "London", "temp_c": 14.0, "sky": "rainy"}
WARM = {"value": 65.3, "unit": "F"}
ASKED = (
    ToolCall("get_weather", {"city": "Paris"}, "call_01_0"),
    ToolCall("get_weather", {"city": "London"}, "call_01_1"),
)
CONVERT = ToolCall("convert_temp", {"celsius": 18.5, "to": "F"}, "call_03_0")
QUERIES = (
    "What is the weather in Paris and London?",
    "Convert Paris to Fahrenheit please",
    "Thanks!",
)
REPLIES = (
    "Paris: 18.5C and sunny. London: 14.0C and rainy.",
    "18.5C is 65.3F.",
    'You are welcome - "bye" ☃',
)
MODEL = "gpt-4o-mini-2024-07-18"


def captured(name: str) -> list[AgentSpan]:
    spans = decoded(gzip.decompress((DATA / "captured" / f"{name}.pb.gz").read_bytes()))
    if name in LOGS:
        path = DATA / "captured" / f"{LOGS[name]}.pb.gz"
        spans += decoded_logs(gzip.decompress(path.read_bytes()))
    return spans


def actions(conversation: Conversation) -> list[ActionTurn]:
    return [turn for turn in conversation.turns if isinstance(turn, ActionTurn)]


def replies(conversation: Conversation) -> list[str | None]:
    return [turn.text for turn in conversation.turns if isinstance(turn, ResponseTurn)]


@pytest.mark.parametrize("name", TRACES)
def test_a_capture_is_understood_as_its_golden_file_shows(name: str) -> None:
    text = told(conversations_of(captured(name)))
    golden = DATA / "golden" / f"{name}.txt"
    if os.environ.get("REWRITE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
        pytest.skip("rewritten; look at the difference before you commit it")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TRACES)
def test_a_capture_reads_alike_in_any_order_and_twice(name: str) -> None:
    spans = captured(name)
    assert told(conversations_of([*spans[::-1], *spans])) == told(conversations_of(spans))


@pytest.mark.parametrize(
    "name",
    [
        "openinference/captured_oi_openai_0.1.66",
        "openai_agents/captured_oi_openai_agents_2.6.0",
        "openllmetry/captured_openllmetry_openai_0.40.14_indexed",
        "openllmetry/captured_openllmetry_0.62.4_content_off",
        "otel_genai_logs/captured_otel_openai_v2_2.1b0",
    ],
)
def test_both_encodings_of_a_sample_read_alike(shared_data: Path, name: str) -> None:
    path = shared_data / "traces" / name
    text = path.with_name(f"{path.name}.otlp.json").read_bytes()
    binary = path.with_name(f"{path.name}.req1.pb").read_bytes()
    assert OtlpDecoder().decode(text, JSON).spans == decoded(binary)


def test_both_encodings_of_the_log_sample_read_alike(shared_data: Path) -> None:
    path = shared_data / "traces" / "otel_genai_logs" / "captured_otel_openai_v2_2.1b0.logs1"
    text = path.with_name(f"{path.name}.otlp.json").read_bytes()
    binary = path.with_name(f"{path.name}.pb").read_bytes()
    found = OtlpLogDecoder().decode(text, JSON)
    assert found.spans == decoded_logs(binary)
    assert len(found.spans) == 39


@pytest.mark.parametrize(
    ("name", "session", "tools"),
    [
        ("openinference_openai_0.1.66", "sess-oi-1", ["get_weather", "convert_temp"]),
        ("openllmetry_0.40.14_numbered", None, ["get_weather", "convert_temp"]),
        ("otel_openai_v2_2.1b0", None, []),
    ],
)
def test_a_bare_client_tells_the_conversation_over_its_traces(
    name: str, session: str | None, tools: list[str]
) -> None:
    spans = captured(name)
    (conversation,) = conversations_of(spans)
    assert len({span.trace_id for span in spans}) == 5
    assert conversation.conversation_id == session or conversation.synthetic_id
    assert (conversation.model, conversation.release) == (MODEL, f"1.2.3@{MODEL}")
    assert conversation.queries == QUERIES
    assert [turn.call for turn in actions(conversation)] == [*ASKED, CONVERT]
    assert [turn.result for turn in actions(conversation)] == [PARIS, LONDON, WARM]
    assert replies(conversation) == list(REPLIES)
    assert conversation.usage == Usage(840, 100)
    assert [tool.name for tool in conversation.tools] == tools


def test_content_that_was_left_out_is_never_an_empty_reply() -> None:
    found = conversations_of(captured("openllmetry_0.62.4_content_off"))
    assert {conversation.queries for conversation in found} == {(None,)}
    assert [replies(conversation) for conversation in found] == [[None]] * 5
    assert not any(actions(conversation) for conversation in found)
    assert [conversation.usage for conversation in found] == [
        Usage(tokens, 20) for tokens in (120, 150, 170, 190, 210)
    ]


def test_an_agents_run_is_told_by_its_model_calls_and_tools() -> None:
    (conversation,) = conversations_of(captured("openinference_agents_2.6.0"))
    assert conversation.synthetic_id
    assert conversation.queries == QUERIES
    # The tool spans have no id: it comes from the call that asked for them.
    assert [turn.call for turn in actions(conversation)] == [*ASKED, CONVERT]
    assert [turn.result for turn in actions(conversation)] == [PARIS, LONDON, WARM]
    assert replies(conversation) == [*REPLIES[:2], "Hello! How can I help?"]
    latencies = [turn.end_ns - turn.start_ns for turn in actions(conversation)]
    assert all(0 < latency < 100_000_000 for latency in latencies)


SHORT_RESULTS = ["18.5C and sunny", "14.0C and rainy", "65.3F"]


@pytest.mark.parametrize(
    ("name", "session"),
    [
        ("openinference_langgraph_0.1.80", "langgraph-thread"),
        ("openinference_agno_1.0.15", "agno-session"),
        ("traceloop_sdk_0.62.4", "trl-session"),
        ("traceloop_langgraph_0.62.4", "traceloop-thread"),
    ],
)
def test_a_framework_with_a_session_tells_the_whole_script(name: str, session: str) -> None:
    (conversation,) = conversations_of(captured(name))
    assert (conversation.conversation_id, conversation.synthetic_id) == (session, False)
    assert conversation.queries == QUERIES
    assert [turn.call for turn in actions(conversation)] == [
        ToolCall("get_weather", {"city": "Paris"}, "call_0_0"),
        ToolCall("get_weather", {"city": "London"}, "call_0_1"),
        ToolCall("convert_temp", {"celsius": 18.5, "to": "F"}, "call_1_0"),
    ]
    assert [turn.result for turn in actions(conversation)] == SHORT_RESULTS
    assert replies(conversation) == [*REPLIES[:2], "You are welcome. Have a nice day!"]
    assert conversation.usage == Usage(200, 60)
    assert sorted(tool.name for tool in conversation.tools) == ["convert_temp", "get_weather"]


def test_an_agent_that_replies_by_calling_a_tool_replies_once() -> None:
    # Each run is given the calls of the ones before, though not what was replied.
    (found,) = conversations_of(captured("openinference_smolagents_0.1.43"))
    assert found.queries == tuple(QUERIES)
    assert replies(found) == [*REPLIES[:2], "You are welcome. Have a nice day!"]
    calls = actions(found)
    assert [turn.call.name for turn in calls] == [
        *("get_weather", "get_weather", "final_answer"),
        *("convert_temp", "final_answer"),
        "final_answer",
    ]
    results = [turn.result for turn in calls if turn.call.name != "final_answer"]
    assert results == SHORT_RESULTS


def sample(shared_data: Path, name: str) -> list[AgentSpan]:
    return decoded(*flat_export(shared_data / "traces" / name))


def test_sub_agents_work_inside_the_tool_that_ran_them(shared_data: Path) -> None:
    spans = sample(shared_data, "openinference/claude_live_spans.json")
    (conversation,) = conversations_of(spans)
    # Only the outermost span names the session.
    assert (conversation.conversation_id, conversation.synthetic_id) == ("mock-session-001", False)
    assert conversation.queries == (
        "Look up the weather in New York and Seattle, then calculate the temperature difference.",
    )
    assert [(turn.depth, turn.call.name) for turn in actions(conversation)] == [
        *((0, "Agent"), (1, "Bash")),
        *((0, "Agent"), (1, "Bash")),
        *((0, "Agent"), (1, "Bash")),
    ]
    assert actions(conversation)[-1].call.arguments == {
        "command": "python3 -c 'print(89 - 72)'",
        "description": "Calculate temperature difference",
    }
    (reply,) = replies(conversation)
    assert reply is not None
    assert reply.startswith("New York is 89°F and Seattle is 72°F.")
    assert conversation.model == "us.anthropic.claude-sonnet-4-6"


def test_a_graph_is_one_exchange_in_spite_of_its_repeats(shared_data: Path) -> None:
    spans = sample(shared_data, "openinference/openinference_live_spans.json")
    (conversation,) = conversations_of(spans)
    assert conversation.queries == ("What is the weather difference between Taipei and Seattle?",)
    assert conversation.system == "You are a helpful weather assistant."
    asked, finish = actions(conversation)
    assert asked.call == ToolCall("get_weather", {"city": "Taipei"}, "toolu_001")
    assert not asked.has_result
    assert finish.call == ToolCall("finish", {"answer": "Taipei is warmer"}, "toolu_002")
    assert finish.result == "Taipei is warmer than Seattle."
    assert replies(conversation)[-1] == "Taipei is warmer than Seattle overall."


def test_an_agent_as_a_tool_hangs_below_the_tool(shared_data: Path) -> None:
    spans = sample(shared_data, "openai_agents/openai_agents_genai_live_spans.json")
    (conversation,) = conversations_of(spans)
    assert conversation.synthetic_id
    assert [
        (turn.depth, turn.call.name, turn.call.arguments) for turn in actions(conversation)
    ] == [
        (0, "ask_research_specialist", {"query": "current stock price of AMZN"}),
        (1, "lookup_stock_price", {"ticker": "AMZN"}),
        (0, "ask_math_specialist", {"query": "240.98 multiplied by 1000"}),
        (1, "multiply_numbers", {"a": 240, "b": 1000}),
        (1, "multiply_numbers", {"a": 0, "b": 1000}),
    ]
    assert len(replies(conversation)) == 1
    assert "lookup_stock_price" in [tool.name for tool in conversation.tools]


def test_a_handoff_is_a_call_and_the_client_below_is_noise(shared_data: Path) -> None:
    name = "agentcore_adot/openai_agents_openinference_adot_spans.json"
    (conversation,) = conversations_of(sample(shared_data, name))
    assert conversation.conversation_id == "29fb7129-8624-4bd2-b37b-dea182f63ce8"
    assert conversation.queries == ("What is 42 * 7, and what's the weather in Seattle?",)
    handoff, ignored, multiply = actions(conversation)
    assert (handoff.call.name, handoff.result) == ("transfer_to_math_specialist", "math_specialist")
    assert ignored.call.name == "transfer_to_research_specialist"
    assert multiply.call == ToolCall(
        "multiply_numbers", {"a": 42, "b": 7}, "call_6OK7LCjPfCaxaJID3WPkrmds"
    )
    assert (multiply.result, multiply.depth) == ("294.0", 0)
    assert len(replies(conversation)) == 1
    assert conversation.model == "gpt-4o-2024-08-06"


def test_events_alone_tell_two_turns_of_two_traces(shared_data: Path) -> None:
    path = shared_data / "traces" / "agentcore_adot" / "openinference_adot_spans.json"
    found = conversations_of(decoded_logs(moved_logs(path).SerializeToString()))
    assert [conversation.queries for conversation in found] == [
        ("What is the weather in Alaska?",),
        ("Tell me a joke",),
    ]
    (look,) = actions(found[0])
    assert look.call == ToolCall("get_weather", {"city": "Alaska"}, "tc_01")
    assert look.result == "Weather in Alaska: -5C, snowy"
    assert replies(found[0]) == ["The weather in Alaska is -5C and snowy."]
    assert replies(found[1]) == ["Why did the chicken cross the road? To get to the other side!"]


def test_moved_content_comes_back_to_its_spans(shared_data: Path) -> None:
    path = shared_data / "traces" / "agentcore_adot" / "openinference_adot_spans.json"
    details = decoded_logs(moved_logs(path).SerializeToString())
    kinds: tuple[SpanKind, ...] = (
        *("model", "tool", "model", "other", "other", "agent", "model", "agent"),
    )
    stripped = [
        AgentSpan(
            detail.trace_id,
            detail.span_id,
            kind,
            start_ns=detail.start_ns,
            end_ns=detail.start_ns + 10,
            conversation_id="s-1",
            call=ToolCall("get_weather", arguments_state="absent") if kind == "tool" else None,
        )
        for detail, kind in zip(details, kinds, strict=True)
    ]
    (conversation,) = conversations_of([*stripped, *details])
    assert conversation.conversation_id == "s-1"
    assert [turn.call for turn in actions(conversation)] == [
        ToolCall("get_weather", {"city": "Alaska"}, "tc_01")
    ]


def test_the_conventions_sample_keeps_a_failed_call(shared_data: Path) -> None:
    (conversation,) = conversations_of(
        sample(shared_data, "otel_genai/otel_genai_convention_spans.json")
    )
    assert (conversation.conversation_id, conversation.model) == ("conv_otel_test_001", "gpt-4o")
    paris, london = actions(conversation)
    assert paris.call == ToolCall("get_weather", {"location": "Paris"}, "call_paris_001")
    assert (paris.result, paris.error_type) == ("rainy, 57°F", None)
    assert london.call == ToolCall("get_weather", {"location": "London"}, "call_london_001")
    assert london.error_type == "TimeoutError"
    # The agent's own count is the sum of its calls'.
    assert conversation.usage == Usage(200, 60)


def test_foreign_and_invalid_spans_are_no_turns(shared_data: Path) -> None:
    folder = shared_data / "traces"
    invalid = (folder / "langwatch_canon" / "raw_otlp_advanced.json").read_bytes()
    refused = OtlpDecoder().decode(invalid, JSON)
    assert (refused.spans, [found.why for found in refused.rejections]) == ([], ["invalid_id"])
    official = OtlpDecoder().decode(
        (folder / "otlp_json" / "proto_examples_trace.json").read_bytes(), JSON
    )
    assert [span.kind for span in official.spans] == ["other"]
    assert official.spans[0].trace_id == "5b8efff798038103d269b633813fc60c"
    logs = (folder / "otlp_json" / "proto_examples_logs.json").read_bytes()
    assert OtlpLogDecoder().decode(logs, JSON) == ([], [], False)
