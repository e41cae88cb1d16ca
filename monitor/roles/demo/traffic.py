"""The demo's traffic: conversations of two releases as OTLP, and what they are held against."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from monitor.roles.demo.shop import (
    STORIES,
    Agent,
    Arguments,
    Call,
    Exchange,
    Habit,
    Order,
    Shop,
    Story,
    careful,
    new_order,
)

START_NS = 1_764_000_000_000_000_000
SECOND_NS = 1_000_000_000
STRING = {"type": "string"}
ORDER_ID = {"type": "string", "pattern": "^SO-[0-9]{5}$"}


def _tool(name: str, writes: bool, **properties: Any) -> dict[str, Any]:
    """A contract whose every property is required."""
    schema = {"type": "object", "properties": properties, "required": sorted(properties)}
    return {"name": name, "parameters": schema, "writes": writes}


TOOLS = [
    _tool("get_order", False, order_id=ORDER_ID),
    _tool("track_parcel", False, order_id=ORDER_ID),
    _tool(
        "issue_refund",
        True,
        order_id=ORDER_ID,
        amount={"type": "number", "exclusiveMinimum": 0},
        currency={"type": "string", "enum": ["GBP", "EUR"]},
        reason=STRING,
    ),
    _tool("send_receipt", True, order_id=ORDER_ID),
    _tool("update_address", True, order_id=ORDER_ID, street=STRING, city=STRING, postcode=STRING),
    _tool("notify_carrier", True, order_id=ORDER_ID, carrier=STRING),
]


@dataclass(frozen=True, slots=True)
class Played:
    """One conversation: its trace, and its reference where the demo has one."""

    conversation_id: str
    request: dict[str, Any]
    """An OTLP/JSON export request."""
    reference: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class DemoRelease:
    """One release of the demo's agent."""

    version: str
    model: str
    habits: tuple[tuple[float, Habit], ...]
    """Each habit with the share of conversations in which it shows."""


def rounds_refunds_down(tool: str, arguments: Arguments) -> tuple[str, Arguments]:
    """Refunds whole pounds only: the wrong-argument habit of the second release."""
    if tool == "issue_refund" and isinstance(arguments.get("amount"), float):
        return tool, {**arguments, "amount": float(int(arguments["amount"]))}
    return tool, arguments


def forgets_the_reason(tool: str, arguments: Arguments) -> tuple[str, Arguments]:
    """Leaves out a required key now and then."""
    return tool, {k: v for k, v in arguments.items() if k not in ("reason", "postcode")}


def looks_up_instead(tool: str, arguments: Arguments) -> tuple[str, Arguments]:
    """Reaches for the wrong tool now and then."""
    if tool == "track_parcel":
        return "get_order", {"order_id": arguments["order_id"]}
    return tool, arguments


BEFORE = DemoRelease("2026.11.0", "atlas-4", ((0.03, forgets_the_reason), (0.03, looks_up_instead)))
AFTER = DemoRelease(
    "2026.12.0",
    "atlas-5-mini",
    ((0.65, rounds_refunds_down), (0.03, forgets_the_reason), (0.03, looks_up_instead)),
)


def traffic(release: DemoRelease, conversations: int, seed: int) -> Iterator[Played]:
    """Conversations of one release; same seed, same traffic. One in five has no reference."""
    rng = random.Random(seed)  # noqa: S311  reproducible demo traffic, no secret
    for number in range(conversations):
        story = STORIES[number % len(STORIES)]
        order = new_order(rng)
        habit = _drawn(release, rng)
        words = rng.getrandbits(32)
        exchanges = _play(story, order, habit, words)
        ideal = _play(story, order, careful, words)
        conversation_id = f"demo-{release.version}-{number:04d}"
        yield Played(
            conversation_id,
            _request(release, conversation_id, exchanges, number),
            _reference(conversation_id, ideal) if number % 5 else None,
        )


def _drawn(release: DemoRelease, rng: random.Random) -> Habit:
    for share, habit in release.habits:
        if rng.random() < share:
            return habit
    return careful


def _play(story: Story, order: Order, habit: Habit, words: int) -> list[Exchange]:
    return story(Agent(Shop([order]), habit), order, random.Random(words))  # noqa: S311


def _reference(conversation_id: str, exchanges: list[Exchange]) -> dict[str, Any]:
    return {
        "conversation_id": conversation_id,
        "ordered": True,
        "scope": "all tool calls",
        "expected_actions": [
            {"action": call.tool, "args": call.arguments, "result": json.dumps(call.result)}
            for exchange in exchanges
            for call in exchange.calls
        ],
        "expected_responses": [exchange.reply for exchange in exchanges],
        "required_outputs": [],
    }


def _request(
    release: DemoRelease, conversation_id: str, exchanges: list[Exchange], number: int
) -> dict[str, Any]:
    spans: list[dict[str, Any]] = []
    at = START_NS + number * 90 * SECOND_NS
    for position, exchange in enumerate(exchanges):
        writer = _TraceWriter(release, conversation_id, position, at)
        spans.extend(writer.exchange(exchange))
        at = writer.now + 20 * SECOND_NS
    resource = {"attributes": _attributes({"service.version": release.version})}
    scope = {"name": "shop-agent", "version": "1"}
    return {
        "resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": spans}]}]
    }


class _TraceWriter:
    """The spans of one exchange, children before their root, as an exporter sends them."""

    def __init__(self, release: DemoRelease, conversation_id: str, position: int, at: int) -> None:
        self._release = release
        self._conversation_id = conversation_id
        self._trace_id = _digest(16, conversation_id, position)
        self._root_id = _digest(8, self._trace_id, "root")
        self._count = 0
        self.now = at

    def exchange(self, exchange: Exchange) -> list[dict[str, Any]]:
        start = self.now
        spans: list[dict[str, Any]] = []
        given: list[dict[str, Any]] = [_text("user", exchange.user)]
        for call in exchange.calls:
            call_id = f"call_{self._count}"
            asked = {"type": "tool_call", "id": call_id, "name": call.tool}
            said = {"role": "assistant", "parts": [{**asked, "arguments": call.arguments}]}
            spans.append(self._chat(given, said, "tool_calls"))
            spans.append(self._tool(call, call_id))
            answer = {"type": "tool_call_response", "id": call_id, "response": call.result}
            given = [{"role": "tool", "parts": [answer]}]
        spans.append(self._chat(given, _text("assistant", exchange.reply), "stop"))
        root = self._span("invoke_agent shop-agent", start, {"operation.name": "invoke_agent"})
        root["spanId"] = self._root_id
        del root["parentSpanId"]
        return [*spans, root]

    def _chat(self, given: list[Any], said: dict[str, Any], finish: str) -> dict[str, Any]:
        start = self.now
        self.now += 2 * SECOND_NS if finish == "stop" else SECOND_NS
        return self._span(
            f"chat {self._release.model}",
            start,
            {
                "operation.name": "chat",
                "request.model": self._release.model,
                "response.model": self._release.model,
                "input.messages": json.dumps(given),
                "output.messages": json.dumps([{**said, "finish_reason": finish}]),
                "usage.input_tokens": 400 + 90 * self._count,
                "usage.output_tokens": 40,
            },
        )

    def _tool(self, call: Call, call_id: str) -> dict[str, Any]:
        start = self.now
        self.now += SECOND_NS // 2
        attributes = {
            "operation.name": "execute_tool",
            "tool.name": call.tool,
            "tool.call.id": call_id,
            "tool.call.arguments": json.dumps(call.arguments),
            "tool.call.result": json.dumps(call.result),
        }
        span = self._span(f"execute_tool {call.tool}", start, attributes)
        if call.error:
            span["status"] = {"code": 2}
            span["attributes"] += _attributes({"error.type": call.error})
        return span

    def _span(self, name: str, start: int, attributes: dict[str, Any]) -> dict[str, Any]:
        self._count += 1
        named = {f"gen_ai.{key}": value for key, value in attributes.items()}
        named["gen_ai.conversation.id"] = self._conversation_id
        named["gen_ai.agent.name"] = "shop-agent"
        return {
            "traceId": self._trace_id,
            "spanId": _digest(8, self._trace_id, self._count),
            "parentSpanId": self._root_id,
            "name": name,
            "kind": 1,
            "startTimeUnixNano": str(start),
            "endTimeUnixNano": str(self.now),
            "attributes": _attributes(named),
        }


def _text(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": content}]}


def _attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "key": key,
            "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value},
        }
        for key, value in values.items()
    ]


def _digest(size: int, *parts: object) -> str:
    return blake2b("/".join(map(str, parts)).encode(), digest_size=size).hexdigest()
