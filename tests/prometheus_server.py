"""A real Prometheus on loopback over samples of a told time, and the answers of its interface."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from waiting import until

STOP_S = 60
ASK_S = 60
FOREVER = "100y"
"""Samples of a fixed past are kept, however old they are by the machine's clock."""


class Sample(NamedTuple):
    """One value of one series at one time; `series` is as the text format writes it."""

    series: str
    value: str
    at_s: float


class Prometheus:
    """A running server. Raises AssertionError with its words where it refuses a question."""

    def __init__(self, address: str) -> None:
        self.address = address

    def instant(self, expression: str, at_s: float) -> list[dict[str, Any]]:
        """The vector at that time; a scalar as a vector without labels."""
        found = self._ask("query", {"query": expression, "time": at_s})
        if found["resultType"] == "scalar":
            return [{"metric": {}, "value": found["result"]}]
        return found["result"]

    def between(
        self, expression: str, start_s: float, end_s: float, step_s: float
    ) -> list[dict[str, Any]]:
        """The matrix over that time."""
        asked = {"query": expression, "start": start_s, "end": end_s, "step": step_s}
        return self._ask("query_range", asked)["result"]

    def exemplars(self, expression: str, start_s: float, end_s: float) -> list[dict[str, Any]]:
        asked = {"query": expression, "start": start_s, "end": end_s}
        return self._ask("query_exemplars", asked)

    def ready(self) -> bool:
        try:
            return self._request("/-/ready")[0] == 200
        except OSError:
            return False

    def _ask(self, what: str, asked: dict[str, Any]) -> Any:
        status, body = self._request(f"/api/v1/{what}?{urlencode(asked)}")
        answer = json.loads(body)
        assert status == 200, f"{asked['query']}: {answer.get('error')}"
        return answer["data"]

    def _request(self, path: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self.address, timeout=ASK_S)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


@contextmanager
def serving(
    program: str, folder: Path, configuration: str = "scrape_configs: []\n"
) -> Iterator[Prometheus]:
    """A server over the blocks in `folder`/tsdb."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    (folder / "prometheus.yml").write_text(configuration)
    log = folder / "prometheus.log"
    with log.open("a") as heard:
        process = subprocess.Popen(
            [
                program,
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'tsdb'}",
                f"--storage.tsdb.retention.time={FOREVER}",
                f"--web.listen-address={address}",
                "--enable-feature=exemplar-storage",
                "--log.level=warn",
            ],
            stdout=heard,
            stderr=heard,
        )
    try:
        server = Prometheus(address)
        until(lambda: server.ready() or process.poll() is not None)
        assert process.poll() is None, log.read_text()
        yield server
    finally:
        process.terminate()
        try:
            process.wait(timeout=STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def filled(promtool: str, folder: Path, samples: Iterable[Sample]) -> None:
    """Put samples, in order of time, into blocks that a server of this folder will serve."""
    page = folder / "samples.om"
    with page.open("w") as lines:
        for sample in samples:
            lines.write(f"{sample.series} {sample.value} {sample.at_s:.3f}\n")
        lines.write("# EOF\n")
    run([promtool, "tsdb", "create-blocks-from", "openmetrics", "-q", page, folder / "tsdb"])
    page.unlink()


def recorded(
    promtool: str, server: Prometheus, folder: Path, rules: Sequence[Path], span_s: tuple[int, int]
) -> None:
    """Evaluate recording rules over that time; the server finds the blocks when it is restarted."""
    words: list[object] = [promtool, "tsdb", "create-blocks-from", "rules"]
    words += [f"--start={span_s[0]}", f"--end={span_s[1]}", f"--url=http://{server.address}"]
    run([*words, f"--output-dir={folder / 'tsdb'}", *rules])


def run(words: Sequence[object]) -> None:
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
