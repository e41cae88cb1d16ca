"""What people say of turns, beside what the monitor says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from monitor.config.section import Count, Section
from monitor.verdict import LabelledMetric


class LabelSettings(Section):
    """Human labels; off without a source."""

    files: tuple[Path, ...] = ()
    """Labels as JSON lines, read again whenever they change."""
    langfuse: bool = False
    """Read the annotation scores of the Langfuse server that `[langfuse]` names."""
    names: dict[str, LabelledMetric] = Field(default_factory=dict)
    """What a Langfuse score's name means, beside the sub-metrics' own names and `overall`."""
    interval_s: Annotated[float, Field(gt=0)] = 60.0
    keep_s: Annotated[float, Field(gt=0)] = 30 * 86_400.0
    """How long a closed conversation can still be labelled."""
    waiting: Count = 10_000
    """Labels kept whose conversation has not been seen; the oldest go first."""
    conversations: Count = 200_000
    """Closed conversations that can be labelled; the oldest go first."""
