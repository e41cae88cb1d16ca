"""The judge beside the running service: a full queue, the same draws again, and no secret told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from judge_server import JudgeServer
from running import Running
from test_judge_service import metric, reports_of, sent, started
from waiting import until

from monitor.roles.demo.live import prepare

COUNT = 24
KEY = "sk-canary-0d4f7b21c9e8"
ACCESS, SECRET, SESSION = "AKIACANARY00000EXAMP", "canary+secret/0d4f7b21", "canary-session-0d4f"


@pytest.fixture(scope="module")
def traffic(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    _, _, played = prepare(tmp_path_factory.mktemp("shop"))
    return [json.dumps(item.request).encode() for item in played[:COUNT]]


def all_reported(folder: Path) -> bool:
    return len(first_reports(folder)) == COUNT


def first_reports(folder: Path) -> dict[str, dict]:
    return {each["conversation_id"]: each for each in reversed(reports_of(folder))}


def test_a_full_queue_skips_and_counts_and_delays_nothing(tmp_path, traffic):
    with JudgeServer() as server, started(tmp_path, server, queue="4")() as service:
        server.trouble = "down"
        sent(service, traffic)
        until(lambda: len(first_reports(tmp_path)) == COUNT)
        until(lambda: metric(service, "judge_waiting_conversations") == 4)
        skipped = "judge_skipped_conversations_total"
        assert metric(service, skipped, why="queue_full") == COUNT - 4
        server.trouble = None
        until(lambda: metric(service, "judge_waiting_conversations") == 0, timeout_s=60)
        until(lambda: len(reports_of(tmp_path)) == COUNT + 4)
        turns = metric(service, "estimated_turns_total")
        assert turns == metric(service, "turns_total") > metric(service, "judged_turns_total") > 0
        assert metric(service, skipped) == COUNT - 4
        assert service.stop() == 0


def drawn(folder: Path) -> dict[str, float]:
    samples = {name: report["sample"] for name, report in first_reports(folder).items()}
    return {name: sample["probability"] for name, sample in samples.items() if sample}


def test_the_same_conversations_are_drawn_again_in_any_order(tmp_path, traffic):
    found = []
    for name, bodies in (("one", traffic), ("two", [*reversed(traffic), *traffic[:5]])):
        folder = tmp_path / name
        folder.mkdir()
        with JudgeServer() as server, started(folder, server, rate="0.4")() as service:
            server.trouble = "refusal"
            sent(service, bodies)
            until(partial(all_reported, folder))
            assert service.stop() == 0
        found.append(drawn(folder))
    assert found[0] == found[1]
    assert 0 < len(found[0]) < COUNT


@contextmanager
def telling() -> Iterator[str]:
    """An endpoint that tells its callers' credentials in every error."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            message = f"denied: {dict(self.headers)} {KEY} {ACCESS} {SECRET} {SESSION}"
            body = json.dumps({"message": message, "error": {"message": message}}).encode()
            self.send_response(403, f"no {KEY} {ACCESS}")
            self.send_header("Content-Type", "application/json")
            self.send_header("x-amzn-ErrorType", f"{ACCESS}Exception")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{httpd.server_address[1]}"
    httpd.shutdown()
    httpd.server_close()


@pytest.mark.parametrize("backend", ["openai", "bedrock"])
def test_no_secret_of_the_judge_is_told_anywhere(tmp_path, traffic, backend):
    with telling() as url:
        environment = {
            "AGENT_MONITOR_JUDGE_KEY": KEY,
            "AWS_ACCESS_KEY_ID": ACCESS,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_SESSION_TOKEN": SESSION,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": url,
        }
        config = tmp_path / "monitor.toml"
        config.write_text(
            "[ledger]\ncommit_interval_s = 0.1\n"
            "[conversation]\nsettle_s = 0.1\nquiet_s = 0.5\nidle_s = 0.5\n"
            f'[judge]\nbackend = "{backend}"\nmodel = "amazon.nova-lite-v1:0"\n'
            f'url = "{url}/v1"\nrate = 1.0\ntimeout_s = 2.0\npause_s = 0.3\n'
        )
        reports = str(tmp_path / "reports.jsonl")
        given = ("--config", str(config), "--reports", reports)
        with Running(tmp_path, *given, environment=environment) as service:
            sent(service, traffic[:4])
            until(lambda: metric(service, "judge_requests_total") >= 6)
            pages = [service.page(path)[1] for path in ("/metrics", "/readyz", "/healthz", "/")]
            assert service.stop() == 0
    told = "\n".join([*pages, *service.said]).encode()
    files = [path.read_bytes() for path in tmp_path.iterdir() if path != config]
    for canary in (KEY, ACCESS, SECRET, SESSION):
        assert canary.encode() not in told
        assert not any(canary.encode() in body for body in files)
    assert first_reports(tmp_path)
