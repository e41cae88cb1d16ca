"""The source topic played again: into a ledger of its own, or to the workers once more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from kafka import KafkaProducer
from kafka.errors import KafkaError

from monitor.codec import encode_spans
from monitor.config.kafka import KafkaSettings
from monitor.errors import BackendUnavailable, MonitorError
from monitor.model import AgentSpan
from monitor.ports import Decoded, SpanDecoder
from monitor.roles.encodings import media_of
from monitor.roles.engine import Batch, Engine
from monitor.roles.kafka.clients import connection
from monitor.roles.kafka.reading import Record
from monitor.verdict import Effects

COMMIT_RECORDS: Final = 64
REQUEST_BYTES: Final = 64 * 1024 * 1024


class Replayed(NamedTuple):
    """What a replay took in."""

    records: int
    refused: int
    spans: int


def into_engine(
    found: Iterable[Record],
    decoder: SpanDecoder,
    engine: Engine,
    redact: Callable[[Sequence[AgentSpan]], Sequence[AgentSpan]] = list,
) -> Replayed:
    """Score the records as they came, each at its own time; close everything at the end.

    A record that cannot be read is counted, and costs itself only.
    """
    count, refused, spans, now = 0, 0, 0, 0.0
    waiting: list[Batch] = []
    for record in found:
        count, now = count + 1, max(now, record.at_s)
        try:
            decoded = _decoded(record.value or b"", decoder)
        except MonitorError:
            refused += 1
            engine.take(now, Effects(counts={"rejected:malformed": 1}))
            continue
        kept = redact(decoded.spans)
        spans += len(kept)
        rejections = Counter(rejection.why for rejection in decoded.rejections)
        waiting.append(Batch(kept, encode_spans(kept), rejections))
        if len(waiting) >= COMMIT_RECORDS:
            _work(engine, waiting, now)
            waiting = []
    _work(engine, waiting, now)
    engine.flush(now)
    engine.commit(now)
    engine.deliver()
    return Replayed(count, refused, spans)


def to_workers(found: Iterable[Record], given: KafkaSettings) -> int:
    """Send the records to the end of the source topic; how many. Raises BackendUnavailable.

    Workers take them as a sender's repeats: what they know counts as duplicates, the rest is
    scored.
    """
    count = 0
    try:
        producer = KafkaProducer(
            **connection(given), acks="all", max_request_size=REQUEST_BYTES, compression_type="gzip"
        )
        sent = []
        for record in found:
            sent.append(
                producer.send(given.source, record.value, record.key, partition=record.partition)
            )
            count += 1
            if len(sent) >= COMMIT_RECORDS:
                _await(sent)
        _await(sent)
        producer.close()
    except KafkaError as error:
        raise BackendUnavailable(f"the broker failed: {type(error).__name__}") from error
    return count


def _decoded(payload: bytes, decoder: SpanDecoder) -> Decoded:
    return decoder.decode(payload, media_of(payload))


def _work(engine: Engine, batches: Sequence[Batch], now: float) -> None:
    engine.accept(batches, now)
    while engine.work(now, COMMIT_RECORDS):
        pass
    engine.commit(now)
    engine.deliver()


def _await(sent: list[Any]) -> None:
    for each in sent:
        each.get(timeout=30)
    sent.clear()
