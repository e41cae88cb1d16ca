"""Records that could not be worked on: where they are, why, and what they held."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from monitor.codec import VERSION, reader_of, seal, unseal

WHY_LENGTH: Final = 300


class DeadLetter(msgspec.Struct, frozen=True, array_like=True):
    """One record that was set aside. Its identity is its topic, partition and offset."""

    topic: str
    partition: int
    offset: int
    at: float
    why: str
    """What kind of error it was, and where; no content."""
    key: bytes | None = None
    value: bytes | None = None
    """None where it is not redacted, or too large: it still stands in its topic."""
    size: int = 0
    headers: Mapping[str, bytes] = {}

    @property
    def name(self) -> str:
        """Its identity in one word."""
        return f"{self.topic}/{self.partition}/{self.offset}"


def written(letter: DeadLetter) -> bytes:
    """The value of its record."""
    return seal(b"d", letter)


def letter_of(value: bytes) -> DeadLetter:
    """The letter of a record's value. Raises StateError."""
    return unseal(b"d", value, _LETTERS)


_LETTERS: Final = {VERSION: reader_of(DeadLetter)}
