"""Who is told at once that a release got worse."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, SecretStr

from monitor.config.section import Section

LabelName = Annotated[str, Field(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$", max_length=128)]
LabelValue = Annotated[str, Field(min_length=1, max_length=128)]


class AlertSettings(Section):
    """Pages that go to Alertmanager directly; off without an address.

    The rules of Prometheus raise the same alerts a few seconds later, and Alertmanager takes the
    two for one where their labels agree. A page leaves with the commit that found it, so
    `ledger.commit_interval_s` is the most that it waits.
    """

    alertmanager_url: str | None = None
    """Base address of an Alertmanager, to which /api/v2/alerts is added."""
    insecure: bool = False
    """Allow plain http to another machine."""
    token: SecretStr | None = None
    """Sent as a bearer token; set it in the environment."""
    labels: Annotated[dict[LabelName, LabelValue], Field(max_length=16)] = Field(
        default_factory=lambda: {"job": "agent-monitor"}
    )
    """What Prometheus adds to the alerts of the rules: the scrape's job, its external labels."""
    runbook: Annotated[str, Field(max_length=512)] = "deploy/runbook.md"
    """Where the runbook can be read; alerts link to their section."""
    repeat_s: Annotated[float, Field(ge=1, le=3600)] = 60.0
    """An alert is told again so often; Alertmanager ends it when four of these were missed."""
    timeout_s: Annotated[float, Field(gt=0, le=60)] = 5.0
