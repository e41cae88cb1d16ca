"""Which conversation each span of a trace belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import msgspec

from monitor.assembly.tree import Tree
from monitor.model import AgentSpan

_Owner: TypeAlias = tuple[str | None, bool]
AGENTIC: Final = frozenset({"agent", "model", "tool"})


class Segment(msgspec.Struct, frozen=True, array_like=True):
    """One trace's part of one conversation."""

    trace_id: str
    conversation_id: str
    spans: tuple[AgentSpan, ...]
    """By start time and span id."""
    synthetic: bool = False
    """No conversation id was found and the trace id stands in for it."""


def segments_of(trace_id: str, spans: Sequence[AgentSpan]) -> tuple[Segment, ...]:
    """The trace cut by conversation; spans of a part in which no agent acts are in none.

    `spans` are ordered by start. A span's own id counts, unless the span works inside an agent,
    model or tool span of another id: then an inner library has named a session of its own. A span
    without an id takes its nearest ancestor's, else the only one of the trace, else the trace's.
    """
    ids = {span.conversation_id for span in spans}
    ids -= {None, ""}
    only = next(iter(ids), None) or trace_id
    parts = _cut(trace_id, spans) if len(ids) > 1 else {only: spans}
    return tuple(
        Segment(trace_id, name, tuple(part), synthetic=name not in ids)
        for name, part in sorted(parts.items())
        if any(span.kind in AGENTIC for span in part)
    )


def _cut(trace_id: str, spans: Sequence[AgentSpan]) -> dict[str, Sequence[AgentSpan]]:
    owners: dict[str, _Owner] = {}
    for node in Tree(spans).nodes:
        above = owners[node.parent.span.span_id] if node.parent else (None, False)
        owners[node.span.span_id] = _owner(node.span, above)
    parts: dict[str, list[AgentSpan]] = {}
    for span in spans:
        parts.setdefault(owners[span.span_id][0] or trace_id, []).append(span)
    return dict(parts)


def _owner(span: AgentSpan, above: _Owner) -> _Owner:
    """The span's conversation, and whether an agentic span of that conversation is at or above."""
    name, acting = above
    own = span.conversation_id or name
    if own == name or acting:
        return name, acting or span.kind in AGENTIC
    return own, span.kind in AGENTIC
