"""The page server: /metrics, /healthz, /readyz and the status page."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable, Sequence

from aiohttp import web

from monitor.errors import ConfigurationError, MonitorError

READY = "/readyz"
DEGRADED_LENGTH = 1024
Render = Callable[[str], tuple[bytes, str]]
"""From the Accept header to a body and its content type."""


def split_address(listen: str, setting: str) -> tuple[str, int]:
    """Host and port of `host:port`; raises ConfigurationError that names the setting."""
    host, _, port = listen.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65_535:
        raise ConfigurationError(f"{setting}: `{listen}` is no host:port")
    return host.strip("[]"), int(port)


def require_loopback(host: str, setting: str, *, insecure: bool) -> None:
    """Refuse an address that others can reach, unless the operator says so."""
    if not insecure and not is_loopback(host):
        raise ConfigurationError(
            f"{setting}: {host} is not a loopback address and nothing authenticates its callers; "
            "use 127.0.0.1, or set `insecure = true` there if a network policy guards it"
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can be meant."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Pages:
    """Serves what operators and Prometheus read."""

    def __init__(
        self,
        listen: str,
        render_metrics: Render,
        render_status: Callable[[], bytes],
        healthy: Callable[[], str | None],
        ready: Callable[[], str | None],
        degraded: Callable[[], str | None] = lambda: None,
        *,
        insecure: bool = False,
        routes: Sequence[web.RouteDef] = (),
    ) -> None:
        """`healthy` and `ready` answer None, or what is wrong in a few words.

        What is `degraded` is told at /readyz, which answers 200 all the same: receivers that work
        must not be cut off because a source that is polled refuses.
        """
        self._host, self._port = split_address(listen, "metrics.listen")
        require_loopback(self._host, "metrics.listen", insecure=insecure)
        self._render_metrics = render_metrics
        self._render_status = render_status
        self._degraded = degraded
        self._probes = {"/healthz": healthy, READY: ready}
        self._routes = tuple(routes)
        self._runner: web.AppRunner | None = None

    async def start(self) -> str:
        """Listen; the address. Raises ConfigurationError when it cannot be bound."""
        app = web.Application(client_max_size=1024)
        app.router.add_get("/metrics", self._metrics)
        app.router.add_get("/", self._status)
        for path in self._probes:
            app.router.add_get(path, self._probe)
        app.router.add_routes(self._routes)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self._port)
        try:
            await site.start()
        except OSError as error:
            raise ConfigurationError(
                f"metrics.listen: {self._host}:{self._port} cannot be bound: {error.strerror}"
            ) from None
        port = self._runner.addresses[0][1]
        return f"http://{self._host}:{port}"

    async def stop(self) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _metrics(self, request: web.Request) -> web.Response:
        accept = request.headers.get("Accept", "")
        try:
            body, content_type = await asyncio.to_thread(self._render_metrics, accept)
        except MonitorError as error:
            return web.Response(status=503, text=f"{error}\n")
        return web.Response(body=body, headers={"Content-Type": content_type})

    async def _status(self, _: web.Request) -> web.Response:
        try:
            body = await asyncio.to_thread(self._render_status)
        except MonitorError as error:
            return web.Response(status=503, text=f"{error}\n")
        policy = "default-src 'none'; style-src 'unsafe-inline'"
        headers = {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
        }
        return web.Response(body=body, headers=headers)

    async def _probe(self, request: web.Request) -> web.Response:
        fault = self._probes[request.path]()
        if fault:
            return web.Response(status=503, text=f"{fault}\n")
        degraded = self._degraded() if request.path == READY else None
        told = f"degraded: {degraded[:DEGRADED_LENGTH]}" if degraded else "ok"
        return web.Response(text=f"{told}\n")
