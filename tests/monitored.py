"""Bytes as exporters send them, through decoder, pipeline and evaluator, to what was decided."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from opentelemetry.proto.trace.v1.trace_pb2 import Span
from otlp_building import JSON, PROTOBUF, START, body, span

from adapters.otlp.decoder import OtlpDecoder
from adapters.otlp.logs import OtlpLogDecoder
from monitor.comparison.ladder import Ladder
from monitor.evaluator import Evaluator
from monitor.model import ActionTurn, Conversation, ResponseTurn
from monitor.pipeline import Pipeline, PipelineLimits
from monitor.ports import Decoded
from monitor.references.carried import CarriedReference
from monitor.references.contracts import ToolContracts
from monitor.verdict import Report

S = 1_000_000_000
ORDER = {"order_id": "SO-7"}
QUERY = "Where is my order SO-7?"
REPLY = "It was packed on Monday."
EXPECTED = json.dumps(
    {
        "expected_actions": [{"action": "find_order", "args": ORDER}],
        "expected_responses": [REPLY],
    }
)


class Outcome(NamedTuple):
    """What came out, the last report of each conversation, by the start of the conversation."""

    conversations: list[Conversation]
    reports: list[Report]
    counts: dict[str, int]

    @property
    def only(self) -> Conversation:
        """The one conversation there is."""
        (conversation,) = self.conversations
        return conversation

    @property
    def actions(self) -> list[ActionTurn]:
        return [turn for turn in self.only.turns if isinstance(turn, ActionTurn)]

    @property
    def replies(self) -> list[str | None]:
        return [turn.text for turn in self.only.turns if isinstance(turn, ResponseTurn)]

    @property
    def verdicts(self) -> list[str]:
        """Of the one report: the reason of a failure, why nothing was decided, or `pass`."""
        (report,) = self.reports
        return [turn.failure_reason or turn.why or turn.verdict for turn in report.turns]


def monitored(*payloads: bytes, logs: Iterable[bytes] = (), **limits: Any) -> Outcome:
    """Each payload observed on its own, then everything closed. Nothing may be refused."""
    found = [decoded(OtlpDecoder(), payload) for payload in payloads]
    found += [decoded(OtlpLogDecoder(), payload) for payload in logs]
    for one in found:
        assert one.rejections == []
    return observed(found, **limits)


def decoded(decoder: OtlpDecoder | OtlpLogDecoder, payload: bytes) -> Decoded:
    return decoder.decode(payload, JSON if payload.lstrip()[:1] == b"{" else PROTOBUF)


def observed(found: Sequence[Decoded], **limits: Any) -> Outcome:
    """From decoded payloads to reports."""
    conversations: dict[str, Conversation] = {}
    evaluator = Evaluator([CarriedReference()], ToolContracts(()), Ladder())

    def evaluate(conversation: Conversation, *, closed: bool, revision: int) -> Report:
        conversations[conversation.conversation_id] = conversation
        return evaluator.evaluate(conversation, closed=closed, revision=revision)

    pipeline = Pipeline(evaluate, {}, PipelineLimits(**limits))
    effects = pipeline.tick(0.0)
    for one in found:
        effects = effects.plus(pipeline.observe(one.spans, 0.0))
    effects = effects.plus(pipeline.flush(1.0))
    assert pipeline.open_spans == pipeline.open_turns == 0
    assert pipeline.failure is None
    reports = {report.conversation_id: report for report in effects.reports}
    ordered = sorted(
        (one for one in conversations.values() if reports[one.conversation_id].turns),
        key=lambda one: (_start(one), one.conversation_id),
    )
    return Outcome(ordered, [reports[one.conversation_id] for one in ordered], effects.counts)


def _start(conversation: Conversation) -> int:
    return min((turn.start_ns for turn in conversation.turns), default=0)


def text(content: str) -> dict[str, Any]:
    return {"type": "text", "content": content}


def message(role: str, *parts: Any) -> dict[str, Any]:
    """Strings become text parts."""
    return {"role": role, "parts": [text(p) if isinstance(p, str) else p for p in parts]}


def user(*parts: Any) -> dict[str, Any]:
    return message("user", *parts)


def said(*parts: Any) -> dict[str, Any]:
    return message("assistant", *parts)


def asks(name: str, arguments: Any, call_id: str | None = "call_1") -> dict[str, Any]:
    found = {"type": "tool_call", "name": name, "arguments": arguments}
    return found if call_id is None else {**found, "id": call_id}


def gives(response: Any, call_id: str | None = "call_1") -> dict[str, Any]:
    found = {"type": "tool_call_response", "response": response}
    return found if call_id is None else {**found, "id": call_id}


def made(
    number: int,
    operation: str | None,
    parent: int | None = 1,
    *,
    trace: int = 1,
    conversation: str | None = "c-1",
    more: dict[str, Any] | None = None,
    **fields: Any,
) -> Span:
    """A span that starts `number` seconds into its trace and lasts one; number 1 lasts 90."""
    attributes = {} if operation is None else {"gen_ai.operation.name": operation}
    if conversation is not None:
        attributes["gen_ai.conversation.id"] = conversation
    attributes.update(more or {})
    start = fields.pop("start", START + (trace * 100 + number) * S)
    return span(
        attributes,
        trace_id=f"{trace:032x}",
        span_id=f"{trace:08x}{number:08x}",
        parent_id="" if parent is None else f"{trace:08x}{parent:08x}",
        start=start,
        end=fields.pop("end", start + (90 if number == 1 else 1) * S),
        **fields,
    )


def agent(
    query: str | None = QUERY,
    reply: str | None = REPLY,
    expected: str | None = EXPECTED,
    number: int = 1,
    parent: int | None = None,
    **fields: Any,
) -> Span:
    more = fields.pop("more", {})
    if query is not None:
        more["gen_ai.input.messages"] = json.dumps([user(query)])
    if reply is not None:
        more["gen_ai.output.messages"] = json.dumps([said(reply)])
    if expected is not None:
        more["agent_monitor.expected"] = expected
    return made(number, "invoke_agent", parent, more=more, **fields)


def chat(number: int, given: Sequence[Any] | None, out: Any, **fields: Any) -> Span:
    more = {"gen_ai.request.model": "m-1", **fields.pop("more", {})}
    if given is not None:
        more["gen_ai.input.messages"] = json.dumps(given)
    if out is not None:
        more["gen_ai.output.messages"] = json.dumps([out])
    return made(number, "chat", fields.pop("parent", 1), more=more, **fields)


def tool(number: int, name: str, arguments: Any, result: Any = None, **fields: Any) -> Span:
    """Arguments and result go as they are when they are text, else as JSON; None is left out."""
    more = {"gen_ai.tool.name": name, **fields.pop("more", {})}
    call_id = fields.pop("call_id", "call_1")
    if call_id is not None:
        more["gen_ai.tool.call.id"] = call_id
    for key, value in (("arguments", arguments), ("result", result)):
        if value is not None:
            given = value if isinstance(value, str) else json.dumps(value)
            more[f"gen_ai.tool.call.{key}"] = given
    return made(number, "execute_tool", fields.pop("parent", 1), more=more, **fields)


def exchange(
    trace: int = 1, query: str = QUERY, reply: str = REPLY, arguments: Any = ORDER, **fields: Any
) -> list[Span]:
    """Agent, call that asks, tool, call that replies; `expected` rides on the agent."""
    expected = fields.pop("expected", EXPECTED)
    asked = said(asks("find_order", arguments))
    history = [user(query), asked, message("tool", gives({"state": "packed"}))]
    return [
        agent(query, reply, expected, trace=trace, **fields),
        chat(2, [user(query)], asked, trace=trace, **fields),
        tool(3, "find_order", arguments, {"state": "packed"}, trace=trace, **fields),
        chat(4, history, said(reply), trace=trace, **fields),
    ]


def sent(*spans: Span, **fields: Any) -> bytes:
    return body(*spans, **fields)
