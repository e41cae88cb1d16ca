"""The past read from a server on loopback."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from langfuse_bench import NOW, Bench, running_bench
from langfuse_server import documents

from adapters.langfuse.backfill import Progress, backfill
from adapters.langfuse.decoder import LangfuseTraceDecoder
from monitor.errors import InvalidInput


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with running_bench() as found:
        yield found


async def test_every_sample_is_read_over_the_api_as_from_its_file(
    bench: Bench, shared_data: Path
) -> None:
    for former in (False, True):
        bench.server.former = former
        for name, document in documents(shared_data).items():
            bench.server.traces.clear()
            bench.server.observations.clear()
            bench.server.load(document)
            start = min(row["startTime"] for row in document["observations"])
            begin = datetime.fromisoformat(start)
            bench.taken.clear()
            await backfill(
                bench.client(),
                bench.accept,
                begin - timedelta(seconds=5),
                begin + timedelta(minutes=10),
                sleep=bench.sleep,
            )
            expected = LangfuseTraceDecoder().decode(json.dumps(document).encode())
            by_id = {span.span_id: span for span in bench.spans}
            assert by_id == {span.span_id: span for span in expected.spans}, (name, former)


async def test_a_backfill_tells_how_far_it_has_come(bench: Bench) -> None:
    for number in range(1, 13):
        bench.row(number, 600 * number - 300)
    told: list[Progress] = []
    counters: dict[str, int] = {}
    start = NOW - timedelta(hours=2)
    whole = await backfill(
        bench.client(),
        bench.accept,
        start,
        NOW,
        progress=told.append,
        counters=counters,
        sleep=bench.sleep,
    )
    assert told == [
        Progress(start + timedelta(hours=1), 0.5, 6),
        Progress(NOW, 1.0, 12),
    ]
    assert whole == told[-1]
    assert counters["pages"] == 2


async def test_a_backfill_needs_a_range(bench: Bench) -> None:
    for start, end in ((NOW, NOW), (NOW.replace(tzinfo=None), NOW)):
        with pytest.raises(InvalidInput):
            await backfill(bench.client(), bench.accept, start, end)
