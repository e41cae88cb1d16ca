"""What a rung of the ladder is: it decides a pair of values, or passes it on."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from monitor.comparison.kinds import Kind
from monitor.model import JsonValue
from monitor.ports import Hint
from monitor.verdict import Similarity


class Pair(NamedTuple):
    """Two values on their way up the ladder, neither an object nor a list."""

    expected: JsonValue
    actual: JsonValue
    kind: Kind
    hint: Hint


class Rung(Protocol):
    """One way of comparing. Pure but for caches; never raises on data."""

    version: str

    def compare(self, pair: Pair) -> Similarity | None:
        """The decision, a score of None included; None alone passes the pair on."""
        ...


def same(why: str) -> Similarity:
    """Decided: the values mean the same."""
    return Similarity(1.0, why)


def different(why: str) -> Similarity:
    """Decided: the values do not mean the same."""
    return Similarity(0.0, why)


def unsure(why: str = "unsure") -> Similarity:
    """Decided that it cannot be said: no later rung may overrule it."""
    return Similarity(None, why)


def decided(verdict: bool | None, why: str) -> Similarity:
    """The similarity of a yes, a no, or a cannot say."""
    if verdict is None:
        return unsure(f"{why}: unsure")
    return same(why) if verdict else different(why)
