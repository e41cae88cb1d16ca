"""Reads the body of an HTTP request within its limits of size, time and pace."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from aiohttp import web

from adapters.otlp.budget import Share
from adapters.otlp.inflate import Inflater
from monitor.errors import PayloadTooLarge, UnsupportedPayload


class TooSlow(Exception):
    """The body did not come in time."""


class BodyLimits(NamedTuple):
    """What a body may take."""

    body_bytes: int
    """As sent, and again when inflated."""
    timeout_s: float = 30.0
    bytes_per_s: int = 1_024
    """The pace that a body must keep on average, after the grace."""
    grace_s: float = 5.0


class Body(NamedTuple):
    """A body that came whole."""

    pieces: list[bytes]
    """Inflated."""
    sent: bytes | None
    """As it came, where that was asked for."""


async def read_body(
    request: web.BaseRequest, limits: BodyLimits, share: Share, *, keep: bool
) -> Body:
    """The body; every byte is reserved before it is kept.

    Raises TooSlow, PayloadTooLarge, UnsupportedPayload, MalformedPayload and Overloaded, and what
    aiohttp raises for a broken body.
    """
    inflater = _inflater(request, limits.body_bytes)
    announced = request.content_length or 0
    if announced > limits.body_bytes:
        raise _too_large(limits.body_bytes)
    share.reserve(announced)
    if request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    reading = _Reading(limits, share, inflater, keep)
    begun = asyncio.get_running_loop().time()
    last = begun + limits.timeout_s
    try:
        async with asyncio.timeout_at(min(last, begun + limits.grace_s)) as timeout:
            async for chunk in request.content.iter_any():
                await reading.take(chunk)
                earned = limits.grace_s + reading.received / limits.bytes_per_s
                timeout.reschedule(min(last, begun + earned))
    except TimeoutError as error:
        raise TooSlow from error
    return reading.finish()


class _Reading:
    """A body as it grows."""

    def __init__(
        self, limits: BodyLimits, share: Share, inflater: Inflater | None, keep: bool
    ) -> None:
        self._limit = limits.body_bytes
        self._share = share
        self._inflater = inflater
        self._keep = keep
        self._pieces: list[bytes] = []
        self._sent: list[bytes] = []
        self.received = 0

    async def take(self, chunk: bytes) -> None:
        self.received += len(chunk)
        if self.received > self._limit:
            raise _too_large(self._limit)
        if self._inflater is None:
            self._share.reserve(self.received)
            self._pieces.append(chunk)
            return
        kept = self.received if self._keep else 0
        if self._keep:
            self._sent.append(chunk)
        for piece in self._inflater.feed(chunk):
            self._share.reserve(self._inflater.inflated + kept)
            self._pieces.append(piece)
            # A bomb must not hold the loop while it inflates.
            await asyncio.sleep(0)

    def finish(self) -> Body:
        if self._inflater is not None:
            self._inflater.finish()
            return Body(self._pieces, b"".join(self._sent) if self._keep else None)
        if not self._keep:
            return Body(self._pieces, None)
        whole = b"".join(self._pieces)
        return Body([whole], whole)


def _inflater(request: web.BaseRequest, limit: int) -> Inflater | None:
    encodings = [
        name.strip().lower()
        for header in request.headers.getall("Content-Encoding", [])
        for name in header.split(",")
    ]
    match encodings:
        case [] | [""] | ["identity"]:
            return None
        case ["gzip"]:
            return Inflater(limit)
        case _:
            raise UnsupportedPayload(
                "content encoding must be gzip, once, or none; the sender must choose one of them"
            )


def _too_large(limit: int) -> PayloadTooLarge:
    return PayloadTooLarge(
        f"the body is beyond the limit `body_bytes` of {limit}; the sender must split it",
        "body_bytes",
    )
