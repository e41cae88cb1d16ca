"""Assembly on real captures and on every labelled trajectory.

Labels are read here only: they say which span is which turn.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from assembly_builders import conversations, fake_evaluate, only, story

from adapters.otlp.decoder import OtlpDecoder
from monitor.codec import report_line
from monitor.model import ActionTurn, AgentSpan, ResponseTurn, ToolCall
from monitor.pipeline import Pipeline

JSON = "application/json"
PROTOBUF = "application/x-protobuf"
SETS = (
    *("agentprocessbench_hotpotqa", "agentrx_magentic_one", "agentrx_tau_retail_gpt4o"),
    *("bfcl_mt_corrupt", "tau1_airline_gpt4o", "tau2_airline_button-claude-opus-4-6"),
    *("tau2_airline_claude-sonnet-4-5", "tau2_airline_gpt-4.1", "tau2_airline_gpt-4.1-sft"),
    *("tau2_airline_gpt-oss-120b", "tau2_airline_qwen2.5-7b"),
    *("tau2_airline_toolorchestra-gpt-5", "tau2_retail_gpt-4.1", "tau2_retail_gpt-4.1-sft"),
    *("tau2_retail_toolorchestra-gpt-5", "tau2_telecom_gpt-4.1", "tau2_telecom_gpt-4.1-sft"),
    "whowhen",
)
WEATHER = [
    '0 get_weather {"city":"Paris"} -> {"city":"Paris","temp_c":18.5,"sky":"sunny"}',
    '0 get_weather {"city":"London"} -> {"city":"London","temp_c":14.0,"sky":"rainy"}',
    '0 "Paris: 18.5C and sunny. London: 14.0C and rainy."',
    '1 convert_temp {"celsius":18.5,"to":"F"} -> {"value":65.3,"unit":"F"}',
    '1 "18.5C is 65.3F."',
    '2 "Hello! How can I help?"',
]
QUERIES = (
    "What is the weather in Paris and London?",
    "Convert Paris to Fahrenheit please",
    "Thanks!",
)


def lines(path: Path) -> Iterator[bytes]:
    with gzip.open(path, "rb") as file:
        yield from file


def decoded(payload: bytes, content_type: str = JSON) -> list[AgentSpan]:
    found = OtlpDecoder().decode(payload, content_type)
    assert found.rejections == []
    return found.spans


def objects(path: Path) -> dict[str, dict[str, Any]]:
    return {item["dialog_id"]: item for item in (json.loads(line) for line in lines(path))}


@pytest.mark.parametrize(
    ("name", "traces"),
    [
        *((name, "traces") for name in SETS),
        ("tau1_airline_gpt4o", "traces_full_history_sample"),
        ("tau1_airline_gpt4o", "traces_with_tools_sample"),
    ],
)
def test_every_labelled_turn_is_one_turn_in_its_place(shared_data, name, traces):
    folder = shared_data / "trajectories" / name
    dialogs = objects(folder / "dialogs.jsonl.gz")
    labels = objects(folder / "labels.jsonl.gz")
    for line in lines(folder / f"{traces}.jsonl.gz"):
        conversation = only(decoded(line))
        dialog = dialogs[conversation.conversation_id]
        spans = labels[conversation.conversation_id]["spans"]
        taken = [turn for turn in dialog["turns"] if turn["predict_turn"] is not None]
        assert len(conversation.turns) == len(taken)
        for turn, expected in zip(conversation.turns, taken, strict=True):
            assert spans[str(expected["turn_no"])] in turn.span_ids
            if isinstance(turn, ResponseTurn):
                assert turn.text == expected["predict_turn"]["response"]
            else:
                assert expected["turn"] == "Tool"
        named = [span_id for turn in conversation.turns for span_id in turn.span_ids]
        assert len(named) == len(set(named))


@pytest.mark.parametrize("name", SETS)
def test_the_query_of_a_turn_is_what_the_user_said(shared_data, name):
    folder = shared_data / "trajectories" / name
    dialogs = objects(folder / "dialogs.jsonl.gz")
    for line in lines(folder / "traces.jsonl.gz"):
        conversation = only(decoded(line))
        turns = dialogs[conversation.conversation_id]["turns"]
        taken = [turn for turn in turns if turn["predict_turn"] is not None]
        for turn, expected in zip(conversation.turns, taken, strict=True):
            if expected.get("user") is not None:
                # A synthetic set names the last of several messages in a row only.
                query = conversation.queries[turn.exchange] or ""
                assert query == expected["user"] or query.endswith("\n" + expected["user"])


@pytest.mark.parametrize("version", ["fmt2", "fmt5"])
def test_the_pydantic_ai_captures_are_read_right(shared_data, version):
    name = f"captured_pydantic_ai_2.68_{version}.req1.pb"
    payload = (shared_data / "traces" / "pydantic_ai" / name).read_bytes()
    conversation = only(decoded(payload, PROTOBUF))
    assert conversation.queries == QUERIES
    assert story(conversation) == WEATHER
    assert conversation.release.endswith("gpt-4o-mini-2024-07-18")


def test_the_convention_sample_is_one_exchange_with_a_failed_call(shared_data):
    name = "otel_genai_convention_spans.json"
    flat = json.loads((shared_data / "traces" / "otel_genai" / name).read_bytes())
    conversation = only(decoded(json.dumps(export_of(flat)).encode()))
    assert (conversation.conversation_id, conversation.release) == ("conv_otel_test_001", "gpt-4o")
    assert len(conversation.queries) == 1
    assert [type(turn) for turn in conversation.turns] == [
        *(ResponseTurn, ActionTurn, ActionTurn, ResponseTurn)
    ]
    paris, london = conversation.turns[1:3]
    assert paris.call == ToolCall("get_weather", {"location": "Paris"}, "call_paris_001")
    assert (paris.result, paris.error_type) == ("rainy, 57°F", None)
    assert london.call == ToolCall("get_weather", {"location": "London"}, "call_london_001")
    assert london.error_type == "TimeoutError"


def export_of(flat: list[dict[str, Any]]) -> dict[str, Any]:
    """A flat list of span objects as an OTLP/JSON export."""
    spans = [
        {
            "traceId": span["trace_id"],
            "spanId": span["span_id"],
            "parentSpanId": span["parent_span_id"] or "",
            "name": span["name"],
            "startTimeUnixNano": str(span["start_time"]),
            "endTimeUnixNano": str(span["end_time"]),
            "attributes": pairs(span["attributes"]),
            "status": {"code": 2 if span["status"]["code"] == "ERROR" else 1},
            "events": [
                {"name": event["event_name"], "attributes": pairs(event["attributes"])}
                for event in span["span_events"]
            ],
        }
        for span in flat
    ]
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


def pairs(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": any_value(value)} for key, value in values.items()]


def any_value(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return {"kvlistValue": {"values": pairs(value)}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(item) for item in value]}}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"stringValue": value}


def test_the_bare_client_capture_is_joined_over_its_traces(shared_data):
    name = "captured_oi_openai_0.1.66.req1.pb"
    payload = (shared_data / "traces" / "openinference" / name).read_bytes()
    spans = decoded(payload, PROTOBUF)
    conversation = only(spans)
    assert conversation.queries == QUERIES
    assert story(conversation)[:5] == WEATHER[:5]


def test_pipeline_and_assembly_agree_on_shuffled_trajectories(shared_data):
    folder = shared_data / "trajectories" / "tau1_airline_gpt4o"
    spans = [s for line in list(lines(folder / "traces.jsonl.gz"))[:15] for s in decoded(line)]
    expected = {
        name: report_line(fake_evaluate(conversation, closed=True, revision=0))
        for name, conversation in conversations(spans).items()
    }
    random.Random(3).shuffle(spans)
    pipeline = Pipeline(fake_evaluate, {})
    final = {}
    for at in range(0, len(spans), 25):
        effects = pipeline.observe(spans[at : at + 25] + spans[:5], at / 25)
        final.update({report.conversation_id: report for report in effects.reports})
    final.update({report.conversation_id: report for report in pipeline.flush(99.0).reports})
    assert expected == {
        name: report_line(msgspec.structs.replace(report, revision=0))
        for name, report in final.items()
    }
