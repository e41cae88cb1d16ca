"""Kept answers of the read API, and batches of the former ingestion."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.langfuse.decoder import LangfuseTraceDecoder
from adapters.langfuse.ingestion import LangfuseIngestion
from monitor.codec import encode_spans
from monitor.errors import MalformedPayload, PayloadTooLarge, UnsupportedPayload
from monitor.model import AgentSpan, Message, Usage
from monitor.ports import Decoded, SpanDecoder

TRACE = "ab" * 16
ROW = {
    "id": "cd" * 8,
    "traceId": TRACE,
    "type": "GENERATION",
    "startTime": "2026-05-01T12:00:00Z",
    "endTime": "2026-05-01T12:00:01Z",
    "input": "Hot?",
    "output": "Yes.",
    "metadata": {"attributes": '{"gen_ai.request.model": "m"}'},
}
OTHER = {**ROW, "id": "ef" * 8}
REFUSALS = (MalformedPayload, PayloadTooLarge, UnsupportedPayload)


def decode(document: Any, **options: Any) -> Decoded:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return LangfuseTraceDecoder(**options).decode(body, "application/json")


@pytest.mark.parametrize(
    "document",
    [
        {"trace": {"id": TRACE, "sessionId": "s1"}, "observations": [ROW]},
        {"trace": {"id": TRACE, "sessionId": "s1", "observations": [ROW]}},
        {"id": TRACE, "sessionId": "s1", "observations": [ROW]},
        {"data": [{**ROW, "sessionId": "s1"}], "meta": {}},
        [{**ROW, "sessionId": "s1"}],
        {**ROW, "sessionId": "s1"},
    ],
)
def test_a_document_may_have_any_of_the_apis_forms(document: Any) -> None:
    (span,) = decode(document).spans
    assert span.conversation_id == "s1"
    assert span.messages_out == (Message("assistant", "Yes."),)


def test_documents_may_stand_one_a_line() -> None:
    lines = b"\n".join(json.dumps({"observations": [row]}).encode() for row in (ROW, OTHER))
    assert [span.span_id for span in decode(lines + b"\n\n").spans] == ["cd" * 8, "ef" * 8]


def test_one_bad_row_costs_itself() -> None:
    deep: Any = "x"
    for _ in range(70):
        deep = [deep]
    decoded = decode([ROW, {"id": "x"}, None, {**OTHER, "input": deep}])
    assert [span.span_id for span in decoded.spans] == ["cd" * 8]
    assert [rejection.why for rejection in decoded.rejections] == [
        "malformed_observation",
        "malformed_observation",
        "nesting",
    ]


def test_numbers_that_only_python_writes_are_read() -> None:
    (span,) = decode(b'[{"id": "a", "traceId": "b", "type": "TOOL", "output": {"x": NaN}}]').spans
    assert span.result == {"x": "NaN"}


def test_an_empty_document_is_legal_and_empty() -> None:
    for body in (b"", b"{}", b"[]", b" \n"):
        assert decode(body) == Decoded([], [])


@pytest.mark.parametrize("body", [b"{", b"17", b'"x"', b'{"a": 1}', b"{}\n{", b"[" * 100_000])
def test_other_bytes_are_malformed(body: bytes) -> None:
    with pytest.raises((MalformedPayload, PayloadTooLarge)):
        decode(body)


def test_limits_of_the_payload_are_named() -> None:
    for options, limit in (
        ({"body_bytes": 10}, "body_bytes"),
        ({"observations": 1}, "observations"),
    ):
        with pytest.raises(PayloadTooLarge) as caught:
            decode([ROW, OTHER], **options)
        assert caught.value.limit == limit


def test_another_content_type_is_not_spoken() -> None:
    for decoder in (LangfuseTraceDecoder(), LangfuseIngestion()):
        with pytest.raises(UnsupportedPayload):
            decoder.decode(b"{}", "text/csv")


def test_text_that_is_not_utf_8_is_salvaged() -> None:
    body = json.dumps([{**ROW, "output": "caf~"}]).encode().replace(b"~", b"\xe9")
    decoded = decode(body)
    assert decoded.salvaged
    assert decoded.spans[0].messages_out == (Message("assistant", "caf�"),)
    halved = decode(b'[{"id": "a", "traceId": "b", "output": "\\ud83d"}]')
    assert halved.salvaged
    encode_spans(halved.spans)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
FIELDS = [
    *("id", "traceId", "type", "startTime", "endTime", "input", "output", "metadata", "model"),
    *("usage", "usageDetails", "level", "statusMessage", "sessionId", "toolCalls"),
    *("toolDefinitions", "toolCallNames", "parentObservationId", "name"),
]


@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), json_values), max_size=4), st.data())
def test_any_values_in_any_field_give_spans_or_refusals(
    rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    for row in rows:
        if data.draw(st.booleans()):
            row.update(id="a", traceId="b", type=data.draw(st.sampled_from(["TOOL", "AGENT", "X"])))
    decoded = decode(rows)
    encode_spans(decoded.spans)
    assert len(decoded.spans) + len(decoded.rejections) == len(rows)
    for span in decoded.spans:
        assert (len(span.trace_id), len(span.span_id)) == (32, 16)


@pytest.mark.parametrize("decoder", [LangfuseTraceDecoder(), LangfuseIngestion()])
@given(st.binary(max_size=300) | json_values.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_give_spans_or_a_refusal(decoder: SpanDecoder, body: bytes) -> None:
    with suppress(*REFUSALS):
        encode_spans(decoder.decode(body, "application/json").spans)


@given(
    st.lists(
        st.fixed_dictionaries(
            {"type": json_values | st.sampled_from(["span-update", "trace-create"])},
            optional={
                "id": json_values,
                "body": json_values
                | st.dictionaries(st.sampled_from(FIELDS), json_values).map(
                    lambda body: {**body, "id": "o", "traceId": "t"}
                ),
            },
        ),
        max_size=4,
    )
)
def test_any_events_are_each_answered(events: list[dict[str, Any]]) -> None:
    decoded, answer = LangfuseIngestion().ingest(json.dumps({"batch": events}).encode())
    encode_spans(decoded.spans)
    told = json.loads(answer)
    assert len(told["successes"]) + len(told["errors"]) == len(events)


def test_the_same_bytes_give_the_same_spans(shared_data: Path) -> None:
    for path in (shared_data / "traces" / "langfuse_api").glob("*.trace.json"):
        body = path.read_bytes()
        assert decode(body) == decode(body)


def event(number: int, kind: str, **body: Any) -> dict[str, Any]:
    return {
        "id": f"e{number}",
        "type": kind,
        "timestamp": "2026-05-01T12:00:00Z",
        "body": {"id": "o1", "traceId": TRACE, **body},
    }


def ingest(found: LangfuseIngestion, *events: Any) -> tuple[list[AgentSpan], dict[str, Any]]:
    decoded, answer = found.ingest(json.dumps({"batch": events}).encode())
    assert decoded.rejections == []
    return decoded.spans, json.loads(answer)


CREATED = event(
    1,
    "generation-create",
    name="chat",
    startTime="2026-05-01T12:00:00Z",
    input="Hot?",
    model="m",
    metadata={"a": 1},
)
UPDATED = event(
    2,
    "generation-update",
    endTime="2026-05-01T12:00:01Z",
    output="Yes.",
    input=None,
    usage={"input": 3, "output": 5},
    metadata={"thread_id": "t1"},
)


@pytest.mark.parametrize("batches", [[[CREATED, UPDATED]], [[CREATED], [UPDATED]]])
def test_an_update_completes_what_was_created(batches: list[list[Any]]) -> None:
    ingestion = LangfuseIngestion()
    spans: list[AgentSpan] = []
    for batch in batches:
        spans, answer = ingest(ingestion, *batch)
        assert answer["errors"] == []
    (span,) = spans
    assert span.kind == "model"
    assert span.messages_in == (Message("user", "Hot?"),)
    assert span.messages_out == (Message("assistant", "Yes."),)
    assert (span.model, span.usage, span.conversation_id) == ("m", Usage(3, 5), "t1")
    assert span.end_ns - span.start_ns == 10**9
    assert span.parent_id is None


def test_what_has_not_ended_is_handed_on_and_is_no_root() -> None:
    (span,), _ = ingest(LangfuseIngestion(), CREATED)
    assert span.end_ns == 0
    assert span.parent_id is not None


def test_an_update_need_not_repeat_its_trace() -> None:
    update = {**UPDATED, "body": {k: v for k, v in UPDATED["body"].items() if k != "traceId"}}
    ingestion = LangfuseIngestion()
    ingest(ingestion, CREATED)
    (span,), _ = ingest(ingestion, update)
    assert span.trace_id == TRACE
    assert span.messages_in == (Message("user", "Hot?"),)


def test_a_traces_session_is_told_before_and_behind_its_observations() -> None:
    trace = event(3, "trace-create", sessionId="s1", release="r1")
    trace["body"]["id"] = TRACE
    before = LangfuseIngestion()
    ingest(before, trace)
    (span,), _ = ingest(before, CREATED)
    assert (span.conversation_id, span.release) == ("s1", "r1")
    (carrier,), _ = ingest(LangfuseIngestion(), trace)
    assert (carrier.kind, carrier.trace_id, carrier.conversation_id) == ("other", TRACE, "s1")
    assert carrier.parent_id is not None


def test_every_event_has_its_answer() -> None:
    bad = [
        {"id": "e7", "type": "span-create", "body": None},
        {"id": "e8", "type": "span-create", "body": {"name": "x"}},
        {"id": "e9", "type": "no-such-type", "body": {"id": "x"}},
        17,
    ]
    passed_over = [event(4, "score-create"), event(5, "sdk-log")]
    spans, answer = ingest(LangfuseIngestion(), CREATED, *bad, *passed_over)
    assert len(spans) == 1
    assert answer["successes"] == [{"id": name, "status": 201} for name in ("e1", "e4", "e5")]
    assert [(error["id"], error["status"]) for error in answer["errors"]] == [
        ("e7", 400),
        ("e8", 400),
        ("e9", 400),
        ("", 400),
    ]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", b'{"batch": {}}', b"[" * 100_000])
def test_what_is_no_batch_is_refused(body: bytes) -> None:
    with pytest.raises((MalformedPayload, PayloadTooLarge)):
        LangfuseIngestion().ingest(body)


def test_a_batch_beyond_the_limit_is_refused() -> None:
    with pytest.raises(PayloadTooLarge) as caught:
        LangfuseIngestion(body_bytes=10).ingest(b'{"batch": []}')
    assert caught.value.limit == "body_bytes"


def test_memory_is_bounded_and_the_oldest_are_forgotten() -> None:
    ingestion = LangfuseIngestion(remembered=2)
    for number in range(4):
        body = {**CREATED["body"], "id": f"o{number}"}
        ingest(ingestion, {**CREATED, "body": body})
    body = {**UPDATED["body"], "id": "o0"}
    (span,), _ = ingest(ingestion, {**UPDATED, "body": body})
    assert span.messages_in is None
    # Too large to be remembered, and yet read.
    narrow = LangfuseIngestion(remembered_bytes=100)
    (span,), _ = ingest(narrow, CREATED)
    assert span.messages_in == (Message("user", "Hot?"),)
