"""Bytes and back: spans, conversations, reports, report lines."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from pathlib import Path

import jsonschema
import msgspec
import pytest
from assembly_builders import asked, call, exchange, fake_evaluate, only, said, told, user
from hypothesis import given
from hypothesis import strategies as st

from monitor import codec
from monitor.errors import DamagedState, StateError
from monitor.model import AgentSpan, Message, ToolCall, ToolDefinition, Usage
from monitor.verdict import Report

SCHEMA = Path(codec.__file__).with_name("report.schema.json")
REPORT = fake_evaluate(only(exchange("a")), closed=True, revision=3)

texts = st.text(max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
tools = st.builds(ToolCall, texts, values, st.none() | texts)
messages = st.builds(
    Message,
    st.sampled_from(["user", "assistant", "tool"]),
    st.none() | texts,
    st.lists(tools, max_size=2).map(tuple),
)
histories = st.none() | st.lists(messages, max_size=5).map(tuple)
spans = st.builds(
    AgentSpan,
    trace_id=st.sampled_from(["a", "b"]),
    span_id=texts,
    kind=st.sampled_from(["agent", "model", "tool", "other"]),
    messages_in=histories,
    messages_out=histories,
    system=st.none() | st.sampled_from(["", "Be kind.", "Be brief."]),
    tool_definitions=st.none() | st.sampled_from([(), (ToolDefinition("f", parameters={}),)]),
    call=st.none() | tools,
    result=values,
    usage=st.none() | st.just(Usage(1, None)),
)


@given(st.lists(spans, max_size=6))
def test_decoding_after_encoding_gives_the_same_spans(some):
    assert codec.decode_spans(codec.encode_spans(some)) == some
    rows = [codec.encode_span(span) for span in some]
    assert codec.decode_spans(codec.encode_rows(rows)) == some


def test_a_repeated_history_is_written_once():
    turn = [user("x" * 500), asked(call("f", "1")), told("y" * 500, "1"), said("z" * 500)]
    history = tuple(turn * 20)
    whole = [AgentSpan("a", str(n), "model", messages_in=history[: n + 1]) for n in range(80)]
    data = codec.encode_spans(whole)
    assert codec.decode_spans(data) == whole
    assert len(data) < 30_000


def test_prompts_and_tools_that_repeat_are_written_once():
    tools = (ToolDefinition("f", parameters={"type": "object", "note": "n" * 1000}),)
    whole = [
        AgentSpan("a", str(n), "model", system="s" * 1000, tool_definitions=tools)
        for n in range(10)
    ]
    data = codec.encode_spans(whole)
    assert codec.decode_spans(data) == whole
    assert len(data) < 4_000


def test_integers_of_any_size_and_infinite_numbers_survive():
    span = AgentSpan("a", "b", "tool", call=ToolCall("f", {"n": 2**80, "m": [-(2**90)]}))
    span = msgspec.structs.replace(span, result={"x": math.inf}, has_result=True)
    assert codec.decode_spans(codec.encode_spans([span])) == [span]


def test_lone_surrogates_are_replaced():
    span = AgentSpan("a", "b", "model", messages_in=(user("x\ud800"),))
    (back,) = codec.decode_spans(codec.encode_spans([span]))
    assert back.messages_in == (user("x\ufffd"),)


def test_conversations_and_reports_survive():
    conversation = only(exchange("a"))
    assert codec.decode_conversation(codec.encode_conversation(conversation)) == conversation
    assert codec.decode_report(codec.encode_report(REPORT)) == REPORT


def test_a_report_line_is_one_json_object_with_the_keys_of_the_report():
    line = codec.report_line(REPORT)
    assert b"\n" not in line
    assert set(json.loads(line)) == set(Report.__struct_fields__) - {"started_s"}
    assert codec.report_line(codec.decode_report(codec.encode_report(REPORT))) == line


def test_a_report_line_does_not_depend_on_the_order_of_keys():
    one = msgspec.structs.replace(REPORT, sub_metrics={"structural": 1.0, "completeness": None})
    two = msgspec.structs.replace(REPORT, sub_metrics={"completeness": None, "structural": 1.0})
    assert codec.report_line(one) == codec.report_line(two)


def test_the_published_schema_is_the_codes_and_report_lines_follow_it():
    published = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert published == json.loads(json.dumps(codec.report_schema()))
    jsonschema.validate(json.loads(codec.report_line(REPORT)), published)


def test_an_unknown_version_names_both_versions():
    data = codec.seal(codec.SPANS, [[]], version=9)
    with pytest.raises(StateError, match="version 9, this release reads 1") as caught:
        codec.decode_spans(data)
    assert not isinstance(caught.value, DamagedState)


def test_state_of_another_kind_is_refused():
    with pytest.raises(DamagedState, match="foreign"):
        codec.decode_spans(codec.encode_report(REPORT))


@given(st.data())
def test_damaged_bytes_are_named_as_damage(data):
    whole = codec.encode_spans(exchange("a"))
    at = data.draw(st.integers(0, len(whole) - 1))
    broken = bytearray(whole)
    broken[at] ^= data.draw(st.integers(1, 255))
    for bad in (bytes(broken), whole[:at]):
        with pytest.raises(DamagedState):
            codec.decode_spans(bad)


@given(st.binary(max_size=60))
def test_any_bytes_behind_a_good_header_give_spans_or_the_state_error(body):
    head = codec.MARK + codec.SPANS + b"\x01"
    data = head + codec._checksum(head, body) + body
    with suppress(StateError):
        codec.decode_spans(data)
