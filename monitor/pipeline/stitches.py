"""Which trace continues which, among those that name no conversation."""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias, TypeVar

from monitor.assembly.stitching import Footprint

COMMON: Final = 16
"""An ending that more traces share is common, and joins nothing."""
PLACED_ANEW: Final = 500
"""As many later traces may move for one that comes late; those beyond stay where they are."""

_T = TypeVar("_T", bound=tuple[Any, ...])
_Order: TypeAlias = tuple[int, int, str]
"""Start, blocks of history, trace id."""


class Stitch:
    """A trace in the index. Its conversation is named after the trace that `root` tells."""

    __slots__ = (
        *("children", "continued", "first", "footprint", "heirs", "order", "parent", "root"),
        *("told", "trace_id", "tree"),
    )

    def __init__(
        self,
        trace_id: str,
        footprint: Footprint,
        parent: str | None = None,
        root: str = "",
        tree: str = "",
    ) -> None:
        self.trace_id = trace_id
        self.footprint = footprint
        self.order: _Order = (footprint.start_ns, footprint.length, trace_id)
        self.parent = parent
        self.root = root or trace_id
        self.tree = tree or self.root
        """The trace that all began with, branches and all."""
        self.children: list[_Order] = []
        self.heirs: list[tuple[bool, _Order]] = []
        """Children that can be continued in their turn: the others failed, or said nothing.
        Those that speak under the same instructions, with the same tools, stand last."""
        self.continued: list[tuple[_Order, _Order]] = []
        """By its own first child, each heir that has one."""
        self.first: _Order | None = None
        self.told: str | None = None
        """The trunk by which the children's roots were told."""

    def heir(self, child: Stitch) -> tuple[bool, _Order]:
        """How a child stands among the heirs."""
        return child.footprint.voice == self.footprint.voice, child.order

    def trunk(self) -> str | None:
        """The heir that stays in the conversation."""
        if self.continued:
            return self.continued[0][1][2]
        return self.heirs[-1][1][2] if self.heirs else None


class Stitches:
    """Each trace's parent depends on earlier traces only, earlier by the trace's own clock.

    So the places are the same for any order of arrival, and traces that arrive in order hardly
    move. A trace continues one that offers the longest beginning of its history: one of the same
    user, else one whose user is not known. Where several offer it, those that were continued
    before step back; if those left began apart, the trace joins none: equal openings are no
    evidence.

    Where one trace is continued more than once, the conversation goes on with the continuation
    that was itself continued first; while none was, with the latest. Each other one is a branch
    (a question put differently, a reply made anew, a side question): a conversation of its own
    that shares the beginning. A call that failed, or whose answer is unknown, branches nothing.
    """

    def __init__(self) -> None:
        self._known: dict[str, Stitch] = {}
        self._offered = _Table()
        self._sought = _Table()
        self._touched: dict[str, None] = {}
        """Traces whose root must be told anew."""

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
        for stitch in sorted(self._known.values(), key=lambda stitch: stitch.order):
            self._adopt(stitch)
        for stitch in self._known.values():
            stitch.told = stitch.trunk()
        self._touched = {}

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
        self._take(stitch)
        for order in stitch.children:
            self._known[order[2]].parent = None
        later = [*self._later(stitch, stitch), *self._later(parent, stitch)]
        return self._settle(later)

    def drop(self, trace_id: str) -> None:
        """Forget a trace whose conversation is over; what continued it stays where it is."""
        stitch = self._known.get(trace_id)
        if stitch is not None:
            self._take(stitch)
            self._touched = {}

    def _take(self, stitch: Stitch) -> None:
        footprint = self._known.pop(stitch.trace_id).footprint
        self._offered.take_out(_endings(footprint), footprint.user, stitch.order)
        self._sought.take_out(footprint.seeks, footprint.user, stitch.order)
        self._leave(stitch)

    def _enter(self, stitch: Stitch) -> None:
        footprint = stitch.footprint
        self._known[stitch.trace_id] = stitch
        self._offered.put(_endings(footprint), footprint.user, stitch.order)
        self._sought.put(footprint.seeks, footprint.user, stitch.order)

    def _link(self, stitch: Stitch, parent: str | None) -> None:
        self._leave(stitch)
        stitch.parent = parent
        self._adopt(stitch)

    def _adopt(self, stitch: Stitch) -> None:
        """Make the trace a child of its parent, if that is known."""
        parent = self._known.get(stitch.parent or "")
        if parent is None:
            return
        insort(parent.children, stitch.order)
        if stitch.footprint.offers:
            insort(parent.heirs, parent.heir(stitch))
            if stitch.first is not None:
                insort(parent.continued, (stitch.first, stitch.order))
        self._note_first(parent)

    def _leave(self, stitch: Stitch) -> None:
        parent = self._known.get(stitch.parent or "")
        if parent is None:
            return
        _take_out(parent.children, stitch.order)
        _take_out(parent.heirs, parent.heir(stitch))
        if stitch.first is not None:
            _take_out(parent.continued, (stitch.first, stitch.order))
        self._note_first(parent)

    def _note_first(self, stitch: Stitch) -> None:
        """A child came or went: tell the parent since when the trace is continued."""
        self._touched[stitch.trace_id] = None
        first = stitch.children[0] if stitch.children else None
        if first == stitch.first:
            return
        parent = self._known.get(stitch.parent or "")
        if parent is not None and stitch.footprint.offers:
            if stitch.first is not None:
                _take_out(parent.continued, (stitch.first, stitch.order))
            if first is not None:
                insort(parent.continued, (first, stitch.order))
            self._touched[parent.trace_id] = None
        stitch.first = first

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
        return [*moved, *self._rooted()]

    def _rooted(self) -> list[Stitch]:
        """Tell which conversation each trace is of, where that may have changed; those it has."""
        queue = list(self._touched)
        self._touched = {}
        moved, left = list[Stitch](), PLACED_ANEW
        while queue and left:
            stitch = self._known.get(queue.pop())
            if stitch is None:
                continue
            root = self._root(stitch)
            if root != stitch.root:
                stitch.root = root
                moved.append(stitch)
                left -= 1
                queue += [order[2] for order in stitch.children]
            elif stitch.told != stitch.trunk():
                queue += [name for name in (stitch.told, stitch.trunk()) if name is not None]
            stitch.told = stitch.trunk()
        return moved

    def _root(self, stitch: Stitch) -> str:
        if stitch.parent is None:
            return stitch.trace_id
        parent = self._known.get(stitch.parent)
        if parent is None:
            return stitch.root
        if stitch.footprint.offers and parent.trunk() != stitch.trace_id:
            return stitch.trace_id
        return parent.root

    def _later(self, source: Stitch | None, stitch: Stitch) -> Iterator[Stitch]:
        """Traces after `stitch` that may continue `source`."""
        if source is None:
            return
        for key in _endings(source.footprint):
            orders: list[_Order] = []
            user = source.footprint.user
            for group in self._sought.groups(key, (user, b"") if user else None):
                start = bisect_right(group, stitch.order)
                orders += group[start : start + PLACED_ANEW]
            for order in sorted(orders)[:PLACED_ANEW]:
                yield self._known[order[2]]

    def _place(self, stitch: Stitch) -> bool:
        """Find the trace that it continues; whether it is another one, or began elsewhere."""
        if stitch.parent is not None and stitch.parent not in self._known:
            # What it continued is over and forgotten; the evidence is gone, the place stays.
            return False
        source = self._source(stitch)
        parent = None if source is None else source.trace_id
        tree = stitch.trace_id if source is None else source.tree
        self._touched[stitch.trace_id] = None
        if (parent, tree) == (stitch.parent, stitch.tree):
            return False
        self._link(stitch, parent)
        stitch.tree = tree
        return True

    def _source(self, stitch: Stitch) -> Stitch | None:
        for key in stitch.footprint.seeks:
            for orders in self._before(key, stitch):
                if len(orders) > COMMON:
                    return None
                if orders:
                    sources = [self._known[order[2]] for order in orders]
                    free = [s for s in sources if not s.children or s.children[0] >= stitch.order]
                    return _only(free or sources, stitch)
        return None

    def _before(self, key: bytes, stitch: Stitch) -> Iterator[list[_Order]]:
        """Traces before it that offer the key: those of the same user, then those of others.

        Of users that are known to differ, neither continues the other. No list tells more than
        one beyond what is common.
        """
        user = stitch.footprint.user
        for users in [(user,), (b"",)] if user else [None]:
            found: list[_Order] = []
            for group in self._offered.groups(key, users):
                found += group[: min(bisect_left(group, stitch.order), COMMON + 1)]
                if len(found) > COMMON:
                    break
            yield sorted(found)


class _Table:
    """Traces in their order, by key and user. An empty user is one that nobody told."""

    def __init__(self) -> None:
        self._groups: dict[bytes, dict[bytes, list[_Order]]] = {}

    def put(self, keys: Iterable[bytes], user: bytes, order: _Order) -> None:
        for key in keys:
            insort(self._groups.setdefault(key, {}).setdefault(user, []), order)

    def take_out(self, keys: Iterable[bytes], user: bytes, order: _Order) -> None:
        for key in keys:
            groups = self._groups[key]
            _take_out(groups[user], order)
            if not groups[user]:
                del groups[user]
            if not groups:
                del self._groups[key]

    def groups(self, key: bytes, users: tuple[bytes, ...] | None) -> Iterator[list[_Order]]:
        """The orders by user: of these users, or of all."""
        groups = self._groups.get(key, {})
        yield from groups.values() if users is None else [groups.get(name, []) for name in users]


def _endings(footprint: Footprint) -> tuple[bytes, ...]:
    return footprint.offers + footprint.asks


def _only(sources: list[Stitch], stitch: Stitch) -> Stitch | None:
    """The last of the sources, if they began as one; of the same voice if there is such a one."""
    if len({source.tree for source in sources}) > 1:
        return None
    voice = stitch.footprint.voice
    return next((s for s in reversed(sources) if s.footprint.voice == voice), sources[-1])


def _take_out(orders: list[_T], order: _T) -> None:
    at = bisect_left(orders, order)
    if at < len(orders) and orders[at] == order:
        del orders[at]
