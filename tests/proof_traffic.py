"""The proof's traffic: many conversations at once, cut small, sent twice now and then, with poison.

A Collector that is told to part traces by their id keys its records so: one trace's records stay in
one partition, in order. Different traces overtake each other as they please.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from monitor.roles.demo.traffic import AFTER, BEFORE, TOOLS, Played, traffic

OPEN = 60
"""Conversations that are under way at one time."""
DUPLICATE_SHARE = 0.05
LIMITS = {"body_bytes": 300_000}


class Sent(NamedTuple):
    """One record for the Collector's topic."""

    key: bytes
    value: bytes
    poison: bool = False


class Traffic:
    """All of it follows from the seed."""

    def __init__(self, conversations: int, poison: int, seed: int) -> None:
        chance = random.Random(seed)
        before = traffic(BEFORE, conversations // 2, seed)
        after = traffic(AFTER, conversations - conversations // 2, seed + 1)
        pairs = zip(map(_in_one_trace, before), after, strict=False)
        played = [one for pair in pairs for one in pair]
        self.references = [each.reference for each in played if each.reference]
        self.requests: list[dict[str, Any]] = []
        """Without the poison, as JSON, in the order of sending."""
        self.records: list[Sent] = []
        for request in _again(_interleaved(played, chance), chance):
            self.requests.append(request)
            self.records.append(Sent(_trace(request).encode(), _encoded(request, chance)))
        for number in range(poison):
            at = chance.randrange(len(self.records))
            value = POISON[number % len(POISON)] + b"%d" % number
            self.records.insert(at, Sent(b"poison %d" % number, value, poison=True))

    def write(self, folder: Path) -> tuple[Path, dict[str, Any]]:
        """A file for the oracle, and the settings by which all sides judge."""
        traces, references, tools = (
            folder / name for name in ("oracle.jsonl", "references.jsonl", "tools.json")
        )
        traces.write_text("".join(f"{json.dumps(each)}\n" for each in self.requests))
        references.write_text("".join(f"{json.dumps(each)}\n" for each in self.references))
        tools.write_text(json.dumps(TOOLS))
        sections = {
            "references": {"by_id": [str(references)]},
            "tools": {"files": [str(tools)]},
            "limits": LIMITS,
        }
        return traces, sections


POISON = (
    b"\x0a\xff\xff not a trace ",
    b'{"resourceSpans": [',
    b"\x00" * 64,
    b'{"resourceSpans": [], "padding": "' + b"x" * 400_000 + b'"}',
)
"""Neither encoding, cut, nothing, and larger than the limit."""


def _in_one_trace(played: Played) -> Played:
    """All exchanges below one root, which is last."""
    (group,) = played.request["resourceSpans"]
    (scope,) = group["scopeSpans"]
    spans = scope["spans"]
    trace, root = spans[0]["traceId"], spans[0]["traceId"][:15] + "e"
    below = [{"parentSpanId": root, **span, "traceId": trace} for span in spans]
    times = [span["startTimeUnixNano"] for span in spans], [s["endTimeUnixNano"] for s in spans]
    last = {**spans[-1], "traceId": trace, "spanId": root, "name": "session"}
    last["startTimeUnixNano"], last["endTimeUnixNano"] = min(times[0]), max(times[1])
    last["attributes"] = [each for each in last["attributes"] if "conversation" in each["key"]]
    whole = {**group, "scopeSpans": [{**scope, "spans": [*below, last]}]}
    return dataclasses.replace(played, request={"resourceSpans": [whole]})


def _interleaved(played: list[Played], chance: random.Random) -> Iterator[dict[str, Any]]:
    """Pieces of the conversations that are under way, in turn by chance."""
    coming = iter(played)
    under_way: list[Iterator[dict[str, Any]]] = []
    while True:
        while len(under_way) < OPEN and (one := next(coming, None)) is not None:
            under_way.append(_pieces(one.request, chance))
        if not under_way:
            return
        number = chance.randrange(len(under_way))
        piece = next(under_way[number], None)
        if piece is None:
            del under_way[number]
        else:
            yield piece


def _pieces(request: dict[str, Any], chance: random.Random) -> Iterator[dict[str, Any]]:
    """A conversation's spans, trace by trace, one to three exports each, the root in the last."""
    (group,) = request["resourceSpans"]
    (scope,) = group["scopeSpans"]
    traces: dict[str, list[dict[str, Any]]] = {}
    for span in scope["spans"]:
        traces.setdefault(span["traceId"], []).append(span)
    for spans in traces.values():
        cuts = sorted(chance.sample(range(1, len(spans)), min(chance.randrange(3), len(spans) - 1)))
        for begin, end in zip([0, *cuts], [*cuts, len(spans)], strict=True):
            part = {**scope, "spans": spans[begin:end]}
            yield {"resourceSpans": [{**group, "scopeSpans": [part]}]}


def _again(pieces: Iterator[dict[str, Any]], chance: random.Random) -> Iterator[dict[str, Any]]:
    """Some pieces once more, at once or a while later."""
    waiting: list[dict[str, Any]] = []
    for piece in pieces:
        yield piece
        if chance.random() < DUPLICATE_SHARE:
            waiting.append(piece)
        if waiting and chance.random() < DUPLICATE_SHARE:
            yield waiting.pop(0)
    yield from waiting


def _trace(request: dict[str, Any]) -> str:
    return str(request["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"])


def _encoded(request: dict[str, Any], chance: random.Random) -> bytes:
    """In either encoding of OTLP."""
    if chance.random() < 0.5:
        return json.dumps(request).encode()
    copy = json.loads(json.dumps(request))
    for span in copy["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for name in ("traceId", "spanId", "parentSpanId"):
            if name in span:
                span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    return ParseDict(copy, ExportTraceServiceRequest()).SerializeToString()
