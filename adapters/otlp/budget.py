"""The bytes that a receiver holds at one time, bounded before they are kept."""

from __future__ import annotations

from typing import Final

from monitor.errors import Overloaded

RETRY_AFTER_S: Final = 5


class ByteBudget:
    """What all requests of a receiver may hold together."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0


class Share:
    """One request's part of a budget, taken before the bytes are kept."""

    def __init__(self, budget: ByteBudget) -> None:
        self._budget = budget
        self._held = 0

    def reserve(self, size: int) -> None:
        """Grow the share to `size`. Raises Overloaded when the budget is spent."""
        more = size - self._held
        if more <= 0:
            return
        if self._budget.held + more > self._budget.limit:
            raise Overloaded("too many bytes are in flight; try again", RETRY_AFTER_S)
        self._budget.held += more
        self._held = size

    def shrink(self, size: int) -> None:
        """Give back what is beyond `size`."""
        if size < self._held:
            self._budget.held -= self._held - size
            self._held = size

    def release(self) -> None:
        """Give all of it back."""
        self.shrink(0)
