"""Builders of spans for tests: an agent's run as instrumentation would record it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from monitor.assembly.conversation import conversation_of
from monitor.assembly.segments import segments_of
from monitor.assembly.spans import SpanSet
from monitor.assembly.turns import TraceTurns, trace_turns
from monitor.model import (
    ActionTurn,
    AgentSpan,
    Conversation,
    Message,
    ToolCall,
    ToolResult,
)
from monitor.verdict import Composition, Report, Verdict, turn_type_of

S = 1_000_000_000
T0 = 1_764_000_000 * S


def user(text: str | None, **more: Any) -> Message:
    return Message("user", text, **more)


def said(text: str) -> Message:
    return Message("assistant", text)


def asked(*calls: ToolCall, text: str | None = None) -> Message:
    return Message("assistant", text, calls=calls)


def told(
    result: Any, call_id: str | None = None, *, role: str = "tool", error: bool = False
) -> Message:
    return Message(role, results=(ToolResult(result, call_id, is_error=error),))


def call(name: str, call_id: str | None = None, **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments, call_id)


class Trace:
    """Spans of one trace, each one second after the one before unless told otherwise."""

    def __init__(
        self, trace_id: str, conversation: str | None = "c1", start_s: float = 0.0
    ) -> None:
        self.trace_id = trace_id
        self.conversation = conversation
        self.at = T0 + int(start_s * S)
        self.spans: list[AgentSpan] = []

    def add(self, span_id: str, kind: str, parent: str | None = None, **more: Any) -> Trace:
        self.at += S
        given = {
            "conversation_id": self.conversation,
            "start_ns": self.at,
            "end_ns": self.at + S // 2,
            "parent_id": parent,
            **more,
        }
        self.spans.append(
            AgentSpan(self.trace_id, f"{self.trace_id}-{span_id}" if span_id else "", kind, **given)  # type: ignore[arg-type]
        )
        if parent is not None:
            self.spans[-1] = msgspec.structs.replace(
                self.spans[-1], parent_id=f"{self.trace_id}-{parent}"
            )
        return self

    def agent(self, span_id: str = "agent", parent: str | None = None, **more: Any) -> Trace:
        return self.add(span_id, "agent", parent, **more)

    def model(
        self,
        span_id: str,
        given: Sequence[Message] | None,
        out: Sequence[Message] | None,
        parent: str | None = "agent",
        **more: Any,
    ) -> Trace:
        return self.add(
            span_id,
            "model",
            parent,
            messages_in=None if given is None else tuple(given),
            messages_out=None if out is None else tuple(out),
            **more,
        )

    def tool(
        self,
        span_id: str,
        made: ToolCall,
        result: Any = None,
        parent: str | None = "agent",
        **more: Any,
    ) -> Trace:
        given = {"call": made, "result": result, "has_result": True, **more}
        return self.add(span_id, "tool", parent, **given)


def exchange(
    trace_id: str,
    conversation: str | None = "c1",
    start_s: float = 0.0,
    query: str = "Where is order 7?",
    reply: str = "It is packed.",
) -> list[AgentSpan]:
    """One whole run: a call, its tool, the reply, the agent around them (last, as exporters do)."""
    made = call("get_order", "call_1", order_id=7)
    trace = Trace(trace_id, conversation, start_s)
    trace.model("m1", [user(query)], [asked(made)], model="gpt-1")
    trace.tool("t1", made, {"status": "packed"})
    trace.model("m2", [told({"status": "packed"}, "call_1")], [said(reply)], model="gpt-1")
    trace.agent(
        start_ns=T0 + int(start_s * S),
        messages_in=(user(query),),
        messages_out=(said(reply),),
    )
    return trace.spans


def conversations(spans: Sequence[AgentSpan]) -> dict[str, Conversation]:
    """What assembly alone makes of the spans."""
    traces: dict[str, SpanSet] = {}
    for span in spans:
        traces.setdefault(span.trace_id, SpanSet()).add(span)
    found: dict[str, dict[str, TraceTurns]] = {}
    synthetic = {}
    for trace_id, collected in traces.items():
        for segment in segments_of(trace_id, collected.merged()):
            name = segment.conversation_id
            found.setdefault(name, {})[trace_id] = trace_turns(segment)
            synthetic[name] = segment.synthetic
    return {
        name: conversation_of(name, turns, synthetic=synthetic[name])
        for name, turns in found.items()
    }


def only(spans: Sequence[AgentSpan]) -> Conversation:
    """The one conversation of the spans."""
    (conversation,) = conversations(spans).values()
    return conversation


def story(conversation: Conversation) -> list[str]:
    """The turns as one line each: `0 get_order {"order_id": 7} -> {...}` or `0 "text"`."""
    lines = []
    for turn in conversation.turns:
        if isinstance(turn, ActionTurn):
            line = (
                f"{turn.exchange} {'>' * turn.depth}{turn.call.name} {_json(turn.call.arguments)}"
            )
            lines.append(line + (f" -> {_json(turn.result)}" if turn.has_result else ""))
        else:
            lines.append(f"{turn.exchange} {_json(turn.text)}")
    return lines


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def fake_evaluate(conversation: Conversation, *, closed: bool, revision: int) -> Report:
    """Passes every turn, and shows the whole conversation in the report."""
    turns = tuple(
        Verdict(
            number,
            turn.turn_id,
            turn_type_of(turn),
            "pass",
            span_ids=turn.span_ids,
            exchange=turn.exchange,
            latency_s=(turn.end_ns - turn.start_ns) / S,
        )
        for number, turn in enumerate(conversation.turns, 1)
    )
    return Report(
        conversation_id=conversation.conversation_id,
        revision=revision,
        closed=closed,
        release=conversation.release,
        success_rate=1.0,
        test_pass=True,
        first_failure_turn=None,
        root_cause=None,
        root_cause_count=0,
        cascading_count=0,
        unscored_count=0,
        chain_length="0",
        sub_metrics={},
        composition=Composition("fake", 1.0, True),
        turns=turns,
        evaluator=repr(conversation),
        synthetic_id=conversation.synthetic_id,
    )
