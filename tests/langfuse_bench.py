"""A Langfuse server with all that its clients need: a clock, a place to sleep, an acceptance."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from langfuse_server import PUBLIC_KEY, SECRET_KEY, LangfuseServer, langfuse_server

from adapters.langfuse.client import LangfuseClient
from adapters.langfuse.poller import LangfusePoller
from monitor.errors import Overloaded
from monitor.model import AgentSpan
from monitor.ports import Decoded

NOW = datetime(2026, 5, 1, 12, 0, 0, tzinfo=UTC)


class Bench:
    """A server, a clock that moves by waiting only, and what was accepted."""

    def __init__(self, server: LangfuseServer) -> None:
        self.server = server
        self.now = NOW
        self.waits: list[float] = []
        self.taken: list[Decoded] = []
        self.full = 0
        self.kept: list[bytes] = []
        self.clients: list[LangfuseClient] = []

    def clock(self) -> float:
        return self.now.timestamp()

    async def sleep(self, wait_s: float) -> None:
        self.waits.append(wait_s)
        self.now += timedelta(seconds=wait_s)

    async def accept(self, decoded: Decoded, payload_bytes: int) -> None:
        assert payload_bytes > 0
        if self.full > 0:
            self.full -= 1
            raise Overloaded("full", 7)
        self.taken.append(decoded)

    def client(self, **options: Any) -> LangfuseClient:
        settings = {
            "base_url": self.server.url,
            "public_key": PUBLIC_KEY,
            "secret_key": SECRET_KEY,
            **options,
        }
        found = LangfuseClient(clock=self.clock, sleep=self.sleep, **settings)
        self.clients.append(found)
        return found

    def poller(self, client: LangfuseClient | None = None, **options: Any) -> LangfusePoller:
        return LangfusePoller(
            client or self.client(),
            clock=self.clock,
            sleep=self.sleep,
            keep=self.kept.append,
            **options,
        )

    def row(self, number: int, seconds_ago: float, **more: Any) -> dict[str, Any]:
        start = self.now - timedelta(seconds=seconds_ago)
        row = {
            "id": f"{number:016x}",
            "traceId": f"{number:032x}",
            "startTime": stamp(start),
            "endTime": stamp(start + timedelta(seconds=1)),
            "type": "GENERATION",
            "input": "hello",
            "output": "hi",
            **more,
        }
        return self.server.add(**row)

    @property
    def spans(self) -> list[AgentSpan]:
        return [span for decoded in self.taken for span in decoded.spans]

    @property
    def ids(self) -> list[str]:
        return [span.span_id for span in self.spans]


def stamp(moment: datetime) -> str:
    return (
        moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
    )


@asynccontextmanager
async def running_bench() -> AsyncIterator[Bench]:
    """A bench over a running server."""
    async with langfuse_server() as server:
        bench = Bench(server)
        yield bench
        for client in bench.clients:
            await client.close()
