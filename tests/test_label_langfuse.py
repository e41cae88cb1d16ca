"""Annotation scores of Langfuse as labels, by the names that the settings give them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from langfuse_server import PUBLIC_KEY, SECRET_KEY, LangfuseServer, langfuse_server

from adapters.redaction.redactor import Redactor
from monitor.config import Settings
from monitor.ledger.database import Database
from monitor.wiring.labels import annotations_now, label_desk

TRACE = "ab" * 16


@pytest.fixture
async def langfuse(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LangfuseServer]:
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", PUBLIC_KEY)
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", SECRET_KEY)
    async with langfuse_server() as server:
        common = {"dataType": "BOOLEAN", "value": 1, "source": "ANNOTATION", "traceId": TRACE}
        rows: list[dict[str, Any]] = [
            {"id": "a1", "name": "answer is right", **common},
            {"id": "a2", "name": "agent_monitor.truthfulness", **common, "value": 0},
            {"id": "a3", "name": "tone", **common},
            {
                "id": "a4",
                "name": "overall",
                **common,
                "traceId": None,
                "sessionId": "a@example.org",
            },
        ]
        server.scores = {
            row["id"]: {**row, "timestamp": "2026-05-01T12:00:00.000Z"} for row in rows
        }
        yield server


def settings(server: LangfuseServer) -> Settings:
    return Settings.model_validate(
        {
            "langfuse": {"url": server.url},
            "labels": {"langfuse": True, "names": {"answer is right": "overall"}},
        }
    )


async def test_names_of_the_operators_own_and_ours_are_read(langfuse: LangfuseServer):
    redaction = Redactor(b"k" * 32)

    found = await annotations_now(settings(langfuse), redaction)

    told = {label.label_id: (label.sub_metric, label.value) for label in found}
    assert told == {
        "a1": ("overall", 1.0),
        "a2": ("truthfulness", 0.0),
        "a4": ("overall", 1.0),
    }
    names = {label.conversation_id for label in found}
    assert names == {None, redaction.name("a@example.org")}


async def test_a_desk_without_a_source_is_none_and_with_one_waits_for_verdicts(
    langfuse: LangfuseServer,
):
    db = Database.open(":memory:")
    assert label_desk(Settings(), db, None) is None

    desk = label_desk(settings(langfuse), db, None)
    assert desk is not None
    # The labels are older than what can still be labelled; a look from the beginning sees them.
    desk.reader._since_s = 0.0
    await desk.reader.look()

    assert desk.reader.counters == {"labels_read": 3, "labels_refused": 0}
    assert db.rows("SELECT count(*) FROM human_labels WHERE label IS NOT NULL") == [(3,)]
    db.close()
