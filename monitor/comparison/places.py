"""Names of places: a city with or without its state, abbreviations of both."""

from __future__ import annotations

import re
from typing import Final

from monitor.comparison.tables import PLACES, STATES
from monitor.comparison.text import plain
from monitor.comparison.words import folded

_STATE_NAMES: Final = frozenset(name.replace("_", " ") for name in STATES.values())
_GENERIC: Final = re.compile(r"^(?:the|city of|downtown|greater)\s+|\s+(?:state|area)$")
_SAINT: Final = re.compile(r"^st\s+")


def same_place(expected: str, actual: str) -> bool | None:
    """Whether both name one place; None when the names do not tell.

    Parts that both tell must agree; a part that one leaves out is no difference. A state beside a
    country leaves it open.
    """
    first, second = _parts(expected), _parts(actual)
    if not first or not second or any(char.isdigit() for char in expected + actual):
        return None
    if not _one_head(first[0], second[0]):
        return None
    regions = [_one_region(o, a) for o, a in zip(first[1:], second[1:], strict=False)]
    if False in regions:
        return False
    return None if None in regions else True


def _parts(text: str) -> list[str]:
    parts = [part.strip() for part in plain(folded(text)).replace(".", "").split(",")]
    return [_SAINT.sub("saint ", _GENERIC.sub("", part)) for part in parts if part]


def _one_head(one: str, other: str) -> bool:
    if PLACES.get(one, one) == PLACES.get(other, other):
        return True
    return _state(one) is not None and _state(one) == _state(other)


def _one_region(one: str, other: str) -> bool | None:
    if _state(one) is not None and _state(other) is not None:
        return _state(one) == _state(other)
    first, second = PLACES.get(one, one), PLACES.get(other, other)
    if first == second:
        return True
    # "Paris, France" against "Paris, Texas" differ; the country leaves the state open.
    within = "united states" in (first, second) and (_state(one) or _state(other)) is not None
    return None if within else False


def _state(text: str) -> str | None:
    name = STATES.get(text, text).replace("_", " ")
    return name if name in _STATE_NAMES else None
