"""Runs a labelled set through the product, each way through the command that users have for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from monitor import chosen
from monitor.config import Settings
from monitor.roles import batch
from monitor.roles.labelled_sets import LabelledSet, Way, by_dialog, reports_in
from monitor.verdict import Report
from monitor.wiring.decoders import file_decoders
from monitor.wiring.engines import engine


def set_runner(
    settings: Settings, folder: Path, *, progress: bool
) -> Callable[[LabelledSet, Way], Mapping[str, Report]]:
    """Reports of a set one way, kept in the folder as `SET.WAY.jsonl`.

    The set's own tools and references are added to what the settings name.
    """

    def run(labelled: LabelledSet, way: Way) -> Mapping[str, Report]:
        own = _settings(settings, labelled, way)
        out = folder / f"{labelled.name}.{way}.jsonl"
        if way == "dialogs" and labelled.dialogs:
            evaluate = chosen.dialog_evaluation(own)
            batch.score([labelled.dialogs], evaluate, out, progress=progress)
        elif labelled.traces:
            _replay(own, labelled.traces, out, folder / "replay.sqlite3", progress=progress)
        return by_dialog(reports_in(out))

    return run


def _replay(settings: Settings, traces: Path, out: Path, ledger: Path, *, progress: bool) -> None:
    # Redacted under a key that is everywhere the same, so that the figures are too.
    redaction = chosen.shown_redaction(settings)
    ledger.unlink(missing_ok=True)
    parts = engine(settings, ledger, durable=False, redaction=redaction)
    try:
        batch.replay(
            [traces],
            file_decoders(settings),
            parts.engine,
            out,
            progress=progress,
            redact=redaction.spans if redaction else list,
        )
    finally:
        parts.close()
        for rest in ledger.parent.glob(f"{ledger.name}*"):
            rest.unlink()


def _settings(settings: Settings, labelled: LabelledSet, way: Way) -> Settings:
    changes: dict[str, Any] = {}
    if labelled.tools:
        files = (*settings.tools.files, labelled.tools)
        changes["tools"] = settings.tools.model_copy(update={"files": files})
    if way == "references":
        by_id = (*settings.references.by_id, labelled.references)
        changes["references"] = settings.references.model_copy(update={"by_id": by_id})
    return settings.model_copy(update=changes)
