"""A real Prometheus that holds what a monitor showed of seeded traffic, and the rules' records."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from asked_panels import Range
from prometheus_server import Prometheus, filled, recorded, serving
from seeded_traffic import PAGE_S, Seeded, fresh, seeded

RULES = Path(__file__).resolve().parents[1] / "deploy" / "rules"
PASSES = 3
"""Records that are made of records, which the promtool of one pass does not see."""


@contextmanager
def seeded_server(folder: Path) -> Iterator[tuple[Prometheus, Range]]:
    """After a swap that broke arguments, with a judge, labels and outcomes."""
    with _server(folder, seeded(folder)) as found:
        yield found


@contextmanager
def fresh_server(folder: Path) -> Iterator[tuple[Prometheus, Range]]:
    """Before anything was sent."""
    with _server(folder, fresh(folder)) as found:
        yield found


@contextmanager
def _server(folder: Path, scraped: Seeded) -> Iterator[tuple[Prometheus, Range]]:
    prometheus, promtool = _program("prometheus"), _program("promtool")
    filled(promtool, folder, scraped.samples)
    for _ in range(PASSES):
        with serving(prometheus, folder) as server:
            span = (scraped.start_s, scraped.end_s)
            recorded(promtool, server, folder, sorted(RULES.glob("*.yaml")), span)
    with serving(prometheus, folder) as server:
        yield server, Range(scraped.start_s, scraped.end_s, PAGE_S)


def _program(name: str) -> str:
    found = shutil.which(name)
    assert found, f"{name} is not installed"
    return found
