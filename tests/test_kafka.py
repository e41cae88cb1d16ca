"""The roles apart as real processes over a real broker."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from judge_server import JudgeServer
from kafka_broker import Broker
from kafka_fleet import KEY, Fleet
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from running import final_lines, request
from test_collector import TURNS, collecting, collector, contract, talk
from waiting import until

from monitor.cli import main
from monitor.roles.demo.traffic import AFTER, BEFORE, traffic

__all__ = ["collector"]

CONVERSATIONS = 60
AT_CLOSE = {"conversation": {"report_open": False}}
"""Totals that depend on no order of arrival."""
SPANS = "agent_monitor_spans_total"


@pytest.fixture
def fleet(broker: Broker, tmp_path: Path, request: Any) -> Iterator[Fleet]:
    prefix = request.node.name.replace("[", "-").replace("]", "")[:60]
    with Fleet(broker, tmp_path, prefix) as found:
        yield found


@pytest.fixture(scope="module")
def played() -> list[Any]:
    """Conversations of two releases, interleaved."""
    pairs = zip(traffic(BEFORE, CONVERSATIONS, 11), traffic(AFTER, CONVERSATIONS, 12), strict=True)
    return [one for pair in pairs for one in pair]


@pytest.fixture(scope="module")
def together(
    played: list[Any], tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, str], dict[str, float]]:
    """What one process makes of them: final report lines, and the metrics."""
    folder = tmp_path_factory.mktemp("together")
    traces, metrics = folder / "traces.jsonl", folder / "metrics.txt"
    traces.write_text("".join(f"{json.dumps(each.request)}\n" for each in played))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in KEY.items():
            patch.setenv(name, value)
        patch.setenv("AGENT_MONITOR_CONVERSATION__REPORT_OPEN", "false")
        out = folder / "reports.jsonl"
        assert main(["replay", str(traces), "--out", str(out), "--metrics", str(metrics)]) == 0
    lines = [line for line in metrics.read_text().splitlines() if not line.startswith("#")]
    return final_lines(out), {name: float(n) for name, _, n in (x.rpartition(" ") for x in lines)}


def payloads(played: list[Any]) -> list[bytes]:
    return [json.dumps(each.request).encode() for each in played]


def counted(samples: dict[str, float], *families: str) -> dict[str, float]:
    """The counters of some families that are not at zero."""
    return {name: n for name, n in samples.items() if name.startswith(families) and n}


def test_what_comes_through_a_collector_is_scored_and_scraped(
    fleet: Fleet, collector: Path, tmp_path: Path
) -> None:
    fleet.config.write_text(
        fleet.config.read_text() + f'[tools]\nfiles = ["{contract(tmp_path)}"]\n'
    )
    fleet.worker()
    export = fleet.export()
    exporter = {
        "kafka": {
            "brokers": [fleet.broker.address],
            "traces": {"topic": fleet.names.source, "encoding": "otlp_proto"},
            "producer": {"compression": "zstd"},
        }
    }
    with collecting(collector, tmp_path, exporter) as (http, _):
        talk(OTLPSpanExporter(f"http://127.0.0.1:{http}/v1/traces"))
    fleet.flush()
    until(lambda: fleet.reports().exists() and bool(fleet.reports().read_text()))
    report = json.loads(fleet.reports().read_text().splitlines()[-1])
    verdicts = [(turn["turn_type"], turn["verdict"]) for turn in report["turns"]]
    assert verdicts[:-2] == [("action", "pass"), ("response", "unscored")] * (TURNS - 1)
    assert verdicts[-2] == ("action", "fail")
    samples = export.samples()
    assert counted(samples, SPANS) == {
        SPANS + '{outcome="accepted"}': 2 * TURNS,
        SPANS + '{outcome="attached"}': 2 * TURNS,
    }
    labels = f'group="{fleet.names.workers}",topic="{fleet.names.source}"'
    lag = f"agent_monitor_group_lag_records{{{labels}}}"
    until(lambda: export.samples().get(lag) == 0)


def test_killed_workers_change_no_total(
    broker: Broker,
    tmp_path: Path,
    played: list[Any],
    together: tuple[dict[str, str], dict[str, float]],
) -> None:
    with Fleet(broker, tmp_path, "killed", AT_CLOSE) as fleet:
        _kill_and_compare(fleet, played, *together)


def _kill_and_compare(
    fleet: Fleet, played: list[Any], lines: dict[str, str], metrics: dict[str, float]
) -> None:
    victim = fleet.start("worker", AGENT_MONITOR_FAILPOINT="after_output:20")
    fleet.worker()
    export = fleet.export()
    bodies = payloads(played)
    fleet.feed(bodies[: CONVERSATIONS // 2])
    assert victim.process.wait(60) == 86
    second = fleet.start("worker", AGENT_MONITOR_FAILPOINT="after_state:10")
    fleet.feed(bodies[CONVERSATIONS // 2 :])
    until(lambda: second.process.poll() is not None or second.said("is running") is not None)
    fleet.flush()
    until(lambda: len(final_lines(fleet.reports())) == len(lines))
    assert final_lines(fleet.reports()) == lines
    families = (SPANS, "agent_monitor_conversations_total", "agent_monitor_turns_total")
    assert counted(export.samples(), *families) == counted(metrics, *families)
    assert fleet.dead_letters() == []


def test_poison_and_oversized_records_are_set_aside_and_block_nothing(
    broker: Broker, tmp_path: Path, played: list[Any]
) -> None:
    limits = {"limits": {"body_bytes": 60_000}, "kafka": {"source_partitions": 1}}
    with Fleet(broker, tmp_path, "poisoned", limits) as fleet:
        fleet.worker()
        fleet.export()
        good = payloads(played)[:6]
        oversized = json.dumps({"resourceSpans": [], "padding": "x" * 100_000}).encode()
        fleet.feed([*good[:3], b"\x0a\xff not a trace", oversized, b"{", *good[3:]])
        fleet.flush()
        until(lambda: fleet.reports().exists() and len(final_lines(fleet.reports())) == 6)
        letters = fleet.dead_letters()
    assert [(letter.topic, letter.offset) for letter in letters] == [
        (fleet.names.source, 3),
        (fleet.names.source, 4),
        (fleet.names.source, 5),
    ]
    kinds = [letter.why.partition(":")[0] for letter in letters]
    assert kinds == ["MalformedPayload", "PayloadTooLarge", "MalformedPayload"]
    assert [letter.value for letter in letters] == [None, None, None]


def test_duplicates_in_any_compression_change_no_report(fleet: Fleet, played: list[Any]) -> None:
    fleet.worker()
    export = fleet.export()
    bodies = payloads(played)[:10]
    for compression in (None, "gzip", "snappy", "lz4", "zstd"):
        fleet.feed(bodies, compression_type=compression)
    fleet.flush()
    until(lambda: fleet.reports().exists() and len(final_lines(fleet.reports())) == 10)
    samples = export.samples()
    accepted = samples[SPANS + '{outcome="accepted"}']
    assert samples[SPANS + '{outcome="duplicate"}'] == accepted * 4 / 5
    assert samples[SPANS + '{outcome="attached"}'] == accepted / 5


def test_a_standby_reads_the_same_and_a_restart_goes_on(fleet: Fleet, played: list[Any]) -> None:
    fleet.worker()
    export = fleet.export()
    standby = fleet.export("standby", "--standby")
    bodies = payloads(played)[:8]
    fleet.feed(bodies[:4])
    fleet.flush()
    until(lambda: fleet.reports().exists() and len(final_lines(fleet.reports())) == 4)
    export.kill()
    fleet.feed(bodies[4:])
    fleet.flush()
    export = fleet.export()
    until(lambda: len(final_lines(fleet.reports())) == 8)
    family = "agent_monitor_turns_total"
    until(lambda: counted(standby.samples(), family) == counted(export.samples(), family))
    assert counted(export.samples(), family)
    assert not fleet.reports("standby").exists()


def test_a_sender_is_answered_when_the_brokers_have_its_spans(
    fleet: Fleet, played: list[Any]
) -> None:
    collect = fleet.start("collect")
    address = collect.await_words(r"receiving otlp\S* on (http://\S+)")
    for body in payloads(played)[:3]:
        assert request(address, "POST", "/v1/traces", body, "application/json")[0] == 200
    held = len(fleet.values(fleet.names.traces))
    assert held > 0
    fleet.worker()
    fleet.export()
    fleet.flush()
    until(lambda: fleet.reports().exists() and len(final_lines(fleet.reports())) == 3)
    assert collect.stop() == 0


def test_a_worker_drains_when_it_is_asked_to_stop(fleet: Fleet, played: list[Any]) -> None:
    worker = fleet.worker()
    fleet.feed(payloads(played)[:10])
    records = f'agent_monitor_worker_records_total{{partition="0",topic="{fleet.names.source}"}}'
    until(lambda: records in worker.page())
    assert worker.stop() == 0


def test_a_judge_that_comes_late_delays_no_report_and_then_adds_its_own(
    broker: Broker, tmp_path: Path, played: list[Any]
) -> None:
    with JudgeServer() as server:
        judging = {
            "judge": {
                "backend": "openai",
                "model": "grader-1",
                "url": server.url,
                "rate": 1.0,
                "timeout_s": 2.0,
                "pause_s": 0.5,
            }
        }
        with Fleet(broker, tmp_path, "judged", judging) as fleet:
            fleet.worker()
            export = fleet.export()
            fleet.feed(payloads(played)[:3])
            fleet.flush()
            until(lambda: fleet.reports().exists() and len(final_lines(fleet.reports())) == 3)
            assert server.asked == []
            judge = fleet.start("judge", "--ledger", str(tmp_path / "judge.sqlite3"))
            until(lambda: len(fleet.reports().read_text().splitlines()) == 6)
            waiting = "agent_monitor_judge_waiting_conversations"
            until(lambda: judge.samples()[waiting] == 0)
            judged = "agent_monitor_judged_turns_total"
            assert sum(counted(export.samples(), judged).values()) > 0
            assert judge.stop() == 0
    reports = [json.loads(line) for line in fleet.reports().read_text().splitlines()]
    assert [report["sample"]["judge"] for report in reports[:3]] == [None] * 3
    assert {report["sample"]["judge"] for report in reports[3:]} == {"grader-1/turn-3"}
    assert "judge" in {turn["basis"] for report in reports[3:] for turn in report["turns"]}


def test_a_ledger_of_another_topic_is_refused(
    broker: Broker, tmp_path: Path, played: list[Any]
) -> None:
    with Fleet(broker, tmp_path, "first") as fleet:
        fleet.worker()
        export = fleet.export()
        fleet.feed(payloads(played)[:2])
        fleet.flush()
        until(lambda: fleet.reports().exists() and len(final_lines(fleet.reports())) == 2)
        export.kill()
    with Fleet(broker, tmp_path, "second") as other:
        role = other.start("export", "--ledger", str(tmp_path / "ledger.sqlite3"))
        assert role.process.wait(60) == 3
        assert role.said("totals are of topic first.reports/")
