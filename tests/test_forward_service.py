"""The service in line: what it is sent reaches the backend, and its metrics tell what did not."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from otlp_building import PROTOBUF
from otlp_receiving import GOOD
from running import Running


class Backend(http.server.ThreadingHTTPServer):
    """Takes everything."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Taking)
        self.seen: list[tuple[str, str | None, bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Taking(http.server.BaseHTTPRequestHandler):
    server: Backend

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append((self.path, self.headers["Content-Type"], body))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None: ...


@contextmanager
def backend() -> Iterator[Backend]:
    found = Backend()
    thread = threading.Thread(target=found.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield found
    finally:
        found.shutdown()
        thread.join()
        found.server_close()


def test_what_the_service_is_sent_reaches_the_backend_unchanged(tmp_path: Path) -> None:
    with backend() as upstream:
        environment = {"AGENT_MONITOR_FORWARD__URL": upstream.url}
        with Running(tmp_path, environment=environment) as service:
            assert service.post(GOOD[PROTOBUF], PROTOBUF) == 200
            assert service.stop() == 0
    assert upstream.seen == [("/v1/traces", PROTOBUF, GOOD[PROTOBUF])]


def test_the_metrics_tell_what_did_not_reach_the_backend(tmp_path: Path) -> None:
    with backend() as gone:
        url = gone.url
    environment = {
        "AGENT_MONITOR_FORWARD__URL": url,
        "AGENT_MONITOR_FORWARD__QUEUE_REQUESTS": "1",
        "AGENT_MONITOR_FORWARD__DRAIN_S": "0",
    }
    with Running(tmp_path, environment=environment) as service:
        for _ in range(3):
            assert service.post(GOOD[PROTOBUF], PROTOBUF) == 200
        page = service.page("/metrics")[1]
        assert service.stop() == 0
    events = {
        line.partition(" ")[0]: float(line.partition(" ")[2])
        for line in page.splitlines()
        if line.startswith('agent_monitor_events_total{event="forward_')
    }
    assert events['agent_monitor_events_total{event="forward_dropped:queue_requests"}'] == 2.0


def test_a_part_that_cannot_start_ends_the_service_with_one_clear_line(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.crt")
    environment = {
        "AGENT_MONITOR_FORWARD__URL": "http://127.0.0.1:1",
        "AGENT_MONITOR_FORWARD__CA_FILE": missing,
    }
    with pytest.raises(AssertionError, match=r"missing\.crt cannot be used") as ended:
        Running(tmp_path, environment=environment)
    assert "Traceback" not in str(ended.value)
