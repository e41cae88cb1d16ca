"""What attackers do to a receiver does not reach a legal sender."""

from __future__ import annotations

import asyncio
import gzip
import random
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
import grpc.aio
from otlp_building import JSON, PROTOBUF
from otlp_receiving import GOOD, Client, receiving
from test_otlp_grpc import TRACES, Caller, calling

ATTACKERS = 500
LEGAL = 40
DAMAGED = 1_000
HEAD = (
    b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\n"
    b"Content-Length: 1000\r\n\r\n"
)


async def slowest(send: Callable[[], Awaitable[object]]) -> float:
    """Seconds of the slowest of some legal exports, one after the other."""
    clock = asyncio.get_running_loop().time
    worst = 0.0
    for _ in range(LEGAL):
        begun = clock()
        await send()
        worst = max(worst, clock() - begun)
    return worst


async def attack(client: Client, said: bytes) -> list[asyncio.StreamWriter]:
    """Connections from one other address that say something and then nothing more."""
    host, port = client.url.removeprefix("http://").split(":")
    opened = []
    for _ in range(ATTACKERS):
        _, writer = await asyncio.open_connection(host, int(port), local_addr=("127.0.0.2", 0))
        writer.write(said)
        opened.append(writer)
    return opened


async def _gone(client: Client) -> None:
    while client.receiver.open_connections > 1:
        await asyncio.sleep(0.01)


async def test_unfinished_heads_hold_nobody_up_and_are_gone_in_time() -> None:
    async with receiving(head_timeout_s=0.5) as client:
        writers = await attack(client, b"POST /v1/traces HTTP/1.1\r\nX-Slow: ")
        assert await slowest(lambda: client.post(GOOD[PROTOBUF])) < 1.0
        async with asyncio.timeout(30):
            await _gone(client)
        for writer in writers:
            writer.close()
    assert client.receiver.counters["refused:connections_per_peer"] == ATTACKERS - 32
    assert client.receiver.counters["refused:head_timeout"] == 32
    assert len(client.accept.taken) == LEGAL


async def test_unfinished_bodies_hold_nobody_up_and_are_gone_in_time() -> None:
    async with receiving(body_grace_s=0.5) as client:
        writers = await attack(client, HEAD + b"x")
        assert await slowest(lambda: client.post(GOOD[PROTOBUF])) < 1.0
        async with asyncio.timeout(30):
            await _gone(client)
        for writer in writers:
            writer.close()
    assert client.receiver.counters["refused:body_timeout"] == 32
    assert len(client.accept.taken) == LEGAL


async def _silence() -> AsyncIterator[bytes]:
    await asyncio.Event().wait()
    yield b""


def _channel(caller: Caller) -> Any:
    return grpc.aio.insecure_channel(caller.address, [("grpc.use_local_subchannel_pool", 1)])


async def test_idle_calls_hold_nobody_up_and_are_gone_in_time() -> None:
    async with calling(body_timeout_s=1.0) as caller:
        channels = [_channel(caller) for _ in range(16)]
        idle = [
            asyncio.ensure_future(channel.stream_unary(TRACES)(_silence()))
            for channel in channels
            for _ in range(32)
        ]
        async with asyncio.timeout(60):
            while caller.receiver.counters.get("requests", 0) < len(idle):
                await asyncio.sleep(0.01)
        assert await slowest(lambda: caller.call(GOOD[PROTOBUF])) < 1.0
        async with asyncio.timeout(30):
            ended = await asyncio.gather(*idle, return_exceptions=True)
        for channel in channels:
            await channel.close()
    codes = {error.code() for error in ended if isinstance(error, grpc.aio.AioRpcError)}
    assert codes == {grpc.StatusCode.DEADLINE_EXCEEDED}
    assert len(caller.accept.taken) == LEGAL


RESETTING = """
import asyncio, sys
import grpc, grpc.aio

async def silence():
    await asyncio.Event().wait()
    yield b""

async def reset(address, method):
    channel = grpc.aio.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1)])
    call = channel.stream_unary(method)
    while True:
        calls = [call(silence()) for _ in range(32)]
        await asyncio.sleep(0.001)
        for each in calls:
            each.cancel()
        await asyncio.gather(*calls, return_exceptions=True)

async def main():
    await asyncio.gather(*(reset(*sys.argv[1:]) for _ in range(4)))

asyncio.run(main())
"""


async def test_calls_reset_as_soon_as_begun_hold_nobody_up() -> None:
    # In a process of its own: its library's queue of events is not what is tried here.
    async with calling() as caller:
        attacker = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", RESETTING, caller.address, TRACES),
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with asyncio.timeout(60):
                while caller.receiver.counters.get("refused:cut_off", 0) < 100:
                    await asyncio.sleep(0.01)
            worst = await slowest(lambda: caller.call(GOOD[PROTOBUF]))
        finally:
            attacker.kill()
            await attacker.wait()
        async with asyncio.timeout(60):
            while caller.receiver.in_flight_bytes:
                await asyncio.sleep(0.01)
    assert worst < 1.0
    assert len(caller.accept.taken) == LEGAL


def _damaged(rng: random.Random, body: bytes) -> bytes:
    """The body with some of its bytes changed, cut out or repeated, and sometimes packed."""
    found = bytearray(body)
    for _ in range(rng.randrange(1, 8)):
        at = rng.randrange(len(found))
        match rng.randrange(3):
            case 0:
                found[at] = rng.randrange(256)
            case 1:
                del found[at : at + rng.randrange(1, 16)]
            case _:
                found[at:at] = found[at : at + rng.randrange(1, 64)] * rng.randrange(1, 4)
        found = found or bytearray(b"x")
    return gzip.compress(bytes(found)) if rng.randrange(4) == 0 else bytes(found)


async def test_no_damaged_body_is_answered_as_a_fault_of_the_receiver() -> None:
    rng = random.Random(1)
    statuses, codes = set(), set()
    async with receiving() as client, calling() as caller:
        for _ in range(DAMAGED):
            damaged = _damaged(rng, GOOD[PROTOBUF])
            statuses.add((await client.post(damaged)).status)
            statuses.add((await client.post(_damaged(rng, GOOD[JSON]), JSON)).status)
            try:
                await caller.call(damaged)
            except grpc.aio.AioRpcError as error:
                codes.add(error.code())
    assert statuses == {200, 400}
    assert codes == {grpc.StatusCode.INVALID_ARGUMENT}
