"""What falls due next, with one entry per name however often its deadline moves."""

from __future__ import annotations

import heapq
from collections.abc import Callable


class Deadlines:
    """A queue of names. A deadline that moved later is found out when its old time comes."""

    def __init__(self, deadline_of: Callable[[str], float | None]) -> None:
        """`deadline_of` tells a name's present deadline, None when it has none any more."""
        self._deadline_of = deadline_of
        self._heap: list[tuple[float, str]] = []
        self._queued: dict[str, float] = {}

    def add(self, name: str, deadline: float) -> None:
        """Watch a name; also when its deadline has moved earlier."""
        queued = self._queued.get(name)
        if queued is None or deadline < queued:
            self._queued[name] = deadline
            heapq.heappush(self._heap, (deadline, name))

    def next(self) -> tuple[float, str] | None:
        """The earliest deadline and its name; equal times by name."""
        while self._heap:
            when, name = self._heap[0]
            if self._queued.get(name) != when:
                heapq.heappop(self._heap)
                continue
            present = self._deadline_of(name)
            if present == when:
                return when, name
            heapq.heappop(self._heap)
            del self._queued[name]
            if present is not None:
                self.add(name, present)
        return None

    def pop(self, now: float | None = None) -> str | None:
        """Take the next name out; only one that is due, when `now` is given."""
        found = self.next()
        if found is None or (now is not None and found[0] > now):
            return None
        heapq.heappop(self._heap)
        del self._queued[found[1]]
        return found[1]
