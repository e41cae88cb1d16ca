"""Labels of people: from the sources that the settings name, into the ledger's book."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Final, NamedTuple

from monitor.agreement.pairs import LABELLED
from monitor.config import Settings
from monitor.entry_points import load_adapter
from monitor.ledger.database import Database
from monitor.ledger.label_book import LabelBook
from monitor.ports import Redaction
from monitor.roles.label_reader import Annotations, LabelReader, LabelSink, wall_clock
from monitor.verdict import HumanLabel, LabelledMetric

OWN_PREFIX: Final = "agent_monitor."


class LabelDesk(NamedTuple):
    """The sink that keeps what labels are held against, and the reader of labels."""

    sink: LabelSink
    reader: LabelReader


def label_desk(
    settings: Settings, database: Database, redaction: Redaction | None
) -> LabelDesk | None:
    """Where labels and verdicts meet; None where no source of labels is named."""
    chosen = settings.labels
    if not chosen.files and not chosen.langfuse:
        return None
    book = LabelBook(database, chosen.keep_s, chosen.waiting, chosen.conversations)
    reader = LabelReader(
        book,
        chosen.files,
        annotations_of(settings, redaction) if chosen.langfuse else None,
        rename=redaction.name if redaction else str,
        clock=wall_clock,
        interval_s=chosen.interval_s,
        keep_s=chosen.keep_s,
    )
    return LabelDesk(LabelSink(book, wall_clock), reader)


async def annotations_now(settings: Settings, redaction: Redaction | None) -> list[HumanLabel]:
    """All that people said so far. Raises BackendUnavailable and ConfigurationError."""
    counters: dict[str, int] = {}
    return [label async for label in annotations_of(settings, redaction)(0.0, counters)]


def annotations_of(settings: Settings, redaction: Redaction | None) -> Annotations:
    """The annotation scores of Langfuse, by the names that the settings give them."""
    names: dict[str, LabelledMetric] = {name: name for name in LABELLED}
    names |= {f"{OWN_PREFIX}{name}": name for name in LABELLED}
    names |= settings.labels.names
    read: Callable[..., AsyncIterator[HumanLabel]] = load_adapter("langfuse.opinions")

    def told(since_s: float, counters: dict[str, int]) -> AsyncIterator[HumanLabel]:
        return read(
            settings.langfuse.url,
            os.environ,
            names,
            clock=wall_clock,
            insecure=settings.langfuse.insecure,
            redaction=redaction,
            since=datetime.fromtimestamp(max(since_s, 0.0), UTC),
            counters=counters,
        )

    return told
