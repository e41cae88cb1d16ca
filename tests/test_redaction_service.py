"""The running service: what it was sent is found in nothing that it writes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from running import Running

from monitor.cli import main

MAIL, CARD, SECRET = "canary.bird@example.com", "4012888888881881", "canary-secret-4711"
PLACES = (MAIL, "CANARY.BIRD", CARD, SECRET)


def attribute(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value}}


def conversation(mail: str = MAIL) -> dict[str, Any]:
    """A user turn: the agent answers after one call, in which it passes the address on."""
    question = f"I am {MAIL}, card {CARD}, password: {SECRET}; set my address."
    arguments = {"mail": mail, MAIL: [CARD, {"password": SECRET}]}
    told = [
        attribute("gen_ai.conversation.id", MAIL),
        attribute(
            "gen_ai.input.messages",
            json.dumps([{"role": "user", "parts": [{"type": "text", "content": question}]}]),
        ),
        attribute(
            "gen_ai.output.messages",
            json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Done."}]}]),
        ),
        attribute("gen_ai.system_instructions", f"You serve {MAIL}."),
    ]
    called = [
        attribute("gen_ai.conversation.id", MAIL),
        attribute("gen_ai.tool.name", "set_mail"),
        attribute("gen_ai.tool.call.arguments", json.dumps(arguments)),
        attribute("gen_ai.tool.call.result", json.dumps({"saved": MAIL, "card": CARD})),
        attribute("error.type", f"warned about {MAIL}"),
    ]
    return exported(
        wire_span("1", "invoke_agent", f"invoke_agent {MAIL}", told[:1], ""),
        wire_span("2", "chat", "chat", told, "b7ad6b7169203331"),
        wire_span("3", "execute_tool", f"execute_tool {MAIL}", called, "b7ad6b7169203331"),
    )


def wire_span(
    number: str, operation: str, name: str, attributes: list[dict[str, Any]], parent: str
) -> dict[str, Any]:
    return {
        "traceId": "0af7651916cd43dd8448eb211c80319c",
        "spanId": f"b7ad6b716920333{number}",
        "parentSpanId": parent,
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(10**18 + int(number)),
        "endTimeUnixNano": str(10**18 + 10 + int(number)),
        "attributes": [attribute("gen_ai.operation.name", operation), *attributes],
        "status": {"code": 2, "message": f"status {MAIL}"},
        "events": [{"name": MAIL, "attributes": [attribute("note", MAIL)]}],
    }


def exported(*spans: dict[str, Any]) -> dict[str, Any]:
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": [attribute("service.version", MAIL)]},
                "scopeSpans": [{"scope": {"name": MAIL}, "spans": list(spans)}],
            }
        ]
    }


def reference(folder: Path) -> Path:
    """What is expected, in the author's own words, under the id that the trace has."""
    path = folder / "references.jsonl"
    entry = {
        "conversation_id": MAIL,
        "expected_actions": [
            {"action": "set_mail", "args": {"mail": MAIL, MAIL: [CARD, {"password": SECRET}]}}
        ],
    }
    path.write_text(json.dumps(entry) + "\n")
    return path


def verdict_of_call(report: dict[str, Any]) -> str:
    (verdict,) = [t["verdict"] for t in report["turns"] if t["turn_type"] == "action"]
    return str(verdict)


def test_no_canary_reaches_the_disk_the_pages_or_the_log(tmp_path):
    (tmp_path / "in").mkdir()
    references = reference(tmp_path / "in")
    with Running(
        tmp_path, "--references", str(references), "--reports", "reports.jsonl", "--flush-on-exit"
    ) as running:
        assert running.post(json.dumps(conversation()).encode()) == 200
        stored = [path.read_bytes() for path in tmp_path.glob("ledger.sqlite3*")]
        pages = [running.page(path)[1] for path in ("/metrics", "/", "/healthz")]
        assert running.stop() == 0
        said = "".join(running.said)
    written = [path.read_bytes() for path in tmp_path.glob("*") if path.is_file()]
    state = Path(os.environ["XDG_STATE_HOME"])
    key = (state / "agent-turn-monitor" / "redaction.key").read_text()

    for text in [*stored, *written, *(page.encode() for page in pages), said.encode()]:
        assert [place for place in PLACES if place.encode() in text] == []
    assert key not in said + "".join(pages)
    report = json.loads((tmp_path / "reports.jsonl").read_text())
    assert report["conversation_id"].startswith("<EMAIL:")
    assert report["reference_match"] == "conversation_id"
    assert verdict_of_call(report) == "pass"


@pytest.mark.parametrize(("mail", "verdict"), [(MAIL, "pass"), ("other@example.com", "fail")])
def test_a_replay_holds_redacted_traces_against_redacted_references(tmp_path, mail, verdict):
    traces, out = tmp_path / "traces.jsonl", tmp_path / "reports.jsonl"
    traces.write_text(json.dumps(conversation(mail)) + "\n")
    options = ["--references", str(reference(tmp_path)), "--out", str(out)]

    assert main(["replay", str(traces), *options]) == 0
    first = out.read_bytes()
    assert main(["replay", str(traces), *options]) == 0

    assert out.read_bytes() == first
    assert MAIL.encode() not in first
    assert verdict_of_call(json.loads(first)) == verdict


def test_redaction_can_be_switched_off(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENT_MONITOR_REDACTION__ENABLED", "false")
    traces, out = tmp_path / "traces.jsonl", tmp_path / "reports.jsonl"
    traces.write_text(json.dumps(conversation()) + "\n")

    assert main(["replay", str(traces), "--out", str(out)]) == 0
    assert json.loads(out.read_bytes())["conversation_id"] == MAIL
