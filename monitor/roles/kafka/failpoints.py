"""Where a test can have the process die, between two promises; in production there is none.

`AGENT_MONITOR_FAILPOINT=after_output`, `after_state` or `after_source`, with `:N` behind it for the
N-th time that the point is passed.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from monitor.errors import ConfigurationError

VARIABLE: Final = "AGENT_MONITOR_FAILPOINT"
DIED: Final = 86

Point: TypeAlias = Literal["after_output", "after_state", "after_source"]
POINTS: Final = ("after_output", "after_state", "after_source")


class Failpoints:
    """Dies at the point that the environment names, without farewell."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        """Raises ConfigurationError for a point that there is not."""
        name, _, times = environment.get(VARIABLE, "").partition(":")
        if name and (name not in POINTS or not (times or "1").isdigit()):
            raise ConfigurationError(f"{VARIABLE} knows {', '.join(POINTS)}, each with `:N` or not")
        self.point, self._times = name, int(times or 1)
        self._passed: Counter[str] = Counter()

    def passed(self, point: Point) -> None:
        """The process is at the point."""
        if point != self.point:
            return
        self._passed[point] += 1
        if self._passed[point] >= self._times:
            os._exit(DIED)
