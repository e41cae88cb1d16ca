"""Faults that comparable receivers, stores and exporters had; the right behaviour here."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import resource
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from building_reports import passed, report
from monitored import QUERY, REPLY, S, agent, chat, decoded, exchange, monitored, said, sent, user
from otlp_building import JSON, PROTOBUF, SPAN, START, TRACE, as_json, body, export, span
from otlp_receiving import CHAT, GOOD, check_status, gzip_bomb, receiving
from prometheus_client.parser import text_string_to_metric_families

from adapters.otlp.decoder import OtlpDecoder
from monitor import wiring
from monitor.codec import encode_spans
from monitor.comparison.ladder import Ladder
from monitor.config import Settings
from monitor.errors import MalformedPayload, Overloaded
from monitor.evaluator import Evaluator
from monitor.exposition.collector import Collector
from monitor.exposition.live import Live
from monitor.ledger.database import Database
from monitor.ledger.totals import Ledger, LedgerLimits
from monitor.pipeline import Pipeline, PipelineLimits
from monitor.references.contracts import ToolContracts
from monitor.roles.engine import Batch
from monitor.verdict import Report


def pipeline(**limits: float) -> Pipeline:
    evaluator = Evaluator([], ToolContracts(()), Ladder())
    return Pipeline(evaluator.evaluate, {}, PipelineLimits(**limits))  # type: ignore[arg-type]


@pytest.fixture
def database() -> Iterator[Database]:
    found = Database.open(":memory:")
    yield found
    found.close()


def page(database: Database, ledger: Ledger) -> str:
    reader = database.reader()
    try:
        return Collector(lambda: ledger.totals(reader), Live).render("")[0].decode()
    finally:
        reader.close()


def test_a_turn_that_comes_after_the_score_is_scored_and_no_stale_result_wins(
    database: Database,
) -> None:
    """A session of two turns is scored when idle; a third makes the second version."""
    monitor, closed = pipeline(), list[Report]()
    for n, now in ((1, 0.0), (2, 100.0), (3, 900.0)):
        one = decoded(OtlpDecoder(), sent(agent(f"Question {n}?", f"Answer {n}.", None, trace=n)))
        closed += monitor.observe(one.spans, now).reports
        closed += monitor.tick(now + 700.0 if n > 1 else now + 3.0).reports
    closed = [one for one in closed if one.closed]
    assert [len(one.turns) for one in closed] == [2, 3]
    assert closed[0].revision < closed[1].revision
    ledger = Ledger(database)
    with database.transaction():
        ledger.fold(closed[::-1])
    assert sum(ledger.totals(database.reader()).family("turns").values()) == 3


def test_an_agent_that_still_runs_gets_one_score_of_all_it_did() -> None:
    """The root is open for five minutes, and its children trickle in."""
    parts = [
        chat(2, [user(QUERY)], said(REPLY)),
        chat(10, [user(QUERY)], said(REPLY)),
        chat(90, [user(QUERY)], said(REPLY)),
        agent(expected=None, end=START + 400 * S),
    ]
    monitor, told = pipeline(quiet_s=300.0), []
    for one, now in zip(parts, (0.0, 10.0, 290.0, 300.0), strict=True):
        told += [
            (now, r) for r in monitor.observe(decoded(OtlpDecoder(), sent(one)).spans, now).reports
        ]
    told += [(302.0, found) for found in monitor.tick(302.0).reports]
    ((at, found),) = told
    assert at == 302.0
    spans = {name for turn in found.turns for name in turn.span_ids}
    assert len(spans) == 4
    # With a shorter wait the early report leaves the conversation open, so nothing is missed yet.
    early = pipeline()
    early.observe(decoded(OtlpDecoder(), sent(parts[0])).spans, 0.0)
    assert [(one.closed, one.root_cause) for one in early.tick(40.0).reports] == [(False, None)]


def test_an_end_before_the_start_is_no_time_at_all() -> None:
    for end in (START - S, 0):
        outcome = monitored(sent(agent(expected=None, start=START, end=end)))
        assert outcome.reports[0].latency_s in (None, 0.0)
        assert outcome.counts.get("skew", 0) == (1 if end else 0)


async def test_ids_are_hex_in_any_case_and_never_base64() -> None:
    document = as_json(export(span(CHAT)))
    item = document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    item["traceId"], item["spanId"] = TRACE.upper(), SPAN.upper()
    (read,) = decoded(OtlpDecoder(), json.dumps(document).encode()).spans
    assert [read] == decoded(OtlpDecoder(), body(span(CHAT))).spans
    assert (read.trace_id, read.span_id) == (TRACE, SPAN)
    item["traceId"] = "Z6z8LqVvEI+kU1/Ci6mXBQ=="
    with pytest.raises(MalformedPayload, match="traceId"):
        decoded(OtlpDecoder(), json.dumps(document).encode())
    async with receiving() as client:
        answer = await client.post(json.dumps(document).encode(), JSON)
        assert answer.status == 400
        check_status(answer, 3)


async def test_a_full_monitor_asks_senders_to_come_again_and_loses_nothing() -> None:
    async with receiving() as client:
        client.accept.error = Overloaded("the spool is full", retry_after_s=5)
        answer = await client.post(GOOD[PROTOBUF])
        assert (answer.status, answer.headers["Retry-After"]) == (503, "5")
        assert client.accept.taken == []
        client.accept.error = None
        assert (await client.post(GOOD[PROTOBUF])).status == 200
        assert len(client.accept.taken) == 1


async def test_one_sender_whose_acceptance_is_slow_holds_no_other_up() -> None:
    async with receiving() as client:
        client.accept.wait = asyncio.Event()
        slow = asyncio.create_task(client.post(GOOD[PROTOBUF]))
        await client.accept.entered.wait()
        held, client.accept.wait = client.accept.wait, None
        async with asyncio.timeout(10):
            answers = [await client.post(GOOD[PROTOBUF]) for _ in range(100)]
        assert {answer.status for answer in answers} == {200}
        assert not slow.done()
        held.set()
        assert (await slow).status == 200


async def test_a_small_body_that_inflates_without_end_costs_no_memory() -> None:
    async with receiving() as client:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        answer = await client.post(io.BytesIO(gzip_bomb()), Content_Encoding="gzip")
        assert answer.status == 413
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024
        assert client.receiver.counters["refused:body_bytes"] == 1
        twice = gzip.compress(gzip.compress(GOOD[PROTOBUF]))
        assert (await client.post(twice, Content_Encoding="gzip")).status == 400
        for coding in ("deflate", "zstd", "gzip, gzip"):
            assert (await client.post(twice, Content_Encoding=coding)).status == 415
        assert (await client.post(GOOD[PROTOBUF])).status == 200


async def test_json_of_any_depth_is_refused_and_the_worker_lives() -> None:
    async with receiving() as client:
        for opening in (b"[", b'{"resourceSpans":', b'{"a":'):
            answer = await client.post(io.BytesIO(opening * 100_000), JSON)
            assert answer.status in (400, 413)
        assert (await client.post(GOOD[JSON], JSON)).status == 200


def accepted(path: Path, count: int) -> None:
    """A monitor that acknowledged, scored nothing yet, and is gone without a word."""
    parts = wiring.engine(Settings(), path, durable=True)
    batches = []
    for n in range(count):
        spans = decoded(OtlpDecoder(), sent(*exchange(n + 1, conversation=f"c-{n}"))).spans
        batches.append(Batch(spans, encode_spans(spans)))
    parts.engine.accept(batches, 1.0)
    parts.stores.database.close()


def restarted(path: Path) -> tuple[set[str], int]:
    """The conversations that are scored after all, and the spans that were given up."""
    parts = wiring.engine(Settings(), path, durable=True)
    parts.engine.flush(2.0)
    made = parts.engine.commit(2.0)
    reader = parts.stores.database.reader()
    lost = parts.stores.ledger.totals(reader).family("counts")
    reader.close()
    parts.close()
    gone = sum(n for (name,), n in lost.items() if name in ("damaged", "dead_lettered"))
    return {found.conversation_id for _, found in made if found.closed}, gone


def test_what_was_acknowledged_is_scored_after_a_crash(tmp_path: Path) -> None:
    accepted(tmp_path / "ledger", 1_000)
    assert len(restarted(tmp_path / "ledger")[0]) == 1_000


def test_a_damaged_record_of_the_spool_costs_itself_and_no_start(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    accepted(path, 100)
    with sqlite3.connect(path) as raw:
        (seq, payload) = raw.execute("SELECT seq, payload FROM spool LIMIT 1 OFFSET 50").fetchone()
        flipped = bytes([payload[0] ^ 1]) + payload[1:]
        raw.execute("UPDATE spool SET payload = ? WHERE seq = ?", (flipped, seq))
    raw.close()
    scored, _ = restarted(path)
    assert scored == {f"c-{n}" for n in range(100) if n != 50}


def test_a_quote_and_a_newline_in_a_models_name_leave_the_page_whole(database: Database) -> None:
    model = 'x"} 1\nfake_metric 9'
    ledger = Ledger(database)
    payload = sent(chat(2, [user(QUERY)], said(REPLY), more={"gen_ai.request.model": model}))
    with database.transaction():
        ledger.fold(monitored(payload).reports)
    names = {family.name for family in text_string_to_metric_families(page(database, ledger))}
    assert "agent_monitor_turns" in names
    assert "fake_metric" not in names


def test_a_hundred_thousand_names_make_no_more_series_and_the_sum_is_right(
    database: Database,
) -> None:
    ledger = Ledger(database, LedgerLimits(releases=10))
    for start in range(0, 100_000, 10_000):
        with database.transaction():
            ledger.fold(
                [
                    report(f"c{n}", passed(f"{n}"), release=f"shop@model-{n}")
                    for n in range(start, start + 10_000)
                ]
            )
    families = text_string_to_metric_families(page(database, ledger))
    samples = {family.name: family.samples for family in families}["agent_monitor_turns"]
    assert len({sample.labels["release"] for sample in samples}) <= 11
    assert sum(sample.value for sample in samples) == 100_000
    assert sum(s.value for s in samples if s.labels["release"] == "other") == 99_990
