"""Forwarding: what was received goes on unchanged, and never holds anybody up."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from otlp_building import JSON, PROTOBUF
from otlp_receiving import GOOD, receiving
from test_otlp_grpc import MANY, calling

from adapters.otlp.forward import Forwarder, ForwardLimits
from adapters.otlp.reception import Received
from adapters.otlp.upstream import Upstream, verdict_on
from monitor.errors import ConfigurationError, Overloaded

QUICK = {"first_wait_s": 0.001, "longest_wait_s": 0.002, "drain_s": 5.0, "timeout_s": 5.0}
TRACES = "/v1/traces"
METRICS_METHOD = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
KEYS = "Basic cGs6c2s="


class Backend:
    """Remembers what it was sent and answers by the script, then 200."""

    def __init__(self) -> None:
        self.script: list[tuple[int, dict[str, str]]] = []
        self.seen: list[tuple[str, dict[str, str], bytes]] = []
        self.hold: asyncio.Event | None = None
        self.url = ""

    async def answer(self, request: web.BaseRequest) -> web.Response:
        body = await request.read()
        self.seen.append((request.path, {k.lower(): v for k, v in request.headers.items()}, body))
        if self.hold is not None:
            await self.hold.wait()
        status, headers = self.script.pop(0) if self.script else (200, {})
        return web.Response(status=status, headers=headers)


@asynccontextmanager
async def backend(found: Backend | None = None) -> AsyncIterator[Backend]:
    found = found or Backend()
    app = web.Application(handler_args={"auto_decompress": False}, client_max_size=1 << 26)
    app.router.add_route("*", "/{rest:.*}", found.answer)
    server = TestServer(app)
    await server.start_server()
    found.url = str(server.make_url("")).rstrip("/")
    try:
        yield found
    finally:
        await server.close()


@asynccontextmanager
async def forwarding(**given: Any) -> AsyncIterator[tuple[Backend, Forwarder]]:
    """A running forwarder in front of a backend."""
    limits = {**QUICK, **given.pop("limits", {})}
    async with backend() as found:
        forwarder = Forwarder(url=found.url, limits=limits, jitter=lambda: 0.0, **given)
        await forwarder.start()
        try:
            yield found, forwarder
        finally:
            await forwarder.stop()
    assert (forwarder.queued, forwarder.queued_bytes) == (0, 0)


def received(body: bytes = b"spans", path: str = TRACES, **headers: str) -> Received:
    return Received(path, {"content-type": PROTOBUF, **headers}, body)


async def test_a_request_goes_on_with_its_own_bytes_and_headers() -> None:
    packed = gzip.compress(GOOD[JSON])
    async with forwarding() as (upstream, forwarder), receiving(onward=forwarder) as client:
        answer = await client.post(
            packed,
            JSON + "; charset=utf-8",
            Content_Encoding="gzip",
            Authorization=KEYS,
            X_Langfuse_Public_Key="pk",
            X_Private="stays",
            Cookie="stays",
        )
        assert answer.status == 200
        await forwarder.stop()
    ((path, headers, body),) = upstream.seen
    assert (path, body) == (TRACES, packed)
    assert headers["content-type"] == JSON + "; charset=utf-8"
    assert headers["content-encoding"] == "gzip"
    assert headers["authorization"] == KEYS
    assert headers["x-langfuse-public-key"] == "pk"
    assert "x-private" not in headers
    assert "cookie" not in headers
    assert forwarder.counters == {"forwarded": 1}


@pytest.mark.parametrize("kind", [PROTOBUF, JSON])
async def test_a_plain_body_goes_on_as_it_came(kind: str) -> None:
    async with forwarding() as (upstream, forwarder), receiving(onward=forwarder) as client:
        assert (await client.post(GOOD[kind], kind)).status == 200
        await forwarder.stop()
    ((_, headers, body),) = upstream.seen
    assert (headers["content-type"], body) == (kind, GOOD[kind])
    assert "content-encoding" not in headers


async def test_what_was_refused_for_good_goes_on_and_what_will_come_again_does_not() -> None:
    async with forwarding() as (upstream, forwarder), receiving(onward=forwarder) as client:
        assert (await client.post(b"\x0a\xff")).status == 400
        client.accept.error = Overloaded("full", 1)
        assert (await client.post(GOOD[PROTOBUF])).status == 503
        client.accept.error = None
        assert (await client.post(GOOD[PROTOBUF])).status == 200
        await forwarder.stop()
    assert [body for _, _, body in upstream.seen] == [b"\x0a\xff", GOOD[PROTOBUF]]


async def test_metrics_are_taken_only_to_be_sent_on() -> None:
    async with forwarding() as (upstream, forwarder):
        async with receiving(onward=forwarder) as client:
            assert (await client.post(b"any metrics", path="/v1/metrics")).status == 200
            assert client.accept.taken == []
        async with calling(onward=forwarder) as caller:
            assert await caller.call(b"more metrics", METRICS_METHOD) == b""
        await forwarder.stop()
    assert [(path, body) for path, _, body in upstream.seen] == [
        ("/v1/metrics", b"any metrics"),
        ("/v1/metrics", b"more metrics"),
    ]
    async with receiving() as alone:
        assert (await alone.post(b"any metrics", path="/v1/metrics")).status == 404


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
async def test_a_grpc_message_goes_on_over_http_as_it_came(compression: Any) -> None:
    async with forwarding() as (upstream, forwarder), calling(onward=forwarder) as caller:
        metadata = (("authorization", KEYS), ("x-private", "stays"))
        await caller.call(MANY, compression=compression, metadata=metadata)
        await forwarder.stop()
    ((path, headers, body),) = upstream.seen
    packed = compression is grpc.Compression.Gzip
    assert (path, headers["content-type"]) == (TRACES, PROTOBUF)
    assert headers.get("content-encoding") == ("gzip" if packed else None)
    assert (gzip.decompress(body) if packed else body) == MANY
    assert headers["authorization"] == KEYS
    assert "x-private" not in headers


async def test_a_backend_that_does_not_answer_holds_up_no_reply(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with forwarding(limits={"drain_s": 0.01}) as (upstream, forwarder):
        upstream.hold = asyncio.Event()
        async with receiving(onward=forwarder) as client:
            answers = [await client.post(GOOD[PROTOBUF]) for _ in range(50)]
        assert [answer.status for answer in answers] == [200] * 50
        await forwarder.stop()
        upstream.hold.set()
    assert forwarder.counters == {"forward_dropped:stopped": 50}
    assert caplog.messages == ["forward: 50 requests were not sent on before stopping"]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
async def test_a_backend_in_trouble_is_asked_again(status: int) -> None:
    async with forwarding() as (upstream, forwarder):
        upstream.script = [(status, {}), (status, {})]
        forwarder.offer(received())
        await forwarder.stop()
    assert len(upstream.seen) == 3
    assert forwarder.counters == {"forward_retried": 2, "forwarded": 1}


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (400, "refused"),
        (401, "unauthorised"),
        (403, "unauthorised"),
        (404, "refused"),
        (413, "too_large"),
        (501, "refused"),
        (302, "redirected"),
    ],
)
async def test_a_refusal_for_good_drops_the_request_and_counts_it(status: int, why: str) -> None:
    async with forwarding() as (upstream, forwarder):
        upstream.script = [(status, {"Location": "/elsewhere"})]
        forwarder.offer(received())
        await forwarder.stop()
    assert len(upstream.seen) == 1
    assert forwarder.counters == {f"forward_dropped:{why}": 1}


async def test_a_backend_that_is_down_costs_nothing_but_time() -> None:
    async with backend() as found:
        url = found.url
    forwarder = Forwarder(url=url, limits={**QUICK, "give_up_s": 0.05}, jitter=lambda: 0.0)
    await forwarder.start()
    forwarder.offer(received())
    await forwarder.stop()
    retried = forwarder.counters.pop("forward_retried")
    assert retried >= 2
    assert forwarder.counters == {"forward_dropped:too_old": 1}


async def test_a_slow_backend_is_given_up_and_asked_again() -> None:
    async with forwarding(limits={"timeout_s": 0.05}) as (upstream, forwarder):
        upstream.hold = asyncio.Event()
        forwarder.offer(received())
        while forwarder.counters.get("forward_retried", 0) < 1:
            await asyncio.sleep(0.01)
        upstream.hold.set()
        await forwarder.stop()
    assert forwarder.counters["forwarded"] == 1


async def test_the_backend_says_when_it_may_be_asked_again() -> None:
    async with forwarding() as (upstream, forwarder):
        upstream.script = [(503, {"Retry-After": "1"})]
        begun = asyncio.get_running_loop().time()
        forwarder.offer(received())
        await forwarder.stop()
        waited_s = asyncio.get_running_loop().time() - begun
    assert forwarder.counters["forwarded"] == 1
    assert 0.95 < waited_s < 4.0


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        (
            {
                "Retry-After": "Mon, 30 Nov 2026 10:00:30 GMT",
                "Date": "Mon, 30 Nov 2026 10:00:00 GMT",
            },
            30.0,
        ),
        ({"Retry-After": "Mon, 30 Nov 2026 10:00:30 GMT"}, None),
        ({"Retry-After": "-1"}, None),
        ({"Retry-After": "9" * 400}, None),
        ({"Retry-After": "soon"}, None),
    ],
)
def test_retry_after_is_seconds_or_a_date_against_the_answers_own(
    headers: dict[str, str], wait_s: float | None
) -> None:
    assert verdict_on(503, headers).retry_after_s == wait_s


@pytest.mark.parametrize(
    ("limits", "why"),
    [({"queue_requests": 2}, "queue_requests"), ({"queue_bytes": 10}, "queue_bytes")],
)
async def test_the_queue_is_bounded_and_what_does_not_fit_is_counted(
    limits: dict[str, int], why: str
) -> None:
    async with forwarding(limits=limits) as (upstream, forwarder):
        upstream.hold = asyncio.Event()
        for _ in range(3):
            forwarder.offer(received(b"12345"))
        assert (forwarder.queued, forwarder.queued_bytes) == (2, 10)
        upstream.hold.set()
        await forwarder.stop()
    assert forwarder.counters == {f"forward_dropped:{why}": 1, "forwarded": 2}


async def test_stopping_sends_what_is_still_here() -> None:
    async with forwarding(limits={"senders": 1}) as (upstream, forwarder):
        for number in range(20):
            forwarder.offer(received(b"%d" % number))
        await forwarder.stop()
    assert [body for _, _, body in upstream.seen] == [b"%d" % number for number in range(20)]
    assert forwarder.counters == {"forwarded": 20}


async def test_nothing_is_taken_after_the_stop() -> None:
    async with forwarding() as (upstream, forwarder):
        await forwarder.stop()
        forwarder.offer(received())
    assert upstream.seen == []
    assert forwarder.counters == {"forward_dropped:stopped": 1}


async def test_added_headers_replace_the_senders_own() -> None:
    async with forwarding(headers={"Authorization": "Basic ours"}) as (upstream, forwarder):
        forwarder.offer(received(authorization="Basic theirs"))
        await forwarder.stop()
    assert upstream.seen[0][1]["authorization"] == "Basic ours"


def test_the_receivers_own_bearer_token_stays_here() -> None:
    upstream = Upstream("http://127.0.0.1:1", None, {}, ["authorization"])
    assert upstream.headers({"authorization": "Bearer ours", "content-type": "a/b"}) == {
        "content-type": "a/b"
    }


BATCH = "/api/public/ingestion"
SDK = "/api/public/otel/v1/traces"


@pytest.mark.parametrize(
    ("url", "langfuse_url", "targets"),
    [
        (
            "http://127.0.0.1:1/base/",
            None,
            {
                TRACES: "http://127.0.0.1:1/base/v1/traces",
                "/v1/logs": "http://127.0.0.1:1/base/v1/logs",
                SDK: "http://127.0.0.1:1/base/v1/traces",
                BATCH: None,
            },
        ),
        (
            None,
            "https://langfuse.example",
            {
                TRACES: "https://langfuse.example" + SDK,
                "/v1/logs": None,
                SDK: "https://langfuse.example" + SDK,
                BATCH: "https://langfuse.example" + BATCH,
            },
        ),
        (
            "http://localhost:1",
            "https://langfuse.example",
            {
                TRACES: "http://localhost:1/v1/traces",
                "/v1/logs": "http://localhost:1/v1/logs",
                SDK: "https://langfuse.example" + SDK,
                BATCH: "https://langfuse.example" + BATCH,
            },
        ),
    ],
)
def test_each_path_goes_to_the_backend_that_knows_it(
    url: str | None, langfuse_url: str | None, targets: dict[str, str | None]
) -> None:
    upstream = Upstream(url, langfuse_url, {}, [])
    assert {path: upstream.target(path) for path in targets} == targets
    assert upstream.target("/elsewhere") is None


@pytest.mark.parametrize(
    ("scheme", "rest", "what"),
    [
        ("http", "169.254.169.254/latest", "metadata"),
        ("http", "[fe80::1]:4318", "link-local"),
        ("http", "[::ffff:169.254.169.254]", "metadata"),
        ("http", "[fd00:ec2::254]", "metadata"),
        ("http", "0.0.0.0:4318", "no host's"),
        ("ftp", "127.0.0.1", "must be http"),
        ("unix", "127.0.0.1:4318", "must be http"),
        ("https", "user:hunter2@collector.example", "holds a password"),
        ("http", "collector.example:4318", "plain http"),
    ],
)
def test_an_address_that_must_not_be_called_is_refused(scheme: str, rest: str, what: str) -> None:
    with pytest.raises(ConfigurationError, match=what) as refused:
        Forwarder(url=f"{scheme}://{rest}")
    assert "hunter2" not in str(refused.value)


def test_forwarding_without_an_address_is_the_operators_mistake() -> None:
    with pytest.raises(ConfigurationError, match="needs `url`"):
        Forwarder()


async def test_a_name_that_leads_to_a_metadata_service_is_never_called() -> None:
    # Written as one number, the address is a name that the system's resolver understands.
    number = 0xA9FEA9FE
    forwarder = Forwarder(
        url=f"http://{number}/", insecure=True, limits={**QUICK, "give_up_s": 0.01}
    )
    await forwarder.start()
    forwarder.offer(received())
    await forwarder.stop()
    assert forwarder.counters["forward_dropped:too_old"] == 1


def test_an_unknown_limit_is_the_operators_mistake() -> None:
    with pytest.raises(ConfigurationError, match="queue_lenght"):
        Forwarder(url="http://127.0.0.1:1", limits={"queue_lenght": 1})
    assert Forwarder(url="http://127.0.0.1:1").limits == ForwardLimits()
