"""Asks the sender's Langfuse for what the monitor does not answer itself, such as prompts."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

import aiohttp
from yarl import URL

from adapters.otlp.budget import RETRY_AFTER_S
from adapters.otlp.upstream import Upstream
from monitor.errors import BackendUnavailable, Overloaded, PayloadTooLarge

LANGFUSE_API: Final = "/api/public/"
_METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
_PLAIN: Final = re.compile(r"(?:/[A-Za-z0-9_.~:@%+-]+)+/?")
_CLIMBING: Final = re.compile(r"(?i)(?:\.|%2e){2}")
_ASKED: Final = ("accept", "accept-encoding")
_TOLD: Final = (
    *("content-type", "content-encoding", "retry-after"),
    *("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"),
)
_AT_ONE_TIME: Final = 16
_ANSWER_BYTES: Final = 20 * 1024 * 1024


class Relayed(NamedTuple):
    """The backend's answer."""

    status: int
    headers: dict[str, str]
    body: bytes


def relayable(method: str, path: str) -> bool:
    """Whether a request is one to Langfuse's public interface, and to nothing above it."""
    return (
        method in _METHODS
        and path.startswith(LANGFUSE_API)
        and _PLAIN.fullmatch(path) is not None
        and _CLIMBING.search(path) is None
    )


class Relay:
    """Passes requests through to one host, a bounded number at one time, following nothing."""

    def __init__(self, host: str, upstream: Upstream, session: aiohttp.ClientSession) -> None:
        self._host = host
        self._upstream = upstream
        self._session = session
        self._open = 0

    async def ask(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> Relayed:
        """The answer to a request that `relayable` approved of; `target` is its path and query.

        Raises Overloaded, BackendUnavailable, and PayloadTooLarge for an answer beyond the limit.
        """
        if self._open >= _AT_ONE_TIME:
            raise Overloaded("too many requests are being relayed; try again", RETRY_AFTER_S)
        chosen = {"accept-encoding": "identity"}
        chosen.update({name: headers[name] for name in _ASKED if name in headers})
        chosen.update(self._upstream.headers(headers))
        self._open += 1
        try:
            return await self._ask(method, URL(self._host + target, encoded=True), chosen, body)
        except (aiohttp.ClientError, OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            raise BackendUnavailable("the Langfuse behind the monitor does not answer") from error
        finally:
            self._open -= 1

    async def _ask(self, method: str, url: URL, headers: dict[str, str], body: bytes) -> Relayed:
        async with self._session.request(
            method, url, data=body or None, headers=headers, allow_redirects=False
        ) as answer:
            if 300 <= answer.status < 400 and answer.status != 304:
                raise BackendUnavailable("the Langfuse behind the monitor sends elsewhere")
            pieces, size = [], 0
            async for piece in answer.content.iter_any():
                size += len(piece)
                if size > _ANSWER_BYTES:
                    raise PayloadTooLarge(
                        f"the answer is beyond the limit of {_ANSWER_BYTES} bytes", "relayed_bytes"
                    )
                pieces.append(piece)
            told = {name: answer.headers[name] for name in _TOLD if name in answer.headers}
            return Relayed(answer.status, told, b"".join(pieces))
