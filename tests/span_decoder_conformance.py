"""What every span decoder keeps to; an implementation inherits the class and builds itself."""

from __future__ import annotations

from typing import ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from otlp_building import JSON, PROTOBUF

from monitor.codec import encode_spans
from monitor.errors import MalformedPayload, PayloadTooLarge, UnsupportedPayload
from monitor.ports import Decoded, SpanDecoder

# Each implementation runs the same inherited method on its own instance.
SHARED = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.differing_executors]
)
REFUSALS = (MalformedPayload, PayloadTooLarge, UnsupportedPayload)


class SpanDecoderConformance:
    """The promises of port SpanDecoder."""

    samples: ClassVar[dict[str, bytes]]
    """One good payload by content type."""

    def decoder(self) -> SpanDecoder:
        raise NotImplementedError

    def _spans_or_refusal(self, payload: bytes, content_type: str) -> Decoded | None:
        """Any other exception fails the test: it would be a defect."""
        try:
            decoded = self.decoder().decode(payload, content_type)
        except REFUSALS:
            return None
        # What is decoded can be kept: no lone surrogate, no nesting that the codec cannot write.
        encode_spans(decoded.spans)
        for span in decoded.spans:
            assert len(span.trace_id) == 32
            assert len(span.span_id) == 16
            assert int(span.trace_id, 16) > 0
        return decoded

    @pytest.mark.parametrize("content_type", [PROTOBUF, JSON])
    def test_a_good_payload_gives_spans_and_no_refusal(self, content_type: str) -> None:
        decoded = self.decoder().decode(self.samples[content_type], content_type)
        assert decoded.spans
        assert decoded.rejections == []
        assert not decoded.salvaged

    @pytest.mark.parametrize("content_type", [PROTOBUF, JSON])
    def test_the_same_bytes_give_the_same_spans(self, content_type: str) -> None:
        payload = self.samples[content_type]
        first = self.decoder().decode(payload, content_type)
        again = self.decoder()
        assert again.decode(payload, content_type) == first
        assert again.decode(payload, content_type) == first

    def test_both_encodings_give_the_same_spans(self) -> None:
        decoded = [self.decoder().decode(self.samples[kind], kind) for kind in (PROTOBUF, JSON)]
        assert decoded[0] == decoded[1]

    def test_a_content_type_with_parameters_is_spoken(self) -> None:
        decoded = self.decoder().decode(self.samples[JSON], "Application/JSON; charset=utf-8")
        assert decoded.spans

    @pytest.mark.parametrize("content_type", ["", "text/plain", "application/grpc", "json"])
    def test_another_content_type_is_not_spoken(self, content_type: str) -> None:
        with pytest.raises(UnsupportedPayload):
            self.decoder().decode(self.samples[JSON], content_type)

    def test_an_empty_protobuf_export_is_legal_and_empty(self) -> None:
        assert self.decoder().decode(b"", PROTOBUF) == Decoded([], [])

    def test_an_empty_json_export_is_legal_and_empty(self) -> None:
        assert self.decoder().decode(b"{}", JSON) == Decoded([], [])

    @SHARED
    @given(payload=st.binary(max_size=400), content_type=st.sampled_from([PROTOBUF, JSON]))
    def test_arbitrary_bytes_give_spans_or_a_refusal(
        self, payload: bytes, content_type: str
    ) -> None:
        self._spans_or_refusal(payload, content_type)

    @SHARED
    @given(data=st.data(), content_type=st.sampled_from([PROTOBUF, JSON]))
    def test_a_damaged_payload_gives_spans_or_a_refusal(
        self, data: st.DataObject, content_type: str
    ) -> None:
        payload = bytearray(self.samples[content_type])
        for _ in range(data.draw(st.integers(1, 4))):
            place = data.draw(st.integers(0, len(payload) - 1))
            payload[place] = data.draw(st.integers(0, 255))
        self._spans_or_refusal(bytes(payload), content_type)

    @SHARED
    @given(data=st.data(), content_type=st.sampled_from([PROTOBUF, JSON]))
    def test_a_truncated_payload_never_gives_more_than_the_whole(
        self, data: st.DataObject, content_type: str
    ) -> None:
        payload = self.samples[content_type]
        whole = self.decoder().decode(payload, content_type).spans
        cut = data.draw(st.integers(0, len(payload) - 1))
        decoded = self._spans_or_refusal(payload[:cut], content_type)
        if decoded is not None:
            assert len(decoded.spans) <= len(whole)

    def test_truncated_json_is_malformed(self) -> None:
        with pytest.raises(MalformedPayload):
            self.decoder().decode(self.samples[JSON][:-1], JSON)

    @pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"resourceSpans":[{"a":'])
    def test_deep_json_is_refused_and_not_followed(self, opening: bytes) -> None:
        with pytest.raises((MalformedPayload, PayloadTooLarge)):
            self.decoder().decode(opening * 100_000, JSON)
