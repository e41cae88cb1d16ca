"""`agent-monitor bench`: what a span costs from the wire to the ledger, on one core.

Each round runs four passes over the same bytes, one after the other, and every ratio is taken
within a round: the machine's drift cancels out. The medians are reported.
"""

from __future__ import annotations

import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from monitor.codec import encode_spans
from monitor.model import AgentSpan
from monitor.ports import SpanDecoder
from monitor.roles.bench.traffic import decode_only, naive_walk, payloads, small_conversation
from monitor.roles.engine import Batch, Engine

PROTOBUF = "application/x-protobuf"
SPANS_PER_PAYLOAD = 100
GROUP = 8
COMMIT_EVERY = 32
FIRST_SEED = 3
ROWS = 64
RSS_CONVERSATIONS = 10_000
RSS_TURNS = 10
RSS_TEXT_BYTES = 1024
Redact = Callable[[Sequence[AgentSpan]], Sequence[AgentSpan]]


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds of one round, by pass."""

    decode_s: float
    walk_s: float
    normalise_s: float
    whole_path_s: float
    redacted_path_s: float


def measure(
    decoder: SpanDecoder,
    redact: Redact,
    open_engine: Callable[[Path], Engine],
    folder: Path,
    conversations: int,
    rounds: int,
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """Time the passes; `open_engine` makes an engine over a new durable file.

    Each engine has taken one conversation before it is timed: to read the model's file is a cost
    of the start.
    """
    bodies = payloads(conversations, SPANS_PER_PAYLOAD)
    first = payloads(1, SPANS_PER_PAYLOAD, seed=FIRST_SEED)
    spans = decode_only(bodies)
    timed = []
    for number in range(rounds):
        tell(f"round {number + 1} of {rounds}: {spans} spans")
        engine = open_engine(folder / f"bench-{number}.sqlite3")
        redacting = open_engine(folder / f"redacted-{number}.sqlite3")
        for opened in (engine, redacting):
            _whole_path(decoder, opened, first)
        timed.append(
            Timed(
                _seconds(lambda: decode_only(bodies)),
                _seconds(lambda: naive_walk(bodies)),
                _seconds(lambda: _normalise(decoder, bodies)),
                _seconds(partial(_whole_path, decoder, engine, bodies)),
                _seconds(partial(_whole_path, decoder, redacting, bodies, redact)),
            )
        )
    return _figures(timed, spans, sum(map(len, bodies)))


def resident_bytes(decoder: SpanDecoder, engine: Engine) -> dict[str, Any]:
    """Peak memory of this process with many open conversations; run it in a process of its own."""
    for number in range(RSS_CONVERSATIONS):
        body = small_conversation(number, RSS_TURNS, RSS_TEXT_BYTES)
        spans = decoder.decode(body, PROTOBUF).spans
        engine.accept([Batch(spans, encode_spans(spans))], 0.0)
        engine.work(0.0, ROWS)
        if number % COMMIT_EVERY == 0:
            engine.commit(0.0)
    engine.commit(0.0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "conversations": engine.pipeline.open_conversations,
        "turns_each": RSS_TURNS,
        "text_bytes_per_turn": RSS_TEXT_BYTES,
        "peak_rss_mb": round(peak / 1024 if sys.platform != "darwin" else peak / 2**20, 1),
    }


def _normalise(decoder: SpanDecoder, bodies: list[bytes]) -> int:
    """Each payload's spans are dropped before the next, as the naive walk drops its own."""
    return sum(len(decoder.decode(body, PROTOBUF).spans) for body in bodies)


def _whole_path(
    decoder: SpanDecoder, engine: Engine, bodies: list[bytes], redact: Redact = list
) -> None:
    """As the service does it: decode, spool and sync, assemble, score, fold and sync."""
    for number, group in enumerate(_groups(bodies, GROUP)):
        decoded = [redact(decoder.decode(body, PROTOBUF).spans) for body in group]
        engine.accept([Batch(spans, encode_spans(spans)) for spans in decoded], float(number))
        engine.work(float(number), ROWS)
        if number % (COMMIT_EVERY // GROUP) == 0:
            engine.commit(0.0)
    engine.flush(float(len(bodies)))
    engine.commit(0.0)


def _groups(bodies: list[bytes], size: int) -> Iterator[list[bytes]]:
    for start in range(0, len(bodies), size):
        yield bodies[start : start + size]


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _figures(timed: list[Timed], spans: int, size: int) -> dict[str, Any]:
    def median(pick: Callable[[Timed], float]) -> float:
        return round(statistics.median(map(pick, timed)), 3)

    def per_span(pick: Callable[[Timed], float]) -> float:
        return round(statistics.median(map(pick, timed)) / spans * 1e6, 2)

    return {
        "spans": spans,
        "bytes_per_span": round(size / spans),
        "rounds": len(timed),
        "microseconds_per_span": {
            "decode": per_span(lambda t: t.decode_s),
            "decode_and_walk": per_span(lambda t: t.walk_s),
            "decode_and_normalise": per_span(lambda t: t.normalise_s),
            "whole_path": per_span(lambda t: t.whole_path_s),
            "whole_path_with_redaction": per_span(lambda t: t.redacted_path_s),
        },
        "spans_per_second": {
            "whole_path": round(spans / statistics.median(t.whole_path_s for t in timed)),
        },
        "ratios": {
            "normalise_over_walk": median(lambda t: t.walk_s / t.normalise_s),
            "whole_path_over_walk": median(lambda t: t.walk_s / t.whole_path_s),
            "redacted_path_over_walk": median(lambda t: t.walk_s / t.redacted_path_s),
        },
    }
