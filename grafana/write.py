"""Writes the dashboards as JSON: `python -m grafana.write [FOLDER]`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from grafana.chains import chains
from grafana.compare import compare
from grafana.health import health
from grafana.judge import judge
from grafana.overview import overview
from grafana.reasons import reasons

PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "overview.json": overview,
    "compare.json": compare,
    "reasons.json": reasons,
    "chains.json": chains,
    "judge.json": judge,
    "health.json": health,
}


def write(folder: Path) -> None:
    """Every page into the folder."""
    for name, build in PAGES.items():
        (folder / name).write_text(build(), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
