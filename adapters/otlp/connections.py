"""An aiohttp server that bounds its connections and how long a request's head may take."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

Count = Callable[[str], None]
Respond = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]

# The library logs what a client sent when it cannot parse it; customers' text stays out of logs.
_silent = logging.getLogger("adapters.otlp.connections.silent")
_silent.addHandler(logging.NullHandler())
_silent.propagate = False


class Bounds(NamedTuple):
    """What connections may take."""

    connections: int
    per_peer: int
    """From one address."""
    head_timeout_s: float


class BoundedServer(web.Server):
    """Refuses connections beyond the limits, and drops one whose head does not come in time."""

    def __init__(self, respond: Respond, bounds: Bounds, count: Count, **kwargs: Any) -> None:
        super().__init__(
            self._begin, logger=_silent, access_log=None, auto_decompress=False, **kwargs
        )
        self._respond = respond
        self.bounds = bounds
        self.count = count
        self.peers: Counter[str] = Counter()
        """Open connections by address; an address without any is not kept."""

    @property
    def open(self) -> int:
        """Connections in all."""
        return self.peers.total()

    async def _begin(self, request: web.BaseRequest) -> web.StreamResponse:
        protocol = request.protocol
        if isinstance(protocol, _Connection):
            protocol.head_came()
        return await self._respond(request)

    def __call__(self) -> RequestHandler:
        """A protocol for one new connection."""
        return _Connection(self, loop=asyncio.get_running_loop(), **self._kwargs)


class _Connection(RequestHandler):
    __slots__ = ("_peer", "_server", "_timer")

    def __init__(self, manager: BoundedServer, **kwargs: Any) -> None:
        super().__init__(manager, **kwargs)
        self._server = manager
        self._timer: asyncio.TimerHandle | None = None
        self._peer: str | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        server = self._server
        self._peer = _peer(transport)
        server.peers[self._peer] += 1
        if server.open > server.bounds.connections:
            server.count("refused:connections")
            self.force_close()
        elif server.peers[self._peer] > server.bounds.per_peer:
            server.count("refused:connections_per_peer")
            self.force_close()
        else:
            self._expect_head()

    def data_received(self, data: bytes) -> None:
        if self._timer is None and self._current_request is None:
            self._expect_head()
        super().data_received(data)

    def connection_lost(self, exc: BaseException | None) -> None:
        self.head_came()
        if self._peer is not None:
            self._server.peers[self._peer] -= 1
            if not self._server.peers[self._peer]:
                del self._server.peers[self._peer]
            self._peer = None
        super().connection_lost(exc)

    def head_came(self) -> None:
        """Stop the wait for a request's head."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expect_head(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._server.bounds.head_timeout_s, self._give_up)

    def _give_up(self) -> None:
        self._timer = None
        self._server.count("refused:head_timeout")
        self.force_close()


def _peer(transport: asyncio.BaseTransport) -> str:
    name = transport.get_extra_info("peername")
    return str(name[0]) if isinstance(name, tuple) else ""
