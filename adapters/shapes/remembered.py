"""A bounded memory of what was made of texts, for histories that come again with every call."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, Generic, TypeVar

T = TypeVar("T")
CHARACTERS: Final = 2 * 1024 * 1024
"""Of the texts in one of the two generations."""
ENTRY_COST: Final = 200
"""What an entry takes beside its text, in characters."""


class Remembered(Generic[T]):
    """Values by what they were made of. What is not asked for again goes with the older generation.

    The values are shared by all who ask, so they must be frozen, as everything of the model is.
    """

    def __init__(self, characters: int = CHARACTERS) -> None:
        self._characters = characters
        self._size = 0
        self._newer: dict[Hashable, T] = {}
        self._older: dict[Hashable, T] = {}

    def known(self, key: Hashable) -> T | None:
        """The value; None when it is not remembered. Raises TypeError for keys without a hash."""
        found = self._newer.get(key)
        if found is not None:
            return found
        found = self._older.get(key)
        if found is not None:
            # Its cost is not counted again, so the older generation's bound holds for it too.
            self._newer[key] = found
        return found

    def keep(self, key: Hashable, value: T, characters: int) -> None:
        """Remember a value that is made of so many characters, unless it is out of proportion."""
        cost = characters + ENTRY_COST
        if cost > self._characters // 16:
            return
        if self._size + cost > self._characters:
            self._older, self._newer, self._size = self._newer, {}, 0
        self._newer[key] = value
        self._size += cost
