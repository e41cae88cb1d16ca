"""A bounded memory of what became of texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

CHARACTER_LIMIT: Final = 4 * 1024 * 1024
"""Of the texts in one of the two generations."""
ENTRY_COST: Final = 100
"""What an entry takes beside its text, in characters."""


class Remembered(dict[str, T | None]):
    """What a function makes of a text, by text; None where it leaves the text as it is.

    Entries live in two generations: what is not asked for again goes with the older one. A dict,
    since asking for a known text must cost no call.
    """

    def __init__(self, work_out: Callable[[str], T | None], limit: int = CHARACTER_LIMIT) -> None:
        """`limit` bounds the characters in each generation."""
        super().__init__()
        self._work_out = work_out
        self._limit = limit
        self._size = 0
        self._older: dict[str, T | None] = {}

    def __missing__(self, text: str) -> T | None:
        found = self._older.pop(text) if text in self._older else self._work_out(text)
        cost = len(text) + ENTRY_COST
        if cost <= self._limit // 16:
            if self._size + cost > self._limit:
                self._older, self._size = dict(self), 0
                self.clear()
            self[text] = found
            self._size += cost
        return found
