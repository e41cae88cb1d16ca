"""Prometheus, Alertmanager and a webhook on loopback, on free ports and in folders of their own."""

from __future__ import annotations

import http.client
import json
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple

from monitor.errors import ConfigurationError, MonitorError

READY_S: Final = 30.0
POLL_S: Final = 0.02
STOP_S: Final = 10.0
HOST: Final = "127.0.0.1"


class Notified(NamedTuple):
    """What Alertmanager posted of one alert."""

    at_s: float
    """When it arrived."""
    path: str
    status: str
    """`firing` or `resolved`."""
    labels: Mapping[str, str]
    annotations: Mapping[str, str]


class Webhook:
    """Takes notifications and remembers them."""

    def __init__(self) -> None:
        self._heard: list[Notified] = []
        self._changed = threading.Condition()
        self._server = ThreadingHTTPServer((HOST, 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://{HOST}:{self._server.server_address[1]}"

    @property
    def heard(self) -> list[Notified]:
        """Everything so far, in the order of arrival."""
        with self._changed:
            return list(self._heard)

    def wait(
        self, wanted: Callable[[Notified], bool], timeout_s: float, after: int = 0
    ) -> Notified:
        """The first such notification after the first `after` ones. Raises MonitorError."""
        until = time.monotonic() + timeout_s
        with self._changed:
            while True:
                for each in self._heard[after:]:
                    if wanted(each):
                        return each
                left = until - time.monotonic()
                if left <= 0:
                    raise MonitorError(f"no such notification within {timeout_s:g} s")
                self._changed.wait(left)

    def close(self) -> None:
        """Listen no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Webhook:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _hear(self, path: str, body: bytes) -> None:
        at_s = time.time()
        alerts = json.loads(body)["alerts"]
        with self._changed:
            self._heard += [
                Notified(at_s, path, each["status"], each["labels"], each["annotations"])
                for each in alerts
            ]
            self._changed.notify_all()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        hear = self._hear

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                hear(self.path, self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Nobody reads it."""

        return Handler


class Daemon:
    """A server that was started, and is stopped on leaving."""

    def __init__(self, tool: str, words: Iterable[str], folder: Path) -> None:
        """Wait until it is ready. Raises ConfigurationError without the tool, else MonitorError."""
        program = shutil.which(tool)
        if program is None:
            raise ConfigurationError(f"{tool} is not installed; it is a package of Debian")
        port = _free_port()
        self.address = f"{HOST}:{port}"
        self._log = folder / f"{tool}.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603  the tool that was asked for
                [program, *words, f"--web.listen-address={self.address}", "--log.level=warn"],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            self._wait_ready(tool)
        except BaseException:
            self.stop()
            raise

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://{self.address}"

    def asked(self, path: str) -> Any:
        """The JSON document at a path."""
        status, body = _request(self.address, path)
        if status != http.client.OK:
            raise MonitorError(f"{path}: answered with status {status}")
        return json.loads(body)

    def stop(self) -> None:
        """End it, and wait until it has ended."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def __enter__(self) -> Daemon:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _wait_ready(self, tool: str) -> None:
        until = time.monotonic() + READY_S
        while time.monotonic() < until and self._process.poll() is None:
            try:
                if _request(self.address, "/-/ready")[0] == http.client.OK:
                    return
            except OSError:
                pass
            time.sleep(POLL_S)
        said = self._log.read_text(errors="replace")[-2000:]
        raise MonitorError(f"{tool} did not get ready: {said}")


def alertmanager(folder: Path, settings: str) -> Daemon:
    """Of a folder of its own: an old notification log would keep it silent."""
    place = folder / "alertmanager"
    place.mkdir(parents=True)
    (place / "alertmanager.yaml").write_text(settings, encoding="utf-8")
    words = ("--config.file=alertmanager.yaml", "--storage.path=data", "--cluster.listen-address=")
    return Daemon("prometheus-alertmanager", words, place)


def prometheus(folder: Path, settings: str, rules: Mapping[str, str]) -> Daemon:
    """With the rule files beside its settings, which name them `rules/*.yaml`."""
    place = folder / "prometheus"
    (place / "rules").mkdir(parents=True)
    (place / "prometheus.yaml").write_text(settings, encoding="utf-8")
    for name, text in rules.items():
        (place / "rules" / name).write_text(text, encoding="utf-8")
    words = ("--config.file=prometheus.yaml", "--storage.tsdb.path=data")
    return Daemon("prometheus", words, place)


def _request(address: str, path: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(address, timeout=READY_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind((HOST, 0))
        port: int = found.getsockname()[1]
        return port
