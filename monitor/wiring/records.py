"""What was recorded before: a past range of Langfuse, and files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from monitor.chosen import (
    evaluation,
    service_redaction,
    shown_redaction,
)
from monitor.config import Settings
from monitor.hosted import read_past
from monitor.pipeline import Pipeline
from monitor.ports import Accept
from monitor.roles import past
from monitor.roles.batch import Summary
from monitor.roles.inspecting.files import inspect
from monitor.roles.inspecting.inspection import Seen
from monitor.roles.past import Progress
from monitor.wiring.decoders import file_decoders
from monitor.wiring.engines import engine, pipeline_limits


async def backfill(settings: Settings, start: datetime, end: datetime) -> Summary:
    """What Langfuse recorded between two times, into the ledger that the settings name."""
    redaction = service_redaction(settings)
    parts = engine(settings, settings.ledger.path, durable=True, redaction=redaction)

    async def read(
        accept: Accept, progress: Callable[[Progress], None], notice: Callable[[str], None]
    ) -> None:
        await read_past(settings, accept, start, end, progress, notice, {})

    try:
        return await past.backfill(parts.engine, read, redaction.spans if redaction else list)
    finally:
        parts.close()


def inspected(
    settings: Settings, paths: Sequence[Path], name: str | None, mapping: Path | None
) -> Seen:
    """What the files hold, as the service would see it."""
    redaction = shown_redaction(settings)
    return inspect(
        paths,
        file_decoders(settings, name, mapping),
        evaluation(settings, redaction).evaluator.evaluate,
        lambda keep: Pipeline(keep, {}, pipeline_limits(settings)),
        redaction.spans if redaction else list,
    )
