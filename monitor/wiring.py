"""The only place that chooses implementations: settings in, parts joined up, out."""

from __future__ import annotations

import asyncio
import importlib.metadata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from monitor.chosen import (
    evaluation,
    service_redaction,
    shown_redaction,
)
from monitor.config import OtlpSettings, Settings
from monitor.entry_points import load_adapter
from monitor.errors import ConfigurationError, Overloaded
from monitor.exposition.collector import Collector
from monitor.exposition.live import LagGauge, Live
from monitor.exposition.status import status_page
from monitor.hosted import hosted_receivers, read_past, score_sinks, sinks
from monitor.ledger.database import Database
from monitor.ledger.outbox import Outbox
from monitor.ledger.spool import Spool
from monitor.ledger.state import StateStore
from monitor.ledger.totals import Ledger, LedgerLimits
from monitor.pipeline import Pipeline, PipelineLimits
from monitor.ports import Accept, Decoded, Redaction, Sink, SpanDecoder
from monitor.roles import past
from monitor.roles.batch import Summary
from monitor.roles.embedded import CountingReceiver, Embedded, EmbeddedLimits, Health
from monitor.roles.engine import Engine, Stores
from monitor.roles.files import require_place, table_of
from monitor.roles.inspect import inspect
from monitor.roles.inspection import Seen
from monitor.roles.pages import Pages, require_loopback, split_address
from monitor.roles.past import Progress
from monitor.roles.service import Companion, Service

Counts = Callable[[], Mapping[str, int]]
SHOWN_KINDS = (
    *("forward", "reload_failed", "relayed", "passed_over"),
    *("polls", "poll_errors", "look_errors"),
)
"""What the edge counts beside refusals, and shows as events."""
MAPPED = "generic"
"""The format that reads by a mapping."""
VERSION = importlib.metadata.version("agent-turn-monitor")


@dataclass(frozen=True, slots=True)
class Parts:
    """An engine over one file, with what its hosts need beside it."""

    engine: Engine
    stores: Stores
    render: Callable[[str], tuple[bytes, str]]
    """The metrics page, from an Accept header; any thread may call it."""
    status: Callable[[], bytes]
    close: Callable[[], None]


def service(settings: Settings) -> Service:
    """The sidecar of `agent-monitor run`."""
    onward = forwarder(settings)
    receivers = [*otlp_receivers(settings, onward), *hosted_receivers(settings)]
    companions = [onward] if onward else []
    lag = LagGauge()
    health = Health()
    redaction = service_redaction(settings)
    parts = engine(
        settings,
        settings.ledger.path,
        durable=True,
        counts=lambda: {
            **_edge_counts([*receivers, *companions]),
            **health.counts(),
            "fault:sink": parts.engine.sink_failures,
        },
        lag=lag,
        redaction=redaction,
    )
    embedded = Embedded(
        parts.engine,
        receivers,
        EmbeddedLimits(
            in_flight_bytes=settings.limits.in_flight_bytes,
            spool_bytes=settings.limits.spool_bytes,
            commit_interval_s=settings.ledger.commit_interval_s,
        ),
        parts.stores.spool.bytes,
        lag.observe,
        health,
        redact=redaction.spans if redaction else list,
    )
    pages = Pages(
        settings.metrics.listen,
        parts.render,
        parts.status,
        embedded.fault,
        embedded.unready,
        insecure=settings.metrics.insecure,
    )
    return Service(embedded, pages, parts.close, companions)


def engine(
    settings: Settings,
    path: Path,
    *,
    durable: bool,
    counts: Counts = dict,
    lag: LagGauge | None = None,
    redaction: Redaction | None = None,
) -> Parts:
    """An engine that continues from `path`; `durable=False` for files that a run throws away."""
    chosen = evaluation(settings, redaction)
    receiving = sinks(settings) if durable else []
    stores = _stores(settings, Database.open(path, durable=durable), receiving)
    limits = _pipeline_limits(settings)
    running = Engine(
        stores, lambda state: Pipeline(chosen.evaluator.evaluate, state, limits), receiving
    )
    reader = stores.database.reader()

    def live() -> Live:
        pipeline, encoder = running.pipeline, chosen.encoder
        return Live(
            open_conversations=pipeline.open_conversations,
            open_turns=pipeline.open_turns,
            open_spans=pipeline.open_spans,
            cache_hits=encoder.hits if encoder else None,
            cache_misses=encoder.misses if encoder else None,
            lags={"rules": lag.read()} if lag else {},
            counts=dict(counts()),
            version=VERSION,
        )

    def close() -> None:
        reader.close()
        stores.database.close()

    return Parts(
        running,
        stores,
        Collector(lambda: stores.ledger.totals(reader), live).render,
        lambda: status_page(stores.ledger.totals(reader), live()),
        close,
    )


def _stores(settings: Settings, database: Database, receiving: Sequence[Sink]) -> Stores:
    return Stores(
        database,
        Spool(database),
        StateStore(database),
        Ledger(database, _ledger_limits(settings)),
        Outbox(database, [sink.name for sink in receiving]),
    )


async def backfill(settings: Settings, start: datetime, end: datetime) -> Summary:
    """What Langfuse recorded between two times, into the ledger that the settings name."""
    redaction = service_redaction(settings)
    parts = engine(settings, settings.ledger.path, durable=True, redaction=redaction)

    async def read(accept: Accept, progress: Callable[[Progress], None]) -> None:
        await read_past(settings, accept, start, end, progress, {})

    try:
        return await past.backfill(parts.engine, read, redaction.spans if redaction else list)
    finally:
        parts.close()


def checked(settings: Settings) -> Iterator[str]:
    """Read every file that the settings name; a line about each part. Raises at the first fault."""
    chosen = evaluation(settings)
    trace_decoder(settings)
    onward = forwarder(settings)
    addresses = (settings.otlp.listen, settings.otlp.grpc_listen)
    references = settings.references
    require_place(settings.ledger.path, "ledger.path")
    if settings.sinks.jsonl:
        require_place(settings.sinks.jsonl, "sinks.jsonl")
    host, _ = split_address(settings.metrics.listen, "metrics.listen")
    require_loopback(host, "metrics.listen", insecure=settings.metrics.insecure)
    shown_redaction(settings)
    asyncio.run(_try_sources(settings))
    for receiver, listen in zip(otlp_receivers(settings, onward), addresses, strict=False):
        yield f"receiver    {receiver.name} on {listen}"
    if onward:
        yield f"forward     {settings.forward.url or settings.forward.langfuse_url}"
    yield f"pages       {settings.metrics.listen}"
    yield f"ledger      {settings.ledger.path}"
    yield f"references  {len(references.by_id)} files by id, {len(references.golden)} golden"
    yield f"tools       {len(chosen.contracts.definitions)} contracts"
    yield f"composition {settings.composition.rule}"
    yield f"evaluator   {chosen.evaluator.version}"


async def _try_sources(settings: Settings) -> None:
    """Build what reads and writes hosted backends, and listen for a moment as the service would.

    On free ports, since the real ones may be in use.
    """

    def free(listen: str | None) -> str | None:
        return listen and f"{listen.rpartition(':')[0]}:0"

    otlp = settings.otlp
    ports = {"listen": free(otlp.listen), "grpc_listen": free(otlp.grpc_listen)}
    trial = settings.model_copy(update={"otlp": otlp.model_copy(update=ports)})
    hosted_receivers(settings)
    score_sinks(settings)
    for receiver in otlp_receivers(trial, None):
        await receiver.start(_refuse_all)
        await receiver.stop()


async def _refuse_all(decoded: Decoded, payload_bytes: int) -> None:
    raise Overloaded("this is only a check of the configuration", 1)


def demo_settings(folder: Path, references: Path, tools: Path) -> Settings:
    """Settings of the demo: free ports, a file of its own, and waits short enough to watch."""
    return Settings.model_validate(
        {
            "otlp": {"listen": "127.0.0.1:0"},
            "metrics": {"listen": "127.0.0.1:0"},
            "ledger": {"path": folder / "demo.sqlite3", "commit_interval_s": 0.2},
            "conversation": {"settle_s": 0.2, "quiet_s": 1.0, "idle_s": 1.0},
            "references": {"by_id": [references]},
            "tools": {"files": [tools]},
        }
    )


def trace_decoder(settings: Settings) -> SpanDecoder:
    """OTLP traces, in both encodings."""
    decoder: SpanDecoder = load_adapter("otlp.traces")(**_decoding(settings))
    return decoder


def file_decoders(
    settings: Settings, name: str | None = None, mapping: Path | None = None
) -> list[SpanDecoder]:
    """What reads recorded payloads: OTLP and span records, or the format behind an entry point.

    Raises ConfigurationError for an unknown format and for a mapping that cannot work.
    """
    if name is None and mapping is None:
        logs: SpanDecoder = load_adapter("otlp.logs")(**_decoding(settings))
        return [trace_decoder(settings), logs, load_adapter("spans")()]
    if mapping is not None and name != MAPPED:
        raise ConfigurationError(f"a mapping belongs to `--format {MAPPED}`, and to no other")
    options = {} if mapping is None else {"mapping": table_of(mapping)}
    try:
        decoder: SpanDecoder = load_adapter(name or MAPPED)(**options)
    except TypeError:
        decoder = None  # type: ignore[assignment]
    if not callable(getattr(decoder, "decode", None)):
        raise ConfigurationError(f"the adapter {name!r} is no format of recorded payloads")
    return [decoder]


def inspected(
    settings: Settings, paths: Sequence[Path], name: str | None, mapping: Path | None
) -> Seen:
    """What the files hold, as the service would see it."""
    redaction = shown_redaction(settings)
    return inspect(
        paths,
        file_decoders(settings, name, mapping),
        evaluation(settings, redaction).evaluator.evaluate,
        lambda keep: Pipeline(keep, {}, _pipeline_limits(settings)),
        redaction.spans if redaction else list,
    )


def otlp_receivers(settings: Settings, onward: Companion | None) -> list[CountingReceiver]:
    """The receivers that the settings ask for, HTTP first, not yet listening."""
    limits, otlp = settings.limits, settings.otlp
    shared = {
        "access": _access(otlp),
        "in_flight_bytes": limits.in_flight_bytes,
        "connections": limits.connections,
        "body_timeout_s": limits.body_timeout_s,
        "onward": onward,
        **_decoding(settings),
    }
    found = [
        load_adapter("otlp.http")(
            listen=otlp.listen,
            connections_per_peer=limits.connections_per_peer,
            body_bytes_per_s=limits.body_bytes_per_s,
            ingest=load_adapter("langfuse.ingestion")(**_attributes(otlp)).ingest,
            **shared,
        )
    ]
    if otlp.grpc_listen:
        grpc = load_adapter("otlp.grpc")
        message_bytes = limits.grpc_message_bytes
        found.append(grpc(listen=otlp.grpc_listen, message_bytes=message_bytes, **shared))
    return found


def forwarder(settings: Settings) -> Companion | None:
    """What sends on everything received; None when no backend is named."""
    given = settings.forward
    if not given.url and not given.langfuse_url:
        return None
    own = {"url", "langfuse_url", "insecure", "pass_headers", "ca_file"}
    found: Companion = load_adapter("otlp.forward")(
        **given.model_dump(include=own),
        headers={name: value.get_secret_value() for name, value in given.headers.items()},
        limits=given.model_dump(exclude=own | {"headers"}),
    )
    return found


def _access(otlp: OtlpSettings) -> dict[str, Any]:
    names = ("insecure", "token_file", "tls_cert_file", "tls_key_file", "tls_client_ca_file")
    found: dict[str, Any] = {name: getattr(otlp, name) for name in names}
    return found | {"token": otlp.token.get_secret_value() if otlp.token else None}


def _decoding(settings: Settings) -> dict[str, Any]:
    limits, otlp = settings.limits, settings.otlp
    return {
        "limits": {
            "body_bytes": limits.body_bytes,
            "items": limits.items_per_request,
            "attributes": limits.attributes_per_span,
            "nesting": limits.nesting,
            "index": limits.attribute_index,
        },
        **_attributes(otlp),
    }


def _attributes(otlp: OtlpSettings) -> dict[str, Any]:
    return {
        "conversation_attribute": otlp.conversation_attribute,
        "release_attribute": otlp.release_attribute,
    }


def _edge_counts(parts: Iterable[CountingReceiver | Companion]) -> dict[str, int]:
    """What was refused whole, and what else the edge counts; single spans are counted durably."""
    found: Counter[str] = Counter()
    for part in parts:
        for name, count in part.counters.items():
            kind, _, why = name.partition(":")
            if kind == "refused":
                found[f"rejected:{why}"] += count
            elif name == "defects":
                found["fault:receiver"] += count
            elif kind.startswith(SHOWN_KINDS):
                found[name] += count
    return dict(found)


def _ledger_limits(settings: Settings) -> LedgerLimits:
    late = settings.conversation.late_s
    return LedgerLimits(releases=settings.limits.releases, retain_s=late + settings.ledger.retain_s)


def _pipeline_limits(settings: Settings) -> PipelineLimits:
    waits, limits = settings.conversation, settings.limits
    return PipelineLimits(
        settle_s=waits.settle_s,
        quiet_s=waits.quiet_s,
        idle_s=waits.idle_s,
        max_age_s=waits.max_age_s,
        late_s=waits.late_s,
        refused_ids=waits.refused_ids,
        chores=waits.chores,
        turns_per_hour=waits.turns_per_hour,
        quarantine_s=waits.quarantine_s,
        spans_per_trace=limits.spans_per_trace,
        bytes_per_trace=limits.trace_bytes,
        traces_per_conversation=limits.traces_per_conversation,
        text_per_conversation_bytes=limits.conversation_text_bytes,
        open_traces=limits.open_traces,
        open_bytes=limits.open_trace_bytes,
        open_conversations=limits.open_conversations,
        cache_bytes=limits.cached_state_bytes,
    )
