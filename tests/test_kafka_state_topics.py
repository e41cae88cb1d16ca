"""What does not belong into a state topic, and what becomes of state that is damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaProducer, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient
from kafka_broker import Broker
from kafka_fleet import Fleet
from running import final_lines
from waiting import until

from monitor.codec import seal
from monitor.roles.demo.traffic import BEFORE, traffic
from monitor.roles.kafka.state import POSITION, step_header

ONE = {"kafka": {"partitions": 1, "source_partitions": 1}}


@pytest.fixture(scope="module")
def bodies() -> list[bytes]:
    return [json.dumps(each.request).encode() for each in traffic(BEFORE, 4, 11)]


def put(broker: Broker, topic: str, value: bytes, **more: Any) -> None:
    producer = KafkaProducer(bootstrap_servers=broker.address, acks="all")
    producer.send(topic, value, partition=0, **more).get(10)
    producer.close()


def reported(fleet: Fleet) -> int:
    return len(final_lines(fleet.reports())) if fleet.reports().exists() else 0


def test_a_foreign_record_in_a_state_topic_is_set_aside_and_blocks_nothing(
    broker: Broker, tmp_path: Path, bodies: list[bytes]
) -> None:
    with Fleet(broker, tmp_path, "foreign", ONE) as fleet:
        state = fleet.names.state(fleet.names.conversations)
        put(broker, state, b"what is this", key=b"who knows")
        put(broker, state, b"and this", key=b"\xff", headers=[("step", b"7")])
        worker = fleet.worker()
        fleet.export()
        fleet.feed(bodies)
        fleet.flush()
        until(lambda: reported(fleet) == len(bodies))
        letters = fleet.dead_letters()
        aside = worker.samples()
    assert [(letter.name, letter.value) for letter in letters] == [
        (f"{state}/0/0", None),
        (f"{state}/0/1", None),
    ]
    family = "agent_monitor_worker_dead_letters_total"
    labels = f'partition="0",topic="{fleet.names.conversations}"'
    assert aside[f"{family}{{{labels}}}"] == 2


def test_a_partition_whose_state_is_damaged_goes_on_once_that_is_deleted(
    broker: Broker, tmp_path: Path, bodies: list[bytes]
) -> None:
    with Fleet(broker, tmp_path, "damaged", ONE) as fleet:
        worker = fleet.worker()
        fleet.export()
        fleet.feed(bodies[:2])
        fleet.flush()
        until(lambda: reported(fleet) == 2)
        assert worker.stop() == 0
        state = fleet.names.state(fleet.names.conversations)
        damaged = seal(b"P", {"no": "position"})[:-2]
        put(broker, state, damaged, key=POSITION.encode(), headers=[step_header(10**6)])
        worker = fleet.start("worker")
        assert worker.process.wait(60) == 3
        assert worker.said(f"{fleet.names.conversations}/0: DamagedState: ")
        admin = KafkaAdminClient(bootstrap_servers=broker.address)
        for policy in ("compact,delete", "compact"):
            change = {"cleanup.policy": policy}
            admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, state, change)])
            if "delete" in policy:
                admin.delete_records({TopicPartition(state, 0): -1})
        admin.close()
        fleet.worker()
        fleet.feed(bodies[2:])
        fleet.flush()
        until(lambda: reported(fleet) == len(bodies))
        assert fleet.dead_letters() == []
