"""Langfuse's parts as a host builds them: by entry point, from plain settings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from langfuse_bench import NOW, Bench, running_bench
from langfuse_server import PUBLIC_KEY, SECRET_KEY
from moto import mock_aws

from monitor.entry_points import load_adapter
from monitor.errors import ConfigurationError

KEYS = {"LANGFUSE_PUBLIC_KEY": PUBLIC_KEY, "LANGFUSE_SECRET_KEY": SECRET_KEY}


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with running_bench() as found:
        yield found


async def test_a_host_polls_by_its_settings(bench: Bench) -> None:
    bench.row(1, 100)
    poller = load_adapter("langfuse.poll")(
        None,
        {**KEYS, "LANGFUSE_HOST": bench.server.url},
        clock=bench.clock,
        keep=bench.kept.append,
        times={"interval_s": 5, "sweep_every": 3.0},
        sleep=bench.sleep,
    )
    assert poller.name == "langfuse/poll"
    assert await poller.poll(bench.accept) == 1
    await poller.stop()


async def test_a_host_reads_the_past_by_its_settings(bench: Bench) -> None:
    bench.row(1, 100)
    told = await load_adapter("langfuse.backfill")(
        bench.server.url,
        KEYS,
        bench.accept,
        NOW - timedelta(hours=1),
        NOW,
        clock=bench.clock,
        sleep=bench.sleep,
    )
    assert (told.done, told.spans, told.upto) == (1.0, 1, NOW)


async def test_a_host_reads_annotations_by_its_settings(bench: Bench) -> None:
    row = {"id": "a", "name": "n", "dataType": "NUMERIC", "value": 1, "source": "ANNOTATION"}
    bench.server.scores = {"a": {**row, "sessionId": "s"}}
    found = load_adapter("langfuse.labels")(bench.server.url, KEYS, clock=bench.clock, name="n")
    assert [label.conversation_id async for label in found] == ["s"]


async def test_a_host_writes_scores_by_its_settings(bench: Bench) -> None:
    sink = load_adapter("langfuse.scores")(
        bench.server.url, KEYS, clock=bench.clock, environment="staging"
    )
    assert sink.name == "langfuse.scores"
    await asyncio.to_thread(sink.write, [])
    assert bench.server.requests == []


async def test_a_host_watches_an_export_by_its_settings(monkeypatch: Any) -> None:
    with mock_aws():
        receiver = load_adapter("langfuse.blob")("b", "p", keep=lambda _: None, region="us-east-1")
        assert receiver.name == "langfuse/blob"
        assert await receiver.start(None) == "langfuse/blob"
        await receiver.stop()


@pytest.mark.parametrize(
    ("url", "variables", "times", "word"),
    [
        (None, KEYS, {}, "address"),
        ("https://langfuse.example.com", {}, {}, "LANGFUSE_SECRET_KEY"),
        ("https://langfuse.example.com", KEYS, {"pause_s": 1}, "interval_s"),
        ("https://langfuse.example.com", KEYS, {"interval_s": 0}, "positive"),
        ("http://langfuse.example.com", KEYS, {}, "insecure"),
    ],
)
def test_what_is_missing_is_named(url: str, variables: Any, times: Any, word: str) -> None:
    with pytest.raises(ConfigurationError, match=word):
        load_adapter("langfuse.poll")(
            url, variables, clock=lambda: 0.0, keep=lambda _: None, times=times
        )
