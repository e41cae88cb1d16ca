"""The OTLP/HTTP receiver: traces and logs, on aiohttp."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Mapping
from typing import Any, Final

from aiohttp import ClientPayloadError, web
from aiohttp.http_exceptions import HttpProcessingError

from adapters.otlp import answers
from adapters.otlp.answers import Signal
from adapters.otlp.connections import BoundedServer
from adapters.otlp.decoder import OtlpDecoder
from adapters.otlp.inflate import Inflater
from adapters.otlp.limits import DecodeLimits, decode_limits
from adapters.otlp.logs import OtlpLogDecoder
from adapters.otlp.media import JSON, PROTOBUF, media_type
from monitor.errors import (
    ConfigurationError,
    MalformedPayload,
    MonitorError,
    Overloaded,
    PayloadTooLarge,
    UnsupportedPayload,
)
from monitor.ports import Accept, Decoded, SpanDecoder

RETRY_AFTER_S: Final = 5
_LARGE_BYTES: Final = 256 * 1024
_LINGER_S: Final = 1.0
_STOP_S: Final = 20.0
_BROKEN_BODIES: Final = (
    HttpProcessingError,
    ConnectionError,
    web.RequestPayloadError,
    ClientPayloadError,
)
_ANSWERS: Final[dict[type[MonitorError], tuple[int, int]]] = {
    MalformedPayload: (400, answers.INVALID_ARGUMENT),
    PayloadTooLarge: (413, answers.RESOURCE_EXHAUSTED),
    UnsupportedPayload: (415, answers.INVALID_ARGUMENT),
    Overloaded: (503, answers.UNAVAILABLE),
}


class _TooSlow(Exception):
    """The body did not come in time."""


class OtlpHttpReceiver:
    """Port Receiver. Answers a request only after `accept` returned.

    `counters` tells what was refused and why; its keys are bounded: `requests`, `accepted`,
    `refused:<why>` and, for one record inside an accepted request, `rejected:<why>`.
    """

    name = "otlp/http"

    def __init__(
        self,
        listen: str = "127.0.0.1:4318",
        *,
        insecure: bool = False,
        in_flight_bytes: int = 64 * 1024 * 1024,
        connections: int = 256,
        head_timeout_s: float = 5.0,
        body_timeout_s: float = 30.0,
        limits: DecodeLimits | Mapping[str, int] | None = None,
        conversation_attribute: str | None = None,
        release_attribute: str | None = None,
    ) -> None:
        """`insecure` allows an address that other machines reach, though nobody authenticates."""
        self._host, self._port = _address(listen)
        self._insecure = insecure
        self.in_flight_limit = in_flight_bytes
        self._connections = connections
        self._head_timeout_s = head_timeout_s
        self._body_timeout_s = body_timeout_s
        self._limits = decode_limits(limits)
        names: dict[str, Any] = {
            "conversation_attribute": conversation_attribute,
            "release_attribute": release_attribute,
        }
        self._decoders: dict[str, tuple[Signal, SpanDecoder]] = {
            answers.TRACES.path: (answers.TRACES, OtlpDecoder(self._limits, **names)),
            answers.LOGS.path: (answers.LOGS, OtlpLogDecoder(self._limits, **names)),
        }
        self.counters: dict[str, int] = {}
        self.in_flight_bytes = 0
        self._accept: Accept | None = None
        self._server: BoundedServer | None = None
        self._runner: web.ServerRunner | None = None
        self._large = asyncio.Semaphore(1)

    async def start(self, accept: Accept) -> str:
        """See the port. An address beyond loopback needs `insecure`."""
        if not self._insecure and not _is_loopback(self._host):
            raise ConfigurationError(
                f"{self._host} is reachable from other machines and nothing authenticates the "
                "senders; the operator must listen on 127.0.0.1 or set `insecure`"
            )
        self._accept = accept
        self._server = BoundedServer(
            self._answer,
            self._connections,
            self._head_timeout_s,
            self._count,
            lingering_time=_LINGER_S,
            keepalive_timeout=75.0,
        )
        self._runner = web.ServerRunner(self._server, shutdown_timeout=_STOP_S)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self._port)
        try:
            await site.start()
        except OSError as error:
            await self._runner.cleanup()
            raise ConfigurationError(
                f"cannot listen on {self._host}:{self._port}: {error.strerror}; "
                "the operator must free the port or choose another"
            ) from error
        return self._url()

    async def stop(self) -> None:
        """See the port."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    @property
    def open_connections(self) -> int:
        """How many senders are connected."""
        return self._server.open if self._server else 0

    def _url(self) -> str:
        address = self._runner.addresses[0] if self._runner else (self._host, self._port)
        host, port = address[0], address[1]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def _count(self, what: str, by: int = 1) -> None:
        self.counters[what] = self.counters.get(what, 0) + by

    async def _answer(self, request: web.BaseRequest) -> web.Response:
        self._count("requests")
        chosen = self._decoders.get(request.path)
        if chosen is None:
            return self._refuse("path", JSON, 404, answers.NOT_FOUND, "no such address here")
        if request.method != "POST":
            answer = self._refuse("method", JSON, 405, answers.UNIMPLEMENTED, "use POST")
            answer.headers["Allow"] = "POST"
            return answer
        return await self._guarded(request, *chosen)

    async def _guarded(
        self, request: web.BaseRequest, signal: Signal, decoder: SpanDecoder
    ) -> web.Response:
        """The answer to an export, whatever happens."""
        media = request.content_type
        admitted = _Admitted(self)
        try:
            return await self._export(request, signal, decoder, admitted)
        except MonitorError as error:
            return self._refuse_error(media, error)
        except _TooSlow:
            return self._refuse(
                "body_timeout", media, 408, answers.UNAVAILABLE, "the body came too slowly"
            )
        except _BROKEN_BODIES:
            return self._refuse(
                "broken_body", media, 400, answers.INVALID_ARGUMENT, "the body broke off"
            )
        except Exception:  # noqa: BLE001 - a defect must not answer 500, which drops the data
            self._count("defects")
            return self._unavailable("defect", media, "a defect in the receiver; try again")
        finally:
            admitted.release()

    async def _export(
        self,
        request: web.BaseRequest,
        signal: Signal,
        decoder: SpanDecoder,
        admitted: _Admitted,
    ) -> web.Response:
        media = media_type(request.headers.get("Content-Type", ""))
        inflater = _inflater(request, self._limits.body_bytes)
        if (request.content_length or 0) > self._limits.body_bytes:
            raise _too_large(self._limits.body_bytes)
        admitted.reserve(request.content_length or 0)
        if request.headers.get("Expect", "").lower() == "100-continue":
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        try:
            async with asyncio.timeout(self._body_timeout_s):
                pieces = await self._pieces(request, inflater, admitted)
        except TimeoutError as error:
            raise _TooSlow from error
        size = sum(map(len, pieces))
        decoded = await self._decode(decoder, pieces, size, media)
        if self._accept is None:
            raise Overloaded("the receiver is stopping", RETRY_AFTER_S)
        if decoded.spans or decoded.rejections:
            await self._accept(decoded, size)
        self._count("accepted")
        for rejection in decoded.rejections:
            self._count(f"rejected:{rejection.why}")
        if decoded.salvaged:
            self._count("salvaged")
        answer = answers.success(signal, media, decoded.rejections, decoded.salvaged)
        return web.Response(body=answer, content_type=media)

    async def _pieces(
        self, request: web.BaseRequest, inflater: Inflater | None, admitted: _Admitted
    ) -> list[bytes]:
        """The inflated body as it came."""
        pieces: list[bytes] = []
        received = held = 0
        async for chunk in request.content.iter_any():
            received += len(chunk)
            if received > self._limits.body_bytes:
                raise _too_large(self._limits.body_bytes)
            if inflater is None:
                held += len(chunk)
                admitted.reserve(held)
                pieces.append(chunk)
                continue
            for piece in inflater.feed(chunk):
                held += len(piece)
                admitted.reserve(held)
                pieces.append(piece)
                # A bomb must not hold the loop while it inflates.
                await asyncio.sleep(0)
        if inflater is not None:
            inflater.finish()
        return pieces

    async def _decode(
        self, decoder: SpanDecoder, pieces: list[bytes], size: int, media: str
    ) -> Decoded:
        if size <= _LARGE_BYTES:
            return decoder.decode(b"".join(pieces), media)
        async with self._large:
            # Joined only now, so that no more than one large body exists twice.
            body = b"".join(pieces)
            pieces.clear()
            return await asyncio.to_thread(decoder.decode, body, media)

    def _refuse_error(self, media: str, error: MonitorError) -> web.Response:
        if isinstance(error, Overloaded):
            return self._unavailable("overloaded", media, str(error), error.retry_after_s)
        status, code = _ANSWERS.get(type(error), (503, answers.UNAVAILABLE))
        if status == 503:
            return self._unavailable(type(error).__name__, media, str(error))
        why = error.limit if isinstance(error, PayloadTooLarge) else _WHY[type(error)]
        return self._refuse(why, media, status, code, str(error))

    def _unavailable(
        self, why: str, media: str, message: str, retry_after_s: int = RETRY_AFTER_S
    ) -> web.Response:
        answer = self._refuse(why, media, 503, answers.UNAVAILABLE, message)
        answer.headers["Retry-After"] = str(max(1, retry_after_s))
        return answer

    def _refuse(self, why: str, media: str, status: int, code: int, message: str) -> web.Response:
        self._count(f"refused:{why}")
        media = PROTOBUF if media == PROTOBUF else JSON
        answer = web.Response(
            status=status, body=answers.failure(media, code, message), content_type=media
        )
        if status in (408, 413):
            # What is still to come of the body is not worth reading.
            answer.force_close()
        return answer


_WHY: Final[dict[type[MonitorError], str]] = {
    MalformedPayload: "malformed",
    UnsupportedPayload: "unsupported",
}


class _Admitted:
    """One request's share of the bytes in flight, taken before the bytes are kept."""

    def __init__(self, receiver: OtlpHttpReceiver) -> None:
        self._receiver = receiver
        self._held = 0

    def reserve(self, size: int) -> None:
        """Grow the share to `size`. Raises Overloaded when the budget is spent."""
        more = size - self._held
        if more <= 0:
            return
        if self._receiver.in_flight_bytes + more > self._receiver.in_flight_limit:
            raise Overloaded("too many bytes are in flight; try again", RETRY_AFTER_S)
        self._receiver.in_flight_bytes += more
        self._held = size

    def release(self) -> None:
        """Give the share back."""
        self._receiver.in_flight_bytes -= self._held
        self._held = 0


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


def _address(listen: str) -> tuple[str, int]:
    host, _, port = listen.rpartition(":")
    host = host.strip("[]")
    if not host or not port.isdecimal() or int(port) > 65_535:
        raise ConfigurationError(
            f"{listen!r} is no address; the operator must write it as host:port"
        )
    return host, int(port)


def _is_loopback(host: str) -> bool:
    """Whether every address that the name stands for is this machine's own."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        pass
    try:
        found = socket.getaddrinfo(host, None)
    except OSError:
        return False
    return all(ipaddress.ip_address(str(item[4][0])).is_loopback for item in found)
