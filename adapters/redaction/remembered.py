"""A bounded memory of what became of texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

CHARACTER_LIMIT: Final = 4 * 1024 * 1024
"""Of the texts in one of the two generations."""
ENTRY_COST: Final = 100
"""What an entry takes beside its text, in characters."""


class Remembered(dict[str, str | None]):
    """What a function makes of a text, by text; None where it leaves the text as it is.

    Entries live in two generations: what is not asked for again goes with the older one. A dict,
    since asking for a known text must cost no call.
    """

    def __init__(self, work_out: Callable[[str], str], limit: int = CHARACTER_LIMIT) -> None:
        """`limit` bounds the characters in each generation."""
        super().__init__()
        self._work_out = work_out
        self._limit = limit
        self._size = 0
        self._older: dict[str, str | None] = {}

    def __missing__(self, text: str) -> str | None:
        if text in self._older:
            found = self._older.pop(text)
        else:
            made = self._work_out(text)
            found = None if made == text else made
        cost = len(text) + ENTRY_COST
        if cost <= self._limit // 16:
            if self._size + cost > self._limit:
                self._older, self._size = dict(self), 0
                self.clear()
            self[text] = found
            self._size += cost
        return found
