"""What a role knows of its brokers while it waits for them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.errors import KafkaTimeoutError

from monitor.config.kafka import KafkaSettings
from monitor.errors import BackendUnavailable
from monitor.roles.kafka.contact import Silence
from monitor.roles.kafka.lags import STALE_S, GroupLags
from monitor.roles.kafka.names import Names
from monitor.roles.kafka.outputs import Output
from monitor.roles.kafka.sending import KafkaSending
from monitor.roles.kafka.sparing import Sparing
from monitor.roles.kafka.topics import misfit, wanted

GIVEN = KafkaSettings(prefix="p", source="s", partitions=4)
NAMES = Names("s", "p")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Producer:
    """Does with a record what a test says."""

    def __init__(self, does: Callable[[], Any]) -> None:
        self.does = does

    async def send(self, *_: Any, **__: Any) -> asyncio.Future[Any]:
        handed: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        found = await self.does()
        handed.set_result(SimpleNamespace(offset=found))
        return handed


async def never() -> int:
    await asyncio.Event().wait()
    return 0


async def taken() -> int:
    return 7


async def unknown_partition() -> int:
    raise AssertionError("Unrecognized partition")


async def no_metadata() -> int:
    raise KafkaTimeoutError


def sending(does: Callable[[], Any]) -> tuple[KafkaSending, Producer]:
    producer: Any = Producer(does)
    return KafkaSending(producer, lambda: None, NAMES, 0.01), producer


@pytest.mark.parametrize("does", [never, unknown_partition, no_metadata])
def test_whatever_keeps_records_from_the_broker_is_told_in_time_until_they_are_taken(
    does: Callable[[], Any],
) -> None:
    async def trying() -> None:
        found, producer = sending(does)
        with pytest.raises(BackendUnavailable, match="did not take 1 records"):
            await found.send([Output("t", 0, b"k", b"v")])
        assert found.trouble is not None
        producer.does = taken
        await found.send([Output("t", 0, b"k", b"v")])
        assert found.trouble is None

    asyncio.run(trying())


def test_the_first_topic_that_does_not_fit_is_named() -> None:
    fitting = {topic.name: topic.partitions for topic in wanted(GIVEN)}
    assert misfit(GIVEN, fitting, fitting) is None
    assert misfit(GIVEN, {**fitting, "s": 99}, fitting) is None
    other = misfit(GIVEN, {**fitting, NAMES.reports: 2}, fitting)
    assert other is not None
    assert other.startswith("topic p.reports has 2 partitions, kafka.partitions says 4")
    del fitting[NAMES.traces]
    missing = misfit(GIVEN, fitting, [NAMES.traces, NAMES.reports])
    assert missing == "topic p.traces is not there; `agent-monitor topics` makes it"
    assert misfit(GIVEN, fitting, [NAMES.reports]) is None


def test_a_silence_is_said_once_and_so_is_its_end(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    silence = Silence("b:1", clock)
    clock.now = 10.0
    assert silence.told(12.0) is None
    clock.now = 20.0
    assert silence.told(12.0) == "no broker has answered at b:1 for 20 s"
    clock.now = 30.0
    assert silence.told(12.0) == "no broker has answered at b:1 for 30 s"
    silence.heard()
    assert silence.told(12.0) is None
    assert [record.getMessage() for record in caplog.records] == [
        "no broker answers at b:1; what comes waits",
        "the brokers at b:1 answer again, after 30 s",
    ]


def test_lags_are_not_told_once_they_are_old() -> None:
    clock = Clock()
    lags = GroupLags(GIVEN, {}, [], clock=clock)
    lags._found = {("g", "t"): 3}
    clock.now = STALE_S
    assert lags.found == {("g", "t"): 3}
    clock.now += 0.1
    assert lags.found == {}
    assert lags.age_s == STALE_S + 0.1


class Admin:
    """Two topics of ten records, and one group that has read some."""

    def describe_topics(self, topics: list[str]) -> list[dict[str, Any]]:
        return [{"name": name, "partitions": [{"partition_index": 0}]} for name in topics]

    def list_partition_offsets(self, places: Any) -> dict[Any, Any]:
        return {place: SimpleNamespace(offset=10) for place in places}

    def list_group_offsets(self, _: Any) -> dict[str, dict[Any, Any]]:
        return {}


def test_a_judge_group_that_nobody_was_ever_in_is_not_behind() -> None:
    lags = GroupLags(GIVEN, {"workers": ["a"], "judge": ["b"]}, [], ["judge"])
    assert lags.look(Admin()) == {("workers", "a"): 10}


def line(name: str, text: str, *values: object) -> logging.LogRecord:
    return logging.LogRecord(name, logging.WARNING, "", 0, text, values, None)


def test_a_library_says_each_thing_once_a_minute_and_how_often_it_was() -> None:
    clock = Clock()
    sparing = Sparing(["aiokafka"], clock)
    assert sparing.filter(line("aiokafka.conn", "no %s", 1))
    assert not any(sparing.filter(line("aiokafka.conn", "no %s", n)) for n in range(312))
    assert sparing.filter(line("aiokafka.conn", "another thing"))
    assert sparing.filter(line("agent_monitor", "ours"))
    assert sparing.filter(line("agent_monitor", "ours"))
    clock.now = 60.0
    later = line("aiokafka.conn", "no %s", 1)
    assert sparing.filter(later)
    assert later.getMessage() == "no 1 (and 312 more of its kind since the last)"
