"""A real OpenTelemetry Collector between an SDK and the service, over HTTP and over gRPC."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from running import Running

BUILD_S = 900
START_S = 30
TURNS = 5
TOKEN = "token-of-the-sidecar"


@pytest.fixture(scope="session")
def collector(project, require_tool) -> Path:
    """The program, built when it is not there yet."""
    require_tool("go")
    done = subprocess.run(
        [project / ".ci" / "build-collector"], capture_output=True, text=True, timeout=BUILD_S
    )
    if done.returncode:
        message = f"the collector could not be built: {done.stderr[-2_000:]}"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return Path(done.stdout.strip())


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def settings(exporter: dict[str, Any], http: int, grpc: int) -> dict[str, Any]:
    """The collector's configuration; JSON is YAML."""
    (name,) = exporter
    protocols = {
        "http": {"endpoint": f"127.0.0.1:{http}"},
        "grpc": {"endpoint": f"127.0.0.1:{grpc}"},
    }
    return {
        "receivers": {"otlp": {"protocols": protocols}},
        "processors": {"batch": {"timeout": "50ms"}},
        "exporters": exporter,
        "service": {
            "telemetry": {"metrics": {"level": "none"}, "logs": {"level": "warn"}},
            "pipelines": {
                "traces": {"receivers": ["otlp"], "processors": ["batch"], "exporters": [name]}
            },
        },
    }


@contextlib.contextmanager
def collecting(program: Path, folder: Path, exporter: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """A running collector; its ports for HTTP and gRPC."""
    http, grpc = free_port(), free_port()
    path, log = folder / "collector.json", folder / "collector.log"
    path.write_text(json.dumps(settings(exporter, http, grpc)))
    with log.open("w") as said:
        process = subprocess.Popen(
            [program, "--config", f"file:{path}"], stdout=said, stderr=said, cwd=folder
        )
        try:
            for port in (http, grpc):
                _await_port(process, port, log)
            yield http, grpc
        finally:
            # It sends what it still holds before it ends.
            process.terminate()
            process.wait(timeout=START_S)


def _await_port(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    last = time.monotonic() + START_S
    while time.monotonic() < last:
        assert process.poll() is None, log.read_text()
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError(f"the collector does not listen on {port}: {log.read_text()}")


def talk(exporter: Any) -> None:
    """One conversation of some turns, each a trace with one tool call."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("shop")
    common = {"gen_ai.conversation.id": "c1"}
    for number in range(TURNS):
        agent = {
            **common,
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.input.messages": _message("user", f"Where is order {number}?"),
            "gen_ai.output.messages": _message("assistant", f"Order {number} is on its way."),
        }
        tool = {
            **common,
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "find_order",
            "gen_ai.tool.call.id": f"call-{number}",
            "gen_ai.tool.call.arguments": json.dumps({"order": number}),
            "gen_ai.tool.call.result": json.dumps({"order": number, "state": "on its way"}),
        }
        with (
            tracer.start_as_current_span("invoke_agent shop", attributes=agent),
            tracer.start_as_current_span("execute_tool find_order", attributes=tool),
        ):
            pass
    provider.shutdown()


def _message(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def contract(folder: Path) -> Path:
    """The tool's own: it knows every order but the last, so that each argument shows."""
    order = {"type": "integer", "minimum": 0, "maximum": TURNS - 2}
    schema = {"type": "object", "properties": {"order": order}, "required": ["order"]}
    path = folder / "tools.json"
    path.write_text(json.dumps([{"name": "find_order", "parameters": schema}]))
    return path


def reported(path: Path) -> tuple[str, list[tuple[str, str]]]:
    """The conversation, and its turns with their verdicts."""
    report = json.loads(path.read_text().splitlines()[-1])
    turns = [(turn["turn_type"], turn["verdict"]) for turn in report["turns"]]
    return report["conversation_id"], turns


@pytest.mark.parametrize("way_in", ["http", "grpc"])
@pytest.mark.parametrize("way_out", ["otlp_http", "otlp_grpc"])
def test_what_an_sdk_sends_through_a_collector_is_reported_whole(
    tmp_path: Path, collector: Path, way_in: str, way_out: str
) -> None:
    reports = tmp_path / "reports.jsonl"
    environment = {
        "AGENT_MONITOR_OTLP__GRPC_LISTEN": f"127.0.0.1:{free_port()}",
        "AGENT_MONITOR_OTLP__TOKEN": TOKEN,
    }
    options = ("--reports", str(reports), "--tools", str(contract(tmp_path)), "--flush-on-exit")
    with Running(tmp_path, *options, environment=environment) as service:
        headers = {"authorization": f"Bearer {TOKEN}"}
        exporter: dict[str, Any] = {
            "otlp_http": {"endpoint": service.otlp, "headers": headers},
            "otlp_grpc": {
                "endpoint": environment["AGENT_MONITOR_OTLP__GRPC_LISTEN"],
                "headers": headers,
                "tls": {"insecure": True},
            },
        }
        with collecting(collector, tmp_path, {way_out: exporter[way_out]}) as (http, grpc):
            if way_in == "http":
                talk(HttpExporter(f"http://127.0.0.1:{http}/v1/traces"))
            else:
                talk(GrpcExporter(f"127.0.0.1:{grpc}", insecure=True))
        assert service.stop() == 0
    conversation, turns = reported(reports)
    assert conversation == "c1"
    good, bad = [("action", "pass"), ("response", "unscored")], [("action", "fail")]
    assert turns[:-2] == good * (TURNS - 1)
    assert turns[-2:-1] == bad
