"""The service as a process: same reports as a replay, whatever the order, and whatever dies."""

from __future__ import annotations

import gzip
import http.client
import json
import random
import threading
from pathlib import Path
from typing import Any

import pytest
from running import Running, export, final_lines, loose

from monitor.cli import main
from monitor.ledger.database import Database
from monitor.ledger.snapshot import Totals, read_totals
from monitor.roles.demo.live import prepare

KILLS = 20
PER_REQUEST = 25


def totals_of(path: Path) -> Totals:
    database = Database.open(path)
    reader = database.reader()
    try:
        return read_totals(reader)
    finally:
        reader.close()
        database.close()


def disordered(requests: list[dict[str, Any]], seed: int, duplicates: float) -> list[bytes]:
    """All spans in any order, some of them twice, in requests that mix conversations."""
    rng = random.Random(seed)
    spans = [span for request in requests for span in loose(request)]
    spans += rng.sample(spans, round(len(spans) * duplicates))
    rng.shuffle(spans)
    return [export(spans[i : i + PER_REQUEST]) for i in range(0, len(spans), PER_REQUEST)]


@pytest.fixture(scope="module")
def shop(tmp_path_factory) -> tuple[Path, list[str], list[dict[str, Any]]]:
    """The demo's files and traffic, with the options that name the files."""
    folder = tmp_path_factory.mktemp("shop")
    references, tools, played = prepare(folder)
    chosen = played[:60] + played[-60:]
    traces = folder / "traces.jsonl"
    traces.write_text("".join(json.dumps(item.request) + "\n" for item in chosen))
    return (
        traces,
        ["--references", str(references), "--tools", str(tools)],
        [item.request for item in chosen],
    )


def replayed(traces: Path, options: list[str], folder: Path) -> Path:
    out = folder / "replayed.jsonl"
    assert main(["replay", str(traces), *options, "--out", str(out)]) == 0
    return out


def test_disordered_and_repeated_spans_give_the_reports_of_a_replay(tmp_path, shop):
    traces, options, requests = shop
    reports = tmp_path / "reports.jsonl"
    with Running(tmp_path, "--reports", str(reports), "--flush-on-exit", *options) as service:
        for body in disordered(requests, seed=1, duplicates=0.2):
            assert service.post(body) == 200
        assert service.stop() == 0
    assert final_lines(reports) == final_lines(replayed(traces, options, tmp_path))


def test_real_trajectories_streamed_in_any_order_equal_their_replay(tmp_path, shared_data):
    name = shared_data / "trajectories" / "tau1_airline_gpt4o"
    traces = name / "traces.jsonl.gz"
    options = [
        *("--references", str(name / "references.jsonl.gz")),
        *("--tools", str(name / "tools.json")),
    ]
    with gzip.open(traces, "rt") as file:
        requests = [json.loads(line) for line in file]
    reports = tmp_path / "reports.jsonl"
    with Running(tmp_path, "--reports", str(reports), "--flush-on-exit", *options) as service:
        for body in disordered(requests, seed=2, duplicates=0.2):
            assert service.post(body) == 200
        assert service.stop() == 0
    assert final_lines(reports) == final_lines(replayed(traces, options, tmp_path))


def send_until_killed(service: Running, bodies: list[bytes], sent: int, after_s: float) -> int:
    """Post from `sent` on until the process is killed; how many were answered in all."""
    killer = threading.Timer(after_s, service.process.kill)
    killer.start()
    try:
        while sent < len(bodies):
            if service.post(bodies[sent]) != 200:
                continue
            sent += 1
    except (OSError, http.client.HTTPException):
        pass
    killer.join()
    service.kill()
    return sent


def test_twenty_kills_lose_nothing_that_was_acknowledged_and_count_nothing_twice(tmp_path, shop):
    traces, options, requests = shop
    bodies = disordered(requests, seed=3, duplicates=0.2)
    unique = sum(len(loose(request)) for request in requests)
    rng = random.Random(4)
    reports = tmp_path / "reports.jsonl"
    environment = {"AGENT_MONITOR_CONVERSATION__SETTLE_S": "0.05"}
    arguments = ["--reports", str(reports), *options]
    sent = 0
    for kill in range(KILLS):
        with Running(tmp_path, *arguments, environment=environment) as service:
            share = bodies[: len(bodies) * (kill + 1) // KILLS]
            sent = send_until_killed(service, share, sent, rng.uniform(0.0, 0.4))
    with Running(tmp_path, *arguments, "--flush-on-exit", environment=environment) as service:
        for body in bodies[sent:]:
            assert service.post(body) == 200
        assert service.stop() == 0

    expected = final_lines(replayed(traces, options, tmp_path))
    assert final_lines(reports) == expected
    totals = totals_of(tmp_path / "ledger.sqlite3")
    assert totals.counted("attached") == unique
    assert totals.counted("accepted") == sum(
        totals.counted(name) for name in ("attached", "duplicate", "late", "dead_lettered")
    )
    turns = [turn for line in expected.values() for turn in json.loads(line)["turns"]]
    assert _standing(totals, ("pass", "root_fail", "cascade_fail", "unscored")) == len(turns)
    assert sum(totals.family("conversations").values()) == len(requests)
    fails = sum(turn["verdict"] == "fail" for turn in turns)
    assert _standing(totals, ("root_fail", "cascade_fail")) == fails
    assert _standing(totals, ("pass",)) == sum(turn["verdict"] == "pass" for turn in turns)


def _standing(totals: Totals, verdicts: tuple[str, ...]) -> int:
    """Turns whose newest verdict is one of these: first verdicts, corrected.

    Spans in any order show a call first without its span, and so under another turn id, which a
    correction to `withdrawn` takes back.
    """
    first = sum(n for labels, n in totals.family("turns").items() if labels[3] in verdicts)
    moved = totals.family("corrections").items()
    gained = sum(n for (old, new), n in moved if new in verdicts and old not in verdicts)
    lost = sum(n for (old, new), n in moved if old in verdicts and new not in verdicts)
    return first + gained - lost


def test_a_restart_goes_on_with_open_conversations_and_keeps_its_counters(tmp_path, shop):
    _, options, requests = shop
    first, second = loose(requests[0])[:4], loose(requests[0])[4:]
    with Running(tmp_path, *options) as service:
        assert service.post(export(first)) == 200
        assert service.stop() == 0
    reports = tmp_path / "reports.jsonl"
    with Running(tmp_path, "--reports", str(reports), "--flush-on-exit", *options) as service:
        assert service.post(export(second)) == 200
        assert service.stop() == 0
    only = tmp_path / "only.jsonl"
    only.write_text(json.dumps(requests[0]) + "\n")
    assert final_lines(reports) == final_lines(replayed(only, options, tmp_path))


def test_pages_answer_while_the_service_runs(tmp_path, shop):
    _, options, _ = shop
    with Running(tmp_path, *options) as service:
        assert service.page("/healthz") == (200, "ok\n")
        assert service.page("/readyz") == (200, "ok\n")
        status, text = service.page("/metrics", "application/openmetrics-text; version=1.0.0")
        assert (status, text.splitlines()[-1]) == (200, "# EOF")
        assert "_created" not in text
        assert service.page("/")[0] == 200
        assert service.stop() == 0


def test_a_second_monitor_on_the_same_ledger_is_refused_with_a_clear_error(tmp_path, shop):
    with Running(tmp_path):
        with pytest.raises(AssertionError, match=r"ledger .*ledger\.sqlite3") as refused:
            Running(tmp_path)
        assert "Traceback" not in str(refused.value)
