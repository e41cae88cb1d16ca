"""Neighbouring releases: what is not read here is left for who reads it."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from kafka_apart import NAMES, Apart

from monitor.codec import seal
from monitor.config.kafka import KafkaSettings
from monitor.errors import StateError
from monitor.roles.kafka.export import Exporter
from monitor.roles.kafka.records import Envelope
from monitor.roles.kafka.told import Told

LATER = seal(b"e", Envelope("spans", 1.0), version=9)


def test_a_record_of_a_later_release_stops_the_worker_and_is_not_set_aside():
    apart = Apart()
    apart.broker.log(NAMES.traces, 0).append((b"", LATER))
    with pytest.raises(StateError, match="version 9"):
        asyncio.run(apart._work_once(NAMES.traces, 0))
    assert apart.dead_letters() == []
    assert apart.broker.acked == {}


def test_the_export_stops_before_a_report_that_it_cannot_read():
    engine: Any = SimpleNamespace(pipeline=Told({}))
    given = KafkaSettings()
    export = Exporter(given, NAMES, engine, _nothing, group="g", lag=lambda _: None)
    with pytest.raises(StateError, match="version 9"):
        export._fold(0, SimpleNamespace(offset=7, value=LATER), None)


def _nothing() -> None:
    return None
