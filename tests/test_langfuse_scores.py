"""Verdicts written to a Langfuse server on loopback, and annotations read from it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langfuse_server import PUBLIC_KEY, SECRET_KEY, LangfuseServer, langfuse_server

from adapters.langfuse.client import LangfuseClient
from adapters.langfuse.labels import HumanLabel, human_labels
from adapters.langfuse.score_sink import LangfuseScoreSink
from adapters.langfuse.scores import COMMENT_CHARACTERS, Score, ScoreWriter
from monitor.errors import BackendUnavailable, ConfigurationError
from monitor.verdict import Composition, Finding, Report, Verdict

TRACE = "ab" * 16
STARTED_S = datetime(2026, 5, 1, 23, 59, 59, 250_000, tzinfo=UTC).timestamp()


def turn(number: int, verdict: str = "pass", **more: Any) -> Verdict:
    given = {
        "turn_no": number,
        "turn_id": f"turn{number}",
        "turn_type": "action",
        "verdict": verdict,
        "basis": None if verdict == "unscored" else "contract",
        "why": "no_reference" if verdict == "unscored" else None,
        "scores": {} if verdict == "unscored" else {"structural": 1.0},
        "span_ids": (f"{number:016x}",),
        "trace_id": TRACE,
        **more,
    }
    return Verdict(**given)


def report(*turns: Verdict, **more: Any) -> Report:
    given = {
        "conversation_id": "talk-1",
        "revision": 1,
        "closed": True,
        "release": "2.0@model-x",
        "success_rate": 0.5,
        "test_pass": False,
        "first_failure_turn": 2,
        "root_cause": "inconsistent_parameter_values",
        "root_cause_count": 1,
        "cascading_count": 0,
        "unscored_count": 1,
        "chain_length": "2",
        "sub_metrics": {},
        "composition": Composition("unweighted_mean", 0.5, False),
        "turns": turns,
        "evaluator": "rules-3",
        "started_s": STARTED_S,
        **more,
    }
    return Report(**given)


FAILED = turn(
    2,
    "fail",
    failure_reason="inconsistent_parameter_values",
    field="order_id",
    scores={"structural": 1.0, "truthfulness": 0.25},
    findings=(
        Finding(
            "inconsistent_parameter_values",
            "contract",
            field="order_id",
            expected="ann@example.com",
            actual="4111 1111 1111 1111",
        ),
    ),
)
REPORT = report(turn(1), FAILED, turn(3, "unscored"))


def written(found: Report, **options: Any) -> list[dict[str, Any]]:
    return [msgspec.to_builtins(score) for score in ScoreWriter(**options).scores(found)]


def test_each_scored_turn_is_written_at_its_observation_and_the_whole_at_the_session() -> None:
    told = [
        (
            score["name"].removeprefix("agent_monitor."),
            score["dataType"],
            score["value"],
            score.get("traceId"),
            score.get("observationId"),
            score.get("sessionId"),
        )
        for score in written(REPORT)
    ]
    reason = "inconsistent_parameter_values"
    assert told == [
        ("turn_correct", "BOOLEAN", 1, TRACE, f"{1:016x}", None),
        ("structural", "NUMERIC", 1.0, TRACE, f"{1:016x}", None),
        ("turn_correct", "BOOLEAN", 0, TRACE, f"{2:016x}", None),
        ("failure_reason", "CATEGORICAL", reason, TRACE, f"{2:016x}", None),
        ("structural", "NUMERIC", 1.0, TRACE, f"{2:016x}", None),
        ("truthfulness", "NUMERIC", 0.25, TRACE, f"{2:016x}", None),
        ("success_rate", "NUMERIC", 0.5, None, None, "talk-1"),
        ("test_pass", "BOOLEAN", 0, None, None, "talk-1"),
        ("root_cause", "CATEGORICAL", reason, None, None, "talk-1"),
    ]


def test_an_unscored_conversation_writes_nothing() -> None:
    nothing = report(turn(1, "unscored"), success_rate=None, test_pass=None, root_cause=None)
    assert written(nothing) == []


def test_an_open_conversation_writes_nothing() -> None:
    assert written(report(turn(1), closed=False)) == []


def test_two_writings_are_equal_on_any_day() -> None:
    first, again = written(REPORT), written(REPORT)
    assert first == again
    assert {score["timestamp"] for score in first} == {"2026-05-01T23:59:59.250Z"}
    assert len({score["id"] for score in first}) == len(first)


def test_another_evaluator_writes_scores_of_its_own() -> None:
    other = written(msgspec.structs.replace(REPORT, evaluator="rules-4"))
    assert {score["id"] for score in other}.isdisjoint(score["id"] for score in written(REPORT))


def test_a_later_revision_takes_a_reason_back() -> None:
    mended = report(turn(1), turn(2), revision=2, root_cause=None, success_rate=1.0)
    before = {score["id"]: score["value"] for score in written(REPORT)}
    after = {score["id"]: score["value"] for score in written(mended)}
    taken_back = {before[name] for name in after if name in before and after[name] == "none"}
    assert taken_back == {"inconsistent_parameter_values"}


def test_nothing_of_a_customers_words_is_written() -> None:
    secret = "Ann's order 12, ann@example.com"
    told = json.dumps(
        written(report(msgspec.structs.replace(FAILED, field=secret, agent=secret), turn(1)))
    )
    assert "ann" not in told.lower().replace("annotation", "")
    assert "4111" not in told


@given(st.text(max_size=400), st.text(max_size=400), st.text(max_size=400))
def test_a_comment_is_short_and_plain(field: str, evaluator: str, release: str) -> None:
    found = report(
        msgspec.structs.replace(FAILED, field=field), evaluator=evaluator, release=release
    )
    for score in ScoreWriter().scores(found):
        assert score.comment is not None
        assert len(score.comment) <= COMMENT_CHARACTERS
        assert score.comment.isascii()
        assert score.comment.isprintable()
        assert not set(score.comment) & set("<>&\"'`{}[]()=;")


def test_an_omitted_turn_is_written_at_the_session() -> None:
    omitted = turn(
        4,
        "fail",
        trace_id=None,
        span_ids=(),
        detail="omitted",
        failure_reason="action_mismatch",
        scores={},
    )
    assert {score["sessionId"] for score in written(report(omitted))} == {"talk-1"}


def test_a_conversation_without_a_name_is_written_at_its_trace() -> None:
    whole = written(report(turn(1), synthetic_id=True))[-3:]
    assert {score["traceId"] for score in whole} == {TRACE}
    assert all("sessionId" not in score and "observationId" not in score for score in whole)


def test_ids_of_former_sdks_are_written_as_uuids() -> None:
    first = written(REPORT, uuid_ids=True)[0]
    assert first["traceId"] == "abababab-abab-abab-abab-abababababab"
    assert "observationId" not in first


@pytest.mark.parametrize("name", ["langfuse", "langfuse-eval", "Production", "a" * 41, ""])
def test_an_environment_that_langfuse_refuses_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError):
        ScoreWriter(name)


class Bench:
    """A server and sinks whose clock stands still until it is moved."""

    def __init__(self, server: LangfuseServer) -> None:
        self.server = server
        self.now = STARTED_S + 3_600

    def clock(self) -> float:
        return self.now

    def client(self) -> LangfuseClient:
        return LangfuseClient(
            self.server.url, PUBLIC_KEY, SECRET_KEY, clock=self.clock, attempts=1, timeout_s=5
        )

    def sink(self, **options: Any) -> LangfuseScoreSink:
        return LangfuseScoreSink(self.client(), ScoreWriter(), clock=self.clock, **options)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with langfuse_server() as server:
        yield Bench(server)


async def test_the_server_holds_each_score_once(bench: Bench) -> None:
    for sink in (bench.sink(), bench.sink()):
        await asyncio.to_thread(sink.write, [REPORT])
        await asyncio.to_thread(sink.write, [REPORT])
        assert sink.counters["scores"] == 9
        assert sink.counters["repeated"] == 9
    assert len(bench.server.scores) == 9
    assert {score["environment"] for score in bench.server.scores.values()} == {"default"}


async def test_a_score_stored_without_an_answer_is_not_stored_twice(bench: Bench) -> None:
    bench.server.loses_answers = 1
    sink = bench.sink(parallel=1)
    with pytest.raises(BackendUnavailable):
        await asyncio.to_thread(sink.write, [REPORT])
    bench.now += 2
    await asyncio.to_thread(sink.write, [REPORT])
    assert len(bench.server.scores) == 9


async def test_after_throttling_nothing_is_tried_until_it_is_time(bench: Bench) -> None:
    bench.server.troubles = [(429, {"Retry-After": "30"})]
    sink = bench.sink(parallel=1)
    with pytest.raises(BackendUnavailable):
        await asyncio.to_thread(sink.write, [REPORT])
    bench.now += 29
    with pytest.raises(BackendUnavailable):
        await asyncio.to_thread(sink.write, [REPORT])
    assert len(bench.server.requests) == 1
    bench.now += 2
    await asyncio.to_thread(sink.write, [REPORT])
    assert len(bench.server.scores) == 9
    assert sink.counters["paused"] == 1


async def test_a_score_that_the_server_refuses_holds_up_no_other(bench: Bench) -> None:
    bench.server.troubles = [(400, {})]
    sink = bench.sink(parallel=1)
    await asyncio.to_thread(sink.write, [REPORT])
    assert sink.counters["refused"] == 1
    assert len(bench.server.scores) == 8


async def test_wrong_keys_keep_the_reports_with_the_host(bench: Bench) -> None:
    bench.server.troubles = [(401, {})] * 9
    with pytest.raises(BackendUnavailable, match="keys"):
        await asyncio.to_thread(bench.sink().write, [REPORT])


async def test_a_verdict_that_changes_and_changes_back_is_written_each_time(bench: Bench) -> None:
    sink = bench.sink()
    passed = report(turn(2), revision=2)
    for found, value in ((report(FAILED), 0), (passed, 1), (report(FAILED), 0)):
        await asyncio.to_thread(sink.write, [found])
        values = {
            score["value"]
            for score in bench.server.scores.values()
            if score["name"] == "agent_monitor.turn_correct"
        }
        assert values == {value}


def annotation(number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"a{number}",
        "name": "correct",
        "dataType": "BOOLEAN",
        "value": 1,
        "source": "ANNOTATION",
        "traceId": TRACE,
        "timestamp": f"2026-05-01T12:00:{number % 60:02d}.000Z",
        "environment": "default",
        **more,
    }


async def labels_of(bench: Bench, **options: Any) -> list[HumanLabel]:
    client = bench.client()
    try:
        return [label async for label in human_labels(client, **options)]
    finally:
        await client.close()


@pytest.mark.parametrize("former", [False, True])
async def test_annotations_are_read_from_servers_new_and_old(bench: Bench, former: bool) -> None:
    bench.server.former = former
    rows = [
        annotation(1, comment="wrong city", authorUserId="u1", queueId="q1", value=0),
        annotation(2, observationId="cd" * 8, dataType="NUMERIC", value=0.75, configId="c1"),
        annotation(3, traceId=None, sessionId="talk-1", dataType="CATEGORICAL", value="good"),
        annotation(4, source="API"),
    ]
    bench.server.scores = {row["id"]: row for row in rows}
    moment = 1_777_636_800 * 10**9
    assert await labels_of(bench) == [
        HumanLabel(
            label_id="a1",
            name="correct",
            subject="trace",
            value=False,
            data_type="BOOLEAN",
            trace_id=TRACE,
            comment="wrong city",
            author="u1",
            queue_id="q1",
            environment="default",
            time_ns=moment + 10**9,
        ),
        HumanLabel(
            label_id="a2",
            name="correct",
            subject="observation",
            value=0.75,
            data_type="NUMERIC",
            trace_id=TRACE,
            span_id="cd" * 8,
            config_id="c1",
            environment="default",
            time_ns=moment + 2 * 10**9,
        ),
        HumanLabel(
            label_id="a3",
            name="correct",
            subject="session",
            value="good",
            data_type="CATEGORICAL",
            conversation_id="talk-1",
            environment="default",
            time_ns=moment + 3 * 10**9,
        ),
    ]


@pytest.mark.parametrize("former", [False, True])
async def test_annotations_are_read_to_the_last_page(bench: Bench, former: bool) -> None:
    bench.server.former = former
    bench.server.scores = {f"a{number}": annotation(number) for number in range(250)}
    found = await labels_of(bench)
    assert len({label.label_id for label in found}) == 250
    assert len(bench.server.requests) == 3 + former


async def test_annotations_can_be_asked_for_by_time_and_name(bench: Bench) -> None:
    bench.server.scores = {f"a{number}": annotation(number) for number in range(20)}
    since = datetime(2026, 5, 1, 12, 0, 15, tzinfo=UTC)
    assert len(await labels_of(bench, since=since, name="correct")) == 5
    assert await labels_of(bench, name="other") == []


async def test_a_score_that_cannot_be_read_costs_itself(bench: Bench) -> None:
    bench.server.scores = {
        "a1": annotation(1, name=""),
        "a2": annotation(2, value="perhaps"),
        "a3": annotation(3, value=True),
    }
    counters: dict[str, int] = {}
    found = await labels_of(bench, counters=counters)
    assert [label.value for label in found] == [None, True]
    assert counters == {"labels": 2, "rejected": 1}


def test_a_score_holds_no_field_that_it_does_not_tell() -> None:
    bare = Score(id="1", name="n", value=1, data_type="BOOLEAN", environment="default")
    assert msgspec.to_builtins(bare) == {
        "id": "1",
        "name": "n",
        "value": 1,
        "dataType": "BOOLEAN",
        "environment": "default",
    }
