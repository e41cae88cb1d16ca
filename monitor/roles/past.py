"""`agent-monitor backfill`: what a backend recorded in the past, through the service's own path."""

from __future__ import annotations

import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Protocol

from tqdm import tqdm

from monitor.codec import encode_spans
from monitor.errors import InvalidInput
from monitor.model import AgentSpan
from monitor.ports import Accept, Decoded
from monitor.roles.batch import Summary
from monitor.roles.engine import Batch, Engine

ROWS = 64


class Progress(Protocol):
    """How far the source is."""

    done: float
    """Share of the time range, 0 to 1."""


Notice = Callable[[str], None]
Read = Callable[[Accept, Callable[[Progress], None], Notice], Awaitable[None]]
"""Hands spans on and tells its progress and, in words for a person, what it waits for."""


def moment(text: str) -> datetime:
    """A time with its zone, from ISO 8601. Raises InvalidInput."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(f"{text!r} is no ISO 8601 time, such as 2026-11-01T00:00:00Z") from None
    if found.tzinfo is None:
        raise InvalidInput(f"{text!r} names no time zone; append Z for UTC")
    return found


async def backfill(
    engine: Engine, read: Read, redact: Callable[[Sequence[AgentSpan]], Sequence[AgentSpan]]
) -> Summary:
    """Read the past into the ledger and close every conversation in it.

    Everything that the source hands on is durable before it goes on, so a run that broke off may
    be run again: what came twice is a duplicate. Reports are handed to the sinks at the end.
    """
    summary = Summary()

    async def accept(decoded: Decoded, payload_bytes: int) -> None:
        now = time.time()
        summary.lines += 1
        summary.refuse_spans("the source", decoded.rejections)
        spans = redact(decoded.spans)
        engine.accept([Batch(spans, encode_spans(spans))], now)
        while engine.work(now, ROWS):
            pass
        engine.commit(now)

    with tqdm(total=100, unit="%", disable=None, file=sys.stderr, leave=False) as bar:

        def move(progress: Progress) -> None:
            bar.set_postfix_str("")
            bar.update(progress.done * 100 - bar.n)

        def wait(text: str) -> None:
            bar.set_postfix_str("waiting for the server")
            tqdm.write(f"agent-monitor: {text}", file=sys.stderr)

        await read(accept, move, wait)
    now = time.time()
    engine.flush(now)
    for _, report in engine.commit(now):
        if report.closed:
            summary.add(report)
    engine.deliver()
    return summary
