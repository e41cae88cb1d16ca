"""The engine: accepted, observed, committed, in that order, whatever fails between."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from monitor import hosted, wiring
from monitor.codec import encode_spans
from monitor.config import Settings
from monitor.errors import LedgerError, StateError
from monitor.model import AgentSpan, Message
from monitor.roles.engine import Batch
from monitor.verdict import Report
from monitor.wiring.engines import Parts


def span(trace: str, name: str = "invoke_agent") -> AgentSpan:
    """A whole exchange in one agent span."""
    return AgentSpan(
        trace_id=trace * 32,
        span_id=trace * 16,
        kind="agent",
        name=name,
        start_ns=1,
        end_ns=2_000_000_000,
        conversation_id=f"conversation-{trace}",
        messages_in=(Message("user", text="hello"),),
        messages_out=(Message("assistant", text="hi"),),
    )


def batch(*spans: AgentSpan) -> Batch:
    return Batch(spans, encode_spans(spans))


@pytest.fixture
def ledger(tmp_path) -> Path:
    return tmp_path / "ledger.sqlite3"


def opened(path: Path) -> Parts:
    return wiring.engine(Settings(), path, durable=True)


def total(parts: Parts, family: str) -> int:
    reader = parts.stores.database.reader()
    try:
        return sum(parts.stores.ledger.totals(reader).family(family).values())
    finally:
        reader.close()


def test_what_was_accepted_and_not_committed_is_observed_again_after_a_restart(ledger):
    parts = opened(ledger)
    parts.engine.accept([batch(span("a")), batch(span("b"))], 1.0)
    assert parts.engine.work(1.0, 10) is False
    parts.close()

    again = opened(ledger)
    again.engine.flush(2.0)
    reports = [report for _, report in again.engine.commit(2.0)]
    again.close()
    closed = sorted(report.conversation_id for report in reports if report.closed)
    assert closed == ["conversation-a", "conversation-b"]


def test_a_failed_commit_goes_back_and_counts_nothing_twice(ledger, monkeypatch):
    parts = opened(ledger)
    parts.engine.accept([batch(span("a"))], 1.0)
    parts.engine.flush(1.0)

    def full(_: object) -> None:
        raise LedgerError("the disk is full; nothing was committed")

    with monkeypatch.context() as broken:
        broken.setattr(parts.stores.outbox, "append", full)
        with pytest.raises(LedgerError):
            parts.engine.commit(1.0)
    assert total(parts, "conversations") == 0
    parts.engine.flush(2.0)
    parts.engine.commit(2.0)
    assert total(parts, "conversations") == 1
    assert total(parts, "turns") == 1
    parts.close()


def test_a_row_that_breaks_the_pipeline_is_set_aside_and_the_others_are_scored(ledger):
    parts = opened(ledger)
    parts.engine.accept([batch(span("a"))], 1.0)
    with parts.stores.database.transaction():
        parts.stores.spool.append(b"no record of ours", 1.0, 3)
    parts.engine.recover()
    parts.engine.accept([batch(span("c"))], 1.0)

    with pytest.raises(StateError):
        parts.engine.flush(1.0)
    assert parts.engine.give_up_row() is True
    parts.engine.flush(2.0)
    parts.engine.commit(2.0)

    reader = parts.stores.database.reader()
    totals = parts.stores.ledger.totals(reader)
    reader.close()
    assert totals.counted("dead_lettered") == 3
    assert sum(totals.family("conversations").values()) == 2
    parts.close()


class Refusing:
    """A sink that refuses until it is told otherwise."""

    name = "refusing"

    def __init__(self) -> None:
        self.open = False
        self.taken: list[tuple[str, int]] = []

    def write(self, reports: Iterable[Report]) -> None:
        if not self.open:
            raise OSError("no")
        self.taken += [(report.conversation_id, report.revision) for report in reports]


def test_a_report_waits_for_a_sink_that_refuses_and_totals_go_on(ledger, monkeypatch):
    sink = Refusing()
    monkeypatch.setattr(hosted, "JsonlSink", lambda _: sink)
    settings = Settings.model_validate({"sinks": {"jsonl": "unused"}})
    parts = wiring.engine(settings, ledger, durable=True)
    parts.engine.accept([batch(span("a"))], 1.0)
    parts.engine.flush(1.0)
    parts.engine.commit(1.0)
    parts.engine.deliver()
    assert (sink.taken, total(parts, "conversations"), parts.engine.sink_failures) == ([], 1, 1)
    sink.open = True
    parts.engine.deliver()
    assert [name for name, _ in sink.taken] == ["conversation-a"]
    parts.engine.deliver()
    assert len(sink.taken) == 1
    parts.close()
