"""Sends on what the receivers took, unchanged, to the backend that it was meant for."""

from __future__ import annotations

import asyncio
import logging
import secrets
import ssl
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import aiohttp

from adapters.langfuse.address import GuardedResolver
from adapters.otlp.reception import Received
from adapters.otlp.relay import Relay
from adapters.otlp.upstream import Answered, Upstream, verdict_on
from monitor.errors import ConfigurationError

LOG: Final = logging.getLogger("agent_monitor")
_AGENT: Final = "agent-turn-monitor"
_ANSWER_BYTES: Final = 64 * 1024


class ForwardLimits(NamedTuple):
    """What forwarding may take; names are those of the configuration."""

    queue_requests: int = 1_000
    """Requests that wait or are under way."""
    queue_bytes: int = 64 * 1024 * 1024
    """Their bodies."""
    senders: int = 4
    """Requests under way at one time."""
    timeout_s: float = 10.0
    """Of one attempt."""
    give_up_s: float = 300.0
    """A request is dropped at this age, however often it was tried."""
    first_wait_s: float = 1.0
    longest_wait_s: float = 30.0
    drain_s: float = 10.0
    """How long stopping waits for what is still here."""


class _Item(NamedTuple):
    url: str
    headers: dict[str, str]
    body: bytes
    since: float


class Forwarder:
    """Port-like companion of the receivers: `offer` never waits, `stop` waits a bounded time.

    Each request is sent until the backend takes it, refuses it for good, or it is too old; a
    backend that is down or slow costs only requests that no longer fit into the queue. `counters`
    has bounded keys: `forwarded`, `forward_retried` and `forward_dropped:<why>`.

    The queue is in memory: what a kill finds in it is lost to the backend, not to the monitor.
    """

    name = "forward"

    def __init__(
        self,
        *,
        url: str | None = None,
        langfuse_url: str | None = None,
        headers: Mapping[str, str] | None = None,
        pass_headers: Sequence[str] = ("authorization", "x-langfuse-*"),
        insecure: bool = False,
        ca_file: Path | None = None,
        limits: ForwardLimits | Mapping[str, float] | None = None,
        jitter: Callable[[], float] | None = None,
    ) -> None:
        """`jitter` gives numbers from 0 to 1. Raises ConfigurationError for a faulty address."""
        self._upstream = Upstream(url, langfuse_url, headers or {}, pass_headers, insecure=insecure)
        self.limits = _limits(limits)
        self._ca_file = ca_file
        self._jitter = jitter or secrets.SystemRandom().random
        self._waiting: deque[_Item] = deque()
        self._under_way = 0
        self.queued_bytes = 0
        self.counters: dict[str, int] = {}
        self._there = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._not_before = 0.0
        self._stopped = False
        self._session: aiohttp.ClientSession | None = None
        self._relay: Relay | None = None
        self._senders: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Begin to send. Raises ConfigurationError when `ca_file` cannot be used."""
        context = _client_context(self._ca_file)
        connector = aiohttp.TCPConnector(resolver=GuardedResolver(), ssl=context)
        self._session = aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=self.limits.timeout_s),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            headers={"User-Agent": _AGENT},
        )
        if self._upstream.langfuse is not None:
            self._relay = Relay(self._upstream.langfuse, self._upstream, self._session)
        self._senders = [asyncio.create_task(self._send()) for _ in range(self.limits.senders)]

    async def stop(self) -> None:
        """Send what is still here for at most `drain_s`; what then remains is dropped and told.

        Its counter is seen by nobody any more, so the log says it.
        """
        self._stopped = True
        before = self.counters.get("forward_dropped:stopped", 0)
        try:
            async with asyncio.timeout(self.limits.drain_s):
                await self._idle.wait()
        except TimeoutError:
            pass
        for sender in self._senders:
            sender.cancel()
        await asyncio.gather(*self._senders, return_exceptions=True)
        self._senders = []
        while self._waiting:
            self._let_go(self._waiting.popleft(), "forward_dropped:stopped")
        self._relay = None
        if self._session is not None:
            await self._session.close()
            self._session = None
        if lost := self.counters.get("forward_dropped:stopped", 0) - before:
            LOG.warning("forward: %d requests were not sent on before stopping", lost)

    @property
    def relay(self) -> Relay | None:
        """See Onward; there while the forwarder runs and `langfuse_url` is set."""
        return self._relay

    @property
    def queued(self) -> int:
        """Requests that wait or are under way."""
        return len(self._waiting) + self._under_way

    def sends(self, path: str) -> bool:
        """See Onward."""
        return self._upstream.target(path) is not None

    def offer(self, received: Received) -> None:
        """See Onward."""
        target = self._upstream.target(received.path)
        if target is None:
            self._count("forward_dropped:no_address")
        elif self._stopped:
            self._count("forward_dropped:stopped")
        elif self.queued >= self.limits.queue_requests:
            self._count("forward_dropped:queue_requests")
        elif self.queued_bytes + len(received.body) > self.limits.queue_bytes:
            self._count("forward_dropped:queue_bytes")
        else:
            headers = self._upstream.headers(received.headers)
            self.queued_bytes += len(received.body)
            self._waiting.append(_Item(target, headers, received.body, self._now()))
            self._idle.clear()
            self._there.set()

    async def _send(self) -> None:
        """One sender's life."""
        while True:
            while not self._waiting:
                self._there.clear()
                await self._there.wait()
            item = self._waiting.popleft()
            self._under_way += 1
            outcome = "forward_dropped:stopped"
            try:
                outcome = await self._deliver(item)
            finally:
                self._under_way -= 1
                self._let_go(item, outcome)

    async def _deliver(self, item: _Item) -> str:
        """The counter that the request ends in."""
        attempt = 0
        while True:
            await self._rest(item)
            if self._now() - item.since > self.limits.give_up_s:
                return "forward_dropped:too_old"
            answered = await self._attempt(item)
            if answered.outcome is not None:
                return answered.outcome
            self._count("forward_retried")
            self._put_off(attempt, answered.retry_after_s)
            attempt += 1

    async def _rest(self, item: _Item) -> None:
        """Wait until the backend may be asked again, or the request is too old."""
        last = item.since + self.limits.give_up_s
        while (wait_s := min(self._not_before, last) - self._now()) > 0:
            await asyncio.sleep(wait_s)

    def _put_off(self, attempt: int, retry_after_s: float | None) -> None:
        """Nobody asks the backend before it said, or before a growing wait is over."""
        if retry_after_s is None:
            doubled = self.limits.first_wait_s * 2.0 ** min(attempt, 16)
            # At least half, so that jitter never turns a wait into none.
            wait_s = min(doubled, self.limits.longest_wait_s) * (0.5 + 0.5 * self._jitter())
        else:
            wait_s = min(retry_after_s, self.limits.give_up_s)
        self._not_before = max(self._not_before, self._now() + wait_s)

    async def _attempt(self, item: _Item) -> Answered:
        if self._session is None:
            return Answered("forward_dropped:stopped")
        try:
            async with self._session.post(
                item.url, data=item.body, headers=item.headers, allow_redirects=False
            ) as answer:
                await answer.content.read(_ANSWER_BYTES)
                return verdict_on(answer.status, answer.headers)
        except (aiohttp.ClientError, OSError, TimeoutError):
            return Answered(None)
        except ValueError:
            # Header text that cannot be written again, though it was read.
            return Answered("forward_dropped:refused")

    def _let_go(self, item: _Item, outcome: str) -> None:
        self.queued_bytes -= len(item.body)
        self._count(outcome)
        if not self.queued:
            self._idle.set()

    def _count(self, what: str) -> None:
        self.counters[what] = self.counters.get(what, 0) + 1

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def _limits(given: ForwardLimits | Mapping[str, float] | None) -> ForwardLimits:
    if isinstance(given, ForwardLimits):
        return given
    try:
        return ForwardLimits(**dict(given or {}))  # type: ignore[arg-type]
    except TypeError as error:
        raise ConfigurationError(f"limits of forwarding: {error}") from None


def _client_context(ca_file: Path | None) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise ConfigurationError(
            f"`forward.ca_file`: {ca_file} cannot be used: {error.strerror or error}"
        ) from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
