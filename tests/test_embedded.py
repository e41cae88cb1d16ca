"""The embedded role: answers after the commit, refuses when full, stops in order."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from monitor import wiring
from monitor.config import Settings
from monitor.errors import LedgerError, Overloaded
from monitor.model import AgentSpan, Message
from monitor.ports import Accept, Decoded
from monitor.roles.embedded import Embedded, EmbeddedLimits, Health


class HeldReceiver:
    """A receiver that a test speaks through."""

    name = "held"
    stopped = False

    async def start(self, accept: Accept) -> str:
        self.accept = accept
        return "held://"

    async def stop(self) -> None:
        self.stopped = True


def decoded(number: int) -> Decoded:
    span = AgentSpan(
        trace_id=f"{number:032x}",
        span_id=f"{number:016x}",
        kind="agent",
        start_ns=1,
        end_ns=2,
        conversation_id=f"conversation-{number}",
        messages_in=(Message("user", text="hello"),),
        messages_out=(Message("assistant", text="hi"),),
    )
    return Decoded([span], [])


class House:
    """The role over a real file, with what a test looks at."""

    def __init__(self, path: Path, **limits: int) -> None:
        self.parts = wiring.engine(Settings(), path, durable=True)
        self.receiver = HeldReceiver()
        self.lags: list[float] = []
        self.health = Health()
        self.role = Embedded(
            self.parts.engine,
            [self.receiver],
            EmbeddedLimits(commit_interval_s=0.01, **limits),
            self.parts.stores.spool.bytes,
            self.lags.append,
            self.health,
        )

    def closed(self) -> int:
        reader = self.parts.stores.database.reader()
        try:
            totals = self.parts.stores.ledger.totals(reader)
            return sum(totals.family("conversations").values())
        finally:
            reader.close()


async def test_every_payload_is_durable_when_it_is_answered(tmp_path):
    house = House(tmp_path / "ledger.sqlite3")
    await house.role.start()
    await asyncio.gather(*(house.receiver.accept(decoded(n), 100) for n in range(1, 30)))
    assert house.parts.stores.spool.last() >= 1
    await house.role.stop(flush=True)
    assert (house.receiver.stopped, house.closed(), len(house.lags)) == (True, 29, 29)
    house.parts.close()


async def test_beyond_the_bytes_in_flight_senders_are_told_to_wait(tmp_path):
    house = House(tmp_path / "ledger.sqlite3", in_flight_bytes=1000)
    await house.role.start()
    with pytest.raises(Overloaded) as refused:
        await house.receiver.accept(decoded(1), 1001)
    assert refused.value.retry_after_s >= 1
    await house.receiver.accept(decoded(1), 1000)
    await house.role.stop(flush=True)
    assert house.closed() == 1
    house.parts.close()


async def test_a_file_that_cannot_be_written_refuses_and_the_next_payload_is_taken(
    tmp_path, monkeypatch
):
    house = House(tmp_path / "ledger.sqlite3")
    await house.role.start()
    with monkeypatch.context() as broken:

        def full(*_: object) -> int:
            raise LedgerError("the disk is full; nothing was committed")

        broken.setattr(house.parts.stores.spool, "append", full)
        with pytest.raises(Overloaded):
            await house.receiver.accept(decoded(1), 100)
    await house.receiver.accept(decoded(1), 100)
    assert house.health.store_failures == 1
    await house.role.stop(flush=True)
    assert house.closed() == 1
    house.parts.close()


async def test_a_damaged_record_is_set_aside_and_the_writer_goes_on(tmp_path):
    house = House(tmp_path / "ledger.sqlite3")
    with house.parts.stores.database.transaction():
        house.parts.stores.spool.append(b"no record of ours", 1.0, 1)
    house.parts.engine.recover()
    await house.role.start()
    await house.receiver.accept(decoded(1), 100)
    await house.role.stop(flush=True)
    assert (house.health.writer_failures, house.closed(), house.role.fault()) == (1, 1, None)
    house.parts.close()


async def test_after_stop_senders_are_told_to_wait_and_the_probe_says_why(tmp_path):
    house = House(tmp_path / "ledger.sqlite3")
    await house.role.start()
    assert house.role.unready() is None
    await house.role.stop()
    with pytest.raises(Overloaded):
        await house.receiver.accept(decoded(1), 100)
    assert house.role.unready() == "starting or stopping"
    house.parts.close()


async def test_a_file_that_fails_makes_the_service_unready_until_it_is_written_again(
    tmp_path, monkeypatch
):
    house = House(tmp_path / "ledger.sqlite3")
    await house.role.start()
    with monkeypatch.context() as broken:

        def full(*_: object) -> int:
            raise LedgerError("the disk is full; nothing was committed")

        broken.setattr(house.parts.stores.spool, "append", full)
        broken.setattr(house.parts.stores.ledger, "set_position", full)
        with pytest.raises(Overloaded):
            await house.receiver.accept(decoded(1), 100)
        assert house.role.unready() == "the ledger cannot be written"
    await house.receiver.accept(decoded(1), 100)
    assert house.role.unready() is None
    await house.role.stop()
    house.parts.close()
