"""Tells work that gets nowhere from work that has only just come."""

from __future__ import annotations

from collections.abc import Hashable


class Stalls:
    """Watches places where work waits; it must be asked now and then."""

    def __init__(self, stalled_s: float) -> None:
        self._stalled_s = stalled_s
        self._seen: dict[Hashable, tuple[int | None, float]] = {}
        """By place, what was done last, and since when work has waited behind it."""

    def is_stalled(self, place: Hashable, done: int | None, now: float, *, waits: bool) -> bool:
        """Whether work has waited there for too long, and nothing was done meanwhile."""
        known, since = self._seen.get(place, (done, now))
        if known != done or not waits:
            since = now
        self._seen[place] = done, since
        return now - since > self._stalled_s
