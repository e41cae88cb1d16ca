"""Writes verdicts back to Langfuse as scores."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Final

import msgspec

from adapters.langfuse.client import Clock, LangfuseClient, NotNow, RefusedRequest
from adapters.langfuse.scores import Score, ScoreWriter
from monitor.errors import BackendUnavailable, MonitorError
from monitor.verdict import Report

SCORES: Final = "/api/public/scores"
REMEMBERED: Final = 100_000
_SCORES_FAULT: Final = frozenset({400, 413, 422})
_FIRST_PAUSE_S: Final = 1.0
_LONGEST_PAUSE_S: Final = 300.0


class LangfuseScoreSink:
    """Port Sink. A score's id tells what it is about, so writing again changes nothing.

    `write` takes no longer than `write_s`, and after a failure refuses at once until it is time to
    try again: the reports stay with the host. What it wrote before it had to stop it remembers,
    so the next call goes on from there. `counters`: `scores`, `repeated`, `refused`, `paused`, and
    those of the client.
    """

    name = "langfuse.scores"

    def __init__(
        self,
        client: LangfuseClient,
        writer: ScoreWriter,
        *,
        clock: Clock,
        write_s: float = 2.0,
        parallel: int = 4,
    ) -> None:
        """The client should make one attempt only, with a time-out below `write_s`."""
        self._client = client
        self._writer = writer
        self._clock = clock
        self._write_s = write_s
        self._parallel = max(1, parallel)
        self._written: OrderedDict[str, bytes] = OrderedDict()
        """What each score was last written as."""
        self._paused_until = 0.0
        self._failures = 0
        self._own: dict[str, int] = {}

    @property
    def counters(self) -> dict[str, int]:
        """What happened, by bounded names."""
        return {**self._client.counters, **self._own}

    def write(self, reports: Iterable[Report]) -> None:
        """See the port. Raises BackendUnavailable; no event loop may run in this thread."""
        if self._clock() < self._paused_until:
            self._count("paused")
            raise BackendUnavailable("Langfuse failed a moment ago; the scores wait")
        waiting = [
            (score, digest)
            for report in reports
            for score in self._writer.scores(report)
            if not self._knows(score, digest := _digest(score))
        ]
        if waiting:
            asyncio.run(self._deliver(waiting))

    def _knows(self, score: Score, digest: bytes) -> bool:
        known = self._written.get(score.id) == digest
        if known:
            self._written.move_to_end(score.id)
            self._count("repeated")
        return known

    async def _deliver(self, waiting: Sequence[tuple[Score, bytes]]) -> None:
        queue = iter(waiting)
        try:
            async with asyncio.timeout(self._write_s), asyncio.TaskGroup() as group:
                for _ in range(min(self._parallel, len(waiting))):
                    group.create_task(self._work(queue))
        except TimeoutError as error:
            raise BackendUnavailable("Langfuse did not take all scores in time") from error
        except BaseExceptionGroup as failed:
            raise self._pause(failed) from failed
        finally:
            await self._client.close()
        self._failures = 0

    async def _work(self, queue: Iterable[tuple[Score, bytes]]) -> None:
        for score, digest in queue:
            try:
                await self._client.post(SCORES, msgspec.to_builtins(score))
            except RefusedRequest as error:
                if error.status not in _SCORES_FAULT:
                    raise
                # It would be refused for ever, and hold up all others.
                self._count("refused")
            else:
                self._count("scores")
            self._written[score.id] = digest
            if len(self._written) > REMEMBERED:
                self._written.popitem(last=False)

    def _pause(self, failed: BaseExceptionGroup[BaseException]) -> BaseException:
        """The first failure, after which nothing is tried for a while."""
        first = failed.exceptions[0]
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        if not isinstance(first, MonitorError):
            return first
        pause_s = min(_FIRST_PAUSE_S * 2.0 ** min(self._failures, 16), _LONGEST_PAUSE_S)
        if isinstance(first, NotNow) and first.after_s is not None:
            pause_s = max(pause_s, first.after_s)
        self._failures += 1
        self._paused_until = self._clock() + pause_s
        return first if isinstance(first, BackendUnavailable) else BackendUnavailable(str(first))

    def _count(self, what: str) -> None:
        self._own[what] = self._own.get(what, 0) + 1


def _digest(score: Score) -> bytes:
    return blake2b(msgspec.json.encode(score), digest_size=16).digest()
