"""The judge beside the running service: it adds to reports, and delays or loses none."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from judge_server import TROUBLES, JudgeServer
from running import Running
from waiting import until

from monitor.roles.demo.live import prepare

PLAYED = 6


@pytest.fixture(scope="module")
def traffic(tmp_path_factory) -> list[bytes]:
    _, _, played = prepare(tmp_path_factory.mktemp("shop"))
    return [json.dumps(item.request).encode() for item in played[:PLAYED]]


def started(folder: Path, server: JudgeServer, **judge: Any) -> Callable[[], Running]:
    settings = {
        "backend": '"openai"',
        "model": '"grader-1"',
        "url": f'"{server.url}"',
        "rate": "1.0",
        "timeout_s": "2.0",
        "pause_s": "0.5",
        **judge,
    }
    config = folder / "monitor.toml"
    config.write_text(
        "[ledger]\ncommit_interval_s = 0.1\n"
        "[conversation]\nsettle_s = 0.1\nquiet_s = 0.5\nidle_s = 0.5\n[judge]\n"
        + "".join(f"{key} = {value}\n" for key, value in settings.items())
    )
    reports = folder / "reports.jsonl"
    return lambda: Running(folder, "--config", str(config), "--reports", str(reports))


def metric(service: Running, name: str, **labels: str) -> float:
    """The sum of a metric's samples that carry these labels."""
    _, page = service.page("/metrics")
    total = 0.0
    for line in page.splitlines():
        found = re.match(rf"agent_monitor_{name}(?:\{{(.*)\}})? (\S+)", line)
        if found and all(f'{key}="{value}"' in (found[1] or "") for key, value in labels.items()):
            total += float(found[2])
    return total


def reports_of(folder: Path) -> list[dict[str, Any]]:
    path = folder / "reports.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def sent(service: Running, traffic: list[bytes]) -> None:
    for body in traffic:
        assert service.post(body) == 200


def test_a_judged_conversation_is_reported_anew_with_the_judges_verdicts(tmp_path, traffic):
    with JudgeServer() as server, started(tmp_path, server)() as service:
        sent(service, traffic)
        until(lambda: metric(service, "judge_waiting_conversations") == 0 < len(server.asked))
        until(lambda: len(reports_of(tmp_path)) == 2 * PLAYED)
        assert metric(service, "judge_requests_total", result="ok") >= len(server.asked) - 2
        assert metric(service, "judged_turns_total", verdict="pass") > 0
        assert metric(service, "judge_cost_usd_total") > 0
        assert service.stop() == 0
    reports = reports_of(tmp_path)
    last = {report["conversation_id"]: report for report in reports}
    first = {report["conversation_id"]: report for report in reversed(reports)}
    assert {last[name]["revision"] - first[name]["revision"] for name in last} == {1}
    assert {report["sample"]["judge"] for report in first.values()} == {None}
    replies = [turn for report in last.values() for turn in report["turns"]]
    assert "judge" in {turn["basis"] for turn in replies}
    samples = [report["sample"] for report in last.values()]
    assert {sample["judge"] for sample in samples} == {"grader-1/turn-3"}
    assert {sample["probability"] for sample in samples} == {1.0}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_judge_in_trouble_delays_no_verdict_and_loses_nothing(tmp_path, traffic, trouble):
    with JudgeServer() as server, started(tmp_path, server, timeout_s="0.3")() as service:
        server.trouble, server.hang_s = trouble, 1.0
        sent(service, traffic)
        until(lambda: len(reports_of(tmp_path)) >= PLAYED)
        first = {report["conversation_id"]: report for report in reversed(reports_of(tmp_path))}
        assert len(first) == PLAYED
        until(lambda: len(server.asked) > 0)
        server.trouble = None
        until(lambda: metric(service, "judge_waiting_conversations") == 0, timeout_s=90)
        judged = metric(service, "judged_turns_total")
        assert judged == metric(service, "estimated_turns_total") > 0
        assert service.stop() == 0


def test_the_budget_of_calls_is_never_passed_whatever_stops_when(tmp_path, traffic):
    with JudgeServer() as server:
        start = started(tmp_path, server, per_hour="{ calls = 7 }")
        with start() as service:
            sent(service, traffic[:3])
            until(lambda: len(server.asked) >= 4)
            service.kill()
        with start() as service:
            sent(service, traffic)
            until(lambda: metric(service, "judge_requests_total", result="hour_calls") > 0)
            until(lambda: metric(service, "judge_waiting_conversations") == 0)
            assert service.stop() == 0
        assert 6 <= len(server.asked) <= 7


def test_a_reply_that_is_none_is_not_remembered(tmp_path, traffic):
    with JudgeServer() as server, started(tmp_path, server)() as service:
        server.trouble = "half"
        sent(service, traffic[:1])
        until(lambda: metric(service, "judge_abstentions_total", why="not_json") > 0)
        until(lambda: metric(service, "judge_waiting_conversations") == 0)
        assert service.stop() == 0
    book = sqlite3.connect(tmp_path / "ledger.sqlite3")
    assert book.execute("SELECT count(*) FROM judge_answers").fetchone() == (0,)
    book.close()


@pytest.mark.parametrize(("said", "other"), [("pass", "fail"), ("fail", "pass")])
def test_a_judge_that_says_the_same_whatever_it_is_asked_is_not_believed(
    tmp_path, traffic, said: str, other: str
):
    with JudgeServer(lambda document: said) as server, started(tmp_path, server)() as service:
        sent(service, traffic[:2])
        until(lambda: metric(service, "judge_waiting_conversations") == 0 < len(server.asked))
        assert metric(service, "judge_abstentions_total", why="control") > 0
        assert metric(service, "judged_turns_total", verdict="abstained") > 0
        assert metric(service, "judged_turns_total", verdict=said) == 0
        assert metric(service, "judged_turns_total", verdict=other) == 0
        assert service.stop() == 0


def test_a_queue_survives_a_restart(tmp_path, traffic):
    with JudgeServer() as server:
        start = started(tmp_path, server, timeout_s="0.2")
        server.trouble, server.hang_s = "hang", 0.5
        with start() as service:
            sent(service, traffic)
            until(lambda: metric(service, "judge_waiting_conversations") == PLAYED)
            service.kill()
        server.trouble = None
        with start() as service:
            until(lambda: metric(service, "judge_waiting_conversations") == 0, timeout_s=60)
            until(lambda: metric(service, "judged_turns_total", verdict="pass") > 0)
            assert service.stop() == 0


def test_nothing_is_sent_to_the_judge_unredacted(tmp_path):
    _, _, played = prepare(tmp_path)
    body = json.dumps(played[0].request)
    secret = "card 4111 1111 1111 1111, mail jane.roe@example.com"
    marked = re.sub(r'("stringValue": ")([A-Z][a-z]+ )', rf"\g<1>{secret} \g<2>", body, count=1)
    with JudgeServer() as server, started(tmp_path, server)() as service:
        assert service.post(marked.encode()) == 200
        until(lambda: metric(service, "judge_waiting_conversations") == 0 < len(server.asked))
        assert service.stop() == 0
    told = json.dumps(server.asked)
    assert "4111 1111" not in told
    assert "jane.roe" not in told
