"""The export tells Alertmanager of pages as the sidecar does, and shows what came of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.config import Settings
from monitor.roles.pager import Pager

pytest.importorskip("kafka")
pytest.importorskip("aiokafka")


def settings(tmp_path: Path, url: str | None = "http://127.0.0.1:9093") -> Settings:
    return Settings.model_validate(
        {
            "ledger": {"path": tmp_path / "ledger.sqlite3"},
            "redaction": {"enabled": False},
            "embedding": {"backend": "none"},
            "alerts": {"alertmanager_url": url},
        }
    )


def pagers(role: object) -> list[Pager]:
    return [each for each in role._companions if isinstance(each, Pager)]  # type: ignore[attr-defined]


def test_the_export_shows_pages_that_alertmanager_did_not_take(tmp_path: Path) -> None:
    from monitor.wiring.kafka_roles import export

    role, pages = export(settings(tmp_path))
    (pager,) = pagers(role)
    pager.counters["alerts_failed"] = 2

    page = pages._render_metrics("")[0].decode()

    assert 'agent_monitor_events_total{event="alerts_failed"} 2.0' in page


@pytest.mark.parametrize(
    ("url", "standby"), [(None, False), ("http://127.0.0.1:9093", True)], ids=["unasked", "standby"]
)
def test_an_export_without_an_address_and_a_standby_tell_nobody(
    tmp_path: Path, url: str | None, standby: bool
) -> None:
    from monitor.wiring.kafka_roles import export

    role, _ = export(settings(tmp_path, url), standby=standby)

    assert pagers(role) == []
