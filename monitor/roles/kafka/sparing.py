"""Keeps the clients' libraries from saying one thing over and over while a broker is away."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection
from typing import Final

EVERY_S: Final = 60.0
KINDS: Final = 256


class Sparing(logging.Filter):
    """Lets each kind of line of some libraries through once a minute, with how many it stands for.

    A kind is the line before its values are put in; another kind is never held back for it.
    """

    def __init__(
        self, libraries: Collection[str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self._libraries = frozenset(libraries)
        self._clock = clock
        self._said: dict[tuple[str, object], tuple[float, int]] = {}
        """By kind: when it was let through last, and how often it was held back since."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it is to be said now."""
        if record.name.partition(".")[0] not in self._libraries:
            return True
        kind, now = (record.name, record.msg), self._clock()
        at, held = self._said.get(kind, (-EVERY_S, 0))
        if now - at < EVERY_S:
            self._said[kind] = at, held + 1
            return False
        if len(self._said) >= KINDS:
            self._said.clear()
        self._said[kind] = now, 0
        if held:
            record.msg = f"{record.getMessage()} (and {held} more of its kind since the last)"
            record.args = ()
        return True
