"""Spans of 4 KB as OTLP protobuf, and the naive reader that the product is measured against."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import blake2b
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

SPAN_BYTES = 4096
TURNS = 5
SECOND_NS = 1_000_000_000
START_NS = 1_764_000_000_000_000_000
VOCABULARY = """
account order refund parcel delivery invoice customer address payment receipt status total
currency shipping confirm update request change please today tomorrow before after amount
carrier tracking number item quantity return policy within days original method
"""
WORDS = VOCABULARY.split()
INSTRUCTIONS_BYTES = 2048
Given = Callable[[str], list[Any]]
"""From filling text to the messages that a model call was given."""


def prose(rng: random.Random, size: int) -> str:
    """Words of a shop, `size` characters in all."""
    text = " ".join(rng.choices(WORDS, k=size // 6 + 1))
    return text[:size]


INSTRUCTIONS = prose(random.Random(1), INSTRUCTIONS_BYTES)  # noqa: S311  no secret


def payloads(conversations: int, spans_per_payload: int, seed: int = 7) -> list[bytes]:
    """Export requests of whole conversations: 5 turns of 4 spans (chat, tool, chat, agent)."""
    rng = random.Random(seed)  # noqa: S311  reproducible benchmark input, no secret
    spans: list[Span] = []
    bodies: list[bytes] = []
    for number in range(conversations):
        for turn in range(TURNS):
            spans.extend(_turn(rng, f"bench-{seed}-{number}", turn))
            if len(spans) >= spans_per_payload:
                bodies.append(_body(spans))
                spans = []
    if spans:
        bodies.append(_body(spans))
    return bodies


def small_conversation(number: int, turns: int, text_bytes: int) -> bytes:
    """One conversation whose turns carry `text_bytes` of user and reply text in all."""
    rng = random.Random(number)  # noqa: S311  reproducible benchmark input, no secret
    spans: list[Span] = []
    for turn in range(turns):
        at = START_NS + turn * 60 * SECOND_NS
        trace = blake2b(f"small/{number}/{turn}".encode(), digest_size=16).digest()
        user, reply = (prose(rng, text_bytes // 2) for _ in range(2))
        chat = _messages([_said("user", user)], _said("assistant", reply))
        conversation = f"small-{number}"
        spans.append(_span(trace, 1, 9, conversation, "chat", chat, at))
        spans.append(_span(trace, 9, None, conversation, "invoke_agent", {}, at))
    return _body(spans)


def decode_only(bodies: list[bytes]) -> int:
    """Parse, and look at nothing; the number of spans."""
    count = 0
    for body in bodies:
        request = ExportTraceServiceRequest.FromString(body)
        count += sum(
            len(scope.spans) for group in request.resource_spans for scope in group.scope_spans
        )
    return count


def naive_walk(bodies: list[bytes]) -> int:
    """Parse, and turn every span with its attributes and events into dictionaries."""
    count = 0
    for body in bodies:
        spans = []
        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            resource = _attributes(group.resource.attributes)
            for scope in group.scope_spans:
                spans += [_as_dict(span, resource, scope.scope.name) for span in scope.spans]
        count += len(spans)
    return count


def _as_dict(span: Span, resource: dict[str, Any], scope: str) -> dict[str, Any]:
    return {
        "trace_id": span.trace_id.hex(),
        "span_id": span.span_id.hex(),
        "parent_id": span.parent_span_id.hex(),
        "name": span.name,
        "kind": span.kind,
        "start": span.start_time_unix_nano,
        "end": span.end_time_unix_nano,
        "status": span.status.code,
        "attributes": _attributes(span.attributes),
        "events": [(event.name, _attributes(event.attributes)) for event in span.events],
        "resource": resource,
        "scope": scope,
    }


def _attributes(items: Any) -> dict[str, Any]:
    return {item.key: _value(item.value) for item in items}


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return _attributes(value.kvlist_value.values)
    return getattr(value, kind)


def _turn(rng: random.Random, conversation: str, turn: int) -> Iterator[Span]:
    """One exchange in spans of 4 KB: the agent's standing instructions, and text of its own."""
    trace = blake2b(f"{conversation}/{turn}".encode(), digest_size=16).digest()
    at = START_NS + turn * 60 * SECOND_NS
    order = f"SO-{rng.randrange(10_000, 100_000)}"
    call = {"type": "tool_call", "id": "call_1", "name": "get_order"}
    asked = {"role": "assistant", "parts": [{**call, "arguments": {"order_id": order}}]}
    found = {"order_id": order, "status": "packed", "total": 42.5}
    reply = _said("assistant", f"Your order {order} is packed. {prose(rng, 400)}")

    def user(text: str) -> list[Any]:
        return [_said("user", f"Where is order {order}? {text}")]

    def answer(text: str) -> list[Any]:
        told = {**found, "note": text}
        part = {"type": "tool_call_response", "id": "call_1", "response": told}
        return [{"role": "tool", "parts": [part]}]

    def chat(given: Given, said: dict[str, Any], span_id: int, start: int) -> Span:
        def build(text: str) -> Span:
            attributes = _messages(given(text), said, INSTRUCTIONS)
            return _span(trace, span_id, 9, conversation, "chat", attributes, start)

        return _filled(build, rng)

    def agent(text: str) -> Span:
        named = {"gen_ai.agent.name": "bench-agent"}
        attributes = named | _messages(user(text), reply, INSTRUCTIONS)
        return _span(trace, 9, None, conversation, "invoke_agent", attributes, at)

    yield chat(user, asked, 1, at)
    yield _filled(partial(_tool_span, trace, conversation, order, found, at), rng)
    yield chat(answer, reply, 3, at + 2 * SECOND_NS)
    yield _filled(agent, rng)


def _filled(build: Callable[[str], Span], rng: random.Random) -> Span:
    """The span with so much text that it has 4 KB."""
    return build(prose(rng, max(0, SPAN_BYTES - build("").ByteSize())))


def _tool_span(
    trace: bytes, conversation: str, order: str, found: dict[str, Any], at: int, text: str
) -> Span:
    attributes = {
        "gen_ai.tool.name": "get_order",
        "gen_ai.tool.call.id": "call_1",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.arguments": json.dumps({"order_id": order}),
        "gen_ai.tool.call.result": json.dumps({**found, "note": text}),
    }
    return _span(trace, 2, 9, conversation, "execute_tool", attributes, at + SECOND_NS)


def _messages(
    given: list[dict[str, Any]], said: dict[str, Any], instructions: str = ""
) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "gen_ai.input.messages": json.dumps(given),
        "gen_ai.output.messages": json.dumps([{**said, "finish_reason": "stop"}]),
        "gen_ai.request.model": "atlas-4",
        "gen_ai.response.model": "atlas-4-2026-10",
        "gen_ai.response.id": "resp_91ab",
        "gen_ai.request.temperature": 0.2,
        "gen_ai.request.max_tokens": 1024,
        "gen_ai.usage.input_tokens": 731,
        "gen_ai.usage.output_tokens": 58,
        "gen_ai.output.type": "text",
        "server.address": "models.internal",
        "server.port": 443,
    }
    if instructions:
        part = {"type": "text", "content": instructions}
        attributes["gen_ai.system_instructions"] = json.dumps([part])
    return attributes


def _said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def _span(
    trace: bytes,
    span_id: int,
    parent: int | None,
    conversation: str,
    operation: str,
    attributes: dict[str, Any],
    at: int,
) -> Span:
    common = {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": "openai",
        "gen_ai.conversation.id": conversation,
    }
    length = 5 * SECOND_NS if parent is None else SECOND_NS
    return Span(
        trace_id=trace,
        span_id=trace[:7] + bytes([span_id]),
        parent_span_id=trace[:7] + bytes([parent]) if parent else b"",
        name=operation,
        kind=Span.SPAN_KIND_INTERNAL,
        start_time_unix_nano=at,
        end_time_unix_nano=at + length,
        attributes=[key_value(k, v) for k, v in (common | attributes).items()],
    )


def key_value(key: str, value: Any) -> KeyValue:
    """An attribute."""
    return KeyValue(key=key, value=_any_value(value))


def _any_value(value: Any) -> AnyValue:
    if isinstance(value, int):
        return AnyValue(int_value=value)
    if isinstance(value, float):
        return AnyValue(double_value=value)
    if isinstance(value, list):
        return AnyValue(array_value=ArrayValue(values=[_any_value(item) for item in value]))
    return AnyValue(string_value=value)


def _body(spans: list[Span]) -> bytes:
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.append(key_value("service.name", "bench-agent"))
    group.resource.attributes.append(key_value("service.version", "1.0.0"))
    scope = group.scope_spans.add()
    scope.scope.name = "bench"
    scope.spans.extend(spans)
    return request.SerializeToString()
