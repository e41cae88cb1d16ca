"""When one release counts as worse than another."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from monitor.config.section import Count, Seconds, Section, Unit


class ReleaseSettings(Section):
    """Comparison of releases. The defaults are those whose false alarms were measured."""

    swap_conversations: Count = 50
    """Of a new release, before it is compared."""
    baseline_conversations: Count = 2_000
    """Of an old release, before its history is a baseline."""
    tolerance: Unit = 0.005
    """Rise of root failures per turn that is borne when there is no concurrent control."""
    page_evidence: Annotated[float, Field(gt=1)] = 200.0
    """Under no change, evidence exceeds this once in so many releases, however often one looks."""
    retire_after_s: Seconds = 14 * 86_400.0
    """After this silence a release's series end; its history stays a baseline."""
    monthly_conversations: Count = 60_000
    """Of the traffic that is watched; with the next setting it gives the drift threshold."""
    monthly_drift_alarms: Annotated[float, Field(gt=0)] = 0.01
    """False alarms of silent drift that are borne in a month."""
    from_tools: bool = False
    """Name releases that declare none by their tools' names and schemas. For applications whose
    tools change with a release only; where they change with the request, it would split one."""
    intents: Annotated[tuple[str, ...] | None, Field(max_length=8)] = None
    """Phrases for the kinds of requests, so that each is compared with its like: the first request
    counts as the nearest one. Unset: eight that suit most trades; empty: all count as one kind."""
