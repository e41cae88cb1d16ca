"""The direct way from evidence to Alertmanager."""

from __future__ import annotations

from collections.abc import Callable

from monitor.alerting.pages import Policy
from monitor.backends.alertmanager import Alertmanager
from monitor.config import Settings
from monitor.exposition.live import LagGauge
from monitor.ledger.snapshot import Totals
from monitor.roles.pager import Pager
from monitor.roles.position_file import PositionFile
from monitor.wiring.engines import Parts


def alertmanager(settings: Settings) -> Alertmanager | None:
    """The client that the settings name; None without an address. Raises ConfigurationError."""
    given = settings.alerts
    if given.alertmanager_url is None:
        return None
    token = None if given.token is None else given.token.get_secret_value()
    return Alertmanager(given.alertmanager_url, token, given.timeout_s, insecure=given.insecure)


def pager(settings: Settings, parts: Parts) -> Pager | None:
    """What tells of pages; None without an address."""
    client = alertmanager(settings)
    if client is None:
        return None
    given, ledger = settings.alerts, settings.ledger.path

    def totals() -> Totals:
        # A page is rare, so it may open the file for itself.
        reader = parts.stores.database.reader()
        try:
            return parts.stores.ledger.totals(reader)
        finally:
            reader.close()

    return Pager(
        client,
        PositionFile(ledger.with_name(f"{ledger.name}.alerts")),
        lambda: parts.engine.shown,
        totals,
        Policy(given.labels, given.runbook, given.repeat_s),
    )


def observing(lag: LagGauge, told: Pager | None) -> Callable[[float], None]:
    """What each commit's reports are told to: a page is looked for as soon as one is due."""
    if told is None:
        return lag.observe

    def observe(lag_s: float) -> None:
        lag.observe(lag_s)
        told.wake()

    return observe
