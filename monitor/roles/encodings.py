"""Which encoding of OTLP a recorded payload has, where nothing says so."""

from __future__ import annotations

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from typing import Final

JSON: Final = "application/json"
PROTOBUF: Final = "application/x-protobuf"
SPACE: Final = b" \t\r\n"
OPENING: Final = (b"{", b"[")
_WIDE: Final = (BOM_UTF16_LE, BOM_UTF16_BE)


def media_of(payload: bytes) -> str:
    """The likelier content type: a protobuf message, too, may begin as JSON text does."""
    if payload.startswith(_WIDE):
        return JSON
    start = payload.removeprefix(BOM_UTF8).lstrip(SPACE)[:1]
    return JSON if start in OPENING else PROTOBUF
