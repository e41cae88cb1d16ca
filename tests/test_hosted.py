"""Langfuse as a source and a sink of the whole service, against a faithful local server."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from langfuse_server import LangfuseServer, langfuse_server
from running import Running

from monitor.errors import ConfigurationError, InvalidInput
from monitor.roles.past import moment
from monitor.roles.position_file import PositionFile

KEYS = {"LANGFUSE_PUBLIC_KEY": "pk-lf-test", "LANGFUSE_SECRET_KEY": "sk-lf-test"}


@pytest.fixture
async def langfuse() -> AsyncIterator[LangfuseServer]:
    async with langfuse_server() as server:
        yield server


def exchange(server: LangfuseServer, number: int, began: datetime) -> None:
    """One agent run with one tool call, as Langfuse's SDK records it."""
    trace = f"{number:032x}"

    def at(seconds: float) -> str:
        return (began + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")

    common = {"traceId": trace, "sessionId": "session-1"}
    server.add(
        **common,
        id=f"{number:014x}a1",
        type="AGENT",
        name="shop",
        startTime=at(0),
        endTime=at(4),
        input=json.dumps({"messages": [{"role": "user", "content": f"Where is order {number}?"}]}),
        output=json.dumps("It is packed."),
    )
    server.add(
        **common,
        id=f"{number:014x}b1",
        type="TOOL",
        name="get_order",
        parentObservationId=f"{number:014x}a1",
        startTime=at(1),
        endTime=at(2),
        input=json.dumps({"order_id": number}),
        output=json.dumps({"status": "packed"}),
    )


def tools(folder: Path) -> Path:
    path = folder / "tools.json"
    schema = {"type": "object", "properties": {"order_id": {"type": "string"}}}
    path.write_text(json.dumps({"tools": [{"name": "get_order", "parameters": schema}]}))
    return path


async def test_the_service_polls_langfuse_and_writes_verdicts_back(tmp_path, langfuse):
    exchange(langfuse, 7, datetime.now(UTC) - timedelta(seconds=60))
    environment = {
        **KEYS,
        "AGENT_MONITOR_LANGFUSE__URL": langfuse.url,
        "AGENT_MONITOR_LANGFUSE__POLL": "true",
        "AGENT_MONITOR_LANGFUSE__SCORES": "true",
        "AGENT_MONITOR_CONVERSATION__SETTLE_S": "0.1",
        "AGENT_MONITOR_CONVERSATION__IDLE_S": "0.5",
    }

    def serve() -> None:
        with Running(tmp_path, "--tools", str(tools(tmp_path)), environment=environment) as service:
            assert_reported(service)
            assert service.stop() == 0

    await asyncio.to_thread(serve)
    named = {score["name"] for score in langfuse.scores.values()}
    assert named
    assert all("sk-lf-test" not in json.dumps(score) for score in langfuse.scores.values())
    assert PositionFile(tmp_path / "ledger.sqlite3.langfuse-poll").read() is not None


def assert_reported(service: Running) -> None:
    """Wait until the one conversation has closed."""
    for _ in range(3000):
        _, text = service.page("/metrics")
        closed = [
            float(line.rpartition(" ")[2])
            for line in text.splitlines()
            if line.startswith("agent_monitor_conversations_total")
        ]
        if sum(closed) == 1:
            return
    raise AssertionError("the conversation was not reported")


async def test_a_backfill_reads_the_past_once_however_often_it_runs(tmp_path, langfuse):
    for number in range(1, 6):
        exchange(langfuse, number, datetime(2026, 11, 1, number, tzinfo=UTC))
    command = [
        *(sys.executable, "-m", "monitor.cli", "backfill"),
        *("--from", "2026-11-01T00:00:00Z", "--to", "2026-11-02T00:00:00Z"),
        *("--ledger", str(tmp_path / "ledger.sqlite3"), "--tools", str(tools(tmp_path))),
    ]
    environment = {**KEYS, "LANGFUSE_HOST": langfuse.url, "HOME": str(tmp_path)}
    printed = []
    for _ in range(2):
        process = await asyncio.create_subprocess_exec(
            *command,
            env=environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(process.communicate(), 60)
        assert process.returncode == 0, err.decode()
        printed.append(out.decode().splitlines()[0])
    assert printed[0] == "1 conversations, 10 turns: 0 pass, 5 fail, 5 unscored"
    assert printed[1].startswith("0 conversations")


def test_a_backfill_needs_times_with_their_zone():
    with pytest.raises(InvalidInput, match="names no time zone"):
        moment("2026-11-01T00:00:00")
    with pytest.raises(InvalidInput, match="no ISO 8601 time"):
        moment("yesterday")


def test_a_position_is_kept_whole_or_not_at_all(tmp_path):
    place = PositionFile(tmp_path / "position")
    assert place.read() is None
    place.keep(b"one")
    place.keep(b"two")
    assert place.read() == b"two"
    assert list(tmp_path.iterdir()) == [tmp_path / "position"]
    with pytest.raises(ConfigurationError, match="cannot be read"):
        PositionFile(tmp_path).read()


async def test_a_source_that_refuses_is_named_on_the_log_and_counted(tmp_path, langfuse):
    langfuse.troubles += [(401, {})] * 50
    environment = {
        **KEYS,
        "AGENT_MONITOR_LANGFUSE__URL": langfuse.url,
        "AGENT_MONITOR_LANGFUSE__POLL": "true",
    }

    def serve() -> str:
        with Running(tmp_path, environment=environment) as service:
            text = ""
            for _ in range(3000):
                _, text = service.page("/metrics")
                if 'event="poll_errors' in text:
                    break
            assert service.process.stderr is not None
            status, ready = service.page("/readyz")
            assert (status, ready.partition(": ")[0]) == (200, "degraded")
            assert f"{langfuse.url}/api/public/v2/observations" in ready
            assert 'agent_monitor_source_up{source="langfuse/poll"} 0.0' in text
            while "Langfuse" not in "".join(service.said[-1:]):
                service.said.append(service.process.stderr.readline())
            assert service.stop() == 0
            return "".join(service.said) + text

    said = await asyncio.to_thread(serve)
    assert "poll_errors" in said
    assert "sk-lf-test" not in said
