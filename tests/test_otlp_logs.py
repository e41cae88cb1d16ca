"""Log events that carry the content of a span."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from otlp_building import (
    JSON,
    PARENT,
    PROTOBUF,
    SPAN,
    START,
    TRACE,
    body,
    json_pairs,
    json_value,
    logs,
    span,
)
from span_decoder_conformance import SpanDecoderConformance

from adapters.otlp.logs import OtlpLogDecoder
from adapters.vocabularies.genai import DETAILS_EVENT
from monitor.errors import MalformedPayload
from monitor.model import AgentSpan, Message

ASKED = [{"role": "user", "parts": [{"type": "text", "content": "weather?"}]}]
CONTENT = {"gen_ai.input.messages": ASKED, "gen_ai.conversation.id": "c-1"}


def as_json(request: ExportLogsServiceRequest) -> bytes:
    groups = [
        {
            "resource": {"attributes": json_pairs(group.resource.attributes)},
            "scopeLogs": [
                {
                    "logRecords": [
                        {
                            "traceId": record.trace_id.hex().upper(),
                            "spanId": record.span_id.hex(),
                            "eventName": record.event_name,
                            "timeUnixNano": str(record.time_unix_nano),
                            "body": json_value(record.body),
                            "attributes": json_pairs(record.attributes),
                        }
                        for record in scoped.log_records
                    ]
                }
                for scoped in group.scope_logs
            ],
        }
        for group in request.resource_logs
    ]
    return json.dumps({"resourceLogs": groups}).encode()


def both(*records: dict[str, Any], **fields: Any) -> Any:
    """The result, which both encodings must give alike."""
    request = logs(*records, **fields)
    first = OtlpLogDecoder().decode(request.SerializeToString(), PROTOBUF)
    assert OtlpLogDecoder().decode(as_json(request), JSON) == first
    return first


DETAILS = {"event": DETAILS_EVENT, "attributes": CONTENT}


class TestConformance(SpanDecoderConformance):
    samples: ClassVar[dict[str, bytes]] = {
        PROTOBUF: logs(DETAILS, DETAILS).SerializeToString(),
        JSON: as_json(logs(DETAILS, DETAILS)),
    }

    def decoder(self) -> OtlpLogDecoder:
        return OtlpLogDecoder()


def test_a_details_event_becomes_the_detail_of_its_span() -> None:
    found = both(DETAILS, resource={"service.version": "1.2"})
    assert found.rejections == []
    assert found.spans == [
        AgentSpan(
            TRACE,
            SPAN,
            "model",
            start_ns=START,
            conversation_id="c-1",
            release="1.2",
            messages_in=(Message("user", "weather?"),),
            detail=True,
            vocabulary="genai",
        )
    ]


def test_older_sdks_name_the_event_in_an_attribute() -> None:
    found = both({"attributes": {"event.name": DETAILS_EVENT, **CONTENT}})
    assert found.spans[0].messages_in == (Message("user", "weather?"),)


@pytest.mark.parametrize(
    "other",
    [
        {"event": "app.started", "attributes": {"a": 1}},
        {"attributes": {"a": "an ordinary log line"}},
        {**DETAILS, "span_id": ""},
        {**DETAILS, "trace_id": ""},
    ],
)
def test_records_of_other_kinds_are_passed_over_in_silence(other: dict[str, Any]) -> None:
    found = both(other, {**DETAILS, "span_id": PARENT})
    assert [item.span_id for item in found.spans] == [PARENT]
    assert found.rejections == []


def test_a_traces_export_in_json_at_the_logs_address_is_malformed() -> None:
    with pytest.raises(MalformedPayload):
        OtlpLogDecoder().decode(b'{"resourceSpans": [{}]}', JSON)


def test_a_traces_export_at_the_logs_address_is_malformed() -> None:
    with pytest.raises(MalformedPayload):
        OtlpLogDecoder().decode(body(span({"gen_ai.operation.name": "chat"})), PROTOBUF)
