"""What was set aside, and whole topics, again: redriven, replayed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from assembly_builders import exchange
from kafka_broker import Broker
from kafka_fleet import KEY, Fleet
from running import final_lines
from waiting import until

from monitor.cli import main
from monitor.codec import nested_spans
from monitor.config.kafka import KafkaSettings
from monitor.errors import InvalidInput
from monitor.pipeline.handed import HandedTrace
from monitor.roles.demo.traffic import BEFORE, traffic
from monitor.roles.kafka.dead_letters import DeadLetter
from monitor.roles.kafka.records import (
    Envelope,
    HandedOn,
    Origin,
    Outcome,
    packed,
    read,
    unpacked,
    written,
)
from monitor.roles.kafka.redriving import Aside, again, chosen

GIVEN = KafkaSettings(prefix="p", source="p.source")
SPANS = "agent_monitor_spans_total"
ORIGIN = Origin("s", 0, 7)


def letter(topic: str, value: bytes | None = None) -> DeadLetter:
    return DeadLetter(topic, 2, 9, 100.0, "KeyError at turns.py:1", b"key", value)


def test_a_source_record_is_sent_again_as_it_was():
    (sent,) = again(GIVEN, letter("p.source"), b"\x00\xff", 200.0)
    assert (sent.topic, sent.partition, sent.key, sent.value) == (
        "p.source",
        2,
        b"key",
        b"\x00\xff",
    )


def test_a_record_between_the_roles_loses_the_origin_by_which_it_was_read_before():
    envelope = Envelope("spans", 50.0, ORIGIN, body=b"spans")
    (sent,) = again(GIVEN, letter("p.traces"), written(envelope), 200.0)
    assert (sent.topic, sent.partition) == ("p.traces", 2)
    assert read(sent.value) == Envelope("spans", 50.0, None, body=b"spans")


def test_traces_sent_again_count_their_spans_again_as_accepted():
    trace = HandedTrace("t1", 1.0, 2.0, nested_spans(exchange("a")), {"a": 4, "b": 3})
    envelope = Envelope("traces", 50.0, ORIGIN, body=packed(HandedOn([trace])))
    traces, told = again(GIVEN, letter("p.conversations"), written(envelope), 200.0)
    assert read(traces.value).origin is None
    assert (told.topic, told.partition) == ("p.reports", 2)
    assert unpacked(read(told.value).body, Outcome).counts == {"accepted": 7}


def test_a_part_of_a_record_is_not_sent_again_alone():
    part = Envelope("spans", 50.0, ORIGIN, part=1, parts=3, body=b"half")
    with pytest.raises(InvalidInput, match="part 2 of 3"):
        again(GIVEN, letter("p.traces"), written(part), 200.0)


def test_what_is_none_of_our_records_is_not_sent_to_the_workers():
    with pytest.raises(InvalidInput, match="none of our records"):
        again(GIVEN, letter("p.traces"), b"foreign", 200.0)


def test_letters_are_chosen_by_name():
    there = [Aside(letter("p.source"), None)]
    assert chosen(there, ["p.source/2/9"] * 2) == there
    with pytest.raises(InvalidInput, match="no dead letter is named"):
        chosen(there, ["p.source/0/1"])


@pytest.mark.parametrize(
    "words",
    [
        ["replay-topic"],
        ["replay-topic", "--ledger", "x", "--to-workers"],
        ["replay-topic", "--ledger", "x", "--from-time", "yesterday"],
        ["replay-topic", "--ledger", "x", "--from-offset", "-1"],
        ["dead-letters"],
    ],
)
def test_usage_that_says_too_little_or_too_much_is_refused(words: list[str], capsys: Any):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert "usage: agent-monitor" in capsys.readouterr().err


def test_redriving_names_letters_or_says_all(capsys: Any):
    assert main(["dead-letters", "redrive"]) == 2
    assert main(["dead-letters", "redrive", "a/0/1", "--all"]) == 2
    assert "say --all" in capsys.readouterr().err


def test_a_replay_goes_into_a_new_ledger_only(tmp_path: Path, capsys: Any):
    there = tmp_path / "ledger.sqlite3"
    there.touch()
    assert main(["replay-topic", "--ledger", str(there)]) == 2
    assert "is there already" in capsys.readouterr().err


def bodies(conversations: int) -> list[bytes]:
    return [json.dumps(each.request).encode() for each in traffic(BEFORE, conversations, 5)]


def padded(body: bytes) -> bytes:
    return body[:-1] + b', "padding": "' + b"x" * 100_000 + b'"}'


def test_a_record_is_scored_once_what_stopped_it_is_mended(
    broker: Broker, tmp_path: Path, capsys: Any, monkeypatch: Any
):
    first, second = bodies(2)
    strict = {"limits": {"body_bytes": 60_000}, "kafka": {"source_partitions": 1, "partitions": 2}}
    with Fleet(broker, tmp_path, "redriven", strict) as fleet:
        monkeypatch.chdir(tmp_path)
        worker, export = fleet.worker(), fleet.export()
        fleet.feed([b"\xff poison", padded(first), second])
        until(lambda: len(fleet.dead_letters()) == 2)
        assert worker.stop() == 0
        text = fleet.config.read_text()
        fleet.config.write_text(text.replace("body_bytes = 60000", "body_bytes = 6000000"))
        fleet.worker()
        config = ["--config", str(fleet.config)]

        assert main(["dead-letters", "list", *config]) == 0
        names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
        assert names == [f"{fleet.names.source}/0/{offset}" for offset in (0, 1)]
        assert main(["dead-letters", "show", names[1], "--payload", "held", *config]) == 0
        assert "payload: in its topic" in capsys.readouterr().out
        assert (tmp_path / "held").read_bytes() == padded(first)

        assert main(["dead-letters", "redrive", "--all", *config]) == 0
        assert capsys.readouterr().out == "sent again: 2 of 2\n"
        until(lambda: len(fleet.dead_letters()) == 3)
        fleet.flush()
        until(lambda: fleet.reports().exists() and len(final_lines(fleet.reports())) == 2)
        assert main(["dead-letters", "list", "--waiting", *config]) == 0
        waiting = capsys.readouterr().out.splitlines()
        samples = export.samples()
    assert [line.split()[0] for line in waiting] == [f"{fleet.names.source}/0/3"]
    assert samples[SPANS + '{outcome="accepted"}'] == samples[SPANS + '{outcome="attached"}'] > 0


def test_a_topic_is_replayed_into_a_new_ledger_and_to_the_workers(
    broker: Broker, tmp_path: Path, capsys: Any, monkeypatch: Any
):
    for name, value in KEY.items():
        monkeypatch.setenv(name, value)
    others = {"sinks": {"jsonl": str(tmp_path / "of-the-service.jsonl")}}
    with Fleet(broker, tmp_path, "replayed", {"kafka": {"partitions": 2}, **others}) as fleet:
        fleet.worker()
        export = fleet.export()
        fleet.feed(bodies(6))
        fleet.flush()
        until(lambda: fleet.reports().exists() and len(final_lines(fleet.reports())) == 6)
        config = ["--config", str(fleet.config)]
        again = tmp_path / "again.jsonl"
        into = ["--ledger", str(tmp_path / "again.sqlite3"), "--reports", str(again)]
        assert main(["replay-topic", *into, *config]) == 0
        assert capsys.readouterr().out.startswith("6 records, ")
        later = ["--from-time", "2099-01-01", "--ledger", str(tmp_path / "later.sqlite3")]
        assert main(["replay-topic", *later, *config]) == 0
        assert capsys.readouterr().out.startswith("0 records, ")
        third = ["--from-offset", "0", "--ledger", str(tmp_path / "third.sqlite3")]
        assert main(["replay-topic", *third, *config]) == 0
        assert capsys.readouterr().out.startswith("6 records, ")
        assert not (tmp_path / "of-the-service.jsonl").exists()
        before = export.samples()
        assert main(["replay-topic", "--to-workers", *config]) == 0
        assert capsys.readouterr().out == "sent again: 6 records\n"
        accepted = SPANS + '{outcome="accepted"}'
        until(lambda: export.samples()[accepted] == 2 * before[accepted])
        fleet.flush()
        attached = SPANS + '{outcome="attached"}'
        assert final_lines(again) == final_lines(fleet.reports())
        assert export.samples()[attached] == before[attached]
