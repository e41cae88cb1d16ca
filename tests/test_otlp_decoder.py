"""Traces from the wire: identity, encodings, limits, salvage."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from otlp_building import (
    END,
    JSON,
    PARENT,
    PROTOBUF,
    SPAN,
    START,
    TRACE,
    as_json,
    body,
    export,
    field,
    json_body,
    logs,
    span,
    varint,
)
from span_decoder_conformance import SpanDecoderConformance

from adapters.otlp.decoder import OtlpDecoder
from monitor.errors import MalformedPayload
from monitor.model import AgentSpan

CHAT = {
    "gen_ai.operation.name": "chat",
    "gen_ai.input.messages": json.dumps(
        [{"role": "user", "parts": [{"type": "text", "content": "Grüße ☃"}]}]
    ),
    "gen_ai.usage.input_tokens": 12,
}
LOOKUP = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "lookup",
    "gen_ai.tool.call.arguments": {"city": "Paris", "days": [1, 2], "exact": True, "near": 1.5},
}


class TestConformance(SpanDecoderConformance):
    samples: ClassVar[dict[str, bytes]] = {
        PROTOBUF: body(span(CHAT), span(LOOKUP, span_id=PARENT), resource={"service.version": "1"}),
        JSON: json_body(
            span(CHAT), span(LOOKUP, span_id=PARENT), resource={"service.version": "1"}
        ),
    }

    def decoder(self) -> OtlpDecoder:
        return OtlpDecoder()


def decode(payload: bytes, content_type: str = PROTOBUF, **limits: int) -> Any:
    return OtlpDecoder(limits).decode(payload, content_type)


def one(attributes: dict[str, Any], **fields: Any) -> AgentSpan:
    """The one span, which both encodings must read alike."""
    resource = fields.pop("resource", None)
    scope = fields.pop("scope", "shop")
    item = span(attributes, **fields)
    first = decode(body(item, resource=resource, scope=scope))
    second = decode(json_body(item, resource=resource, scope=scope), JSON)
    assert first == second
    assert first.rejections == []
    return first.spans[0]


def test_identity_times_and_status_come_from_the_span() -> None:
    found = one({"http.method": "GET"}, parent_id=PARENT, name="GET /", failed=True)
    assert found == AgentSpan(
        TRACE,
        SPAN,
        "other",
        name="GET /",
        parent_id=PARENT,
        start_ns=START,
        end_ns=END,
        error_type="error",
        scope="shop",
    )


def test_a_failed_span_is_named_by_its_error_type() -> None:
    assert one({"error.type": "TimeoutError"}, failed=True).error_type == "TimeoutError"


def test_an_error_type_alone_is_a_failure() -> None:
    assert one({"error.type": "429"}).error_type == "429"


@pytest.mark.parametrize("conversation", [{"session.id": "s-1"}, {"gen_ai.conversation.id": "s-1"}])
def test_a_span_is_tagged_with_its_conversation(conversation: dict[str, str]) -> None:
    assert one(conversation).conversation_id == "s-1"


def test_the_session_goes_before_the_conversation_attribute_and_langfuse_before_both() -> None:
    tags = {"gen_ai.conversation.id": "c", "session.id": "s"}
    assert one(tags).conversation_id == "s"
    assert one({**tags, "langfuse.session.id": "l"}).conversation_id == "l"


def test_a_configured_attribute_overrides_every_other_conversation_id() -> None:
    decoder = OtlpDecoder(conversation_attribute="app.thread")
    payload = body(span({"app.thread": "t-9", "langfuse.session.id": "l"}))
    assert decoder.decode(payload, PROTOBUF).spans[0].conversation_id == "t-9"


def test_a_tag_on_the_resource_is_the_weakest() -> None:
    resource = {"session.id": "from-resource"}
    assert one({}, resource=resource).conversation_id == "from-resource"
    own = {"gen_ai.conversation.id": "own"}
    assert one(own, resource=resource).conversation_id == "own"


@pytest.mark.parametrize(
    "constant",
    [
        "",
        "  ",
        "null",
        "None",
        "default_session",
        "undefined",
        "resp_6839",
        "chatcmpl-1",
        "x" * 257,
    ],
)
def test_an_id_that_names_no_conversation_is_refused(constant: str) -> None:
    assert one({"gen_ai.conversation.id": constant}).conversation_id is None


def test_a_refused_id_leaves_room_for_the_next_source() -> None:
    tags = {"session.id": "default_session", "gen_ai.conversation.id": "c-1"}
    assert one(tags).conversation_id == "c-1"


def test_the_id_of_a_response_is_no_conversation() -> None:
    tags = {"gen_ai.conversation.id": "msg-7", "gen_ai.response.id": "msg-7"}
    assert one(tags).conversation_id is None


def test_the_release_is_the_configured_attribute_then_langfuse_then_the_service() -> None:
    resource = {"service.version": "1.2.3"}
    assert one({}, resource=resource).release == "1.2.3"
    assert one({"langfuse.release": "lf-4"}, resource=resource).release == "lf-4"
    decoder = OtlpDecoder(release_attribute="app.build")
    payload = body(span({"langfuse.release": "lf-4"}), resource={**resource, "app.build": "b-77"})
    # The span's own word goes before its resource's.
    assert decoder.decode(payload, PROTOBUF).spans[0].release == "lf-4"
    payload = body(span({"app.build": "b-78"}), resource=resource)
    assert decoder.decode(payload, PROTOBUF).spans[0].release == "b-78"


def test_an_expected_reference_is_carried_along() -> None:
    reference = {"actions": [{"name": "lookup", "arguments": {"city": "Paris"}}]}
    assert one({"agent_monitor.expected": json.dumps(reference)}).expected == reference
    assert one({"agent_monitor.expected": reference}).expected == reference
    assert one({"agent_monitor.expected": "{cut"}).expected is None


def test_dropped_attributes_make_a_span_truncated() -> None:
    assert one({"a": 1}, dropped_attributes_count=3).truncated
    assert not one({"a": 1}).truncated


def test_hex_ids_of_any_case_become_lower_case() -> None:
    export_ = as_json(export(span(CHAT, parent_id=PARENT)))
    text = json.dumps(export_).replace(TRACE, TRACE.upper()).replace(PARENT, PARENT.upper())
    found = decode(text.encode(), JSON).spans[0]
    assert (found.trace_id, found.parent_id) == (TRACE, PARENT)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("traceId", "Z6z8LqVvEI+kU1/Ci6mXBQ=="),
        ("traceId", "Z6z8LqVvEI-kU1_Ci6mXBQ"),
        ("spanId", "ALXxcHh2qGo="),
        ("parentSpanId", "ALXxcHh2qGo="),
    ],
)
def test_base64_ids_are_refused_by_name(field: str, value: str) -> None:
    payload = as_json(export(span(CHAT), span(CHAT, span_id=PARENT)))
    payload["resourceSpans"][0]["scopeSpans"][0]["spans"][1][field] = value
    with pytest.raises(MalformedPayload, match=f"{field} looks like base64"):
        decode(json.dumps(payload).encode(), JSON)


@pytest.mark.parametrize(
    "ids",
    [
        {"trace_id": "00" * 16},
        {"span_id": "00" * 8},
        {"trace_id": "ab" * 8},
        {"span_id": "ab" * 16},
        {"trace_id": ""},
        {"span_id": ""},
    ],
)
def test_a_span_without_valid_ids_is_refused_alone(ids: dict[str, str]) -> None:
    for payload, kind in (
        (body(span(CHAT), span(CHAT, **ids)), PROTOBUF),
        (json_body(span(CHAT), span(CHAT, **ids)), JSON),
    ):
        decoded = decode(payload, kind)
        assert [item.span_id for item in decoded.spans] == [SPAN]
        assert [rejection.why for rejection in decoded.rejections] == ["invalid_id"]


def test_integers_come_as_text_or_as_numbers() -> None:
    payload = as_json(export(span(CHAT)))
    item = payload["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    item["startTimeUnixNano"] = START
    item["attributes"].append({"key": "gen_ai.usage.output_tokens", "value": {"intValue": 7}})
    found = decode(json.dumps(payload).encode(), JSON).spans[0]
    assert found.start_ns == START
    assert (found.usage.input_tokens, found.usage.output_tokens) == (12, 7)


@pytest.mark.parametrize("code", [2, "2", "STATUS_CODE_ERROR"])
def test_a_status_code_may_come_as_its_name(code: Any) -> None:
    payload = as_json(export(span(CHAT)))
    payload["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["status"] = {"code": code}
    assert decode(json.dumps(payload).encode(), JSON).spans[0].error_type == "error"


def test_unknown_fields_and_null_fields_of_json_are_ignored() -> None:
    payload = as_json(export(span(CHAT)))
    group = payload["resourceSpans"][0]
    group["newField"] = {"x": [1]}
    item = group["scopeSpans"][0]["spans"][0]
    item.update({"newField": 1, "parentSpanId": None, "events": None, "status": None})
    group["scopeSpans"].append(None)
    assert decode(json.dumps(payload).encode(), JSON).spans == decode(body(span(CHAT))).spans


def test_one_malformed_json_span_costs_one_span() -> None:
    payload = as_json(export(span(CHAT), span(CHAT, span_id=PARENT)))
    payload["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"] = "no list"
    decoded = decode(json.dumps(payload).encode(), JSON)
    assert [item.span_id for item in decoded.spans] == [PARENT]
    assert [rejection.why for rejection in decoded.rejections] == ["malformed_span"]


def test_one_malformed_protobuf_span_costs_one_span() -> None:
    good = span(CHAT).SerializeToString()
    bad = good[:30] + b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
    scoped = b"".join(b"\x12" + varint(len(item)) + item for item in (good, bad, good))
    group = b"\x12" + varint(len(scoped)) + scoped
    decoded = decode(b"\x0a" + varint(len(group)) + group)
    assert len(decoded.spans) == 2
    assert [rejection.why for rejection in decoded.rejections] == ["malformed_span"]


def test_a_logs_export_at_the_traces_address_is_malformed() -> None:
    record = {"event": "x", "attributes": {"a": "b"}}
    with pytest.raises(MalformedPayload):
        decode(logs(record).SerializeToString())
    with pytest.raises(MalformedPayload):
        decode(b'{"resourceLogs": [{"scopeLogs": []}]}', JSON)


def test_text_that_is_not_utf8_is_replaced_and_told() -> None:
    good = span({**CHAT, "gen_ai.agent.name": "a~~b"}, name="n~~n")
    payload = body(good, span(CHAT, span_id=PARENT)).replace(b"~~", b"\xff\xfe")
    decoded = decode(payload)
    assert decoded.salvaged
    assert decoded.rejections == []
    assert [(item.name, item.agent) for item in decoded.spans] == [
        ("n��n", "a��b"),
        ("chat", None),
    ]
    # Everything else of the span is as it was.
    assert decoded.spans[0].messages_in == decoded.spans[1].messages_in


def test_json_that_is_not_utf8_is_replaced_and_told() -> None:
    payload = json_body(span({**CHAT, "gen_ai.agent.name": "a~~b"})).replace(b"~~", b"\xff\xfe")
    decoded = decode(payload, JSON)
    assert decoded.salvaged
    assert decoded.spans[0].agent == "a��b"


def test_half_a_surrogate_pair_in_json_is_replaced() -> None:
    payload = json_body(span({**CHAT, "gen_ai.agent.name": "a~~b"})).replace(b"~~", rb"\ud83d")
    assert decode(payload, JSON).spans[0].agent == "a�b"


def test_a_nul_character_is_kept() -> None:
    assert one({"gen_ai.operation.name": "chat", "gen_ai.agent.name": "a\x00b"}).agent == "a\x00b"


def test_neighbours_of_a_large_span_keep_their_order() -> None:
    ids = [f"{number:016x}" for number in range(1, 8)]
    sizes = [10, 70_000, 10, 30_000, 30_000, 30_000, 10]
    spans = [
        span({**CHAT, "note": "x" * size}, span_id=id_)
        for id_, size in zip(ids, sizes, strict=True)
    ]
    assert [item.span_id for item in decode(body(*spans)).spans] == ids


def test_parts_of_one_resource_in_several_pieces_are_merged() -> None:
    # Protobuf lets a message come in pieces; their joined encodings decode as their merge.
    first, second = export(resource={"service.version": "7"}), export(span(CHAT))
    one_, two = (item.resource_spans[0].SerializeToString() for item in (first, second))
    assert decode(field(0x0A, one_ + two)).spans[0].release == "7"


def test_infinite_numbers_become_text_in_both_encodings() -> None:
    arguments = {"a": float("inf"), "b": float("nan")}
    found = decode(body(span({**LOOKUP, "gen_ai.tool.call.arguments": arguments}))).spans[0]
    payload = json_body(span({**LOOKUP, "gen_ai.tool.call.arguments": {"a": 1.0, "b": 2.0}}))
    payload = payload.replace(b'"doubleValue": 1.0', b'"doubleValue": "Infinity"')
    payload = payload.replace(b'"doubleValue": 2.0', b'"doubleValue": "NaN"')
    assert decode(payload, JSON).spans[0].call.arguments == found.call.arguments
    assert found.call.arguments == {"a": "inf", "b": "nan"}


VALUES = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=200),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(value=VALUES)
def test_any_value_reads_alike_from_both_encodings(value: Any) -> None:
    found = one({"agent_monitor.expected": {"value": value}})
    assert found.expected == {"value": value}


@settings(max_examples=60, deadline=None)
@given(counts=st.lists(st.integers(0, 6), max_size=4), texts=st.lists(st.text(max_size=30)))
def test_the_own_frame_walk_agrees_with_the_published_messages(
    counts: list[int], texts: list[str]
) -> None:
    request = ExportTraceServiceRequest()
    names = iter([*texts, *[""] * 40])
    for count in counts:
        group = request.resource_spans.add(schema_url=next(names))
        scoped = group.scope_spans.add(schema_url=next(names))
        for number in range(count):
            scoped.spans.append(span(CHAT, name=next(names), span_id=f"{number + 1:016x}"))
    decoded = decode(request.SerializeToString())
    expected = [
        item.name
        for group in request.resource_spans
        for scoped in group.scope_spans
        for item in scoped.spans
    ]
    assert [item.name for item in decoded.spans] == expected
