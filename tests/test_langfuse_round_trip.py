"""From a Langfuse server through the monitor and back: traces in, scores out."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

from langfuse_bench import running_bench
from langfuse_server import documents

from adapters.langfuse.backfill import backfill
from adapters.langfuse.score_sink import LangfuseScoreSink
from adapters.langfuse.scores import ScoreWriter
from monitor import wiring
from monitor.codec import encode_spans
from monitor.config import Settings
from monitor.ports import Decoded
from monitor.roles.engine import Batch


async def test_verdicts_return_to_the_observations_that_they_are_about(
    shared_data: Path, tmp_path: Path
) -> None:
    settings = Settings.model_validate({"embedding": {"backend": "none"}})
    parts = wiring.engine(settings, tmp_path / "ledger.sqlite3", durable=False)

    async def accept(decoded: Decoded, payload_bytes: int) -> None:
        parts.engine.accept([Batch(decoded.spans, encode_spans(decoded.spans))], 1.0)

    async with running_bench() as bench:
        for document in documents(shared_data).values():
            bench.server.load(document)
            start = min(row["startTime"] for row in document["observations"])
            begin = datetime.fromisoformat(start) - timedelta(seconds=1)
            end = begin + timedelta(minutes=5)
            await backfill(bench.client(), accept, begin, end, sleep=bench.sleep)
        parts.engine.flush(2.0)
        reports = [report for _, report in parts.engine.commit(3.0)]
        parts.close()
        sink = LangfuseScoreSink(bench.client(attempts=1), ScoreWriter(), clock=bench.clock)
        await asyncio.to_thread(sink.write, reports)
        await asyncio.to_thread(sink.write, reports)
        written = list(bench.server.scores.values())
        observed = [
            bench.server.observations[score["traceId"], score["observationId"]]["name"]
            for score in written
            if score["name"] == "agent_monitor.turn_correct"
        ]
    # Three carry a contract of the tool that was called, and one reply says what its tool said.
    reply = "chat gpt-5-mini"
    assert sorted(observed) == ["Web-Search", reply, "duckduckgo_search", "get_weather"]
    told = Counter((score["name"], score["value"]) for score in written)
    assert told["agent_monitor.turn_correct", 1] == 4
    assert told["agent_monitor.test_pass", 1] == 3
    assert {score["sessionId"] for score in written if "sessionId" in score} == {
        "35cc6c90-b657-4819-b66c-c931c03ad569",
        "demo-thread-1",
    }
