"""POST /releases: declare a release, clear the evidence against one, or accept it as it is."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from http import HTTPStatus
from typing import Any, Final, Protocol

from aiohttp import web

from monitor.errors import MonitorError
from monitor.ledger.labels import label_value
from monitor.model import release_name
from monitor.roles.pages import is_loopback, split_address

ANSWER_S: Final = 10.0
NAME_LIMIT: Final = 256
JSON_TYPE: Final = "application/json"
NO_ROOM: Final = (
    "`{}` was not declared: every place of `limits.releases` is taken by a release with traffic. "
    "Nothing is lost: with its first conversations it takes the place of the one with the least. "
    "To have it at zero before, raise the limit and restart"
)


class Releases(Protocol):
    """What the pages ask of the engine; called on the writer's thread."""

    def declare(self, release: str, model: str | None) -> bool:
        """Open the series of a release; whether there is room. Raises LedgerError."""
        ...

    def clear(self, release: str) -> bool:
        """Drop the evidence against a release; whether it is known. Raises LedgerError."""
        ...

    def accept_release(self, release: str) -> bool:
        """Take a release as it is; whether it is known. Raises LedgerError."""
        ...


class ReleasePages:
    """Routes that change something, and so are open to this machine or to a token's holder only."""

    def __init__(
        self,
        releases: Releases,
        ask: Callable[[Callable[[], bool]], Future[bool]],
        token: str | None = None,
    ) -> None:
        """`ask` has the writer do something; without a `token` only loopback callers are heard."""
        self._releases = releases
        self._ask = ask
        self._token = token

    def routes(self) -> list[web.RouteDef]:
        """To add to the page server."""
        return [
            web.post("/releases", self._declare),
            web.post("/releases/{name:.+}/clear", self._clear),
            web.post("/releases/{name:.+}/accept", self._accept),
        ]

    async def _declare(self, request: web.Request) -> web.Response:
        if refusal := self._refusal(request):
            return refusal
        try:
            body = json.loads(await request.text())
        except (ValueError, RecursionError):
            return _answer(HTTPStatus.BAD_REQUEST, "the body is no JSON")
        release, model = _name(body, "release"), _name(body, "model")
        # A model that cannot be read is not no model: that would be another release.
        known = isinstance(body, dict) and body.keys() <= {"release", "model"}
        if release is None or not known or (model is None and body.get("model") is not None):
            want = f'want {{"release": "...", "model": "..."}}, of at most {NAME_LIMIT} characters'
            return _answer(HTTPStatus.BAD_REQUEST, want)
        name = release_name(release, model)
        no_room = _answer(HTTPStatus.CONFLICT, NO_ROOM.format(label_value(name)))
        declare = partial(self._releases.declare, name, model)
        return await self._carried_out(declare, name, no_room)

    async def _clear(self, request: web.Request) -> web.Response:
        name = label_value(request.match_info["name"])
        if refusal := self._refusal(request):
            return refusal
        return await self._carried_out(partial(self._releases.clear, name), name, _unknown())

    async def _accept(self, request: web.Request) -> web.Response:
        name = label_value(request.match_info["name"])
        if refusal := self._refusal(request):
            return refusal
        accept = partial(self._releases.accept_release, name)
        return await self._carried_out(accept, name, _unknown())

    async def _carried_out(
        self, order: Callable[[], bool], name: str, otherwise: web.Response
    ) -> web.Response:
        try:
            answer = asyncio.wrap_future(self._ask(order))
            done = await asyncio.wait_for(answer, ANSWER_S)
        except (MonitorError, TimeoutError):
            return _answer(HTTPStatus.SERVICE_UNAVAILABLE, "the ledger cannot be written now")
        return web.json_response({"release": label_value(name)}) if done else otherwise

    def _refusal(self, request: web.Request) -> web.Response | None:
        if self._token is not None:
            given = request.headers.get("Authorization", "")
            wanted = f"Bearer {self._token}"
            if not hmac.compare_digest(given.encode(), wanted.encode()):
                return _answer(HTTPStatus.UNAUTHORIZED, "want the bearer token of metrics.token")
        elif not _is_local(request):
            return _answer(HTTPStatus.FORBIDDEN, "set metrics.token to allow this from elsewhere")
        # A web page can send any other type to this port without asking first.
        if request.content_type != JSON_TYPE:
            return _answer(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"want Content-Type: {JSON_TYPE}")
        return None


def _is_local(request: web.Request) -> bool:
    """Whether the caller is this machine, and meant it: names can be bound to any address."""
    try:
        host, _ = split_address(request.host, "Host")
    except MonitorError:
        host = request.host
    return is_loopback(request.remote or "") and is_loopback(host)


def _name(body: Any, key: str) -> str | None:
    value = body.get(key) if isinstance(body, dict) else None
    if not isinstance(value, str) or not 0 < len(value.strip()) <= NAME_LIMIT:
        return None
    return value.strip()


def _unknown() -> web.Response:
    return _answer(HTTPStatus.NOT_FOUND, "no such release is compared")


def _answer(status: HTTPStatus, text: str) -> web.Response:
    return web.json_response({"error": text}, status=status)
