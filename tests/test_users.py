"""Whose conversation a span says it is, in every dialect; redacted, and told by no label."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from otlp_building import PROTOBUF, body, span

from adapters.langfuse.observations import ObservationReader
from adapters.langfuse.rows import trace_of
from adapters.otlp.decoder import OtlpDecoder
from adapters.redaction.redactor import Redactor
from monitor.codec import decode_spans, encode_spans
from monitor.model import AgentSpan


def decoded(attributes: dict[str, Any], resource: dict[str, Any] | None = None) -> AgentSpan:
    payload = body(span(attributes), resource=resource)
    (found,) = OtlpDecoder().decode(payload, PROTOBUF).spans
    return found


@pytest.mark.parametrize(
    "attributes",
    [
        {"user.id": "u-1"},
        {"langfuse.user.id": "u-1"},
        {"enduser.id": "u-1"},
        {"ai.telemetry.metadata.userId": "u-1"},
        {"langwatch.user.id": "u-1"},
        {"traceloop.association.properties.user_id": "u-1"},
        {"langsmith.metadata.user_id": "u-1"},
        {"mlflow.trace.user": '"u-1"'},
        {"openinference.span.kind": "LLM", "user.id": "u-1"},
        {"openinference.span.kind": "LLM", "session.id": "s", "metadata": '{"user_id": "u-1"}'},
        {"langwatch.span.type": "llm", "metadata": '{"userId": "u-1"}'},
        {"user.id": "anonymous-or-not", "langfuse.user.id": "x"} | {"user.id": "u-1"},
        {"user.id": "null", "enduser.id": "u-1"},
    ],
)
def test_a_span_says_whose_it_is(attributes: dict[str, Any]):
    assert decoded(attributes).user_id == "u-1"


def test_a_user_of_the_resource_is_every_spans_that_names_none():
    assert decoded({}, {"user.id": "u-1"}).user_id == "u-1"
    assert decoded({"user.id": "u-2"}, {"user.id": "u-1"}).user_id == "u-2"
    assert decoded({}).user_id is None


@pytest.mark.parametrize(
    ("resource", "service"),
    [
        ({"service.name": "shop"}, "shop"),
        ({"service.name": "shop", "service.namespace": "eu"}, "eu/shop"),
        ({"service.name": "unknown_service:python"}, None),
        ({"service.namespace": "eu"}, None),
        ({}, None),
    ],
)
def test_the_service_is_the_resources_behind_its_namespace(resource: dict[str, Any], service: Any):
    assert decoded({}, resource).service == service


def test_rows_of_a_langfuse_server_say_it_too():
    row = {"traceId": "t", "id": "o", "type": "GENERATION", "userId": "u-1"}
    assert ObservationReader().read(row).user_id == "u-1"
    del row["userId"]
    assert ObservationReader().read(row, trace_of({"user_id": "u-1"})).user_id == "u-1"


def test_an_address_as_a_users_id_is_redacted_and_equal_ones_stay_equal():
    redactor = Redactor(b"k" * 32)
    one, two, other = (
        redactor.span(AgentSpan("t", "s", "model", user_id=name)).user_id
        for name in ("ann@shop.example", "ann@shop.example", "bob@shop.example")
    )
    assert one == two != other
    assert "ann" not in str(one)


def test_state_of_a_release_that_knew_no_users_is_still_read():
    old = AgentSpan("t", "s", "model", conversation_id="c", user_id=None)
    row = msgspec.to_builtins(old)[:-2]
    data = encode_spans([old])
    assert decode_spans(data) == [old]
    assert msgspec.convert(row, AgentSpan) == old
