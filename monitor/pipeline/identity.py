"""Between the stages: which conversation a closed trace belongs to, where its ids do not say it.

Where this lives when the stages stand apart: the first stage is keyed by trace and knows names as
the traces give them; the second is keyed by conversation. A trace that names a conversation goes
straight from the one to the other and never comes here. One that names none passes through the
index of stitches, which is keyed by the opening of its history (all traces of a conversation
share it), so that it can be partitioned too; only histories whose beginning was trimmed away need
the whole index in one place. What is known of such a trace lies on the shelf under its trace id,
written with the rest of the state: after a restart the index is rebuilt from it, every trace where
it was before, nothing decided anew.

A turn's identity is that of the trace's own name for its conversation, so that a trace that moves
keeps its turns, and the turns of all stages stay as the first stage told them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from monitor.assembly.segments import Segment
from monitor.assembly.stitching import footprint_of
from monitor.pipeline.limits import PipelineLimits
from monitor.pipeline.quarantine import Quarantine
from monitor.pipeline.shelf import PlacedRecord, Shelf
from monitor.pipeline.stitches import Stitch, Stitches
from monitor.pipeline.traces import ClosedTrace


class Move(NamedTuple):
    """A trace that was placed before, and belongs to another conversation now."""

    trace_id: str
    own: str
    """The trace's own name for the part that moves."""
    former: str
    conversation_id: str


class Identities:
    """Names of conversations for traces that need one."""

    def __init__(self, shelf: Shelf, quarantine: Quarantine, limits: PipelineLimits) -> None:
        self._shelf = shelf
        self._quarantine = quarantine
        self._limits = limits
        self._stitches = Stitches()
        self._rebuild()

    def __len__(self) -> int:
        """Traces that a later one may continue."""
        return len(self._stitches)

    def place(self, closed: ClosedTrace, counts: Counter[str]) -> list[Move]:
        """Name the conversations of a trace that just closed; other traces may move for it."""
        if not closed.again and any(part.kept_apart for part in closed.segments):
            counts["kept_apart"] += 1
        before = self._shelf.placement(closed.trace_id) if closed.again else None
        if not closed.synthetic and not self._quarantine and before is None:
            return []
        former = before or PlacedRecord()
        record = PlacedRecord()
        stitched = self._name_parts(closed, former, record, counts)
        moves = self._stitch(closed, stitched, former, record, counts)
        if record.names or record.footprint is not None:
            self._shelf.keep_placement(closed.trace_id, record)
        elif before is not None:
            self._shelf.drop_placement(closed.trace_id)
        closed.rename(former.names, record.names)
        return moves

    def conversation(self, trace_id: str, own: str) -> str:
        """The conversation that a trace's own name stands for."""
        record = self._shelf.placement(trace_id)
        return own if record is None else record.names.get(own, own)

    def own(self, trace_id: str, conversation_id: str) -> str:
        """The trace's own name for a conversation."""
        record = self._shelf.placement(trace_id)
        for own, name in record.names.items() if record is not None else ():
            if name == conversation_id:
                return own
        return conversation_id

    def let_go(self, trace_id: str) -> None:
        """The trace's conversation is over: nothing continues it any more."""
        if self._stitches.find(trace_id) is None:
            return
        self._stitches.drop(trace_id)
        record = self._shelf.placement(trace_id)
        if record is not None:
            record.footprint = record.parent = None
            self._shelf.keep_placement(trace_id, record)

    def forget(self, trace_id: str) -> None:
        """Know nothing of the trace any more."""
        self._stitches.drop(trace_id)
        self._shelf.drop_placement(trace_id)

    def _name_parts(
        self, closed: ClosedTrace, former: PlacedRecord, record: PlacedRecord, counts: Counter[str]
    ) -> Segment | None:
        """Name the parts whose ids do not count; the part that may be stitched."""
        alone = len(closed.segments) == 1
        stitched = None
        for part in closed.segments:
            own = part.conversation_id
            if part.synthetic:
                stitched = part
                for why in part.refused if not closed.again else ():
                    counts[f"refused_id:{why}"] += 1
                continue
            if own in closed.before:
                refused = own in former.names
            else:
                refused = self._quarantine.holds(own, closed.seen_at, counts)
                counts["quarantine:traces"] += refused
            if refused:
                record.names[own] = closed.trace_id if alone else f"{closed.trace_id}:{own}"
                closed.synthetic.add(own)
                stitched = part if alone else stitched
        return stitched

    def _stitch(
        self,
        closed: ClosedTrace,
        stitched: Segment | None,
        former: PlacedRecord,
        record: PlacedRecord,
        counts: Counter[str],
    ) -> list[Move]:
        trace_id = closed.trace_id
        footprint = footprint_of(stitched) if stitched is not None else None
        if stitched is None or footprint is None:
            return self._moves(self._stitches.remove(trace_id))
        known = self._stitches.find(trace_id)
        if known is not None and any(span.truncated for span in stitched.spans):
            # Its text was cut meanwhile; the histories as they were tell more.
            footprint = known.footprint
        changed = self._stitches.put(trace_id, footprint)
        stitch = self._stitches.find(trace_id)
        if stitch is None:
            return []
        moves = self._moves(other for other in changed if other is not stitch)
        record.own = stitched.conversation_id
        _note(record, stitch)
        if not closed.again:
            counts["stitched"] += stitch.root != trace_id
            counts["branched"] += stitch.parent is not None and stitch.root == trace_id
        counts["stitched_anew"] += len(moves)
        while len(self._stitches) > self._limits.stitched_traces:
            self.let_go(self._stitches.oldest())
            counts["unstitched"] += 1
        return moves

    def _moves(self, changed: Iterable[Stitch]) -> list[Move]:
        moves = []
        for stitch in changed:
            record = self._shelf.placement(stitch.trace_id)
            if record is None:
                continue
            former = record.names.get(record.own, record.own)
            _note(record, stitch)
            self._shelf.keep_placement(stitch.trace_id, record)
            if former != stitch.root:
                moves.append(Move(stitch.trace_id, record.own, former, stitch.root))
        return moves

    def _rebuild(self) -> None:
        found = []
        for trace_id in self._shelf.placements():
            record = self._shelf.placement(trace_id)
            if record is not None and record.footprint is not None:
                place = (record.parent, record.root, record.tree)
                found.append(Stitch(trace_id, record.footprint, *place))
        for stitch in sorted(found, key=lambda stitch: stitch.order):
            self._stitches.restore(stitch)
        self._stitches.link()


def _note(record: PlacedRecord, stitch: Stitch) -> None:
    record.footprint, record.parent = stitch.footprint, stitch.parent
    record.root, record.tree = stitch.root, stitch.tree
    record.names.pop(record.own, None)
    if record.own != stitch.root:
        record.names[record.own] = stitch.root
