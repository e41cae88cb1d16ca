"""How a task ended, told by the trace, stays beside the verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from building_reports import inherited, passed, report, root, unscored

from adapters.langfuse.decoder import LangfuseTraceDecoder
from adapters.langfuse.ingestion import LangfuseIngestion
from adapters.otlp.decoder import OtlpDecoder
from adapters.otlp.logs import OtlpLogDecoder
from adapters.vocabularies.outcomes import outcome_of
from monitor import cli
from monitor.codec import report_line
from monitor.ledger.database import Database
from monitor.ledger.totals import Ledger
from monitor.verdict import Report, TaskOutcome

JSON = "application/json"
TRACE, ROOT, CHECK = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", "b7ad6b7169203332"


def attribute(key: str, value: Any) -> dict[str, Any]:
    kinds = {str: "stringValue", bool: "boolValue", float: "doubleValue", int: "intValue"}
    return {"key": key, "value": {kinds[type(value)]: value}}


def span(span_id: str, *attributes: dict[str, Any], end: int = 2, **more: Any) -> dict[str, Any]:
    return {
        "traceId": TRACE,
        "spanId": span_id,
        "name": "invoke_agent",
        "startTimeUnixNano": "1000000000",
        "endTimeUnixNano": f"{end}000000000",
        "attributes": list(attributes),
        **more,
    }


def agent_run(*more: dict[str, Any]) -> dict[str, Any]:
    said = [{"role": "user", "parts": [{"type": "text", "content": "Cancel my order."}]}]
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": "It is cancelled."}]}]
    return span(
        ROOT,
        attribute("gen_ai.operation.name", "invoke_agent"),
        attribute("gen_ai.conversation.id", "c-1"),
        attribute("gen_ai.input.messages", json.dumps(said)),
        attribute("gen_ai.output.messages", json.dumps(answer)),
        *more,
    )


def export(*spans: dict[str, Any]) -> bytes:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}).encode()


def replayed(folder: Path, *spans: dict[str, Any], config: str = "") -> dict[str, Any]:
    (folder / "traces.jsonl").write_bytes(export(*spans) + b"\n")
    (folder / "config.toml").write_text(config)
    out = folder / "reports.jsonl"
    named = ["--out", str(out), "--config", str(folder / "config.toml")]
    assert cli.main(["replay", str(folder / "traces.jsonl"), *named]) == 0
    found: dict[str, Any] = json.loads(out.read_text())
    return found


@pytest.mark.parametrize(
    ("told", "outcome"),
    [
        (True, 1.0),
        (0, 0.0),
        (0.25, 0.25),
        (-1.5, -1.5),
        ("Success", 1.0),
        ("failed", 0.0),
        ("0.75", 0.75),
        ("nan", None),
        (float("inf"), None),
        ("rather well", None),
        ("1" * 400, None),
        (10**400, None),
        (None, None),
        ([1], None),
    ],
)
def test_an_outcome_is_yes_or_no_or_a_number(told: Any, outcome: float | None):
    assert outcome_of(told) == outcome


def test_an_attribute_of_any_span_tells_the_outcome(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    checker = span(CHECK, attribute("agent_monitor.outcome", "fail"), end=9, parentSpanId=ROOT)

    found = replayed(tmp_path, agent_run(attribute("agent_monitor.outcome", True)), checker)

    assert found["outcome"] == {"score": 0.0, "passed": False}
    assert "turns of tasks that failed: 0 pass, 0 fail, 1 unscored" in capsys.readouterr().out


def test_a_reward_under_the_operators_own_name_is_held_against_the_bar(tmp_path: Path):
    config = '[otlp]\noutcome_attribute = "env.reward"\n[composition]\noutcome_bar = 1.0\n'

    found = replayed(tmp_path, agent_run(attribute("env.reward", 0.8)), config=config)

    assert found["outcome"] == {"score": 0.8, "passed": False}


def test_a_trace_that_tells_none_has_none(tmp_path: Path):
    assert replayed(tmp_path, agent_run())["outcome"] is None


@pytest.mark.parametrize(("name", "outcome"), [("task_success", 1.0), ("helpfulness", None)])
def test_an_evaluation_event_of_a_known_name_tells_it(name: str, outcome: float | None):
    fields = [
        attribute("gen_ai.evaluation.name", name),
        attribute("gen_ai.evaluation.score.label", "pass"),
    ]
    event = {"name": "gen_ai.evaluation.result", "timeUnixNano": "3", "attributes": fields}
    record = {
        "traceId": TRACE,
        "spanId": ROOT,
        "timeUnixNano": "3",
        "eventName": "gen_ai.evaluation.result",
        "attributes": fields,
    }
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}

    inside = OtlpDecoder().decode(export({**agent_run(), "events": [event]}), JSON).spans
    beside = OtlpLogDecoder().decode(json.dumps(logs).encode(), JSON).spans

    assert [one.outcome for one in inside] == [outcome]
    assert [(one.outcome, one.detail) for one in beside] == ([(1.0, True)] if outcome else [])


def test_a_score_in_a_langfuse_trace_tells_it():
    observation = {"id": "a" * 16, "traceId": TRACE, "type": "AGENT", "name": "shop"}
    scores = [
        {"name": "reward", "value": 1, "timestamp": "2026-01-02T00:00:00Z"},
        {"name": "reward", "value": 0, "timestamp": "2026-01-01T00:00:00Z"},
        {"name": "tone", "value": 0.2, "timestamp": "2026-01-03T00:00:00Z"},
    ]
    document = {"id": TRACE, "sessionId": "c", "observations": [observation], "scores": scores}

    spans = LangfuseTraceDecoder().decode(json.dumps(document).encode()).spans

    assert [one.outcome for one in spans] == [1.0]


def test_a_score_sent_by_a_langfuse_sdk_tells_it_and_others_are_passed_over():
    def sent(name: str, value: Any) -> dict[str, Any]:
        body = {"id": name, "traceId": TRACE, "name": name, "value": value}
        return {"id": f"e-{name}", "type": "score-create", "body": body}

    batch = {"batch": [sent("outcome", "passed"), sent("tone", 0.3)]}

    decoded, _ = LangfuseIngestion().ingest(json.dumps(batch).encode())

    assert [(one.kind, one.outcome) for one in decoded.spans] == [("other", 1.0)]


def test_turns_are_counted_beside_how_their_task_ended_once():
    db = Database.open(":memory:")
    ledger = Ledger(db)
    turns = (passed("a"), root("b"), inherited("c"), unscored("d"))

    def fold(revision: int, outcome: TaskOutcome | None) -> None:
        made: Report = report("c-1", *turns, revision=revision, outcome=outcome)
        with db.transaction():
            ledger.fold([made])

    fold(1, None)
    fold(2, TaskOutcome(1.0, True))
    fold(3, TaskOutcome(0.0, False))

    rows = db.rows("SELECT family, labels, value FROM counters WHERE family LIKE 'task%'")
    told = {(family, *labels.split("\x1f")[1:]): value for family, labels, value in rows}
    assert told == {
        ("task_conversations", "fail", "pass"): 1,
        ("task_turns", "pass", "pass"): 1,
        ("task_turns", "root_fail", "pass"): 1,
        ("task_turns", "cascade_fail", "pass"): 1,
        ("task_turns", "unscored", "pass"): 1,
    }
    db.close()


def test_an_outcome_goes_through_reports_and_state():
    made = report("c-1", passed("a"), outcome=TaskOutcome(0.5, True))

    assert msgspec.json.decode(report_line(made), type=Report).outcome == made.outcome
