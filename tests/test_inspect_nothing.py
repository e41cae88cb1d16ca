"""What `inspect` says of files in which it finds no conversation, and of bags of attributes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.frameworks.span_records import SpanRecordDecoder
from monitor.cli import main

SPAN = {"traceId": "1" * 32, "spanId": "2" * 16, "name": "GET /", "startTimeUnixNano": "1"}
BAG: dict[str, Any] = {
    "scopeName": "ai",
    "spanName": "ai.generateText.doGenerate",
    "attributes": {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.response.text": "PONG",
        "gen_ai.response.finish_reasons": {"values": [{"stringValue": "stop"}]},
    },
}


def inspected(tmp_path: Path, *documents: Any) -> int:
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return main(["inspect", str(path)])


def test_records_of_another_kind_are_refused_one_by_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = {"topic": "otlp_spans", "encoding": "otlp_proto", "value_base64": "CgA="}
    assert inspected(tmp_path, record, record) == 1
    said = capsys.readouterr()
    assert said.out.count("JSON without a span of any format that was tried") == 2
    assert "2 refusals" in said.out
    assert "--format NAME" in said.err


def test_spans_of_no_agent_were_read_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export = {"resourceSpans": [{"scopeSpans": [{"spans": [SPAN]}]}]}
    assert inspected(tmp_path, export) == 0
    assert "spans were read, and none of them is an agent's work" in capsys.readouterr().err


def test_an_export_of_nothing_is_no_fault(tmp_path: Path) -> None:
    assert inspected(tmp_path, {"resourceSpans": []}, {}) == 0


def test_a_bag_of_attributes_is_a_span_that_its_content_names() -> None:
    decoder = SpanRecordDecoder()
    first, again, other = (
        decoder.decode(json.dumps(bag).encode(), "application/json").spans[0]
        for bag in (BAG, BAG, {**BAG, "spanName": "another"})
    )
    assert first == again
    assert first.span_id != other.span_id
    assert (first.kind, first.scope, first.name) == ("model", "ai", BAG["spanName"])
    assert first.messages_out is not None
    assert first.messages_out[0].text == "PONG"
    assert not first.cut_short


def test_the_words_of_a_recorded_list_are_not_taken_for_wrappers() -> None:
    bag = {**BAG, "attributes": {**BAG["attributes"], "ai.response.text": {"values": ["PONG"]}}}
    assert (
        SpanRecordDecoder().decode(json.dumps(bag).encode(), "application/json").spans[0].kind
        == "model"
    )
