"""What a detector found."""

from __future__ import annotations

from typing import Final, NamedTuple

EDGE: Final = r"(?<![0-9A-Za-z_])(?<![0-9]\.)(?<![0-9]-)(?<![0-9A-Fa-f]{4}-)"
"""Where a number may begin. ASCII only: a Chinese character is no part of a number's word."""
END: Final = r"(?![0-9A-Za-z_])(?!-[0-9A-Za-z])(?!\.[0-9])"
"""Where a number may end."""


class Hit(NamedTuple):
    """A stretch of folded text that must go."""

    start: int
    end: int
    label: str
    value: str
    """Normal form: equal for two spellings of one value."""
