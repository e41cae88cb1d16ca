"""A ledger of its own for a topic that is played again."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from monitor.chosen import service_redaction
from monitor.config import Settings
from monitor.roles.kafka.reading import Since, records
from monitor.roles.kafka.replaying import Replayed, into_engine
from monitor.wiring.decoders import trace_decoder
from monitor.wiring.engines import engine


def replay_topic(settings: Settings, since: Since, reports: Path | None) -> tuple[Replayed, bytes]:
    """What was taken in, and the metrics page. Nobody is told but `reports`, no model asked.

    A run that fails leaves no ledger and no report behind, so that it can be tried again.
    """
    settings = _quiet(settings, reports)
    redaction = service_redaction(settings)
    with contextlib.ExitStack() as opened:
        opened.enter_context(_whole(settings.ledger.path, reports))
        parts = engine(settings, settings.ledger.path, durable=True, redaction=redaction)
        opened.callback(parts.close)
        found = records(settings.kafka, settings.kafka.source, since)
        replayed = into_engine(
            opened.enter_context(contextlib.closing(found)),
            trace_decoder(settings),
            parts.engine,
            redaction.spans if redaction else list,
        )
        page, _ = parts.render("text/plain")
    return replayed, page


@contextlib.contextmanager
def _whole(ledger: Path, reports: Path | None) -> Iterator[None]:
    """Have the ledger, which is new, and the reports be as they were when anything fails."""
    before = reports.stat().st_size if reports and reports.exists() else 0
    try:
        yield
    except BaseException:
        for ending in ("", "-wal", "-shm", ".lock"):
            Path(f"{ledger}{ending}").unlink(missing_ok=True)
        if reports and reports.exists():
            os.truncate(reports, before)
        raise


def _quiet(settings: Settings, reports: Path | None) -> Settings:
    return settings.model_copy(
        update={
            "sinks": settings.sinks.model_copy(update={"jsonl": reports}),
            "langfuse": settings.langfuse.model_copy(update={"scores": False}),
            "alerts": settings.alerts.model_copy(update={"alertmanager_url": None}),
            "judge": settings.judge.model_copy(update={"backend": "none"}),
        }
    )
