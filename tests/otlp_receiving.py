"""A running OTLP/HTTP receiver, with a client and an acceptance that can be told to refuse."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from otlp_building import JSON, PROTOBUF, body, json_body, span

from adapters.otlp.http import OtlpHttpReceiver
from monitor.ports import Decoded

CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
GOOD = {PROTOBUF: body(span(CHAT)), JSON: json_body(span(CHAT))}


class Accepting:
    """Takes what the receiver hands over, or refuses it."""

    def __init__(self) -> None:
        self.taken: list[Decoded] = []
        self.sizes: list[int] = []
        self.error: Exception | None = None
        self.wait: asyncio.Event | None = None
        self.entered = asyncio.Event()

    async def __call__(self, decoded: Decoded, payload_bytes: int) -> None:
        self.entered.set()
        if self.wait is not None:
            await self.wait.wait()
        if self.error is not None:
            raise self.error
        self.taken.append(decoded)
        self.sizes.append(payload_bytes)


class Answer:
    """What came back."""

    def __init__(self, status: int, headers: Any, content: bytes) -> None:
        self.status = status
        self.headers = headers
        self.content = content

    @property
    def type(self) -> str:
        return str(self.headers["Content-Type"])


class Client:
    """Posts to a running receiver."""

    def __init__(self, receiver: OtlpHttpReceiver, accept: Accepting, url: str) -> None:
        self.receiver = receiver
        self.accept = accept
        self.url = url
        self.session = aiohttp.ClientSession()

    async def post(
        self,
        content: Any,
        content_type: str = PROTOBUF,
        path: str = "/v1/traces",
        method: str = "POST",
        **headers: str,
    ) -> Answer:
        fields = {"Content-Type": content_type} if content_type else {}
        fields.update({key.replace("_", "-"): value for key, value in headers.items()})
        async with self.session.request(
            method, self.url + path, data=content, headers=fields
        ) as answer:
            return Answer(answer.status, answer.headers, await answer.read())


@asynccontextmanager
async def receiving(**options: Any) -> AsyncIterator[Client]:
    """A receiver on a free port. When it stops nothing may be in flight and no defect counted."""
    accept = Accepting()
    receiver = OtlpHttpReceiver("127.0.0.1:0", **options)
    found = Client(receiver, accept, await receiver.start(accept))
    try:
        yield found
    finally:
        await found.session.close()
        await receiver.stop()
    assert receiver.in_flight_bytes == 0
    assert receiver.counters.get("defects", 0) == 0


def options(**given: Any) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("client", [given], indirect=True)


def check_status(answer: Answer, code: int) -> None:
    """The body is a google.rpc.Status of that code with a message."""
    if answer.type == JSON:
        found = json.loads(answer.content)
        assert found["code"] == code
        assert found["message"]
        return
    # Field 1, varint, then field 2, text: the whole of the message.
    assert answer.content[:3] == bytes([0x08, code, 0x12])
    assert len(answer.content) == 4 + answer.content[3]


def gzip_bomb() -> bytes:
    """1 GB of zeros, which gzip packs into 1 MB; its check sum is never reached."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    # After a full flush the same zeros pack into the same bytes, whatever came before.
    again = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + again * 1_023
