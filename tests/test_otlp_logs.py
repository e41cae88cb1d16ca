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
from monitor.model import AgentSpan, Message, ToolCall

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


def user(text: str, **fields: Any) -> dict[str, Any]:
    return {"event": "gen_ai.user.message", "body": {"content": text}, **fields}


def test_message_events_become_details_at_their_time_in_either_place_of_their_name() -> None:
    named = {"attributes": {"event.name": "gen_ai.system.message"}, "body": {"content": "Be brief"}}
    choice = {
        "event": "gen_ai.choice",
        "body": {"index": 0, "message": {"role": "assistant", "content": "Hello."}},
        "time": START + 5,
    }
    found = both(choice, {**named, "time": START + 1}, user("Hi", time=START + 2))
    assert [item.start_ns for item in found.spans] == [START + 5, START + 1, START + 2]
    assert [item.messages_in for item in found.spans] == [
        None,
        (Message("system", "Be brief"),),
        (Message("user", "Hi"),),
    ]
    assert found.spans[0].messages_out == (Message("assistant", "Hello."),)
    assert all(item.detail and item.vocabulary == "genai_events" for item in found.spans)


def test_events_of_one_time_keep_the_order_of_the_payload() -> None:
    texts = [f"message {number}" for number in range(12, 0, -1)]
    found = both(*[user(text) for text in texts], user("elsewhere", span_id=PARENT))
    first, second = found.spans
    assert [message.text for message in first.messages_in or ()] == texts
    assert second.span_id == PARENT


def test_a_body_may_be_json_text() -> None:
    body_ = '{"content": "Hi", "role": "user"}'
    found = both({"event": "gen_ai.user.message", "body": body_})
    assert found.spans[0].messages_in == (Message("user", "Hi"),)


@pytest.mark.parametrize("nothing", [None, {}, "", "text", "{cut", ["a"], 5])
def test_an_event_without_content_leaves_it_unknown(nothing: Any) -> None:
    found = both({"event": "gen_ai.user.message", "body": nothing})
    assert found.rejections == []
    assert found.spans[0].messages_in is None


def test_an_event_beyond_a_limit_is_refused_and_the_others_are_kept() -> None:
    deep = '{"content": ' + "[" * 80 + "]" * 80 + "}"
    found = both(user("Hi"), {"event": "gen_ai.user.message", "body": deep})
    assert [rejection.why for rejection in found.rejections] == ["nesting"]
    assert [item.messages_in for item in found.spans] == [(Message("user", "Hi"),)]


def moved(given: list[Any], said: list[Any], **fields: Any) -> dict[str, Any]:
    sides = {
        name: {"messages": [{"role": role, "content": text} for role, text in messages]}
        for name, messages in (("input", given), ("output", said))
    }
    return {"attributes": {"event.name": "some.scope"}, "body": sides, **fields}


def test_content_that_was_moved_off_a_span_comes_back_as_its_detail() -> None:
    generations = {
        "generations": [
            [{"message": {"tool_calls": [{"name": "look", "args": {"city": "x"}, "id": "c-1"}]}}]
        ]
    }
    (found,) = both(moved([("user", "weather?")], [("assistant", json.dumps(generations))])).spans
    assert (found.kind, found.vocabulary, found.detail) == ("model", "moved", True)
    assert found.messages_in == (Message("user", "weather?"),)
    assert found.messages_out == (
        Message("assistant", calls=(ToolCall("look", {"city": "x"}, "c-1"),)),
    )


def test_a_moved_tools_run_is_told_by_its_message() -> None:
    message = {"name": "look", "type": "tool", "content": "sunny", "tool_call_id": "c-1"}
    (found,) = both(moved([("user", "{'city': 'x'}")], [("assistant", json.dumps(message))])).spans
    assert (found.kind, found.call) == ("tool", ToolCall("look", {"city": "x"}, "c-1"))
    assert (found.result, found.has_result) == ("sunny", True)


def test_a_moved_request_is_not_read_beside_its_own_messages() -> None:
    request = json.dumps({"messages": [{"role": "user", "content": "weather?"}]})
    given = [("user", request), ("system", "Be brief."), ("user", "weather?")]
    (found,) = both(moved(given, [("assistant", "Sunny.")])).spans
    assert found.messages_in == (Message("system", "Be brief."), Message("user", "weather?"))
    assert found.messages_out == (Message("assistant", "Sunny."),)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([("user", "some input")], [("assistant", "__end__")]),
        (
            [("user", '{"messages": [{"type": "human", "content": "hi"}], "remaining_steps": 10}')],
            [("assistant", '{"messages": [{"type": "ai", "content": "ok"}]}')],
        ),
    ],
)
def test_a_graphs_own_bookkeeping_says_nothing(given: Any, said: Any) -> None:
    (found,) = both(moved(given, said)).spans
    assert (found.kind, found.messages_in, found.messages_out) == ("other", None, None)
