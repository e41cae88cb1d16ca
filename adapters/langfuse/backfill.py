"""Reads the past: every observation that started in a range of time, with its progress told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from adapters.langfuse.client import LangfuseClient, Sleeper
from adapters.langfuse.handover import Handover
from adapters.langfuse.pages import Page, PageReader
from adapters.langfuse.rows import TraceRow, time_ns
from adapters.langfuse.seen import Seen, encoded_row
from monitor.errors import InvalidInput
from monitor.model import JsonValue
from monitor.ports import Accept

_CHUNK_S: Final = 3_600.0


class Progress(NamedTuple):
    """How far it has come. Everything that started before `upto` was accepted."""

    upto: datetime
    done: float
    """Share of the range, in [0, 1]."""
    spans: int


async def backfill(
    client: LangfuseClient,
    accept: Accept,
    start: datetime,
    end: datetime,
    *,
    progress: Callable[[Progress], None] = lambda _: None,
    chunk_s: float = _CHUNK_S,
    environment: str | None = None,
    conversation_attribute: str | None = None,
    release_attribute: str | None = None,
    counters: dict[str, int] | None = None,
    sleep: Sleeper = asyncio.sleep,
) -> Progress:
    """Hand on all observations from `start`, inclusive, until `end`, exclusive; oldest first.

    `progress` is called after each chunk was accepted; a run that broke off goes on from its
    `upto`. `counters` is filled with what the client, the reader and the handover counted. Raises
    InvalidInput for an empty range or times without a zone, BackendUnavailable, RefusedRequest and
    NotThere as the reader does.
    """
    if start.tzinfo is None or end.tzinfo is None or start >= end:
        raise InvalidInput("a backfill needs two times with their zone, the first before the last")
    names = (conversation_attribute, release_attribute)
    reader = PageReader(
        client, environment=environment, expanded=tuple(name for name in names if name)
    )
    handover = Handover(*names, sleep=sleep)
    seen = Seen()
    told = Progress(start, 0.0, 0)
    first_ns, last_ns = time_ns(start), time_ns(end)
    chunk_ns = max(1, int(chunk_s * 1_000)) * 1_000_000
    try:
        for begin_ns in range(first_ns, last_ns, chunk_ns):
            end_ns, spans = min(last_ns, begin_ns + chunk_ns), told.spans
            async for page in reader.pages(begin_ns, end_ns):
                spans += await handover.hand_on(_fresh(page, seen), accept)
            upto = start + timedelta(microseconds=(end_ns - first_ns) // 1_000)
            told = Progress(upto, (end_ns - first_ns) / (last_ns - first_ns), spans)
            progress(told)
    finally:
        if counters is not None:
            counters.update({**client.counters, **reader.counters, **handover.counters})
    return told


def _fresh(page: Page, seen: Seen) -> Iterator[tuple[JsonValue, TraceRow]]:
    """The rows that have not come before; a halved window brings some again."""
    for row, trace in page.rows:
        if not isinstance(row, dict):
            yield row, trace
            continue
        encoded = encoded_row(row)
        if seen.is_new(row, encoded):
            seen.add(row, encoded, time_ns(row.get("startTime")))
            yield row, trace
