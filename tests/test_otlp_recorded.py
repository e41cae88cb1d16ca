"""What recorded OTLP/JSON may have that a live sender's may not: base64 ids, byte-order marks."""

from __future__ import annotations

import base64
import json

import pytest
from otlp_building import JSON, PARENT, TRACE, as_json, export, span

from adapters.otlp.decoder import OtlpDecoder
from monitor.errors import MalformedPayload

CHAT = {"gen_ai.operation.name": "chat"}


def test_recorded_ids_in_base64_are_those_in_hex_of_the_right_size() -> None:
    sent = span(CHAT, parent_id=PARENT)
    ids = {"traceId": TRACE, "spanId": sent.span_id.hex(), "parentSpanId": PARENT}
    for write in (base64.b64encode, base64.urlsafe_b64encode):
        for stripped in (b"", b"="):
            text = json.dumps(as_json(export(sent)))
            for value in ids.values():
                written = write(bytes.fromhex(value)).rstrip(stripped)
                text = text.replace(value, written.decode())
            found = OtlpDecoder(base64_ids=True).decode(text.encode(), JSON).spans[0]
            assert [found.trace_id, found.span_id, found.parent_id] == list(ids.values())


def test_a_base64_id_of_another_size_or_of_nothing_costs_its_record() -> None:
    for written in (bytes(8), b"sixteen bytes id", bytes(16)):
        payload = as_json(export(span(CHAT), span(CHAT, span_id=PARENT)))
        value = base64.b64encode(written).decode()
        payload["resourceSpans"][0]["scopeSpans"][0]["spans"][1]["spanId"] = value
        decoded = OtlpDecoder(base64_ids=True).decode(json.dumps(payload).encode(), JSON)
        assert (len(decoded.spans), len(decoded.rejections)) == (1, 1)


@pytest.mark.parametrize(
    ("encoding", "salvaged"),
    [("utf-8-sig", False), ("utf-16", True), ("utf-16-be", True), ("utf-32", True)],
)
def test_a_byte_order_mark_costs_nothing(encoding: str, salvaged: bool) -> None:
    text = json.dumps(
        as_json(export(span({**CHAT, "gen_ai.agent.name": "Zoë"}))), ensure_ascii=False
    )
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    decoded = OtlpDecoder().decode((mark + text).encode(encoding), JSON)
    assert (decoded.spans[0].agent, decoded.salvaged) == ("Zoë", salvaged)


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"])
def test_a_mark_before_what_is_no_json_is_told(mark: bytes) -> None:
    with pytest.raises(MalformedPayload, match="not valid JSON"):
        OtlpDecoder().decode(mark + b"no json at all", JSON)
