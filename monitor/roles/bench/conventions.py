"""Spans as the widespread conventions write them, to measure what each costs to read.

Each conversation has 5 turns of 4 spans: a model call that asks for a tool, the tool's run, the
model call that replies, and the agent's run around them. The clients are
model calls without an agent, which send the last 20 messages with every call.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from typing import Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from monitor.ports import SpanDecoder
from monitor.roles.bench.traffic import (
    SECOND_NS,
    START_NS,
    TURNS,
    key_value,
    naive_walk,
    prose,
)
from monitor.roles.bench.writers import (
    CLIENTS,
    CONVENTIONS,
    SYSTEM,
    TOOL,
    Chat,
    Fields,
    Step,
    Writer,
)

PROTOBUF: Final = "application/x-protobuf"
SPANS_PER_PAYLOAD: Final = 100
HISTORY: Final = 20


def rates(
    decoder: SpanDecoder, conversations: int, rounds: int, tell: Callable[[str], None]
) -> dict[str, dict[str, float]]:
    """Microseconds of processor time per span, and spans per second, by convention.

    The fastest of the rounds counts: all else is other work of the machine.
    """
    found = {}
    for name in (*CONVENTIONS, *CLIENTS):
        tell(f"convention {name}")
        best, walk, size = math.inf, math.inf, 0.0
        for number in range(rounds):
            # Readers remember texts, so each round reads conversations that are new to them.
            bodies, spans = payloads(name, conversations, number)
            best = min(best, _seconds(partial(_decode, decoder, bodies)) / spans)
            walk = min(walk, _seconds(partial(naive_walk, bodies)) / spans)
            size = sum(map(len, bodies)) / spans
        found[name] = {
            "bytes_per_span": round(size),
            "microseconds_per_span": round(best * 1e6, 1),
            "spans_per_second": round(1 / best),
            "normalise_over_walk": round(walk / best, 2),
        }
    return found


def table(found: dict[str, dict[str, float]]) -> list[str]:
    """The same as lines for people."""
    lines = [f"{'convention':<26}{'bytes/span':>11}{'us/span':>9}{'spans/s':>9}{'over walk':>11}"]
    for name, told in found.items():
        size, cost, rate, ratio = told.values()
        lines.append(f"{name:<26}{size:>11}{cost:>9}{rate:>9}{ratio:>11}")
    return lines


def payloads(name: str, conversations: int, seed: int) -> tuple[list[bytes], int]:
    """Export requests in one convention, and how many spans they hold."""
    rng = random.Random(seed)  # noqa: S311  reproducible benchmark input, no secret
    spans: list[Span] = []
    for number in range(conversations):
        conversation = blake2b(f"{name}/{seed}/{number}".encode(), digest_size=8).hexdigest()
        if name in CONVENTIONS:
            spans += _conversation(rng, conversation, CONVENTIONS[name])
        else:
            spans += _client(rng, conversation, CLIENTS[name])
    return [
        _body(spans[at : at + SPANS_PER_PAYLOAD]) for at in range(0, len(spans), SPANS_PER_PAYLOAD)
    ], len(spans)


def _decode(decoder: SpanDecoder, bodies: Sequence[bytes]) -> None:
    for body in bodies:
        decoder.decode(body, PROTOBUF)


def _seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def _conversation(rng: random.Random, conversation: str, write: Writer) -> Iterator[Span]:
    history: Chat = [{"role": "system", "content": SYSTEM}]
    for turn in range(TURNS):
        trace = blake2b(f"{conversation}/{turn}".encode(), digest_size=16).digest()
        for number, step in enumerate(_turn(rng, history, turn)):
            parent = None if step.kind == "agent" else 9
            attributes = write(conversation, step)
            at = START_NS + (turn * 60 + number) * SECOND_NS
            yield _span(trace, 9 if parent is None else number + 1, parent, step, attributes, at)


def _client(rng: random.Random, conversation: str, write: Writer) -> Iterator[Span]:
    history: Chat = [{"role": "system", "content": SYSTEM}]
    while len(history) < HISTORY:
        list(_turn(rng, history, len(history)))
    for turn in range(TURNS):
        for number, step in enumerate(_turn(rng, history, HISTORY + turn)):
            if step.kind == "model":
                trace = blake2b(f"{conversation}/{turn}/{number}".encode(), digest_size=16).digest()
                step = step._replace(given=[history[0], *step.given[1 - HISTORY :]])
                yield _span(trace, 1, None, step, write(conversation, step), START_NS)


def _turn(rng: random.Random, history: Chat, turn: int) -> Iterator[Step]:
    """The steps of one exchange, which is added to the history."""
    order = f"SO-{rng.randrange(10_000, 100_000)}"
    call_id = f"call_{rng.randrange(16**12):012x}"
    arguments = json.dumps({"order_id": order})
    result = json.dumps({"order_id": order, "status": "packed", "total": 42.5 + turn})
    function = {"name": TOOL, "arguments": arguments}
    calls = [{"id": call_id, "type": "function", "function": function}]
    asked = {"role": "user", "content": f"Where is order {order}? {prose(rng, 120)}"}
    call: Fields = {"role": "assistant", "content": None, "tool_calls": calls}
    answer = {"role": "tool", "tool_call_id": call_id, "content": result}
    reply = {"role": "assistant", "content": f"Your order {order} is packed. {prose(rng, 300)}"}
    history.append(asked)
    yield Step("model", list(history), call)
    history += [call, answer]
    yield Step("tool", [answer], call, arguments, result)
    yield Step("model", list(history), reply)
    history.append(reply)
    yield Step("agent", [asked], reply)


def _span(
    trace: bytes, span_id: int, parent: int | None, step: Step, attributes: Fields, at: int
) -> Span:
    return Span(
        trace_id=trace,
        span_id=bytes([span_id]) * 8,
        parent_span_id=bytes([parent]) * 8 if parent else b"",
        name=TOOL if step.kind == "tool" else step.kind,
        kind=Span.SPAN_KIND_INTERNAL,
        start_time_unix_nano=at,
        end_time_unix_nano=at + SECOND_NS,
        attributes=[key_value(key, value) for key, value in attributes.items()],
    )


def _body(spans: Sequence[Span]) -> bytes:
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.append(key_value("service.name", "bench-agent"))
    group.resource.attributes.append(key_value("service.version", "1.0.0"))
    scope = group.scope_spans.add()
    scope.scope.name = "bench"
    scope.spans.extend(spans)
    return request.SerializeToString()
