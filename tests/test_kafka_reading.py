"""Topics read again, whatever their records were compressed with and however much is gone."""

from __future__ import annotations

import json
import signal
import threading
from pathlib import Path
from typing import Any

import kafka.codec
import pytest
from judge_server import JudgeServer
from kafka import TopicPartition
from kafka.admin import KafkaAdminClient
from kafka_broker import Broker
from kafka_fleet import KEY, Fleet, Role
from waiting import until

from monitor.cli import main
from monitor.roles.demo.traffic import BEFORE, traffic
from monitor.roles.kafka.dead_letters import DeadLetter
from monitor.roles.kafka.dead_letters import written as letter_record
from monitor.roles.kafka.records import Envelope, Origin, Outcome, packed, written

ACCEPTED = 'agent_monitor_spans_total{outcome="accepted"}'
MISSED = 'agent_monitor_events_total{event="missed_records"}'
FAULT = 'agent_monitor_faults_total{fault="missed_records"}'
MALFORMED = 'agent_monitor_rejected_payloads_total{why="malformed"}'
CODECS = (None, "gzip", "snappy", "lz4", "zstd")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in KEY.items():
        monkeypatch.setenv(name, value)


def bodies(conversations: int) -> list[bytes]:
    return [json.dumps(each.request).encode() for each in traffic(BEFORE, conversations, 5)]


def told(offset: int, **counts: int) -> bytes:
    """A record of the reports, as a worker writes it."""
    return written(
        Envelope("effects", 100.0, Origin("c", 0, offset), body=packed(Outcome([], counts)))
    )


def test_records_of_any_compression_are_shown_redriven_and_replayed(
    broker: Broker, tmp_path: Path, capsys: Any
) -> None:
    one = {"kafka": {"source_partitions": 1, "partitions": 1}}
    sent = bodies(len(CODECS))
    with Fleet(broker, tmp_path, "codecs", one) as fleet:
        for offset, (codec, body) in enumerate(zip(CODECS, sent, strict=True)):
            fleet.feed([body], compression_type=codec)
            letter = DeadLetter(fleet.names.source, 0, offset, 100.0, "KeyError", size=len(body))
            fleet.feed([letter_record(letter)], to=fleet.names.dead_letters, compression_type=codec)
        config = ["--config", str(fleet.config)]
        held = tmp_path / "held"
        for offset, body in enumerate(sent):
            name = f"{fleet.names.source}/0/{offset}"
            assert main(["dead-letters", "show", name, "--payload", str(held), *config]) == 0
            assert held.read_bytes() == body
        capsys.readouterr()
        assert main(["dead-letters", "redrive", "--all", *config]) == 0
        assert main(["replay-topic", "--ledger", str(tmp_path / "again"), *config]) == 0
        said = capsys.readouterr().out.splitlines()
    assert said[0] == "sent again: 5 of 5"
    assert said[1].startswith("10 records, ")


def test_the_export_folds_records_of_any_compression(broker: Broker, tmp_path: Path) -> None:
    with Fleet(broker, tmp_path, "codecs-told", {"kafka": {"partitions": 1}}) as fleet:
        for offset, codec in enumerate(CODECS):
            record = told(offset, accepted=1)
            fleet.feed([record], to=fleet.names.reports, compression_type=codec)
        export = fleet.export()
        until(lambda: export.samples()[ACCEPTED] == 5)


def test_a_replay_that_fails_ends_and_can_be_tried_again(
    broker: Broker, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Fleet(broker, tmp_path, "failing") as fleet:
        for partition, body in enumerate(bodies(3)):
            codec = "zstd" if partition == 1 else None
            fleet.feed([body] * 100, partition=partition, compression_type=codec)
        ledger, reports = tmp_path / "again.sqlite3", tmp_path / "again.jsonl"
        reports.write_text("of before\n")
        into = ["--ledger", str(ledger), "--reports", str(reports), "--config", str(fleet.config)]
        threads = threading.active_count()
        with monkeypatch.context() as patch:
            patch.setattr(kafka.codec, "zstd", None)
            assert main(["replay-topic", *into]) == 3
        assert "failing.otlp_spans cannot be read: UnsupportedCodecError" in capsys.readouterr().err
        assert threading.active_count() == threads
        assert [path.name for path in tmp_path.glob("again*")] == ["again.jsonl"]
        assert reports.read_text() == "of before\n"
        assert main(["replay-topic", *into]) == 0
        assert capsys.readouterr().out.startswith("300 records, ")


def test_a_replay_tells_what_is_gone_of_what_it_was_asked_for(
    broker: Broker, tmp_path: Path, capsys: Any, caplog: pytest.LogCaptureFixture
) -> None:
    one = {"kafka": {"source_partitions": 1}}
    with Fleet(broker, tmp_path, "begun", one) as fleet:
        fleet.feed(bodies(4))
        lose(fleet, fleet.names.source, 3)
        into = ["--ledger", str(tmp_path / "again"), "--config", str(fleet.config)]
        assert main(["replay-topic", "--from-offset", "1", *into]) == 0
    assert capsys.readouterr().out.startswith("1 records, ")
    assert "begun.otlp_spans/0 begins at offset 3; what was before is gone" in caplog.text


def lose(fleet: Fleet, topic: str, before: int) -> None:
    """Remove what partition 0 has before an offset, as retention does."""
    admin = KafkaAdminClient(bootstrap_servers=fleet.broker.address)
    admin.delete_records({TopicPartition(topic, 0): before})
    admin.close()


def test_what_retention_took_from_the_export_is_counted_and_told(
    broker: Broker, tmp_path: Path
) -> None:
    def totals() -> tuple[float, float, float]:
        samples = export.samples()
        return samples[ACCEPTED], samples[MISSED], samples[FAULT]

    with Fleet(broker, tmp_path, "gaps", {"kafka": {"partitions": 1}}) as fleet:
        topic = fleet.names.reports
        fleet.feed([told(offset, accepted=1) for offset in range(5)], to=topic)
        lose(fleet, topic, 2)
        export = fleet.export()
        until(lambda: totals() == (3, 0, 0))  # a new ledger begins with what there is
        export.kill()
        fleet.feed([told(offset, accepted=1) for offset in range(5, 10)], to=topic)
        lose(fleet, topic, 9)
        export = fleet.export()
        until(lambda: totals() == (4, 4, 1))
        assert export.said(r"gaps\.reports/0: 4 records from offset 5 on were removed")
        export.process.send_signal(signal.SIGSTOP)
        fleet.feed([told(offset, accepted=1) for offset in range(10, 20)], to=topic)
        lose(fleet, topic, 19)
        export.process.send_signal(signal.SIGCONT)
        until(lambda: sum(totals()[:2]) == 4 + 4 + 10)
        export.kill()
        export = fleet.export()
        until(lambda: sum(totals()[:2]) == 4 + 4 + 10 and totals()[2] == 0)


def test_cases_that_the_judge_did_not_read_in_time_or_cannot_read_are_counted(
    broker: Broker, tmp_path: Path
) -> None:
    def counted() -> list[float]:
        samples = judge.samples()
        return [samples[MISSED], samples[FAULT], samples[MALFORMED]]

    def start() -> Role:
        role = fleet.start("judge", "--ledger", str(tmp_path / "judge.sqlite3"))
        role.await_words("judge is running")
        return role

    with JudgeServer() as server:
        asking = {"backend": "openai", "model": "grader-1", "url": server.url}
        own = {"kafka": {"partitions": 1}, "judge": asking}
        with Fleet(broker, tmp_path, "unread", own) as fleet:
            cases = fleet.names.cases
            fleet.feed([b"poison"] * 5, to=cases)
            lose(fleet, cases, 2)
            judge = start()
            until(lambda: counted() == [0, 0, 3])
            assert judge.said(r"judge case unread.judge-cases/0/2 passed over")
            assert judge.stop() == 0
            fleet.feed([b"poison"] * 5, to=cases)
            lose(fleet, cases, 9)
            judge = start()
            until(lambda: counted() == [4, 1, 1])
            assert judge.said("4 cases from offset 5 on were removed")
