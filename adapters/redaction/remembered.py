"""A bounded memory of what was worked out before."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

T = TypeVar("T")

CHARACTER_LIMIT: Final = 4 * 1024 * 1024
"""Of the keys in one generation."""
ENTRY_COST: Final = 64


class Remembered(Generic[T]):
    """Two generations of entries; what is not asked for again goes with the older one."""

    def __init__(self, limit: int = CHARACTER_LIMIT) -> None:
        """`limit` bounds the characters of the keys in each generation."""
        self._limit = limit
        self._size = 0
        self._young: dict[str, T] = {}
        self._old: dict[str, T] = {}

    def find(self, key: str) -> T | None:
        """What was kept for the key."""
        found = self._young.get(key)
        if found is None and self._old:
            found = self._old.pop(key, None)
            if found is not None:
                self.keep(key, found)
        return found

    def keep(self, key: str, value: T) -> None:
        """Keep a value; a key beyond the limit's sixteenth is not worth its place."""
        cost = len(key) + ENTRY_COST
        if cost > self._limit // 16:
            return
        if self._size + cost > self._limit:
            self._old, self._young, self._size = self._young, {}, 0
        self._young[key] = value
        self._size += cost
