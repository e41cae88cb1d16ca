"""Harnesses, sub-agents, users and branches: one result by replay and service, in any order."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from assembly_builders import fake_evaluate
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from otlp_building import PROTOBUF, START, as_json, body, export, span

from adapters.otlp.decoder import OtlpDecoder
from monitor import wiring
from monitor.cli import main
from monitor.codec import encode_spans, report_line
from monitor.config import Settings
from monitor.pipeline import Pipeline
from monitor.roles.engine import Batch
from monitor.verdict import Report

S = 1_000_000_000
OPENING = "Which of your shops in Bergen are open today?"
USER = {"u": {"user.id": "ann@shop.example"}, "v": {"user.id": "bob@shop.example"}}


def made(trace: int, number: int, parent: int | None, operation: str, **more: Any) -> Span:
    at = START + (60 * trace + number) * S
    attributes = {"gen_ai.operation.name": operation, **more.pop("more", {})}
    for key, messages in more.items():
        attributes[f"gen_ai.{key}.messages"] = json.dumps(
            [
                {"role": role, "parts": [{"type": "text", "content": text}]}
                for role, text in messages
            ]
        )
    return span(
        attributes,
        trace_id=f"{trace:032x}",
        span_id=f"{trace:08x}{number:08x}",
        parent_id="" if parent is None else f"{trace:08x}{parent:08x}",
        start=at,
        end=at + S // 2,
    )


def named(name: str) -> dict[str, str]:
    return {"gen_ai.conversation.id": name}


def harness(trace: int) -> list[Span]:
    spans = [made(trace, 1, None, "invoke_agent", more=named("run"))]
    for at in (2, 4):
        words = {
            "input": [("user", f"Where is order {at}?")],
            "output": [("assistant", f"Here {at}.")],
        }
        spans.append(made(trace, at, 1, "invoke_agent", more=named(f"case-{at}")))
        spans.append(made(trace, at + 1, at, "chat", **words))
    return spans


def sub_agents(trace: int) -> list[Span]:
    asked = {"input": [("user", "Plan my trip.")], "output": [("assistant", "All planned.")]}
    spans = [made(trace, 1, None, "invoke_agent", more=named("app"))]
    for at in (2, 4):
        spans.append(made(trace, at, 1, "execute_tool", more={"gen_ai.tool.name": "expert"}))
        spans.append(made(trace, at + 1, at, "invoke_agent", more=named(f"per-call-{at}")))
    return [*spans, made(trace, 6, 1, "chat", **asked)]


def bare(trace: int, who: str, *said: str) -> Span:
    roles = ("user", "assistant") * len(said)
    *given, out = zip(roles, said, strict=False)
    return made(trace, 1, None, "chat", more=USER[who], input=given, output=[out])


def traffic() -> list[Span]:
    spans = [*harness(1), *sub_agents(2)]
    for at, who in ((10, "u"), (20, "v")):
        again = (OPENING, "All of them.", "Until when?")
        spans += [
            bare(at, who, OPENING, "All of them."),
            bare(at + 1, who, *again, "Until six."),
            bare(at + 2, who, *again, "Until 6."),
            bare(at + 3, who, *again, "Until 6.", "Thanks!", "Welcome."),
        ]
    return spans


SPANS = traffic()
CONVERSATIONS = {
    "app": 3,
    "case-2": 1,
    "case-4": 1,
    **{f"{trace:032x}": 3 for trace in (10, 20)},
    **{f"{trace:032x}": 1 for trace in (11, 21)},
}


def replayed(folder: Path, spans: list[Span]) -> dict[str, bytes]:
    """What the command writes for lines of one span each."""
    lines = [json.dumps(as_json(export(one))) for one in spans]
    (folder / "traces.jsonl").write_text("\n".join(lines))
    out = folder / "reports.jsonl"
    assert main(["replay", str(folder / "traces.jsonl"), "--out", str(out)]) == 0
    found = [json.loads(line) for line in out.read_bytes().splitlines()]
    return {line["conversation_id"]: _unrevised(line) for line in found if line["turns"]}


def piped(spans: list[Span], restarts: set[int]) -> dict[str, bytes]:
    """What the pipeline alone reports for one span at a time, built anew before some of them."""
    store: dict[str, bytes] = {}
    found: dict[str, bytes] = {}
    pipeline = Pipeline(fake_evaluate, store)
    for at, one in enumerate(spans):
        if at in restarts:
            pipeline.checkpoint()
            pipeline = Pipeline(fake_evaluate, store)
        decoded = OtlpDecoder().decode(body(one), PROTOBUF).spans
        found |= _final(pipeline.observe(decoded, 2.0 * at).reports)
    found |= _final(pipeline.flush(999.0).reports)
    return {name: line for name, line in found.items() if json.loads(line)["turns"]}


def served(folder: Path, spans: list[Span], *, restarts: bool) -> dict[str, bytes]:
    """What the service's own engine reports for batches of three spans."""
    found: dict[str, bytes] = {}
    path = folder / "ledger.sqlite3"
    parts = wiring.engine(Settings(), path, durable=True)
    for at in range(0, len(spans), 3):
        if restarts and at % 2:
            parts.close()
            parts = wiring.engine(Settings(), path, durable=True)
        decoded = OtlpDecoder().decode(body(*spans[at : at + 3]), PROTOBUF).spans
        parts.engine.accept([Batch(decoded, encode_spans(decoded))], float(at))
        parts.engine.work(float(at), 9)
        found |= _final(report for _, report in parts.engine.commit(float(at)))
    parts.engine.work(999.0, 9)
    parts.engine.flush(999.0)
    found |= _final(report for _, report in parts.engine.commit(999.0))
    parts.close()
    return {name: line for name, line in found.items() if json.loads(line)["turns"]}


def _final(reports: Iterable[Report]) -> dict[str, bytes]:
    return {one.conversation_id: _unrevised(json.loads(report_line(one))) for one in reports}


def _unrevised(line: dict[str, Any]) -> bytes:
    return msgspec.json.encode({**line, "revision": 0}, order="deterministic")


def test_each_case_and_each_user_has_a_conversation_and_no_call_has(tmp_path: Path):
    found = replayed(tmp_path, SPANS)
    assert {name: len(json.loads(line)["turns"]) for name, line in found.items()} == CONVERSATIONS


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_order_batching_and_restarts_give_the_same_conversations(data):
    spans = data.draw(st.permutations(SPANS))
    spans += data.draw(st.lists(st.sampled_from(SPANS), max_size=9))
    assert piped(spans, data.draw(st.sets(st.integers(0, 27)))) == piped(SPANS, set())


@pytest.mark.parametrize("path", ["replay", "service"])
@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_order_and_duplication_give_byte_equal_final_reports(path, data, tmp_path_factory):
    spans = data.draw(st.permutations(SPANS))
    spans += data.draw(st.lists(st.sampled_from(SPANS), max_size=9))
    folder = tmp_path_factory.mktemp("run")
    if path == "replay":
        found = replayed(folder, spans)
    else:
        found = served(folder, spans, restarts=data.draw(st.booleans()))
    assert found == replayed(tmp_path_factory.mktemp("straight"), SPANS)
