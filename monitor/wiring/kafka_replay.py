"""A ledger of its own for a topic that is played again."""

from __future__ import annotations

from pathlib import Path

from monitor.chosen import service_redaction
from monitor.config import Settings
from monitor.roles.kafka.reading import Since, records
from monitor.roles.kafka.replaying import Replayed, into_engine
from monitor.wiring.decoders import trace_decoder
from monitor.wiring.engines import engine


def replay_topic(settings: Settings, since: Since, reports: Path | None) -> tuple[Replayed, bytes]:
    """What was taken in, and the metrics page. Nobody is told but `reports`, no model asked."""
    settings = _quiet(settings, reports)
    redaction = service_redaction(settings)
    parts = engine(settings, settings.ledger.path, durable=True, redaction=redaction)
    try:
        replayed = into_engine(
            records(settings.kafka, settings.kafka.source, since),
            trace_decoder(settings),
            parts.engine,
            redaction.spans if redaction else list,
        )
        page, _ = parts.render("text/plain")
    finally:
        parts.close()
    return replayed, page


def _quiet(settings: Settings, reports: Path | None) -> Settings:
    return settings.model_copy(
        update={
            "sinks": settings.sinks.model_copy(update={"jsonl": reports}),
            "langfuse": settings.langfuse.model_copy(update={"scores": False}),
            "alerts": settings.alerts.model_copy(update={"alertmanager_url": None}),
            "judge": settings.judge.model_copy(update={"backend": "none"}),
        }
    )
