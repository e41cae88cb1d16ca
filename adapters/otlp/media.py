"""The two encodings of OTLP/HTTP by their content types."""

from __future__ import annotations

from typing import Final

from adapters.otlp.limits import DecodeLimits
from monitor.errors import PayloadTooLarge, UnsupportedPayload

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"


def media_type(content_type: str) -> str:
    """The content type without parameters. Raises UnsupportedPayload for any but the two."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind not in (PROTOBUF, JSON):
        raise UnsupportedPayload(
            f"content type must be {PROTOBUF} or {JSON}; the sender must choose one of them"
        )
    return kind


def check_size(payload: bytes, limits: DecodeLimits) -> None:
    """Raises PayloadTooLarge for a payload beyond `body_bytes`."""
    if len(payload) > limits.body_bytes:
        raise PayloadTooLarge(
            f"the inflated body is beyond the limit `body_bytes` of {limits.body_bytes}; "
            "the sender must split it",
            "body_bytes",
        )
