"""The sources and sinks of hosted backends that the settings name."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from monitor.backends.jsonl_sink import JsonlSink
from monitor.config import Settings
from monitor.entry_points import load_adapter
from monitor.errors import ConfigurationError
from monitor.ports import Accept, Sink
from monitor.roles.embedded import CountingReceiver
from monitor.roles.position_file import PositionFile


def hosted_receivers(settings: Settings) -> list[CountingReceiver]:
    """The pollers and export readers that the settings ask for, not yet reading."""
    langfuse = settings.langfuse
    found: list[CountingReceiver] = []
    if langfuse.poll:
        place = _position(settings.ledger.path, "langfuse-poll")
        found.append(
            load_adapter("langfuse.poll")(
                langfuse.url,
                os.environ,
                clock=time.time,
                keep=place.keep,
                position=place.read(),
                insecure=langfuse.insecure,
                environment=langfuse.environment,
                **_attributes(settings),
            )
        )
    if langfuse.blob_bucket:
        if not langfuse.blob_project:
            raise ConfigurationError("langfuse.blob_bucket needs `blob_project`, the project's id")
        place = _position(settings.ledger.path, "langfuse-blob")
        found.append(
            load_adapter("langfuse.blob")(
                langfuse.blob_bucket,
                langfuse.blob_project,
                keep=place.keep,
                prefix=langfuse.blob_prefix,
                position=place.read(),
                region=langfuse.blob_region,
                endpoint_url=langfuse.blob_endpoint_url,
                **_attributes(settings),
            )
        )
    return found


def sinks(settings: Settings) -> list[Sink]:
    """Where closed reports go."""
    files: list[Sink] = [JsonlSink(settings.sinks.jsonl)] if settings.sinks.jsonl else []
    return [*files, *score_sinks(settings)]


def score_sinks(settings: Settings) -> list[Sink]:
    """Where verdicts are written back as scores."""
    langfuse = settings.langfuse
    if not langfuse.scores:
        return []
    named = {"environment": langfuse.environment} if langfuse.environment else {}
    scores = load_adapter("langfuse.scores")
    return [scores(langfuse.url, os.environ, clock=time.time, insecure=langfuse.insecure, **named)]


async def read_past(
    settings: Settings,
    accept: Accept,
    start: datetime,
    end: datetime,
    progress: Callable[[Any], None],
    notice: Callable[[str], None],
    counters: dict[str, int],
) -> None:
    """Hand on what Langfuse recorded between two times, oldest first.

    `notice` is told, in words for a person, when the server keeps it waiting.
    """
    langfuse = settings.langfuse
    await load_adapter("langfuse.backfill")(
        langfuse.url,
        os.environ,
        accept,
        start,
        end,
        clock=time.time,
        progress=progress,
        notice=notice,
        insecure=langfuse.insecure,
        environment=langfuse.environment,
        counters=counters,
        **_attributes(settings),
    )


def _position(ledger: Path, name: str) -> PositionFile:
    return PositionFile(ledger.with_name(f"{ledger.name}.{name}"))


def _attributes(settings: Settings) -> dict[str, str | None]:
    otlp = settings.otlp
    return {
        "conversation_attribute": otlp.conversation_attribute,
        "release_attribute": otlp.release_attribute,
    }
