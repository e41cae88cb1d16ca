"""Argument pairs that change nothing: what `new_items` puts in the place of the same in `items`."""

from __future__ import annotations

from typing import Final

from monitor.model import JsonValue
from monitor.scoring.values import same

NEW: Final = "new_"
"""So begins the name of the list whose entries take the place of those of the other list."""


def without_idle(arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The arguments without the entries that are replaced by themselves."""
    kept = arguments
    for name, new in arguments.items():
        old = arguments.get(name.removeprefix(NEW)) if name.startswith(NEW) else None
        if not isinstance(old, list) or not isinstance(new, list) or len(old) != len(new):
            continue
        pairs = [*zip(old, new, strict=True)]
        busy = [pair for pair in pairs if not same(*pair)]
        if len(busy) < len(pairs):
            left, right = [pair[0] for pair in busy], [pair[1] for pair in busy]
            kept = {**kept, name.removeprefix(NEW): left, name: right}
    return kept
