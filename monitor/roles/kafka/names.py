"""The topics and groups between the roles, by name."""

from __future__ import annotations

from typing import Final, NamedTuple

STATE_KEEP_S: Final = 600.0
"""For so long no old state is compacted away, so that a half-written step can be told."""


class Names(NamedTuple):
    """Every name under one prefix."""

    source: str
    prefix: str

    @property
    def traces(self) -> str:
        """Spans by trace."""
        return f"{self.prefix}.traces"

    @property
    def conversations(self) -> str:
        """Closed traces, and what judges said, by conversation."""
        return f"{self.prefix}.conversations"

    @property
    def reports(self) -> str:
        """What each step came to: reports, counts and gauges."""
        return f"{self.prefix}.reports"

    @property
    def cases(self) -> str:
        """Conversations drawn for the judge."""
        return f"{self.prefix}.judge-cases"

    @property
    def dead_letters(self) -> str:
        """What could not be worked on."""
        return f"{self.prefix}.dead-letters"

    @property
    def workers(self) -> str:
        """The group of the workers."""
        return f"{self.prefix}.workers"

    @property
    def export(self) -> str:
        """The group under which an export shows its place."""
        return f"{self.prefix}.export"

    @property
    def judge(self) -> str:
        """The group of the judge."""
        return f"{self.prefix}.judge"

    def state(self, topic: str) -> str:
        """The state of the stage that reads a topic, as a log of changes."""
        return f"{topic}-state"
