"""The OTLP/gRPC receiver: TraceService and LogsService, on raw bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import grpc
import grpc.aio

from adapters.otlp import answers
from adapters.otlp.access import Access, Tokens, access_of, address_of, require_guarded
from adapters.otlp.answers import Signal
from adapters.otlp.budget import RETRY_AFTER_S, ByteBudget, Share
from adapters.otlp.grpc_channel import Transport, credentials, listen_on, server_options
from adapters.otlp.inflate import Inflater
from adapters.otlp.limits import DecodeLimits, decode_limits
from adapters.otlp.media import PROTOBUF
from adapters.otlp.reception import Onward, Received, Reception, why
from adapters.otlp.status import status
from adapters.otlp.tls import watched_pems
from monitor.errors import (
    ConfigurationError,
    MalformedPayload,
    MonitorError,
    Overloaded,
    PayloadTooLarge,
    UnsupportedPayload,
)
from monitor.ports import Accept

_SERVICE: Final = "/opentelemetry.proto.collector."
METHODS: Final = {
    f"{_SERVICE}trace.v1.TraceService/Export": answers.TRACES,
    f"{_SERVICE}logs.v1.LogsService/Export": answers.LOGS,
    f"{_SERVICE}metrics.v1.MetricsService/Export": answers.METRICS,
}
WAITING_BYTES: Final = 4 * 1024
"""Counted for a call whose message has not come; small, so that idle calls crowd nobody out."""
_STOP_S: Final = 20.0
_FAREWELL_S: Final = 0.1
_GZIP_MAGIC: Final = b"\x1f\x8b"
_CODES: Final[dict[type[MonitorError], grpc.StatusCode]] = {
    MalformedPayload: grpc.StatusCode.INVALID_ARGUMENT,
    PayloadTooLarge: grpc.StatusCode.RESOURCE_EXHAUSTED,
    UnsupportedPayload: grpc.StatusCode.INVALID_ARGUMENT,
}


class _Refusal(NamedTuple):
    """What a call ends with instead of an answer."""

    why: str
    code: grpc.StatusCode
    message: str
    retry_after_s: int | None = None


class OtlpGrpcReceiver:
    """Port Receiver. Answers a call only after `accept` returned; limits as over HTTP.

    Messages stay bytes until the decoder of this house reads them, so that its limits hold and bad
    text costs nothing; a gzip message is inflated here too, since gRPC's own inflating has no
    limit. Overload is UNAVAILABLE with a RetryInfo; a call never ends with INTERNAL or UNKNOWN.
    """

    name = "otlp/grpc"

    def __init__(
        self,
        listen: str = "127.0.0.1:4317",
        *,
        access: Access | Mapping[str, object] | None = None,
        in_flight_bytes: int = 64 * 1024 * 1024,
        message_bytes: int = 4 * 1024 * 1024,
        connections: int = 256,
        body_timeout_s: float = 30.0,
        limits: DecodeLimits | Mapping[str, int] | None = None,
        conversation_attribute: str | None = None,
        release_attribute: str | None = None,
        outcome_attribute: str | None = None,
        onward: Onward | None = None,
        transport: Transport | None = None,
    ) -> None:
        """`message_bytes` bounds a message as sent; the limit `body_bytes` bounds it inflated."""
        self._host, self._port = address_of(listen)
        self._access = access_of(access)
        self._budget = ByteBudget(in_flight_bytes)
        self._limits = decode_limits(limits)
        self._message_bytes = min(message_bytes, self._limits.body_bytes, in_flight_bytes)
        self._body_timeout_s = body_timeout_s
        self._transport = transport or Transport(connections=connections)
        self._reception = Reception(
            self._limits,
            onward,
            conversation_attribute=conversation_attribute,
            release_attribute=release_attribute,
            outcome_attribute=outcome_attribute,
        )
        self._tokens: Tokens | None = None
        self._server: grpc.aio.Server | None = None

    @property
    def counters(self) -> dict[str, int]:
        """What was taken, and what was refused and why."""
        return self._reception.counters

    @property
    def in_flight_bytes(self) -> int:
        """Bytes of calls that are not answered yet, with room for what a call may still send."""
        return self._budget.held

    async def start(self, accept: Accept) -> str:
        """See the port. An address beyond loopback needs authentication, or `insecure`."""
        require_guarded(self._host, self._access)
        self._tokens = Tokens(self._access, lambda: self._count("reload_failed:token"))
        pems = watched_pems(self._access, lambda: self._count("reload_failed:tls"))
        self._reception.accept = accept
        server = grpc.aio.server(options=server_options(self._transport, self._message_bytes))
        server.add_generic_rpc_handlers((_Methods(self),))
        port = listen_on(server, self._host, self._port, credentials(pems) if pems else None)
        if not port:
            raise ConfigurationError(
                f"cannot listen on {self._host}:{self._port} for gRPC; "
                "the operator must free the port or choose another"
            )
        await server.start()
        self._server = server
        scheme = "grpcs" if pems else "grpc"
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{scheme}://{host}:{port}"

    async def stop(self) -> None:
        """See the port."""
        if self._server is not None:
            await self._server.stop(_STOP_S)
            self._server = None

    def _count(self, what: str) -> None:
        self._reception.count(what)

    def signal_of(self, method: str) -> Signal | None:
        """What a method takes; None, counted, for one that gRPC answers with UNIMPLEMENTED."""
        signal = METHODS.get(method)
        if signal in self._reception.decoders:
            return signal
        self._count("refused:path")
        return None

    async def answer(
        self, signal: Signal, path: str, context: grpc.aio.ServicerContext[Any, Any]
    ) -> bytes:
        """The answer to one call, whatever happens; a refusal ends the call with its status."""
        self._count("requests")
        share = Share(self._budget)
        try:
            found = await self._attempt(signal, path, context, share)
        finally:
            share.release()
        if isinstance(found, bytes):
            return found
        self._count(f"refused:{found.why}")
        code: int = found.code.value[0]
        details = status(code, found.message, found.retry_after_s)
        trailers = (("grpc-status-details-bin", details),)
        return await context.abort(found.code, found.message, trailers)

    async def _attempt(
        self, signal: Signal, path: str, context: grpc.aio.ServicerContext[Any, Any], share: Share
    ) -> bytes | _Refusal:
        try:
            return await self._export(signal, path, context, share)
        except Overloaded as error:
            return _unavailable("overloaded", str(error), error.retry_after_s)
        except MonitorError as error:
            code = _CODES.get(type(error))
            if code is None:
                return _unavailable(why(error), str(error))
            return _Refusal(why(error), code, str(error))
        except TimeoutError:
            return _Refusal(
                "body_timeout", grpc.StatusCode.DEADLINE_EXCEEDED, "the message came too slowly"
            )
        except Exception:  # noqa: BLE001 - a defect must not answer INTERNAL, which drops the data
            self._count("defects")
            return _unavailable("defect", "a defect in the receiver; try again")

    async def _export(
        self, signal: Signal, path: str, context: grpc.aio.ServicerContext[Any, Any], share: Share
    ) -> bytes | _Refusal:
        headers = _headers(context)
        if self._tokens is None or not self._tokens.authorise(headers.get("authorization")):
            return _Refusal(
                "token",
                grpc.StatusCode.UNAUTHENTICATED,
                "the authorization metadata shows no token that is good here",
            )
        # How much will come is not known; what waits in the transport is bounded per call.
        share.reserve(WAITING_BYTES)
        async with asyncio.timeout(self._body_timeout_s):
            message = await context.read()
        if not isinstance(message, bytes):
            return await self._without_message()
        if len(message) > self._message_bytes:
            raise PayloadTooLarge(
                f"the message is beyond the limit `message_bytes` of {self._message_bytes}; "
                "the sender must split it",
                "message_bytes",
            )
        share.reserve(len(message))
        share.shrink(len(message))
        pieces = await self._inflated(message, share)
        received = None
        if self._reception.onward is not None:
            if message.startswith(_GZIP_MAGIC):
                headers["content-encoding"] = "gzip"
            received = Received(signal.path, headers | {"content-type": PROTOBUF}, message)
        decode = self._reception.decoders[signal]
        decoded, _ = await self._reception.take(decode, pieces, PROTOBUF, received)
        return answers.success(signal, PROTOBUF, decoded.rejections, decoded.salvaged)

    async def _without_message(self) -> _Refusal:
        """The end of a call that brought none; by itself it does not tell why."""
        try:
            # gRPC cancels this task soon when the sender hung up or sent far too much.
            await asyncio.sleep(_FAREWELL_S)
        except asyncio.CancelledError:
            self._count("refused:cut_off")
            raise
        return _Refusal(
            "no_message", grpc.StatusCode.INVALID_ARGUMENT, "the call brought no message"
        )

    async def _inflated(self, message: bytes, share: Share) -> list[bytes]:
        """The message itself; inflated when it is gzip, which no protobuf message looks like."""
        if not message.startswith(_GZIP_MAGIC):
            return [message]
        inflater = Inflater(self._limits.body_bytes)
        pieces = []
        for piece in inflater.feed(message):
            share.reserve(len(message) + inflater.inflated)
            pieces.append(piece)
            # A bomb must not hold the loop while it inflates.
            await asyncio.sleep(0)
        inflater.finish()
        return pieces


class _Methods(grpc.GenericRpcHandler):
    """Finds the method of a call.

    On the wire a unary call is a stream of one message; taken as a stream, its message is not read
    before the receiver asks for it.
    """

    def __init__(self, receiver: OtlpGrpcReceiver) -> None:
        self._receiver = receiver

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        path = handler_call_details.method
        signal = self._receiver.signal_of(path)
        if signal is None:
            return None
        chosen = signal

        async def respond(_: object, context: grpc.aio.ServicerContext[Any, Any]) -> bytes:
            return await self._receiver.answer(chosen, path, context)

        return grpc.stream_unary_rpc_method_handler(respond)


def _headers(context: grpc.aio.ServicerContext[Any, Any]) -> dict[str, str]:
    """The call's metadata that is text."""
    metadata = context.invocation_metadata() or ()
    return {key: value for key, value in metadata if isinstance(value, str)}


def _unavailable(cause: str, message: str, retry_after_s: int = RETRY_AFTER_S) -> _Refusal:
    return _Refusal(cause, grpc.StatusCode.UNAVAILABLE, message, retry_after_s)
