"""What the roles apart say and do when topics are not as they should be, or no broker answers."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka.admin import KafkaAdminClient
from kafka_broker import Broker
from kafka_fleet import Fleet, Role
from running import request
from waiting import until

from monitor.roles.demo.traffic import BEFORE, traffic

JUDGE = {"judge": {"backend": "openai", "model": "grader-1", "url": "http://127.0.0.1:9"}}
ROLES = ("worker", "export", "collect", "judge")
LAG = "agent_monitor_group_lag_records"
OUTAGE_S = 60.0
ANSWER_S = 12.0
"""`send_s` and some: a sender waits no longer for an answer."""
STOP_S = 25.0


@pytest.fixture
def body() -> bytes:
    (one,) = traffic(BEFORE, 1, 11)
    return json.dumps(one.request).encode()


def started(fleet: Fleet, folder: Path) -> dict[str, Role]:
    """One of each role, not yet running."""
    return {
        name: fleet.start(name, *(("--ledger", str(folder / f"{name}.sqlite3")) if own else ()))
        for name, own in zip(ROLES, (False, True, False, True), strict=True)
    }


def ends(fleet: Fleet, folder: Path) -> dict[str, tuple[int, str]]:
    """How each role ends, with its last words."""
    roles = started(fleet, folder)
    codes = {name: role.process.wait(60) for name, role in roles.items()}
    return {
        name: (codes[name], role.log.read_text().splitlines()[-1]) for name, role in roles.items()
    }


def test_every_role_refuses_topics_of_other_partition_counts(
    broker: Broker, tmp_path: Path
) -> None:
    with Fleet(broker, tmp_path, "counts", JUDGE) as fleet:
        text = fleet.config.read_text()
        for said in (2, 6):
            fleet.config.write_text(text.replace("\npartitions = 4", f"\npartitions = {said}"))
            for name, (code, words) in ends(fleet, tmp_path).items():
                assert code == 3, (name, words)
                assert f"has 4 partitions, kafka.partitions says {said}; a key's home" in words


def test_every_role_refuses_to_start_before_its_topics_are_there(
    broker: Broker, tmp_path: Path
) -> None:
    with Fleet(broker, tmp_path, "early", JUDGE) as fleet:
        text = fleet.config.read_text()
        fleet.config.write_text(text.replace('prefix = "early"', 'prefix = "earlier"'))
        for name, (code, words) in ends(fleet, tmp_path).items():
            assert code == 3, (name, words)
            assert "is not there; `agent-monitor topics` makes it" in words
        fleet.config.write_text(text.replace("early.otlp_spans", "misspelt"))
        worker = fleet.start("worker")
        assert worker.process.wait(60) == 3
        assert worker.said("topic misspelt is not there; `agent-monitor topics` makes it")


def test_a_role_ends_when_its_topics_get_more_partitions(broker: Broker, tmp_path: Path) -> None:
    with Fleet(broker, tmp_path, "grown") as fleet:
        roles = [fleet.worker(), fleet.export(), fleet.start("collect")]
        roles[-1].await_words("collect is running")
        admin = KafkaAdminClient(bootstrap_servers=broker.address)
        admin.create_partitions({fleet.names.reports: 6})
        admin.close()
        for role in roles:
            assert role.process.wait(60) == 3
            assert role.said("grown.reports has 6 partitions, kafka.partitions says 4")


@pytest.fixture
def outage(broker: Broker, tmp_path: Path) -> Iterator[tuple[Broker, Fleet, dict[str, Role]]]:
    """A fleet whose broker is stopped once all run; the collect has not sent anything yet."""
    with Fleet(broker, tmp_path, f"out-{time.time_ns()}", JUDGE) as fleet:
        roles = started(fleet, tmp_path)
        for role in roles.values():
            role.await_words("is running")
        until(lambda: LAG in roles["export"].page())
        broker.stop()
        try:
            yield broker, fleet, roles
        finally:
            if broker.process is None:
                broker.start()


def ready(role: Role) -> tuple[int, str]:
    return request(role.pages, "GET", "/readyz", None, "text/plain")


def posted(collect: Role, body: bytes) -> tuple[int, str]:
    address = collect.await_words(r"receiving otlp\S* on (http://\S+)")
    return request(address, "POST", "/v1/traces", body, "application/json")


def test_an_outage_shows_everywhere_and_goes_by(outage: Any, body: bytes) -> None:
    broker, _, roles = outage
    began = time.monotonic()
    assert posted(roles["collect"], body)[0] == 503
    assert time.monotonic() - began < ANSWER_S
    assert ready(roles["collect"])[0] == 503
    for role in roles.values():
        until(lambda role=role: ready(role)[0] == 503)  # type: ignore[misc]
        assert "no broker has answered" in ready(role)[1] or "did not take" in ready(role)[1]
    until(lambda: LAG + "{" not in roles["export"].page())
    assert roles["export"].samples()["agent_monitor_group_lag_age_seconds"] > 10
    lasted = time.monotonic() - began
    for name, role in roles.items():
        lines = role.log.read_text().splitlines()
        assert len(lines) < 60, (name, lasted, lines)
    broker.start()
    for role in roles.values():
        until(lambda role=role: ready(role)[0] == 200, OUTAGE_S)  # type: ignore[misc]
    until(lambda: LAG + "{" in roles["export"].page())
    assert posted(roles["collect"], body)[0] == 200


def test_every_role_stops_in_time_while_no_broker_answers(outage: Any, body: bytes) -> None:
    _, _, roles = outage
    assert posted(roles["collect"], body)[0] == 503
    began = time.monotonic()
    for role in roles.values():
        role.process.terminate()
    for name, role in roles.items():
        role.process.wait(60)
        assert time.monotonic() - began < STOP_S, name
