"""Which conversation each span of a trace belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from monitor.assembly.tree import Node, Tree
from monitor.model import AgentSpan

Refused: TypeAlias = Literal["response", "per_call"]
AGENTIC: Final = frozenset({"agent", "model", "tool"})


class Segment(msgspec.Struct, frozen=True, array_like=True):
    """One trace's part of one conversation."""

    trace_id: str
    conversation_id: str
    spans: tuple[AgentSpan, ...]
    """By start time and span id."""
    synthetic: bool = False
    """No conversation id was found and the trace id stands in for it."""
    refused: tuple[Refused, ...] = ()
    """Why ids that the trace does give name no conversation; only where none does."""


def segments_of(trace_id: str, spans: Sequence[AgentSpan]) -> tuple[Segment, ...]:
    """The trace cut by conversation; spans of a part in which no agent acts are in none.

    `spans` are ordered by start. A span's own id counts, save that an id above it is the
    application's and outranks what a library inside calls its session; only an id around several
    others, that no span inside shares, is a batch's and gives way. A span without an id takes its
    nearest ancestor's, else the only one below it, else the only one of the trace, else the
    trace's. Several ids below an agent that has none are ids of its calls, and count as none; so
    do ids that are those of responses in the trace. An id of the resource counts where no other
    does.
    """
    ids = {span.conversation_id for span in spans}
    if len(ids) > 1:
        return _segments(trace_id, spans)
    only = next(iter(ids), None)
    if not any(span.kind in AGENTIC for span in spans):
        return ()
    return (Segment(trace_id, only or trace_id, tuple(spans), synthetic=not only),)


def _segments(trace_id: str, spans: Sequence[AgentSpan]) -> tuple[Segment, ...]:
    responses = {span.response_id for span in spans}
    named = {s.span_id: s.conversation_id for s in spans if s.conversation_id}
    own = {name: given for name, given in named.items() if given not in responses}
    refused: list[Refused] = ["response"] if len(own) < len(named) else []
    weak = {span.span_id for span in spans if span.id_remark == "resource"}
    own = {name: given for name, given in own.items() if name not in weak} or own
    ids = set(own.values())
    if len(ids) > 1:
        parts = _cut(spans, own)
        if set(parts) == {None}:
            refused.append("per_call")
    else:
        parts = {next(iter(ids), None): spans}
    return tuple(
        Segment(trace_id, name or trace_id, tuple(part), not name, () if name else tuple(refused))
        for name, part in sorted(parts.items(), key=lambda item: item[0] or trace_id)
        if any(span.kind in AGENTIC for span in part)
    )


class _Owner(NamedTuple):
    """Whose conversation a span is in."""

    name: str | None = None
    settled: bool = False
    """No id below changes it."""


def _cut(
    spans: Sequence[AgentSpan], own: Mapping[str, str]
) -> dict[str | None, Sequence[AgentSpan]]:
    tree = Tree(spans)
    below: dict[str, set[str]] = {}
    for node in reversed(tree.nodes):
        ids = _below(node, below)
        if (name := own.get(node.span.span_id)) is not None:
            ids.add(name)
        below[node.span.span_id] = ids
    owners: dict[str, _Owner] = {}
    for node in tree.nodes:
        above = owners[node.parent.span.span_id] if node.parent else _Owner()
        owners[node.span.span_id] = _owner(node, above, own, below)
    parts: dict[str | None, list[AgentSpan]] = {}
    for span in spans:
        parts.setdefault(owners[span.span_id].name, []).append(span)
    return dict(parts)


def _below(node: Node, below: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    return found.union(*[below[child.span.span_id] for child in node.children])


def _owner(
    node: Node, above: _Owner, own: Mapping[str, str], below: Mapping[str, set[str]]
) -> _Owner:
    if above.settled:
        return above
    acts = node.span.kind in AGENTIC
    inner = _below(node, below)
    name = own.get(node.span.span_id)
    if name is not None:
        return _Owner(name, acts or name in inner or len(inner - {name}) < 2)
    if acts and len(inner) == 1:
        return _Owner(next(iter(inner)), settled=True)
    return _Owner(above.name, acts)
