"""Every scrape of the export, and whether a counter has ever fallen."""

from __future__ import annotations

import re

OF_THE_PROCESS = re.compile(r"^(process_|python_|agent_monitor_(faults|scrape|scoring_lag))")
"""Counters that begin anew with the process; they must not fall within one."""


class Scrapes:
    """Remembers the highest value of each counter's sample."""

    def __init__(self) -> None:
        self.count = 0
        self.processes: set[int] = set()
        self.falls: list[str] = []
        self._highest: dict[str, float] = {}
        self._process: int | None = None

    def add(self, process: int, text: str) -> None:
        """One page of a process."""
        self.count += 1
        self.processes.add(process)
        same = process == self._process
        self._process = process
        now = dict(counters(text))
        for name, value in now.items():
            if value < self._highest.get(name, 0.0) and (same or not OF_THE_PROCESS.match(name)):
                self.falls.append(f"{name}: {self._highest[name]} to {value}")
            self._highest[name] = value
        gone = [name for name in self._highest if name not in now]
        if same:
            self.falls += [f"{name}: gone" for name in gone]


def counters(text: str) -> list[tuple[str, float]]:
    """Samples of counters and of histograms' counts."""
    kinds: dict[str, str] = {}
    found: list[tuple[str, float]] = []
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, family, kind = line.split()
            kinds[family] = kind
        elif line and not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            bare = name.partition("{")[0]
            family = bare if bare in kinds else re.sub(r"_(total|bucket|count|sum)$", "", bare)
            if kinds.get(family) in ("counter", "histogram"):
                found.append((name, float(value)))
    return found
