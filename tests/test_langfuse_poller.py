"""The poller against a server on loopback, with a clock of the test's own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from langfuse_bench import NOW, Bench, running_bench, stamp

from adapters.langfuse.client import NotThere
from adapters.langfuse.poller import LangfusePoller, PollTimes
from monitor.errors import BackendUnavailable, ConfigurationError
from monitor.ports import Decoded


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with running_bench() as found:
        yield found


async def test_a_poll_hands_on_every_observation_once(bench: Bench) -> None:
    for number in range(1, 6):
        bench.row(number, 60 * number)
    poller = bench.poller()
    assert await poller.poll(bench.accept) == 5
    assert await poller.poll(bench.accept) == 0
    assert sorted(bench.ids) == [f"{number:016x}" for number in range(1, 6)]
    assert poller.counters["repeated"] == 5


async def test_pages_follow_the_cursor_to_its_end(bench: Bench) -> None:
    for number in range(1, 2_501):
        bench.row(number, number / 2)
    assert await bench.poller().poll(bench.accept) == 2_500
    assert len(set(bench.ids)) == 2_500
    assert [query.get("limit") for _, query in bench.server.requests] == ["1000"] * 3
    assert all(len(decoded.spans) <= 500 for decoded in bench.taken)


async def test_an_observation_that_arrives_late_is_found_in_the_overlap(bench: Bench) -> None:
    poller = bench.poller()
    await poller.poll(bench.accept)
    bench.now += timedelta(seconds=60)
    bench.row(1, 200)
    await poller.poll(bench.accept)
    assert bench.ids == [f"{1:016x}"]


async def test_a_run_that_began_long_ago_is_found_by_a_sweep(bench: Bench) -> None:
    poller = bench.poller(times=PollTimes(overlap_s=60, sweep_s=7_200, sweep_every=3))
    await poller.poll(bench.accept)
    bench.row(1, 5_000)
    found = []
    for _ in range(3):
        bench.now += timedelta(seconds=15)
        found.append(await poller.poll(bench.accept))
    assert found == [0, 0, 1]


async def test_the_newest_version_of_an_observation_counts(bench: Bench) -> None:
    row = bench.row(1, 100, output="first", updatedAt=stamp(NOW - timedelta(seconds=50)))
    poller = bench.poller()
    await poller.poll(bench.accept)
    row["output"], row["updatedAt"] = "older", stamp(NOW - timedelta(seconds=60))
    await poller.poll(bench.accept)
    row["output"], row["updatedAt"] = "newer", stamp(NOW - timedelta(seconds=10))
    await poller.poll(bench.accept)
    texts = [span.messages_out[0].text for span in bench.spans if span.messages_out]
    assert texts == ["first", "newer"]


async def test_what_has_not_ended_is_waited_for(bench: Bench) -> None:
    row = bench.row(1, 100, endTime=None)
    poller = bench.poller()
    assert await poller.poll(bench.accept) == 0
    assert poller.counters["waiting"] == 1
    row["endTime"] = stamp(NOW)
    assert await poller.poll(bench.accept) == 1
    assert bench.spans[0].end_ns == int(NOW.timestamp()) * 10**9


async def test_what_never_ends_is_taken_as_it_is_and_is_no_root(bench: Bench) -> None:
    bench.row(1, 1_000, endTime=None)
    assert await bench.poller().poll(bench.accept) == 1
    assert bench.spans[0].end_ns == 0
    assert bench.spans[0].parent_id is not None


async def test_a_position_goes_on_where_it_was_kept(bench: Bench) -> None:
    bench.row(1, 100)
    await bench.poller().poll(bench.accept)
    bench.now += timedelta(seconds=600)
    bench.row(2, 500)
    again = bench.poller(position=bench.kept[-1])
    assert await again.poll(bench.accept) == 1
    assert bench.ids == [f"{1:016x}", f"{2:016x}"]


async def test_the_position_stands_until_everything_was_accepted(bench: Bench) -> None:
    bench.row(1, 100)
    bench.server.troubles = [(500, {})] * 400
    poller = bench.poller(bench.client(attempts=1))
    with pytest.raises(BackendUnavailable):
        await poller.poll(bench.accept)
    assert bench.kept == []
    bench.server.troubles = []
    assert await poller.poll(bench.accept) == 1


async def test_a_damaged_position_is_the_operators(bench: Bench) -> None:
    with pytest.raises(ConfigurationError, match="position"):
        bench.poller(position=b"{")


async def test_without_room_the_same_rows_are_offered_again(bench: Bench) -> None:
    bench.row(1, 100)
    bench.full = 3
    assert await bench.poller().poll(bench.accept) == 1
    assert bench.waits == [7, 7, 7]
    assert len(bench.server.requests) == 1


async def test_a_window_that_times_out_is_halved_and_nothing_is_left_out(bench: Bench) -> None:
    for number in range(1, 101):
        bench.row(number, 36 * number - 18)
    bench.server.widest_window_s = 1_000
    poller = bench.poller(bench.client(attempts=2))
    assert await poller.poll(bench.accept) == 100
    assert len(set(bench.ids)) == 100
    # 3,600 s to 1,800 s twice to 900 s four times.
    assert poller.counters["windows_halved"] == 3
    assert poller.counters["failed:5xx"] == 6


async def test_a_server_that_is_down_is_not_asked_for_ever_smaller_windows(bench: Bench) -> None:
    bench.server.troubles = [(503, {})] * 100
    poller = bench.poller(bench.client(attempts=3))
    with pytest.raises(BackendUnavailable):
        await poller.poll(bench.accept)
    assert len(bench.server.requests) == 3


async def test_an_older_servers_trace_is_read_again_when_it_grows(bench: Bench) -> None:
    bench.server.former = True
    first = bench.row(1, 100)
    poller = bench.poller()
    assert await poller.poll(bench.accept) == 1
    bench.row(2, 90, traceId=first["traceId"])
    assert await poller.poll(bench.accept) == 1
    assert bench.ids == [f"{1:016x}", f"{2:016x}"]


async def test_a_cursor_that_leads_back_is_noticed(bench: Bench) -> None:
    for number in range(1, 2_002):
        bench.row(number, 0.5)
    bench.server.looping_cursor = True
    poller = bench.poller(times=PollTimes(lookback_s=1))
    with pytest.raises(BackendUnavailable, match="cursor"):
        await poller.poll(bench.accept)
    assert poller.counters["cursor_loops"] == 1


async def test_an_older_server_is_read_by_trace(bench: Bench) -> None:
    bench.server.former = True
    for number in range(1, 121):
        bench.row(number, 20 * number)
    bench.server.traces[f"{1:032x}"]["sessionId"] = "talk"
    poller = bench.poller()
    assert await poller.poll(bench.accept) == 120
    assert await poller.poll(bench.accept) == 0
    paths = [path for path, _ in bench.server.requests]
    assert paths.count("/api/public/v2/observations") == 1
    # Two pages of the list and each trace once; then one page, of the overlap.
    assert len(paths) == 1 + 2 + 120 + 1
    assert {span.conversation_id for span in bench.spans if span.span_id == f"{1:016x}"} == {"talk"}


async def test_a_wrong_address_does_not_pass_for_an_old_server(bench: Bench) -> None:
    poller = bench.poller(bench.client(base_url=bench.server.url + "/elsewhere"))
    for _ in range(2):
        with pytest.raises(NotThere):
            await poller.poll(bench.accept)
    assert [path for path, _ in bench.server.requests].count(
        "/elsewhere/api/public/v2/observations"
    ) == 2


async def test_a_server_without_the_newest_fields_is_asked_for_the_others(bench: Bench) -> None:
    bench.server.groups = {
        name: keys for name, keys in bench.server.groups.items() if name != "trace_context"
    }
    bench.row(1, 100)
    assert await bench.poller().poll(bench.accept) == 1


async def test_half_a_character_costs_nothing_but_itself(bench: Bench) -> None:
    bench.row(1, 100, output="cut \ud83d")
    bench.row(2, 90)
    assert await bench.poller().poll(bench.accept) == 2
    said = next(span for span in bench.spans if span.span_id == f"{1:016x}").messages_out
    assert [message.text for message in said or ()] == ["cut \ufffd"]


async def test_one_bad_row_costs_itself(bench: Bench) -> None:
    bench.row(1, 100)
    bench.row(2, 90)
    bench.server.observations["", "x"] = {
        **bench.row(3, 80),
        "traceId": f"{3:032x}",
        "id": "",
    }
    deep: Any = "x"
    for _ in range(80):
        deep = [deep]
    bench.row(4, 70, input=json.dumps(deep))
    poller = bench.poller()
    await poller.poll(bench.accept)
    assert sorted(bench.ids) == [f"{number:016x}" for number in (1, 2, 3)]
    assert poller.counters["rejected:malformed_observation"] == 1
    assert poller.counters["rejected:nesting"] == 1


async def test_an_answer_over_the_limit_is_asked_for_in_smaller_pages(bench: Bench) -> None:
    for number in range(1, 41):
        bench.row(number, number, input="x" * 1_000)
    bench.row(99, 50, input="y" * 50_000)
    poller = bench.poller(bench.client(response_bytes=20_000))
    assert await poller.poll(bench.accept) == 41
    assert len(set(bench.ids)) == 41
    lone = next(span for span in bench.spans if span.span_id == f"{99:016x}")
    assert lone.messages_in is None
    assert poller.counters["without_io"] == 1


async def test_the_loop_outlives_failures_and_stops_when_told(bench: Bench) -> None:
    bench.row(1, 100)
    bench.server.troubles = [(401, {}), (302, {})]
    arrived = asyncio.Event()

    async def accept(decoded: Decoded, payload_bytes: int) -> None:
        await bench.accept(decoded, payload_bytes)
        arrived.set()

    async def sleep(wait_s: float) -> None:
        await bench.sleep(wait_s)
        await asyncio.sleep(0)

    poller = LangfusePoller(bench.client(), clock=bench.clock, keep=bench.kept.append, sleep=sleep)
    assert await poller.start(accept) == bench.server.url
    await asyncio.wait_for(arrived.wait(), 10)
    await poller.stop()
    assert bench.waits[:2] == [30, 60]
    assert poller.counters["poll_errors:refused"] == 2
    assert poller.counters.get("defects", 0) == 0
