"""Which trace continues which, among those that name no conversation."""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from monitor.assembly.stitching import Footprint

COMMON: Final = 16
"""An ending that more traces share is common, and joins nothing."""
PLACED_ANEW: Final = 500
"""As many later traces may move for one that comes late; those beyond stay where they are."""

_Order: TypeAlias = tuple[int, int, str]
"""Start, blocks of history, trace id."""


class Stitch:
    """A trace in the index. Its conversation is named after the trace that `root` tells."""

    __slots__ = ("children", "footprint", "order", "parent", "root", "trace_id")

    def __init__(
        self, trace_id: str, footprint: Footprint, parent: str | None = None, root: str = ""
    ) -> None:
        self.trace_id = trace_id
        self.footprint = footprint
        self.order: _Order = (footprint.start_ns, footprint.length, trace_id)
        self.parent = parent
        self.root = root or trace_id
        self.children: list[_Order] = []


class Stitches:
    """Each trace's place depends on earlier traces only, earlier by the trace's own clock.

    So the places are the same for any order of arrival, and traces that arrive in order never
    move. A trace continues one that offers the longest beginning of its history. Where several
    offer it, those that were continued before step back; if those left are of several
    conversations, the trace joins none: equal openings are no evidence. Where all were continued,
    it is a branch (words asked anew, or a side question) of the one conversation, if it is one.
    """

    def __init__(self) -> None:
        self._known: dict[str, Stitch] = {}
        self._offered: dict[bytes, list[_Order]] = {}
        self._sought: dict[bytes, list[_Order]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def find(self, trace_id: str) -> Stitch | None:
        """The trace, if it is in the index."""
        return self._known.get(trace_id)

    def oldest(self) -> str:
        """The trace that has been in the index longest."""
        return next(iter(self._known))

    def restore(self, stitch: Stitch) -> None:
        """Take a trace in where it was before; `link` must follow."""
        self._enter(stitch)

    def link(self) -> None:
        """After all were restored: tell every parent its children."""
        for stitch in self._known.values():
            self._link(stitch, stitch.parent)

    def put(self, trace_id: str, footprint: Footprint) -> list[Stitch]:
        """Take a trace in, in place of what was known of it; it, and all placed anew for it."""
        known = self._known.get(trace_id)
        if known is not None and known.footprint == footprint:
            return []
        moved = {stitch.trace_id: stitch for stitch in self.remove(trace_id)}
        stitch = Stitch(trace_id, footprint)
        self._enter(stitch)
        self._place(stitch)
        moved |= {other.trace_id: other for other in self._settle_after([stitch])}
        return [stitch, *(other for other in moved.values() if other is not stitch)]

    def remove(self, trace_id: str) -> list[Stitch]:
        """Take a trace out that tells something else now; all placed anew for it."""
        stitch = self._known.get(trace_id)
        if stitch is None:
            return []
        parent = self._known.get(stitch.parent or "")
        self.drop(trace_id)
        for order in stitch.children:
            self._known[order[2]].parent = None
        later = [*self._later(stitch, stitch), *self._later(parent, stitch)]
        return self._settle(later)

    def drop(self, trace_id: str) -> None:
        """Forget a trace whose conversation is over; what continued it stays where it is."""
        stitch = self._known.pop(trace_id, None)
        if stitch is None:
            return
        for keys, table in (
            (stitch.footprint.offers, self._offered),
            (stitch.footprint.seeks, self._sought),
        ):
            for key in keys:
                _take_out(table[key], stitch.order)
                if not table[key]:
                    del table[key]
        parent = self._known.get(stitch.parent or "")
        if parent is not None:
            _take_out(parent.children, stitch.order)

    def _enter(self, stitch: Stitch) -> None:
        self._known[stitch.trace_id] = stitch
        for key in stitch.footprint.offers:
            insort(self._offered.setdefault(key, []), stitch.order)
        for key in stitch.footprint.seeks:
            insort(self._sought.setdefault(key, []), stitch.order)

    def _link(self, stitch: Stitch, parent: str | None) -> None:
        before = self._known.get(stitch.parent or "")
        if before is not None:
            _take_out(before.children, stitch.order)
        stitch.parent = parent
        after = self._known.get(parent or "")
        if after is not None:
            insort(after.children, stitch.order)

    def _settle_after(self, changed: Iterable[Stitch]) -> list[Stitch]:
        later: list[Stitch] = []
        for stitch in changed:
            later += self._later(stitch, stitch)
            later += self._later(self._known.get(stitch.parent or ""), stitch)
        return self._settle(later)

    def _settle(self, stitches: Iterable[Stitch]) -> list[Stitch]:
        """Place the traces anew, and what depends on them, in their order; those that changed."""
        queue = list({stitch.order for stitch in stitches})
        heapq.heapify(queue)
        queued, moved, left = set(queue), list[Stitch](), PLACED_ANEW
        while queue and left:
            left -= 1
            order = heapq.heappop(queue)
            queued.discard(order)
            stitch = self._known.get(order[2])
            parent = self._known.get((stitch and stitch.parent) or "")
            if stitch is None or not self._place(stitch):
                continue
            moved.append(stitch)
            for source in (stitch, parent, self._known.get(stitch.parent or "")):
                for other in self._later(source, stitch):
                    if len(queued) < left and other.order not in queued:
                        queued.add(other.order)
                        heapq.heappush(queue, other.order)
        return moved

    def _later(self, source: Stitch | None, stitch: Stitch) -> Iterator[Stitch]:
        """Traces after `stitch` that may continue `source`."""
        for key in source.footprint.offers if source is not None else ():
            orders = self._sought.get(key, ())
            start = bisect_right(orders, stitch.order)
            for order in orders[start : start + PLACED_ANEW]:
                yield self._known[order[2]]

    def _place(self, stitch: Stitch) -> bool:
        """Find the trace's place; whether it is another one than before."""
        if stitch.parent is not None and stitch.parent not in self._known:
            # What it continued is over and forgotten; the evidence is gone, the place stays.
            return False
        source = self._source(stitch)
        parent = None if source is None else source.trace_id
        root = stitch.trace_id if source is None else source.root
        if (parent, root) == (stitch.parent, stitch.root):
            return False
        self._link(stitch, parent)
        stitch.root = root
        return True

    def _source(self, stitch: Stitch) -> Stitch | None:
        for key in stitch.footprint.seeks:
            orders = self._offered.get(key)
            if not orders:
                continue
            end = bisect_left(orders, stitch.order)
            if end > COMMON:
                return None
            if end:
                sources = [self._known[order[2]] for order in orders[:end]]
                free = [s for s in sources if not s.children or s.children[0] >= stitch.order]
                return self._only(free or sources)
        return None

    def _only(self, sources: list[Stitch]) -> Stitch | None:
        """The last of the sources, if they are of one conversation."""
        if len({source.root for source in sources}) > 1:
            return None
        return sources[-1]


def _take_out(orders: list[_Order], order: _Order) -> None:
    at = bisect_left(orders, order)
    if at < len(orders) and orders[at] == order:
        del orders[at]
