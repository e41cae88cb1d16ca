"""Requests to Langfuse: waiting, refusing, and where they may go."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import ThreadedResolver
from langfuse_bench import NOW, Bench, running_bench

from adapters.langfuse.address import GuardedResolver, keys_from
from adapters.langfuse.client import LangfuseClient, RefusedRequest
from monitor.errors import BackendUnavailable, ConfigurationError


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with running_bench() as found:
        yield found


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
