"""Names of places: a city with or without its state, abbreviations of both."""

from __future__ import annotations

import re
from typing import Final

from monitor.comparison.rung import different, same
from monitor.comparison.tables import PLACES, STATES
from monitor.comparison.words import folded
from monitor.verdict import Similarity

_STATE_NAMES: Final = frozenset(name.replace("_", " ") for name in STATES.values())
_GENERIC: Final = re.compile(r"\b(?:the|city of|downtown|greater|area)\b\s*")


def same_place(expected: str, actual: str) -> Similarity | None:
    """Whether both name one place; None when the names leave it open.

    Parts that both tell must agree; a part that one leaves out (state, country) is no difference.
    """
    first, second = _parts(expected), _parts(actual)
    if not first or not second or any(char.isdigit() for char in expected + actual):
        return None
    if first == second:
        return same("place")
    if first[0] != second[0]:
        return _other_place(first, second)
    shared = list(zip(first[1:], second[1:], strict=False))
    if all(_one_region(one, other) for one, other in shared):
        return same("place")
    return different("place")


def _other_place(first: list[str], second: list[str]) -> Similarity | None:
    if len(first[0].split()) > 3 or len(second[0].split()) > 3:
        return None
    if first[0] in second[0] or second[0] in first[0]:
        return None
    # A code of two or three letters may stand for anything; only tables can tell.
    if min(len(first[0]), len(second[0])) <= 3:
        return None
    return None


def _parts(text: str) -> list[str]:
    parts = [part.strip() for part in folded(text).split(",")]
    named = [_GENERIC.sub("", part).strip() for part in parts if part]
    if not named:
        return []
    head = PLACES.get(named[0], named[0])
    return [head, *(_region(part) for part in named[1:])]


def _region(part: str) -> str:
    state = STATES.get(part)
    return state.replace("_", " ") if state else PLACES.get(part, part)


def _one_region(one: str, other: str) -> bool:
    if one == other:
        return True
    # "Paris, France" against "Paris, Texas" differ; a state and its country do not.
    return (one in _STATE_NAMES) != (other in _STATE_NAMES) and "united states" in (one, other)
