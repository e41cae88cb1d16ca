"""The sidecar: receivers, engine and pages in one process."""

from __future__ import annotations

from pathlib import Path

from monitor.chosen import (
    service_redaction,
)
from monitor.config import Settings
from monitor.exposition.live import LagGauge
from monitor.hosted import hosted_receivers
from monitor.ports import Redaction
from monitor.roles.embedded import Embedded, EmbeddedLimits, Health
from monitor.roles.pages import Pages
from monitor.roles.release_pages import ReleasePages
from monitor.roles.service import Companion, Service
from monitor.wiring.engines import engine
from monitor.wiring.paging import observing, pager
from monitor.wiring.receivers import edge_counts, forwarder, otlp_receivers


def service(settings: Settings, lag: LagGauge | None = None) -> Service:
    """The sidecar of `agent-monitor run`; `lag` is told of each report's way to its commit."""
    onward = forwarder(settings)
    receivers = [*otlp_receivers(settings, onward), *hosted_receivers(settings)]
    lag = lag or LagGauge()
    health = Health()
    redaction = service_redaction(settings)
    parts = engine(
        settings,
        settings.ledger.path,
        durable=True,
        counts=lambda: {
            **edge_counts([*receivers, *beside]),
            **health.counts(),
            **_redactions(redaction),
            "fault:sink": parts.engine.sink_failures,
        },
        lag=lag,
        source_faults=lambda: embedded.source_faults(),
        redaction=redaction,
    )
    told = pager(settings, parts)
    possible: tuple[Companion | None, ...] = (onward, parts.label_reader, told)
    beside = [companion for companion in possible if companion is not None]
    if parts.judge is not None:
        beside.append(parts.judge.hire(settings, parts.engine))
    embedded = Embedded(
        parts.engine,
        receivers,
        _limits(settings),
        parts.stores.spool.bytes,
        observing(lag, told),
        health,
        redact=redaction.spans if redaction else list,
    )
    pages = Pages(
        settings.metrics.listen,
        parts.render,
        parts.status,
        embedded.fault,
        embedded.unready,
        embedded.degraded,
        insecure=settings.metrics.insecure,
        routes=ReleasePages(
            parts.engine,
            parts.engine.orders.ask,
            None if settings.metrics.token is None else settings.metrics.token.get_secret_value(),
        ).routes(),
    )
    return Service(embedded, pages, parts.close, beside)


def _limits(settings: Settings) -> EmbeddedLimits:
    return EmbeddedLimits(
        in_flight_bytes=settings.limits.in_flight_bytes,
        spool_bytes=settings.limits.spool_bytes,
        commit_interval_s=settings.ledger.commit_interval_s,
    )


def _redactions(redaction: Redaction | None) -> dict[str, int]:
    counters = redaction.counters if redaction else {}
    return {f"redacted:{kind}": count for kind, count in counters.items()}


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
            "releases": {"baseline_conversations": 100},
        }
    )
