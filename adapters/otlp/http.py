"""The HTTP receiver: OTLP traces and logs, and the addresses of a Langfuse server, on aiohttp."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from aiohttp import ClientPayloadError, web
from aiohttp.http_exceptions import HttpProcessingError

from adapters.otlp import answers
from adapters.otlp.access import Access, Tokens, access_of, address_of, require_guarded
from adapters.otlp.body import BodyLimits, TooSlow, read_body
from adapters.otlp.budget import RETRY_AFTER_S, ByteBudget, Share
from adapters.otlp.connections import BoundedServer, Bounds
from adapters.otlp.limits import DecodeLimits, decode_limits
from adapters.otlp.media import JSON, PROTOBUF, media_type
from adapters.otlp.reception import Onward, Received, Reception, why
from adapters.otlp.relay import Relay, relayable
from adapters.otlp.routes import Fixed, Ingest, Route, fixed_answers, routes
from adapters.otlp.tls import server_context
from monitor.errors import (
    BackendUnavailable,
    ConfigurationError,
    MalformedPayload,
    MonitorError,
    Overloaded,
    PayloadTooLarge,
    UnsupportedPayload,
)
from monitor.ports import Accept

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
}


class OtlpHttpReceiver:
    """Port Receiver. Answers a request only after `accept` returned.

    `counters` tells what was refused and why; see Reception.
    """

    name = "otlp/http"

    def __init__(
        self,
        listen: str = "127.0.0.1:4318",
        *,
        access: Access | Mapping[str, object] | None = None,
        in_flight_bytes: int = 64 * 1024 * 1024,
        connections: int = 256,
        connections_per_peer: int = 32,
        head_timeout_s: float = 5.0,
        body_timeout_s: float = 30.0,
        body_bytes_per_s: int = 1_024,
        body_grace_s: float = 5.0,
        limits: DecodeLimits | Mapping[str, int] | None = None,
        conversation_attribute: str | None = None,
        release_attribute: str | None = None,
        outcome_attribute: str | None = None,
        onward: Onward | None = None,
        ingest: Ingest | None = None,
    ) -> None:
        """`onward` is offered each request as it came; `ingest` reads Langfuse's older batches."""
        self._host, self._port = address_of(listen)
        self._access = access_of(access)
        self._budget = ByteBudget(in_flight_bytes)
        self._connections = Bounds(connections, connections_per_peer, head_timeout_s)
        found = decode_limits(limits)
        self._reception = Reception(
            found,
            onward,
            conversation_attribute=conversation_attribute,
            release_attribute=release_attribute,
            outcome_attribute=outcome_attribute,
        )
        self._body_limits = BodyLimits(
            found.body_bytes, body_timeout_s, body_bytes_per_s, body_grace_s
        )
        self._routes = routes(self._reception, ingest)
        self._fixed = fixed_answers()
        self._tokens: Tokens | None = None
        self._server: BoundedServer | None = None
        self._runner: web.ServerRunner | None = None
        self._listening: asyncio.Server | None = None

    @property
    def counters(self) -> dict[str, int]:
        """What was taken, and what was refused and why."""
        return self._reception.counters

    @property
    def in_flight_bytes(self) -> int:
        """Bytes of requests that are not answered yet."""
        return self._budget.held

    @property
    def in_flight_limit(self) -> int:
        """How many there may be."""
        return self._budget.limit

    async def start(self, accept: Accept) -> str:
        """See the port. An address beyond loopback needs authentication, or `insecure`."""
        require_guarded(self._host, self._access)
        self._tokens = Tokens(self._access, lambda: self._count("reload_failed:token"))
        context = server_context(self._access, lambda: self._count("reload_failed:tls"))
        self._reception.accept = accept
        self._server = BoundedServer(
            self._answer,
            self._connections,
            self._count,
            lingering_time=_LINGER_S,
            keepalive_timeout=75.0,
        )
        self._runner = web.ServerRunner(self._server, shutdown_timeout=_STOP_S)
        await self._runner.setup()
        try:
            self._listening = await asyncio.get_running_loop().create_server(
                self._server,
                self._host,
                self._port,
                ssl=context,
                ssl_handshake_timeout=self._connections.head_timeout_s if context else None,
            )
        except OSError as error:
            await self._runner.cleanup()
            raise ConfigurationError(
                f"cannot listen on {self._host}:{self._port}: {error.strerror}; "
                "the operator must free the port or choose another"
            ) from error
        host, port = self._listening.sockets[0].getsockname()[:2]
        scheme = "https" if context else "http"
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

    async def stop(self) -> None:
        """See the port."""
        if self._listening is not None:
            self._listening.close()
            self._listening = None
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    @property
    def open_connections(self) -> int:
        """How many senders are connected."""
        return self._server.open if self._server else 0

    def _count(self, what: str) -> None:
        self._reception.count(what)

    async def _answer(self, request: web.BaseRequest) -> web.Response:
        self._count("requests")
        fixed = self._fixed.get((request.method, request.path))
        if fixed is not None and fixed.open:
            return web.Response(body=fixed.body, content_type=JSON)
        route = self._routes.get(request.path)
        if route is None and fixed is None and self._relay_for(request) is None:
            return self._refuse("path", JSON, 404, answers.NOT_FOUND, "no such address here")
        if route is not None and request.method != "POST":
            answer = self._refuse("method", JSON, 405, answers.UNIMPLEMENTED, "use POST")
            answer.headers["Allow"] = "POST"
            return answer
        return await self._guarded(request, route, fixed)

    async def _guarded(
        self, request: web.BaseRequest, route: Route | None, fixed: Fixed | None
    ) -> web.Response:
        """The answer to a known address, whatever happens."""
        media = request.content_type
        share = Share(self._budget)
        try:
            shown = request.headers.get("Authorization")
            if self._tokens is None or not self._tokens.authorise(shown):
                return self._turn_away(media)
            answering = (
                self._export(request, route, share)
                if route is not None
                else self._beside(request, fixed, share)
            )
            return await answering
        except MonitorError as error:
            return self._refuse_error(media, error)
        except TooSlow:
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
            share.release()

    def _relay_for(self, request: web.BaseRequest) -> Relay | None:
        onward = self._reception.onward
        if onward is None or not relayable(request.method, request.rel_url.raw_path):
            return None
        return onward.relay

    async def _beside(
        self, request: web.BaseRequest, fixed: Fixed | None, share: Share
    ) -> web.Response:
        """The answer to what a Langfuse SDK asks beside sending traces."""
        relay = self._relay_for(request)
        if relay is None:
            if fixed is None:
                raise BackendUnavailable("there is no Langfuse to ask any more")
            self._count("passed_over:langfuse")
            return web.Response(body=fixed.body, content_type=JSON)
        body = await read_body(request, self._body_limits, share, keep=True)
        headers = {name.lower(): value for name, value in request.headers.items()}
        found = await relay.ask(
            request.method, request.rel_url.raw_path_qs, headers, body.sent or b""
        )
        self._count("relayed")
        return web.Response(status=found.status, body=found.body, headers=found.headers)

    async def _export(self, request: web.BaseRequest, route: Route, share: Share) -> web.Response:
        media = media_type(request.headers.get("Content-Type", ""))
        route.check(request.headers, media)
        keep = self._reception.onward is not None
        body = await read_body(request, self._body_limits, share, keep=keep)
        received = None
        if body.sent is not None:
            headers = {name.lower(): value for name, value in request.headers.items()}
            received = Received(request.path, headers, body.sent)
        decoded, answer = await self._reception.take(route.decode, body.pieces, media, received)
        if answer is None:
            answer = answers.success(route.signal, media, decoded.rejections, decoded.salvaged)
        return web.Response(status=route.status, body=answer, content_type=media)

    def _refuse_error(self, media: str, error: MonitorError) -> web.Response:
        if isinstance(error, Overloaded):
            return self._unavailable(why(error), media, str(error), error.retry_after_s)
        status, code = _ANSWERS.get(type(error), (503, answers.UNAVAILABLE))
        if status == 503:
            return self._unavailable(why(error), media, str(error))
        return self._refuse(why(error), media, status, code, str(error))

    def _turn_away(self, media: str) -> web.Response:
        message = "the Authorization header shows no token that is good here"
        answer = self._refuse("token", media, 401, answers.UNAUTHENTICATED, message)
        answer.headers["WWW-Authenticate"] = "Bearer"
        answer.force_close()
        return answer

    def _unavailable(
        self, cause: str, media: str, message: str, retry_after_s: int = RETRY_AFTER_S
    ) -> web.Response:
        answer = self._refuse(cause, media, 503, answers.UNAVAILABLE, message)
        answer.headers["Retry-After"] = str(max(1, retry_after_s))
        return answer

    def _refuse(self, cause: str, media: str, status: int, code: int, message: str) -> web.Response:
        self._count(f"refused:{cause}")
        media = PROTOBUF if media == PROTOBUF else JSON
        answer = web.Response(
            status=status, body=answers.failure(media, code, message), content_type=media
        )
        if status in (408, 413):
            # What is still to come of the body is not worth reading.
            answer.force_close()
        return answer
