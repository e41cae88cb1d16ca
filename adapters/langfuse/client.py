"""Requests to Langfuse's public API: authenticated, bounded, patient, never redirected."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Final

import aiohttp
import msgspec

from adapters.langfuse.address import GuardedResolver, checked_address
from adapters.langfuse.decoder import json_of, text_of
from monitor.errors import (
    BackendUnavailable,
    MalformedPayload,
    MonitorError,
    PayloadTooLarge,
)
from monitor.model import JsonValue

Clock = Callable[[], float]
Notice = Callable[[str], None]
Sleeper = Callable[[float], Awaitable[None]]
RESPONSE_BYTES: Final = 64 * 1024 * 1024
ATTEMPTS: Final = 5
BACKOFF_S: Final = 1.0
LONGEST_WAIT_S: Final = 300.0
_AGENT: Final = "agent-turn-monitor"
_LARGE_BYTES: Final = 512 * 1024
_LONG_S: Final = 10.0
_GAVE_UP: Final = frozenset({408, 500, 502, 504})
_RESET_EPOCH_S: Final = 1_000_000_000


class NotThere(MonitorError):
    """The server has no such address: it is older or newer than the request."""


class RefusedRequest(MonitorError):
    """The server refused the request for good; the operator must look at it."""

    def __init__(self, message: str, status: int) -> None:
        """`status` is the answer's."""
        super().__init__(message)
        self.status = status


class NotNow(BackendUnavailable):
    """The server failed, or throttled, at every attempt."""

    def __init__(self, message: str, after_s: float | None, *, too_much: bool = False) -> None:
        """`after_s`: how long it asked to wait; None when it did not say.

        `too_much`: it was reached and gave up, so that less may be had from it.
        """
        super().__init__(message)
        self.after_s = after_s
        self.too_much = too_much


class LangfuseClient:
    """One project on one server. Close it when done.

    `counters` tells what happened; its keys are bounded: `requests`, `throttled`, `failed:<status
    class or kind>`, `waited_s` in whole seconds.
    """

    def __init__(
        self,
        base_url: str,
        public_key: str,
        secret_key: str,
        *,
        clock: Clock,
        insecure: bool = False,
        timeout_s: float = 60.0,
        response_bytes: int = RESPONSE_BYTES,
        attempts: int = ATTEMPTS,
        longest_wait_s: float = LONGEST_WAIT_S,
        sleep: Sleeper = asyncio.sleep,
        notice: Notice = lambda _: None,
    ) -> None:
        """`clock` tells seconds since 1970. Raises ConfigurationError for a forbidden address.

        `notice` is told, for a person, when a request is refused for the first time and whenever
        the next attempt is long to come; the text holds the address, and no secret.
        """
        self.base_url = checked_address(base_url, insecure=insecure)
        credentials = base64.b64encode(f"{public_key}:{secret_key}".encode()).decode()
        self._authorization = f"Basic {credentials}"
        self._timeout = aiohttp.ClientTimeout(total=timeout_s, connect=min(10.0, timeout_s))
        self._response_bytes = response_bytes
        self._attempts = max(1, attempts)
        self._longest_wait_s = longest_wait_s
        self._clock = clock
        self._sleep = sleep
        self.notice = notice
        self._session: aiohttp.ClientSession | None = None
        self._rested_until = 0.0
        self.counters: dict[str, int] = {}

    async def close(self) -> None:
        """Give up the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def fetch(
        self, path: str, parameters: Mapping[str, str], *, attempts: int | None = None
    ) -> JsonValue:
        """The JSON of a GET, after fewer `attempts` than usual, and with less notice, if so told.

        Raises NotThere for 404, RefusedRequest for any other fault of the request, PayloadTooLarge
        at `response_bytes`, MalformedPayload for what is no JSON, NotNow when the server failed, or
        throttled, at every attempt.
        """
        return await self._patiently("GET", path, parameters, None, attempts)

    async def post(self, path: str, body: JsonValue) -> JsonValue:
        """The JSON of a POST, which must be safe to repeat. Raises as `fetch` does."""
        return await self._patiently("POST", path, {}, msgspec.json.encode(body))

    async def _patiently(
        self,
        method: str,
        path: str,
        parameters: Mapping[str, str],
        body: bytes | None,
        attempts: int | None = None,
    ) -> JsonValue:
        failure = NotNow("no attempt was made", None)
        last = min(attempts or self._attempts, self._attempts)
        for attempt in range(1, last + 1):
            await self._rest()
            try:
                return await self._once(method, path, parameters, body)
            except _Again as again:
                what = f"Langfuse {again.why} at {self.base_url}{path}"
                failure = NotNow(
                    f"{what}, {attempt} times in a row", again.after_s, too_much=again.too_much
                )
                if attempt < last:
                    wait_s = again.after_s or BACKOFF_S * 2 ** (attempt - 1)
                    if (attempt == 1 and attempts is None) or wait_s >= _LONG_S:
                        told = f"attempt {attempt} of {last}, asking again in {wait_s:.0f} s"
                        self.notice(f"{what}: {told}")
                    await self._wait(wait_s)
        raise failure

    async def _once(
        self, method: str, path: str, parameters: Mapping[str, str], body: bytes | None
    ) -> JsonValue:
        self._count("requests")
        headers = {"Content-Type": "application/json"} if body is not None else {}
        try:
            async with self._opened().request(
                method,
                self.base_url + path,
                params=dict(parameters),
                data=body,
                headers=headers,
                allow_redirects=False,
            ) as answer:
                self._note_limits(answer.headers)
                self._check(answer, path)
                body = await self._read(answer)
        except TimeoutError as error:
            self._count("failed:timeout")
            raise _Again("did not answer in time", too_much=True) from error
        except (aiohttp.ClientError, OSError) as error:
            self._count("failed:connection")
            raise _Again(f"could not be reached ({type(error).__name__})") from error
        try:
            if len(body) <= _LARGE_BYTES:
                return _decoded(body)
            return await asyncio.to_thread(_decoded, body)
        except MalformedPayload as error:
            what = "a web page" if body.lstrip()[:1] == b"<" else "what is no JSON"
            raise MalformedPayload(
                f"{self.base_url}{path} answered with {what}: it is no Langfuse API, or something "
                "stands before it; the operator must check the address"
            ) from error

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=8, resolver=GuardedResolver()),
                timeout=self._timeout,
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={
                    "Authorization": self._authorization,
                    "Accept": "application/json",
                    "User-Agent": _AGENT,
                },
                trust_env=False,
            )
        return self._session

    def _check(self, answer: aiohttp.ClientResponse, path: str) -> None:
        """Raises what the status means; nothing for success."""
        status = answer.status
        if status in (200, 201, 202, 207):
            return
        if status == 429:
            self._count("throttled")
            raise _Again("throttled", self._asked_to_wait(answer.headers))
        self._count(f"failed:{status // 100}xx")
        if status >= 500 or status == 408:
            after_s = self._asked_to_wait(answer.headers)
            raise _Again(f"answered {status}", after_s, too_much=status in _GAVE_UP)
        if status == 404:
            raise NotThere(f"Langfuse has no {self.base_url}{path}")
        if status in (401, 403):
            raise RefusedRequest(
                f"Langfuse answered {status} at {self.base_url}{path}: the keys are wrong or "
                "lack the right; the operator must mend them",
                status,
            )
        if status // 100 == 3:
            raise RefusedRequest(
                f"Langfuse answered {status} at {self.base_url}{path}: redirects are not followed; "
                "the operator must configure the address that it leads to",
                status,
            )
        raise RefusedRequest(f"Langfuse answered {status} at {self.base_url}{path}", status)

    async def _read(self, answer: aiohttp.ClientResponse) -> bytes:
        pieces: list[bytes] = []
        held = 0
        async for piece in answer.content.iter_any():
            held += len(piece)
            if held > self._response_bytes:
                answer.close()
                raise PayloadTooLarge(
                    f"an answer is beyond the limit `response_bytes` of {self._response_bytes}",
                    "response_bytes",
                )
            pieces.append(piece)
        return b"".join(pieces)

    def _asked_to_wait(self, headers: Mapping[str, str]) -> float | None:
        """`Retry-After` in seconds or as a date, else the moment at which the limit resets."""
        for name in ("Retry-After", "X-RateLimit-Reset"):
            wait_s = _seconds(headers.get(name, ""), self._clock())
            if wait_s is not None:
                return min(wait_s, self._longest_wait_s)
        return None

    def _note_limits(self, headers: Mapping[str, str]) -> None:
        """Rest before the next request when this one was the last allowed."""
        if headers.get("X-RateLimit-Remaining", "").strip() == "0":
            wait_s = _seconds(headers.get("X-RateLimit-Reset", ""), self._clock())
            if wait_s is not None:
                self._rested_until = self._clock() + min(wait_s, self._longest_wait_s)

    async def _rest(self) -> None:
        wait_s = self._rested_until - self._clock()
        self._rested_until = 0.0
        if wait_s > 0:
            await self._wait(wait_s)

    async def _wait(self, wait_s: float) -> None:
        self._rested_until = 0.0
        self._count("waited_s", round(wait_s))
        await self._sleep(wait_s)

    def _count(self, what: str, by: int = 1) -> None:
        self.counters[what] = self.counters.get(what, 0) + by


class _Again(Exception):
    """The request may be repeated, after a while that the server may have named."""

    def __init__(self, why: str, after_s: float | None = None, *, too_much: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.after_s = after_s
        self.too_much = too_much


def _decoded(body: bytes) -> JsonValue:
    """One bad character in one row must not cost the page."""
    text, _ = text_of(body)
    return json_of(text) if text.strip() else None


def _seconds(told: str, now: float) -> float | None:
    """How long to wait: a number of seconds, a moment since 1970, or a date."""
    told = told.strip()
    if not told:
        return None
    try:
        number = float(told)
    except ValueError:
        return _until(told, now)
    if not 0 <= number < 1e15:
        return None
    if number > 1000 * _RESET_EPOCH_S:
        number /= 1000
    return max(0.0, number - now) if number > _RESET_EPOCH_S else number


def _until(told: str, now: float) -> float | None:
    for parse in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            return max(0.0, parse(told).timestamp() - now)
        except (ValueError, TypeError, OverflowError):
            continue
    return None
