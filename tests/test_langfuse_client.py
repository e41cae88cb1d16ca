"""Requests to Langfuse: waiting, refusing, and where they may go."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import ThreadedResolver, web
from aiohttp.test_utils import TestServer
from langfuse_bench import NOW, Bench, running_bench

from adapters.langfuse.address import GuardedResolver, keys_from
from adapters.langfuse.client import LangfuseClient, RefusedRequest
from monitor.errors import BackendUnavailable, ConfigurationError, MalformedPayload


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with running_bench() as found:
        yield found


@asynccontextmanager
async def page_server(body: bytes) -> AsyncIterator[str]:
    """A server that answers everything with the same body."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=body)

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/")


async def test_throttling_waits_as_long_as_it_is_told(bench: Bench) -> None:
    bench.row(1, 100)
    date = (NOW + timedelta(seconds=32)).strftime("%a, %d %b %Y %H:%M:%S GMT")
    bench.server.troubles = [(429, {"Retry-After": "12"}), (429, {"Retry-After": date})]
    poller = bench.poller()
    assert await poller.poll(bench.accept) == 1
    assert bench.waits == [12, 20]
    assert poller.counters["throttled"] == 2


async def test_a_wait_has_a_limit(bench: Bench) -> None:
    bench.server.troubles = [(429, {"Retry-After": "86400"})]
    await bench.poller().poll(bench.accept)
    assert bench.waits == [300]


async def test_the_last_allowed_request_is_followed_by_a_rest(bench: Bench) -> None:
    reset = (NOW + timedelta(seconds=45)).timestamp()
    bench.server.budget = (1, lambda: reset)
    client = bench.client()
    await client.fetch("/api/public/v2/observations", {})
    bench.server.budget = None
    await client.fetch("/api/public/v2/observations", {})
    assert bench.waits == [45]


async def test_a_failing_server_is_asked_again_ever_later_and_not_for_ever(bench: Bench) -> None:
    bench.server.troubles = [(503, {})] * 5
    with pytest.raises(BackendUnavailable):
        await bench.client().fetch("/api/public/v2/observations", {})
    assert bench.waits == [1, 2, 4, 8]


async def test_the_first_refusal_is_told_with_the_address_and_without_a_secret(
    bench: Bench,
) -> None:
    bench.server.troubles = [(500, {}), (500, {}), (429, {"Retry-After": "30"})]
    told: list[str] = []
    await bench.client(notice=told.append).fetch("/api/public/v2/observations", {})
    address = f"{bench.server.url}/api/public/v2/observations"
    assert told == [
        f"Langfuse answered 500 at {address}: attempt 1 of 5, asking again in 1 s",
        f"Langfuse throttled at {address}: attempt 3 of 5, asking again in 30 s",
    ]


async def test_a_server_that_fails_for_any_window_is_given_up_within_half_a_minute(
    bench: Bench,
) -> None:
    bench.server.troubles = [(500, {})] * 1_000
    with pytest.raises(BackendUnavailable) as caught:
        await bench.poller().poll(bench.accept)
    # Five attempts at the hour, two at each of 12 halvings down to a second.
    assert bench.waits == [1, 2, 4, 8] + [1] * 12
    assert f"{bench.server.url}/api/public/v2/observations" in str(caught.value)


async def test_a_web_page_in_place_of_an_answer_is_named_with_its_address(bench: Bench) -> None:
    async with page_server(b"<html>log in</html>") as url:
        client = bench.client(base_url=url)
        with pytest.raises(MalformedPayload) as caught:
            await client.fetch("/api/public/v2/observations", {"cursor": "c"})
    assert str(caught.value).startswith(
        f"{url}/api/public/v2/observations answered with a web page"
    )


async def test_an_answer_without_observations_is_named_with_its_address(bench: Bench) -> None:
    async with page_server(b'{"status": "ok"}') as url:
        with pytest.raises(MalformedPayload, match=f"{url}/api/public/v2/observations"):
            await bench.poller(bench.client(base_url=url)).poll(bench.accept)


async def test_redirects_are_not_followed(bench: Bench) -> None:
    bench.server.troubles = [(302, {"Location": bench.server.url + "/api/public/v2/observations"})]
    with pytest.raises(RefusedRequest, match="redirect"):
        await bench.poller().poll(bench.accept)
    assert len(bench.server.requests) == 1


async def test_wrong_keys_are_the_operators(bench: Bench) -> None:
    poller = bench.poller(bench.client(secret_key="wrong"))
    with pytest.raises(RefusedRequest, match="keys") as caught:
        await poller.poll(bench.accept)
    assert "wrong" not in str(caught.value).replace("are wrong", "")


@pytest.mark.parametrize(
    ("scheme", "rest"),
    [
        ("https", "169.254.169.254"),
        ("https", "[fe80::1]:3000"),
        ("https", "[fd00:ec2::254]"),
        ("https", "[::ffff:169.254.169.254]"),
        ("https", "0.0.0.0:3000"),
        ("https", "100.100.100.200"),
        ("http", "langfuse.example.com"),
        ("https", "user:secret@langfuse.example.com"),
        ("https", "langfuse.example.com?key=secret"),
        ("ftp", "langfuse.example.com"),
        ("", "langfuse.example.com"),
        ("https", ""),
        ("https", "[::1"),
        ("https", "langfuse.example.com:99999"),
    ],
)
def test_addresses_that_must_not_be_called_are_refused(scheme: str, rest: str) -> None:
    address = f"{scheme}://{rest}" if scheme else rest
    with pytest.raises(ConfigurationError) as caught:
        LangfuseClient(address, "p", "s", clock=lambda: 0.0)
    assert "secret" not in str(caught.value)


async def test_a_name_that_leads_to_a_metadata_service_is_not_called() -> None:
    class Lying(ThreadedResolver):
        async def resolve(self, *given: Any, **named: Any) -> Any:
            return [{"host": "169.254.169.254"}, {"host": "fe80::1%eth0"}]

    with pytest.raises(OSError, match="no address"):
        await GuardedResolver(Lying()).resolve("langfuse.example.com", 443)


def test_keys_come_from_the_environment() -> None:
    environment = {"LANGFUSE_PUBLIC_KEY": " pk ", "LANGFUSE_SECRET_KEY": "sk"}
    assert keys_from(environment) == ("pk", "sk")
    with pytest.raises(ConfigurationError, match="LANGFUSE_SECRET_KEY"):
        keys_from({"LANGFUSE_PUBLIC_KEY": "pk"})
