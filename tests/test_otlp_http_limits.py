"""What the OTLP/HTTP receiver takes at most: bytes, time and connections."""

from __future__ import annotations

import asyncio
import gzip
import io
import resource
from collections.abc import AsyncIterator

import aiohttp
import pytest
from otlp_building import JSON, PROTOBUF
from otlp_receiving import GOOD, Client, check_status, gzip_bomb, options, receiving


@pytest.fixture
async def client(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    async with receiving(**getattr(request, "param", {})) as found:
        yield found


@options(limits={"body_bytes": 1_000})
async def test_a_body_over_the_limit_is_too_large_by_its_announced_length(client: Client) -> None:
    answer = await client.post(b"x" * 1_001)
    assert answer.status == 413
    check_status(answer, 8)
    assert client.receiver.counters["refused:body_bytes"] == 1


async def _chunks(size: int, count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield b"x" * size


@options(limits={"body_bytes": 100_000})
async def test_a_body_without_a_length_is_too_large_once_it_is(client: Client) -> None:
    try:
        answer = await client.post(_chunks(50_000, 1_000))
    except aiohttp.ClientError:
        # The connection was closed while the client still wrote: as good an answer.
        pass
    else:
        assert answer.status == 413
    assert client.receiver.counters["refused:body_bytes"] == 1
    assert (await client.post(GOOD[PROTOBUF])).status == 200


async def test_a_chunked_body_within_the_limit_is_read(client: Client) -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield GOOD[JSON][:10]
        yield GOOD[JSON][10:]

    assert (await client.post(parts(), JSON)).status == 200


async def test_a_gzip_bomb_is_stopped_at_the_limit(client: Client) -> None:
    bomb = gzip_bomb()
    assert len(bomb) < 1_100_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer = await client.post(io.BytesIO(bomb), Content_Encoding="gzip")
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert answer.status == 413
    assert (after - before) / 1_024 < 64
    assert (await client.post(GOOD[PROTOBUF])).status == 200


async def test_a_bomb_of_empty_spans_is_refused_without_the_memory_for_them(
    client: Client,
) -> None:
    scope = b"\x12\x00" * 5_000_000
    # Lengths as four-byte varints: 10,000,000 and, with its head, 10,000,005.
    group = b"\x12\x80\xad\xe2\x04" + scope
    payload = b"\x0a\x85\xad\xe2\x04" + group
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer = await client.post(gzip.compress(payload), Content_Encoding="gzip")
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert answer.status == 413
    assert client.receiver.counters["refused:items"] == 1
    assert (after - before) / 1_024 < 64


@options(in_flight_bytes=1_000)
async def test_bytes_in_flight_are_bounded_before_they_are_read(client: Client) -> None:
    client.accept.wait = asyncio.Event()
    size = len(GOOD[PROTOBUF])
    room = 1_000 // size
    first = [asyncio.create_task(client.post(GOOD[PROTOBUF])) for _ in range(room)]
    await client.accept.entered.wait()
    while client.receiver.in_flight_bytes < room * size:
        await asyncio.sleep(0)
    answer = await client.post(GOOD[PROTOBUF])
    client.accept.wait.set()
    assert answer.status == 503
    assert int(answer.headers["Retry-After"]) >= 1
    assert [found.status for found in await asyncio.gather(*first)] == [200] * room
    assert (await client.post(GOOD[PROTOBUF])).status == 200


@options(body_timeout_s=0.05)
async def test_a_body_that_comes_too_slowly_is_given_up(client: Client) -> None:
    host, port = client.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\n"
        b"Content-Length: 100\r\n\r\n123"
    )
    answer = await reader.read(200)
    assert answer.startswith(b"HTTP/1.1 408 ")
    writer.close()
    assert client.receiver.counters["refused:body_timeout"] == 1


@options(body_grace_s=0.05, body_bytes_per_s=100)
async def test_a_body_that_drips_is_given_up_long_before_the_last_moment(client: Client) -> None:
    async def drips() -> AsyncIterator[bytes]:
        while True:
            yield b"x"
            await asyncio.sleep(0.02)

    begun = asyncio.get_running_loop().time()
    try:
        answer = await client.post(drips())
    except aiohttp.ClientError:
        pass
    else:
        assert answer.status == 408
    # A byte earns 0.01 s and costs 0.02 s, so that the grace of 0.05 s is used up after 0.1 s.
    assert asyncio.get_running_loop().time() - begun < 5
    assert client.receiver.counters["refused:body_timeout"] == 1


@options(body_grace_s=0.05, body_bytes_per_s=10)
async def test_a_body_that_keeps_the_pace_may_take_its_time(client: Client) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for at in range(0, len(GOOD[JSON]), 20):
            yield GOOD[JSON][at : at + 20]
            await asyncio.sleep(0.01)

    assert (await client.post(pieces(), JSON)).status == 200


@options(head_timeout_s=0.05)
async def test_a_head_that_does_not_come_is_given_up(client: Client) -> None:
    host, port = client.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nX-Slow: ")
    assert await reader.read() == b""
    writer.close()
    assert client.receiver.counters["refused:head_timeout"] == 1


@options(head_timeout_s=0.05)
async def test_a_kept_connection_may_rest_between_requests(client: Client) -> None:
    assert (await client.post(GOOD[PROTOBUF])).status == 200
    await asyncio.sleep(0.1)
    assert (await client.post(GOOD[PROTOBUF])).status == 200
    assert "refused:head_timeout" not in client.receiver.counters


@options(connections=2)
async def test_connections_are_bounded(client: Client) -> None:
    host, port = client.url.removeprefix("http://").split(":")
    held = [await asyncio.open_connection(host, int(port)) for _ in range(2)]
    reader, writer = await asyncio.open_connection(host, int(port))
    assert await reader.read() == b""
    assert client.receiver.counters["refused:connections"] == 1
    for _, opened in [*held, (reader, writer)]:
        opened.close()
        await opened.wait_closed()
    while client.receiver.open_connections:
        await asyncio.sleep(0)
    assert (await client.post(GOOD[PROTOBUF])).status == 200


@options(connections_per_peer=2)
async def test_connections_from_one_address_are_bounded(client: Client) -> None:
    host, port = client.url.removeprefix("http://").split(":")
    held = [await asyncio.open_connection(host, int(port)) for _ in range(2)]
    reader, writer = await asyncio.open_connection(host, int(port))
    assert await reader.read() == b""
    assert client.receiver.counters["refused:connections_per_peer"] == 1
    # Another address has a share of its own.
    elsewhere = ("127.0.0.2", 0)
    other, speaking = await asyncio.open_connection(host, int(port), local_addr=elsewhere)
    speaking.write(b"GET /api/public/health HTTP/1.1\r\nHost: x\r\n\r\n")
    assert (await other.readline()).startswith(b"HTTP/1.1 200 ")
    for _, opened in [*held, (reader, writer), (other, speaking)]:
        opened.close()
        await opened.wait_closed()
    while client.receiver.open_connections:
        await asyncio.sleep(0)
    assert (await client.post(GOOD[PROTOBUF])).status == 200
