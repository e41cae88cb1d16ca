"""The rules of `deploy/rules`, as Prometheus reads them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parents[1] / "deploy" / "rules"


@cache
def rules() -> tuple[dict[str, Any], ...]:
    """Every rule of every file."""
    files = [yaml.safe_load(path.read_text()) for path in sorted(FOLDER.glob("*.yaml"))]
    return tuple(rule for file in files for group in file["groups"] for rule in group["rules"])


def recorded() -> set[str]:
    """What the recording rules make."""
    return {rule["record"] for rule in rules() if "record" in rule}
