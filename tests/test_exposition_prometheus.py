"""A real Prometheus scrapes the page in both formats and reads every series."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote
from urllib.request import urlopen

import pytest
from exposed_shop import shop
from prometheus_client.parser import text_string_to_metric_families

from monitor.exposition.collector import Collector

WAIT_S = 60
SCRAPES = 3
CONFIGURATION = """
global: {{scrape_interval: 200ms, scrape_timeout: 200ms}}
scrape_configs:
  - job_name: openmetrics
    metrics_path: /openmetrics
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
  - job_name: text
    metrics_path: /text
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""
PATHS = ("/openmetrics", "/text")


class Scraped:
    """Serves the page; tells when both paths were scraped often enough."""

    def __init__(self) -> None:
        totals, live = shop()
        self._collector = Collector(lambda: totals, lambda: live)
        self._seen: Counter[str] = Counter()
        self._types: dict[str, str] = {}
        self._lock = threading.Lock()
        self.enough = threading.Event()

    def answer(self, path: str, accept: str) -> tuple[bytes, str]:
        body, content_type = self._collector.render("" if path == "/text" else accept)
        with self._lock:
            self._types[path] = content_type
            self._seen[path] += 1
            if all(self._seen[path] >= SCRAPES for path in PATHS):
                self.enough.set()
        return body, content_type

    def content_types(self) -> dict[str, str]:
        with self._lock:
            return dict(self._types)


@contextmanager
def served(answer: Callable[[str, str], tuple[bytes, str]]) -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body, content_type = answer(self.path, self.headers.get("Accept", ""))
            self.send_response(200)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=WAIT_S)


@contextmanager
def prometheus(folder: Path, target: int) -> Iterator[str]:
    program = shutil.which("prometheus")
    if program is None:
        if os.environ.get("CI") == "true":
            pytest.fail("prometheus is not installed")
        pytest.skip("prometheus is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    (folder / "prometheus.yml").write_text(CONFIGURATION.format(port=target))
    arguments = [
        program,
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address={address}",
        "--enable-feature=exemplar-storage",
        "--log.level=error",
    ]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield address
    finally:
        process.terminate()
        try:
            process.wait(timeout=WAIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def stored(address: str, job: str) -> dict[tuple[tuple[str, str], ...], float]:
    query = quote(f'{{__name__=~"agent_monitor_.+",job="{job}"}}')
    with urlopen(f"http://{address}/api/v1/query?query={query}", timeout=WAIT_S) as answer:
        found = json.load(answer)["data"]["result"]
    series = {}
    for entry in found:
        labels = {k: v for k, v in entry["metric"].items() if k not in ("job", "instance")}
        series[tuple(sorted(labels.items()))] = float(entry["value"][1])
    return series


def test_prometheus_reads_every_series_of_both_formats(tmp_path: Path) -> None:
    page = Scraped()
    with served(page.answer) as target, prometheus(tmp_path, target) as address:
        assert page.enough.wait(WAIT_S), "prometheus never scraped"
        openmetrics, text = stored(address, "openmetrics"), stored(address, "text")

    body = page.answer("/text", "")[0].decode()
    written = {
        tuple(sorted({**sample.labels, "__name__": sample.name}.items())): sample.value
        for family in text_string_to_metric_families(body)
        for sample in family.samples
    }
    assert text == written
    assert openmetrics == written
    assert page.content_types() == {
        "/openmetrics": "application/openmetrics-text; version=1.0.0; charset=utf-8",
        "/text": "text/plain; version=0.0.4; charset=utf-8",
    }
