"""The sidecar in the place of a Langfuse host: same addresses, same answers, everything sent on."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from langfuse import Langfuse, propagate_attributes
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from otlp_building import JSON, PROTOBUF
from otlp_receiving import GOOD, Client, check_status, receiving
from running import Running
from test_forward import QUICK, Backend, backend

from adapters.langfuse.ingestion import LangfuseIngestion
from adapters.otlp.forward import Forwarder
from adapters.otlp.relay import relayable

TRACES = "/api/public/otel/v1/traces"
BATCH = "/api/public/ingestion"
KEYS = "Basic " + base64.b64encode(b"pk-lf-1:sk-lf-1").decode()


@pytest.fixture
async def client(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    given = {"ingest": LangfuseIngestion().ingest, **getattr(request, "param", {})}
    async with receiving(**given) as found:
        yield found


@pytest.mark.parametrize("kind", [PROTOBUF, JSON])
async def test_traces_at_langfuses_address_are_taken_as_at_otlps(client: Client, kind: str) -> None:
    answer = await client.post(GOOD[kind], kind, TRACES, Authorization=KEYS)
    assert (answer.status, answer.type) == (200, kind)
    assert answer.content == (b"{}" if kind == JSON else b"")
    assert len(client.accept.taken[0].spans) == 1


@pytest.mark.parametrize(
    ("version", "status"),
    [("4", 200), ("1", 200), ("", 200), ("v5", 200), ("5", 400), ("04", 200), ("9" * 99, 400)],
)
async def test_an_ingestion_version_above_four_is_a_bad_request(
    client: Client, version: str, status: int
) -> None:
    answer = await client.post(GOOD[PROTOBUF], path=TRACES, x_langfuse_ingestion_version=version)
    assert answer.status == status
    if status == 400:
        check_status(answer, 3)
    # At OTLP's own address the header means nothing.
    plain = await client.post(GOOD[PROTOBUF], x_langfuse_ingestion_version=version)
    assert plain.status == 200


@pytest.mark.parametrize(
    "client", [{"access": {"token": "sk-lf-1"}}], indirect=True, ids=["secret key"]
)
async def test_the_secret_key_may_be_demanded(client: Client) -> None:
    assert (await client.post(GOOD[PROTOBUF], path=TRACES, Authorization=KEYS)).status == 200
    refused = await client.post(GOOD[PROTOBUF], path=TRACES)
    assert refused.status == 401
    check_status(refused, 16)
    assert (await client.post(None, "", "/api/public/health", "GET")).status == 200
    assert (await client.post(None, "", "/api/public/projects", "GET")).status == 401


def _batch() -> bytes:
    at = "2026-11-30T10:00:00.000Z"
    trace = {"id": "t1", "sessionId": "s1", "name": "shop"}
    call = {
        "id": "g1",
        "traceId": "t1",
        "type": "GENERATION",
        "name": "answer",
        "model": "m",
        "startTime": at,
        "endTime": at,
        "input": [{"role": "user", "content": "Where is my order?"}],
        "output": {"role": "assistant", "content": "On its way."},
    }
    events = [
        {"id": "e1", "timestamp": at, "type": "trace-create", "body": trace},
        {"id": "e2", "timestamp": at, "type": "generation-create", "body": call},
    ]
    return json.dumps({"batch": events}).encode()


async def test_an_older_batch_is_answered_event_by_event(client: Client) -> None:
    answer = await client.post(_batch(), JSON, BATCH, Authorization=KEYS)
    assert (answer.status, answer.type) == (207, JSON)
    assert json.loads(answer.content) == {
        "successes": [{"id": "e1", "status": 201}, {"id": "e2", "status": 201}],
        "errors": [],
    }
    spans = client.accept.taken[0].spans
    assert {span.conversation_id for span in spans} == {"s1"}
    assert [span.model for span in spans if span.kind == "model"] == ["m"]


async def test_what_is_no_batch_is_a_bad_request(client: Client) -> None:
    assert (await client.post(b"[1]", JSON, BATCH)).status == 400
    assert (await client.post(_batch(), PROTOBUF, BATCH)).status == 415
    assert (await client.post(None, "", BATCH, "GET")).status == 405


async def test_without_a_langfuse_behind_sdks_are_answered_what_they_need(client: Client) -> None:
    health = await client.post(None, "", "/api/public/health", "GET")
    assert (health.status, json.loads(health.content)["status"]) == (200, "OK")
    projects = await client.post(None, "", "/api/public/projects", "GET", Authorization=KEYS)
    assert json.loads(projects.content)["data"][0]["name"] == "agent-turn-monitor"
    assert (await client.post(b"[]", JSON, "/api/public/scores")).status == 200
    assert (await client.post(None, "", "/api/public/v2/prompts/p", "GET")).status == 404
    assert client.receiver.counters["passed_over:langfuse"] == 2


class Upstream(Backend):
    """A Langfuse that knows a project, and one prompt."""

    async def answer(self, request: web.BaseRequest) -> web.Response:
        await super().answer(request)
        if request.path == "/api/public/projects":
            owner = {"id": "o", "name": "o"}
            project = {"id": "p", "name": "real", "organization": owner, "metadata": {}}
            return web.json_response({"data": [project]})
        if request.path.startswith("/api/public/v2/prompts/"):
            return web.json_response({"asked": request.path_qs}, headers={"X-Private": "stays"})
        if request.path == "/api/public/moved":
            return web.Response(status=302, headers={"Location": "http://127.0.0.1:1/"})
        return web.json_response({"id": "x"})


@asynccontextmanager
async def behind(url: str) -> AsyncIterator[Forwarder]:
    """A forwarder to the Langfuse at an address."""
    forwarder = Forwarder(langfuse_url=url, limits=QUICK)
    await forwarder.start()
    try:
        yield forwarder
    finally:
        await forwarder.stop()


def _drive(host: str, public_key: str) -> bool:
    """A scripted run of the real SDK: one agent turn with a tool call, and a score.

    The SDK keeps one client per public key, with the first address that it was given.
    """
    sdk = Langfuse(
        base_url=host,
        public_key=public_key,
        secret_key="sk-lf-1",
        tracer_provider=TracerProvider(),
        timeout=10,
    )
    known = sdk.auth_check()
    with (
        propagate_attributes(session_id="s1"),
        sdk.start_as_current_observation(
            name="shop", as_type="agent", input={"query": "Where is order 12?"}
        ) as agent,
    ):
        with sdk.start_as_current_observation(
            name="find_order", as_type="tool", input={"order": 12}
        ) as tool:
            tool.update(output={"state": "on its way"})
        agent.update(output="On its way.")
        agent.score(name="liked", value=1)
    sdk.flush()
    sdk.shutdown()
    return known


def _check_script(client: Client) -> None:
    spans = {span.name: span for decoded in client.accept.taken for span in decoded.spans}
    assert spans.keys() == {"shop", "find_order"}
    assert {span.conversation_id for span in spans.values()} == {"s1"}
    call = spans["find_order"].call
    assert call is not None
    assert (call.name, call.arguments) == ("find_order", {"order": 12})


async def test_the_real_sdk_works_against_the_sidecar_alone(client: Client) -> None:
    assert await asyncio.to_thread(_drive, client.url, "pk-lf-2")
    _check_script(client)


def test_the_real_sdk_is_reported_by_the_service(tmp_path: Path) -> None:
    reports, tools = tmp_path / "reports.jsonl", tmp_path / "tools.json"
    # Only the order of the script is one that the tool takes.
    order = {"type": "object", "properties": {"order": {"enum": [12]}}, "required": ["order"]}
    tools.write_text(json.dumps([{"name": "find_order", "parameters": order}]))
    options = ("--reports", str(reports), "--tools", str(tools), "--flush-on-exit")
    with Running(tmp_path, *options) as service:
        assert _drive(service.otlp, "pk-lf-3")
        assert service.stop() == 0
    report = json.loads(reports.read_text().splitlines()[-1])
    assert report["conversation_id"] == "s1"
    turns = [(turn["turn_type"], turn["verdict"], turn["basis"]) for turn in report["turns"]]
    assert turns == [("action", "pass", "contract"), ("response", "unscored", None)]


async def test_the_real_sdk_reaches_its_langfuse_through_the_sidecar() -> None:
    async with (
        backend(Upstream()) as upstream,
        behind(upstream.url) as forwarder,
        receiving(onward=forwarder, ingest=LangfuseIngestion().ingest) as client,
    ):
        assert await asyncio.to_thread(_drive, client.url, "pk-lf-1")
        _check_script(client)
        await forwarder.stop()
    by_path: dict[str, list[Any]] = {}
    for path, headers, body in upstream.seen:
        assert headers["authorization"] == KEYS
        by_path.setdefault(path, []).append((headers, body))
    assert by_path.keys() == {"/api/public/projects", TRACES, "/api/public/scores"}
    ((headers, body),) = by_path[TRACES]
    assert headers["x-langfuse-ingestion-version"] == "4"
    plain = gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
    sent = ExportTraceServiceRequest.FromString(plain)
    names = [span.name for span in sent.resource_spans[0].scope_spans[0].spans]
    assert sorted(names) == ["find_order", "shop"]


async def test_other_requests_are_relayed_with_their_query_and_the_answer_comes_back() -> None:
    async with (
        backend(Upstream()) as upstream,
        behind(upstream.url) as forwarder,
        receiving(onward=forwarder) as client,
    ):
        path = "/api/public/v2/prompts/a%2Fb?label=x%26y"
        answer = await client.post(None, "", path, "GET", Authorization=KEYS, X_Private="1")
        assert (answer.status, json.loads(answer.content)) == (200, {"asked": path})
        assert "X-Private" not in answer.headers
        assert (await client.post(None, "", "/api/public/moved", "GET")).status == 503
        assert (await client.post(None, "", "/elsewhere", "GET")).status == 404
        await forwarder.stop()
        assert (await client.post(None, "", path, "GET")).status == 404
    assert "x-private" not in upstream.seen[0][1]


async def test_a_langfuse_that_is_down_is_an_answer_to_try_again() -> None:
    async with backend() as gone:
        url = gone.url
    async with behind(url) as forwarder, receiving(onward=forwarder) as client:
        answer = await client.post(None, "", "/api/public/projects", "GET")
        assert (answer.status, "Retry-After" in answer.headers) == (503, True)


@pytest.mark.parametrize(
    ("method", "path", "good"),
    [
        ("GET", "/api/public/v2/prompts/a%20b", True),
        ("POST", "/api/public/scores", True),
        ("GET", "/api/public/../admin", False),
        ("GET", "/api/public/%2e%2E/admin", False),
        ("GET", "/api/public/.%2e/admin", False),
        ("GET", "/api/internal", False),
        ("GET", "/api/public//x", False),
        ("TRACE", "/api/public/x", False),
        ("GET", "/api/public/x\\y", False),
    ],
)
def test_only_langfuses_public_interface_is_relayed(method: str, path: str, good: bool) -> None:
    assert relayable(method, path) == good
