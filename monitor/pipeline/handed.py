"""A closed trace on its way from a first stage to second stages that stand elsewhere."""

from __future__ import annotations

import msgspec

from monitor.assembly.segments import Segment
from monitor.assembly.stitching import opening_of
from monitor.pipeline.partitions import partition_of


class HandedTrace(msgspec.Struct, frozen=True, array_like=True):
    """The whole trace each time: what was told of it before gives way."""

    trace_id: str
    opened_at: float
    seen_at: float
    spans: msgspec.Raw
    """As in the trace's record."""
    fresh: dict[str, int] = {}
    """Deliveries since the last close, by the trace's own names for its conversations."""


def home_of(part: Segment, partitions: int) -> int:
    """Where the second stage of a trace's part is.

    A conversation's id decides; where there is none, the opening of the history, since all traces
    that continue each other share it; where there is no history, the trace.
    """
    if not part.synthetic:
        return home_of_name(part.conversation_id, partitions)
    opening = opening_of(part)
    return partition_of(b"t:" + part.trace_id.encode() if opening is None else opening, partitions)


def home_of_name(conversation_id: str, partitions: int) -> int:
    """Where the second stage of a conversation is that has an id."""
    return partition_of(b"c:" + conversation_id.encode("utf-8", "surrogatepass"), partitions)
