"""What every decoder of native payloads keeps to; a format inherits the class and names itself."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.assembly.conversation import conversation_of
from monitor.assembly.segments import segments_of
from monitor.assembly.turns import trace_turns
from monitor.codec import encode_spans
from monitor.entry_points import load_adapter
from monitor.errors import MalformedPayload, PayloadTooLarge, UnsupportedPayload
from monitor.model import AgentSpan, Conversation, ResponseTurn
from monitor.ports import Decoded, SpanDecoder

JSON = "application/json"
LINES = "application/x-ndjson"
REFUSALS = (MalformedPayload, PayloadTooLarge, UnsupportedPayload)
# Each format runs the same inherited method on its own instance.
SHARED = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.differing_executors]
)
ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["user", "assistant", "tool", "1", "2026-01-01", '{"a":', "[[1]]", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=4)
            | st.sampled_from(["role", "content", "type", "id", "name", "text"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


class DocumentDecoderConformance:
    """The promises of port SpanDecoder where documents of a framework are read."""

    format: ClassVar[str]
    """Name of the entry point."""
    document: ClassVar[Any]
    """A good document: one conversation with at least one call and one reply."""

    def decoder(self) -> SpanDecoder:
        decoder: SpanDecoder = load_adapter(self.format)()
        return decoder

    def decode(self, document: Any, content_type: str = JSON) -> Decoded:
        return self.decoder().decode(json.dumps(document).encode(), content_type)

    def conversations(self, document: Any) -> list[Conversation]:
        return conversations_of(self.decode(document).spans)

    def _spans_or_refusal(self, payload: bytes) -> Decoded | None:
        """Any other exception fails the test: it would be a defect."""
        try:
            decoded = self.decoder().decode(payload, JSON)
        except REFUSALS:
            return None
        encode_spans(decoded.spans)
        for span in decoded.spans:
            assert len(span.trace_id) == 32
            assert len(span.span_id) == 16
            assert int(span.trace_id, 16) > 0
            assert span.start_ns >= 0
        conversations_of(decoded.spans)
        return decoded

    def test_a_good_document_gives_a_conversation_and_no_refusal(self) -> None:
        decoded = self.decode(self.document)
        assert decoded.rejections == []
        assert not decoded.salvaged
        [conversation] = conversations_of(decoded.spans)
        assert any(isinstance(turn, ResponseTurn) for turn in conversation.turns)
        assert not all(isinstance(turn, ResponseTurn) for turn in conversation.turns)
        assert all(conversation.queries)

    def test_the_same_document_gives_the_same_spans(self) -> None:
        first = self.decode(self.document)
        assert self.decode(self.document) == first
        indented = json.dumps(self.document, indent=2).encode()
        assert self.decoder().decode(indented, JSON) == first

    def test_spans_in_any_order_give_the_same_conversation(self) -> None:
        spans = self.decode(self.document).spans
        assert conversations_of(spans[::-1]) == conversations_of(spans)

    @pytest.mark.parametrize("content_type", [LINES, "application/jsonl; charset=utf-8"])
    def test_lines_are_read_as_documents(self, content_type: str) -> None:
        line = json.dumps(self.document).encode()
        whole = self.decode(self.document)
        decoded = self.decoder().decode(line + b"\n\n{]\n" + line + b"\n", content_type)
        assert decoded.spans == whole.spans * 2
        assert [rejection.why for rejection in decoded.rejections] == ["malformed_line"]

    @pytest.mark.parametrize("other", ["a text", 7, {"unrelated": [1]}, [1]])
    def test_what_is_of_another_format_is_refused_alone(self, other: Any) -> None:
        line = json.dumps(self.document).encode()
        payload = json.dumps(other).encode() + b"\n" + line
        decoded = self.decoder().decode(payload, JSON)
        assert decoded.spans == self.decode(self.document).spans
        assert decoded.rejections
        for why, message in decoded.rejections:
            assert why == "unreadable_document"
            assert repr(self.format) in message

    @pytest.mark.parametrize("content_type", ["", "text/plain", "application/x-protobuf"])
    def test_another_content_type_is_not_spoken(self, content_type: str) -> None:
        with pytest.raises(UnsupportedPayload):
            self.decode(self.document, content_type)

    def test_an_empty_object_is_legal_and_empty(self) -> None:
        assert self.decode({}) == Decoded([], [])

    @pytest.mark.parametrize("payload", [b"", b"{", b"\x00\x01", b"no json"])
    def test_what_is_no_json_is_malformed(self, payload: bytes) -> None:
        with pytest.raises(MalformedPayload):
            self.decoder().decode(payload, JSON)

    @pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"messages":['])
    def test_deep_json_is_refused_and_not_followed(self, opening: bytes) -> None:
        with pytest.raises((MalformedPayload, PayloadTooLarge)):
            self.decoder().decode(opening * 100_000, JSON)

    def test_json_deeper_than_the_limit_is_refused_alone(self) -> None:
        deep = json.loads("[" * 70 + "]" * 70)
        decoded = self.decode([self.document, deep])
        assert [rejection.why for rejection in decoded.rejections] == ["nesting"]

    def test_a_payload_beyond_its_limit_is_too_large(self) -> None:
        decoder: SpanDecoder = load_adapter(self.format)({"body_bytes": 10})
        with pytest.raises(PayloadTooLarge):
            decoder.decode(json.dumps(self.document).encode(), JSON)

    def test_bytes_that_are_not_utf8_are_salvaged(self) -> None:
        payload = json.dumps([self.document, "\x7f"]).encode().replace(b"\\u007f", b"\xff")
        if b"\xff" not in payload:
            payload = payload.replace(b"\x7f", b"\xff")
        assert self.decoder().decode(payload, JSON).salvaged

    @SHARED
    @given(payload=st.binary(max_size=300))
    def test_arbitrary_bytes_give_spans_or_a_refusal(self, payload: bytes) -> None:
        self._spans_or_refusal(payload)

    @SHARED
    @given(document=ANY_JSON)
    def test_arbitrary_json_gives_spans_or_a_refusal(self, document: Any) -> None:
        self._spans_or_refusal(json.dumps(document).encode())

    @SHARED
    @given(data=st.data())
    def test_wrong_values_anywhere_give_spans_or_a_refusal(self, data: st.DataObject) -> None:
        document = copy.deepcopy(self.document)
        for _ in range(data.draw(st.integers(1, 4))):
            document = _with_fault(document, data)
        self._spans_or_refusal(json.dumps(document).encode())

    @SHARED
    @given(data=st.data())
    def test_damaged_bytes_give_spans_or_a_refusal(self, data: st.DataObject) -> None:
        payload = bytearray(json.dumps(self.document).encode())
        for _ in range(data.draw(st.integers(1, 4))):
            payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
        self._spans_or_refusal(bytes(payload))


def conversations_of(spans: Sequence[AgentSpan]) -> list[Conversation]:
    """The conversations that the spans tell, in order of their ids."""
    traces: dict[str, list[AgentSpan]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(span)
    parts: dict[str, dict[str, Any]] = {}
    for trace_id, found in traces.items():
        found.sort(key=lambda span: (span.start_ns, span.span_id))
        for segment in segments_of(trace_id, found):
            parts.setdefault(segment.conversation_id, {})[trace_id] = segment
    return [
        conversation_of(
            name,
            {trace_id: trace_turns(segment) for trace_id, segment in sorted(of.items())},
            synthetic=any(segment.synthetic for segment in of.values()),
        )
        for name, of in sorted(parts.items())
    ]


def _with_fault(document: Any, data: st.DataObject) -> Any:
    """The document with one value, key or item exchanged, dropped or doubled."""
    places = list(_places(document))
    if not places:
        return data.draw(ANY_JSON)
    holder, key = data.draw(st.sampled_from(places))
    fault = data.draw(st.sampled_from(["exchange", "drop", "double", "null"]))
    if fault == "drop":
        del holder[key]
    elif fault == "double" and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    else:
        holder[key] = None if fault == "null" else data.draw(ANY_JSON)
    return document


def _places(value: Any) -> Any:
    inner: Any = ()
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    for key, item in inner:
        yield value, key
        yield from _places(item)
