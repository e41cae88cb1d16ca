"""Rows to spans to acceptance, in portions that fit, waiting while there is no room."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Final

from adapters.langfuse.client import Sleeper
from adapters.langfuse.decoder import RowIntake
from adapters.langfuse.observations import ObservationReader
from adapters.langfuse.rows import TraceRow
from adapters.langfuse.seen import encoded_row
from monitor.errors import Overloaded
from monitor.model import JsonValue
from monitor.ports import Accept, Decoded

PORTION_BYTES: Final = 512 * 1024
PORTION_ROWS: Final = 500
_LONGEST_WAIT_S: Final = 60


class Handover:
    """Hands rows on; a bad row costs itself only. `counters`: `rejected:<why>`, `overloaded`."""

    def __init__(
        self,
        conversation_attribute: str | None = None,
        release_attribute: str | None = None,
        *,
        sleep: Sleeper = asyncio.sleep,
    ) -> None:
        """The named entries go before all others of their kind."""
        self._reader = ObservationReader(conversation_attribute, release_attribute)
        self._sleep = sleep
        self.counters: dict[str, int] = {}

    async def hand_on(self, rows: Iterable[tuple[JsonValue, TraceRow]], accept: Accept) -> int:
        """Return how many spans there were, after all of them were accepted."""
        handed = 0
        for decoded, size in self.portions(rows):
            handed += len(decoded.spans)
            await self.offer(decoded, size, accept)
        return handed

    async def offer(self, decoded: Decoded, size: int, accept: Accept) -> None:
        """Return after acceptance. Nobody sends these rows again, so it waits for room."""
        for rejection in decoded.rejections:
            self._count(f"rejected:{rejection.why}")
        while True:
            try:
                await accept(decoded, size)
            except Overloaded as full:
                self._count("overloaded")
                await self._sleep(min(max(1, full.retry_after_s), _LONGEST_WAIT_S))
            else:
                return

    def portions(self, rows: Iterable[tuple[JsonValue, TraceRow]]) -> Iterator[tuple[Decoded, int]]:
        """The rows as spans, in portions of bounded size."""
        intake, size = RowIntake(self._reader), 0
        for row, trace in rows:
            more = len(encoded_row(row))
            full = size + more > PORTION_BYTES or len(intake.spans) >= PORTION_ROWS
            if size and full:
                yield intake.decoded(), size
                intake, size = RowIntake(self._reader), 0
            intake.take_one(row, trace)
            size += more
        if size:
            yield intake.decoded(), size

    def _count(self, what: str) -> None:
        self.counters[what] = self.counters.get(what, 0) + 1
