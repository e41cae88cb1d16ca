"""Starts `agent-monitor run` as a user would, and talks to it over loopback."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

START_S = 30
STOP_S = 60


class Running:
    """One process of the service; listens on free ports."""

    def __init__(self, folder: Path, *options: str, environment: dict[str, str] | None = None):
        command = [
            *(sys.executable, "-m", "monitor.cli", "run", "--otlp", "127.0.0.1:0"),
            *("--metrics", "127.0.0.1:0", "--ledger", str(folder / "ledger.sqlite3")),
            *options,
        ]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        self.said: list[str] = []
        try:
            self._learn_addresses()
        except BaseException:
            self.kill()
            raise

    def _learn_addresses(self) -> None:
        self.otlp = self._address(r"receiving OTLP on (http://\S+)")
        self.pages = self._address(r"metrics on (http://[^/\s]+)/metrics")

    def _address(self, pattern: str) -> str:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line)
            if found := re.search(pattern, line):
                return found[1]
        raise AssertionError(f"the service ended before it listened: {''.join(self.said)}")

    def post(self, body: bytes, content_type: str = "application/json") -> int:
        """Status of one export; raises OSError or HTTPException when the process is gone."""
        return request(self.otlp, "POST", "/v1/traces", body, content_type)[0]

    def page(self, path: str, accept: str = "text/plain") -> tuple[int, str]:
        """Status and text of a page."""
        status, text = request(self.pages, "GET", path, None, accept)
        return status, text

    def kill(self) -> None:
        """As the kernel would: no farewell."""
        self.process.kill()
        self._reap()

    def stop(self) -> int:
        """Ask it to stop; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self._reap()

    def _reap(self) -> int:
        _, rest = self.process.communicate(timeout=STOP_S)
        self.said.append(rest or "")
        return self.process.returncode

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()


def request(base: str, method: str, path: str, body: bytes | None, kind: str) -> tuple[int, str]:
    """One request on a connection of its own."""
    parts = urlsplit(base)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=START_S)
    try:
        name = "Content-Type" if body is not None else "Accept"
        connection.request(method, path, body, {name: kind})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def export(spans: Sequence[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]) -> bytes:
    """An OTLP/JSON export of spans with their resource and scope."""
    return json.dumps(
        {
            "resourceSpans": [
                {"resource": resource, "scopeSpans": [{"scope": scope, "spans": [span]}]}
                for resource, scope, span in spans
            ]
        }
    ).encode()


def loose(request: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """The spans of an export, each with its resource and scope."""
    return [
        (group.get("resource", {}), scope.get("scope", {}), span)
        for group in request["resourceSpans"]
        for scope in group["scopeSpans"]
        for span in scope["spans"]
    ]


def final_lines(path: Path) -> dict[str, str]:
    """The last line of each conversation, without its revision."""
    lines: dict[str, str] = {}
    for line in path.read_text().splitlines():
        report = json.loads(line)
        del report["revision"]
        lines[report["conversation_id"]] = json.dumps(report)
    return lines
