"""google.rpc.Status messages, written by hand: no package brings them to the base install."""

from __future__ import annotations

from typing import Final

_RETRY_INFO: Final = b"type.googleapis.com/google.rpc.RetryInfo"


def status(code: int, message: str, retry_after_s: int | None = None) -> bytes:
    """The encoded message; with a RetryInfo when the sender is to come again."""
    found = b"\x08" + bytes([code]) + _field(2, message.encode())
    if retry_after_s is not None:
        seconds = b"\x08" + _varint(max(1, retry_after_s))
        info = _field(1, _RETRY_INFO) + _field(2, _field(1, seconds))
        found += _field(3, info)
    return found


def _field(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
