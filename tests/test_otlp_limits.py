"""What one payload, and one span in it, may hold."""

from __future__ import annotations

import json
import time
import tracemalloc
from typing import Any

import pytest
from otlp_building import JSON, PARENT, PROTOBUF, body, field, json_body, span, varint, wrapped

from adapters.otlp.decoder import OtlpDecoder
from adapters.otlp.limits import DecodeLimits
from monitor.config.keeping import LimitSettings
from monitor.errors import ConfigurationError, PayloadTooLarge

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


def decode(payload: bytes, content_type: str = PROTOBUF, **limits: int) -> Any:
    return OtlpDecoder(limits).decode(payload, content_type)


def test_a_span_with_too_many_attributes_is_refused_alone() -> None:
    crowded = span({**CHAT, **{f"k{number}": 1 for number in range(20)}})
    for payload, kind in (
        (body(crowded, span(CHAT, span_id=PARENT)), PROTOBUF),
        (json_body(crowded, span(CHAT, span_id=PARENT)), JSON),
    ):
        decoded = decode(payload, kind, attributes=10)
        assert [item.span_id for item in decoded.spans] == [PARENT]
        assert [rejection.why for rejection in decoded.rejections] == ["attributes"]


def test_a_refusal_holds_no_content_of_the_span() -> None:
    secret = "4111 1111 1111 1111"
    crowded = span({f"{secret}{number}": secret for number in range(20)}, name=secret)
    decoded = decode(body(crowded), attributes=10)
    assert secret not in decoded.rejections[0].message


@pytest.mark.parametrize("size", [1_000, 100_000])
def test_a_value_over_the_limit_costs_its_span(size: int) -> None:
    long = span({"gen_ai.operation.name": "chat", "gen_ai.agent.name": "x" * (size + 1)})
    for payload, kind in ((body(long), PROTOBUF), (json_body(long), JSON)):
        decoded = decode(payload, kind, value_bytes=size)
        assert [rejection.why for rejection in decoded.rejections] == ["value_bytes"]


def test_a_long_value_that_nobody_reads_costs_nothing() -> None:
    decoded = decode(body(span({**CHAT, "http.body": "x" * 5_000})), value_bytes=1_000)
    assert decoded.rejections == []


def nested(depth: int) -> Any:
    value: Any = "deep"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("depth", [40, 62])
def test_a_structured_value_may_nest_up_to_the_limit(depth: int) -> None:
    # Protobuf's own parser gives up at 51 nested lists.
    found = _deep_body(depth)
    decoded = decode(found)
    assert decoded.rejections == []
    assert decoded.spans[0].call.arguments == nested(depth)


@pytest.mark.parametrize("depth", [66, 5_000])
def test_a_value_that_nests_too_deep_costs_its_span(depth: int) -> None:
    decoded = decode(_deep_body(depth))
    assert [rejection.why for rejection in decoded.rejections] == ["nesting"]


@pytest.mark.parametrize("depth", [66, 900, 40_000])
def test_json_text_that_nests_too_deep_costs_its_span(depth: int) -> None:
    text = "[" * depth + "]" * depth
    for key in ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result"):
        decoded = decode(body(span({**LOOKUP, key: text}), span(CHAT, span_id=PARENT)))
        assert [rejection.why for rejection in decoded.rejections] == ["nesting"]
        assert [item.span_id for item in decoded.spans] == [PARENT]


def _deep_body(depth: int) -> bytes:
    """Written by hand, since protobuf's own encoder does not nest this deep."""
    value = b"\x0a\x04deep"
    for _ in range(depth):
        listed = b"\x0a" + varint(len(value)) + value
        value = b"\x2a" + varint(len(listed)) + listed
    key = b"gen_ai.tool.call.arguments"
    pair = b"\x0a" + varint(len(key)) + key + b"\x12" + varint(len(value)) + value
    tool = span({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t"})
    item = tool.SerializeToString() + b"\x4a" + varint(len(pair)) + pair
    scoped = b"\x12" + varint(len(item)) + item
    group = b"\x12" + varint(len(scoped)) + scoped
    return b"\x0a" + varint(len(group)) + group


@pytest.mark.parametrize(
    ("kind", "bomb"),
    [
        # One resource holding 2 million empty spans, 5 million empty resources, one span of
        # 2 million empty attributes, one of as many events, one resource of as many attributes.
        (PROTOBUF, lambda: wrapped(b"\x12\x00" * 2_000_000)),
        (PROTOBUF, lambda: b"\x0a\x00" * 5_000_000),
        (PROTOBUF, lambda: wrapped(field(0x12, b"\x4a\x00" * 2_000_000))),
        (PROTOBUF, lambda: wrapped(field(0x12, b"\x5a\x00" * 2_000_000))),
        (PROTOBUF, lambda: field(0x0A, field(0x0A, b"\x0a\x00" * 2_000_000) + b"\x12\x00")),
        (PROTOBUF, lambda: wrapped(b"\x18\x00" * 2_000_000)),
        (JSON, lambda: b'{"resourceSpans":[{"scopeSpans":[{"spans":[' + b"{}," * 2_000_000),
        (JSON, lambda: b'{"resourceSpans":[' + b"{}," * 5_000_000),
    ],
    ids=[
        "spans",
        "resources",
        "attributes",
        "events",
        "resource attributes",
        "unknown fields",
        "json spans",
        "json resources",
    ],
)
def test_a_bomb_of_empty_items_is_refused_before_it_takes_memory(kind: str, bomb: Any) -> None:
    payload = bomb()
    tracemalloc.start()
    started = time.process_time()
    with pytest.raises(PayloadTooLarge) as caught:
        decode(payload, kind)
    spent = time.process_time() - started
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert caught.value.limit == "items"
    assert peak < 64 * 1024 * 1024
    assert spent < 2.0


@pytest.mark.parametrize("kind", [PROTOBUF, JSON])
@pytest.mark.parametrize(("nesting", "taken"), [(20, False), (40, True), (100, True)])
def test_content_in_json_text_keeps_the_configured_nesting(
    kind: str, nesting: int, taken: bool
) -> None:
    text = "[" * 30 + "1" + "]" * 30
    tool = span(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "t",
            "gen_ai.tool.call.arguments": '{"a": ' + text + "}",
        }
    )
    payload = body(tool) if kind == PROTOBUF else json_body(tool)
    decoded = decode(payload, kind, nesting=nesting)
    assert len(decoded.spans) == taken
    assert [rejection.why for rejection in decoded.rejections] == ([] if taken else ["nesting"])


def test_the_limits_are_those_of_the_configuration() -> None:
    limits, settings = DecodeLimits(), LimitSettings()
    assert limits.items == settings.items_per_request
    assert limits.nesting == settings.nesting
    assert limits.body_bytes == settings.body_bytes
    assert limits.attributes == settings.attributes_per_span
    assert limits.index == settings.attribute_index


def test_items_are_counted_over_all_spans() -> None:
    spans = [span({f"k{n}": 1 for n in range(10)}, span_id=f"{i:016x}") for i in range(1, 21)]
    for payload, kind in ((body(*spans), PROTOBUF), (json_body(*spans), JSON)):
        assert len(decode(payload, kind, items=400).spans) == 20
        with pytest.raises(PayloadTooLarge) as caught:
            decode(payload, kind, items=100)
        assert caught.value.limit == "items"


def test_a_body_over_the_limit_is_refused_whole() -> None:
    with pytest.raises(PayloadTooLarge) as caught:
        decode(body(span(CHAT)), body_bytes=20)
    assert caught.value.limit == "body_bytes"


def test_an_unknown_limit_is_the_operators_mistake() -> None:
    with pytest.raises(ConfigurationError, match="atributes"):
        OtlpDecoder({"atributes": 3})
    with pytest.raises(ConfigurationError):
        OtlpDecoder({"attributes": 0})
    assert OtlpDecoder(DecodeLimits(attributes=5)).limits.attributes == 5
