"""Inflates a gzip body as it arrives, and stops at the limit instead of after it."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final

from monitor.errors import MalformedPayload, PayloadTooLarge

_GZIP: Final = 31
_STEP_BYTES: Final = 256 * 1024
_MEMBERS: Final = 16


class Inflater:
    """One gzip body. Feed it chunks, then `finish`.

    Raises PayloadTooLarge once more than `limit` bytes came out, MalformedPayload for broken gzip.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._stream = zlib.decompressobj(_GZIP)
        self._members = 1
        self._started = False
        self.inflated = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """What the chunk inflates to, in steps that are short enough to interrupt."""
        more = bool(chunk)
        while more:
            if self._stream.eof:
                self._next_member()
            self._started = True
            try:
                out = self._stream.decompress(chunk, _STEP_BYTES)
            except zlib.error as error:
                raise MalformedPayload(
                    "the body is not gzip, although its content encoding says so"
                ) from error
            self._count(len(out))
            yield out
            chunk = self._stream.unconsumed_tail or self._stream.unused_data
            # A full step may have left output inside, though all input is taken.
            more = bool(chunk) or (len(out) == _STEP_BYTES and not self._stream.eof)

    def _count(self, inflated: int) -> None:
        self.inflated += inflated
        if self.inflated > self._limit:
            raise PayloadTooLarge(
                f"the body inflates beyond the limit `body_bytes` of {self._limit}; "
                "the sender must split it",
                "body_bytes",
            )

    def _next_member(self) -> None:
        self._members += 1
        if self._members > _MEMBERS:
            raise MalformedPayload(f"the body has more than {_MEMBERS} gzip members")
        self._stream = zlib.decompressobj(_GZIP)

    def finish(self) -> None:
        """Raises MalformedPayload when the stream is not complete."""
        if self._started and not self._stream.eof:
            raise MalformedPayload("the gzip body is cut short")
