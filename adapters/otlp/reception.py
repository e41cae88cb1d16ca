"""What every receiver does with a whole body: decode it, hand it over, count, send it on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from adapters.otlp import answers
from adapters.otlp.answers import Signal
from adapters.otlp.budget import RETRY_AFTER_S
from adapters.otlp.decoder import OtlpDecoder
from adapters.otlp.limits import DecodeLimits
from adapters.otlp.logs import OtlpLogDecoder
from adapters.otlp.relay import Relay
from monitor.errors import (
    MalformedPayload,
    MonitorError,
    Overloaded,
    PayloadTooLarge,
    UnsupportedPayload,
)
from monitor.ports import Accept, Decoded

LARGE_BYTES: Final = 256 * 1024
"""Bodies beyond it are decoded one at a time, beside the event loop."""
PERMANENT: Final = (MalformedPayload, PayloadTooLarge, UnsupportedPayload)
"""What a sender must not send again."""

Decode: TypeAlias = Callable[[bytes, str], tuple[Decoded, bytes | None]]
"""From a body and its content type to what it held, and an answer where the route has its own."""


class Received(NamedTuple):
    """One request as it came: the sender's own bytes."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


class Onward(Protocol):
    """Where a receiver sends on what it received."""

    def offer(self, received: Received) -> None:
        """Take it or count it as dropped; never waits and never raises."""
        ...

    def sends(self, path: str) -> bool:
        """Whether there is a backend for what comes at a path."""
        ...

    @property
    def relay(self) -> Relay | None:
        """What asks a Langfuse; None when there is none."""
        ...


class Reception:
    """The part of a receiver that knows nothing of its protocol.

    `counters` has bounded keys: `requests`, `accepted`, `refused:<why>` and, for one record
    inside an accepted request, `rejected:<why>`.
    """

    def __init__(self, limits: DecodeLimits, onward: Onward | None, **names: str | None) -> None:
        """`names` are the decoders' own options."""
        options: dict[str, Any] = names
        traces, logs = OtlpDecoder(limits, **options), OtlpLogDecoder(limits, **options)
        self.decoders: dict[Signal, Decode] = {
            answers.TRACES: lambda body, media: (traces.decode(body, media), None),
            answers.LOGS: lambda body, media: (logs.decode(body, media), None),
        }
        if onward is not None and onward.sends(answers.METRICS.path):
            self.decoders[answers.METRICS] = lambda _body, _media: (Decoded([], []), None)
        self.limits = limits
        self.onward = onward
        self.counters: dict[str, int] = {}
        self.accept: Accept | None = None
        self._large = asyncio.Semaphore(1)

    def count(self, what: str, by: int = 1) -> None:
        """Add to a counter."""
        self.counters[what] = self.counters.get(what, 0) + by

    async def take(
        self, decode: Decode, pieces: list[bytes], media: str, received: Received | None
    ) -> tuple[Decoded, bytes | None]:
        """Decode and hand over; returns after durable acceptance.

        `received` is sent on as soon as the sender will not send it again: once it was accepted,
        or refused for good. Raises what decoding and acceptance raise.
        """
        size = sum(map(len, pieces))
        try:
            decoded, answer = await self._decode(decode, pieces, size, media)
            if self.accept is None:
                raise Overloaded("the receiver is stopping", RETRY_AFTER_S)
            if decoded.spans or decoded.rejections:
                await self.accept(decoded, size)
        except PERMANENT:
            self._send_on(received)
            raise
        self._send_on(received)
        self.count("accepted")
        for rejection in decoded.rejections:
            self.count(f"rejected:{rejection.why}")
        if decoded.salvaged:
            self.count("salvaged")
        return decoded, answer

    async def _decode(
        self, decode: Decode, pieces: list[bytes], size: int, media: str
    ) -> tuple[Decoded, bytes | None]:
        if size <= LARGE_BYTES:
            return decode(b"".join(pieces), media)
        async with self._large:
            # Joined only now, so that no more than one large body exists twice.
            body = b"".join(pieces)
            pieces.clear()
            return await asyncio.to_thread(decode, body, media)

    def _send_on(self, received: Received | None) -> None:
        if received is not None and self.onward is not None:
            self.onward.offer(received)


def why(error: MonitorError) -> str:
    """The bounded name by which a refusal is counted."""
    match error:
        case Overloaded():
            return "overloaded"
        case PayloadTooLarge():
            return error.limit
        case MalformedPayload():
            return "malformed"
        case UnsupportedPayload():
            return "unsupported"
        case _:
            return type(error).__name__
