"""Which conversation each span of a trace belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from monitor.assembly.batches import Batches
from monitor.assembly.hosts import hosted
from monitor.assembly.shared_agents import Shared, shared_agents
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
    kept_apart: bool = False
    """One agent of the trace served several conversations, and their ids were told apart; on the
    trace's first part only, so that it counts once wherever the parts go."""


def segments_of(trace_id: str, spans: Sequence[AgentSpan]) -> tuple[Segment, ...]:
    """The trace cut by conversation; spans of a part in which no agent acts are in none.

    `spans` are ordered by start. A span's own id counts, save that an id above it is the
    application's and outranks what a library inside calls its session; only an id around several
    others, that no span inside shares, is a batch's and gives way, see `Batches`. A span without
    an id takes its nearest ancestor's, else the only one below it, else the only one of the trace,
    else the trace's; a tool's run takes those above first. Several ids on the calls of one agent
    that go on with one another are ids of its calls, and count as none, see `shared_agents`; so do
    ids that are those of responses in the trace. An id of the resource counts where no other
    does. An agent around several conversations is in none.
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
    idle: set[str] = set()
    apart = False
    if len(ids) > 1:
        tree = Tree(hosted(spans))
        shared = shared_agents(tree, own)
        apart = bool(shared.agents)
        parts, idle = _cut(spans, tree, shared)
        if set(parts) == {None}:
            refused.append("per_call")
    else:
        parts = {next(iter(ids), None): spans}
    acting = [
        (name or trace_id, name, part)
        for name, part in parts.items()
        if any(span.kind in AGENTIC and span.span_id not in idle for span in part)
    ]
    acting.sort(key=itemgetter(0))
    return tuple(
        Segment(
            trace_id,
            called,
            tuple(part),
            synthetic=not name,
            refused=() if name else tuple(refused),
            kept_apart=apart and at == 0,
        )
        for at, (called, name, part) in enumerate(acting)
    )


class _Owner(NamedTuple):
    """Whose conversation a span is in."""

    name: str | None = None
    settled: bool = False
    """No id below changes it."""


def _cut(
    spans: Sequence[AgentSpan], tree: Tree, shared: Shared
) -> tuple[dict[str | None, Sequence[AgentSpan]], set[str]]:
    """The spans by conversation, and those that are around several and in none."""
    batches = Batches(tree, shared)
    owners: dict[str, _Owner] = {}
    idle: set[str] = set()
    for node in tree.nodes:
        above = owners[node.parent.span.span_id] if node.parent else _Owner()
        owners[node.span.span_id] = owner = _owner(node, above, shared.own, batches)
        if not owner.settled:
            idle.add(node.span.span_id)
    parts: dict[str | None, list[AgentSpan]] = {}
    servers = {node.span.span_id for node in shared.agents}
    for span in spans:
        if span.span_id in servers:
            continue
        parts.setdefault(owners[span.span_id].name, []).append(span)
    return dict(parts), idle


def _owner(node: Node, above: _Owner, own: Mapping[str, str], batches: Batches) -> _Owner:
    if above.settled:
        return above
    name, below = own.get(node.span.span_id), batches.below(node)
    if name is not None:
        return _Owner(name, settled=not batches.holds(node))
    if node.span.kind not in AGENTIC:
        return above
    # A tool's run belongs to its caller, whatever the agent inside it is called.
    inner = batches.names(below.nearest) if node.span.kind != "tool" else below.every
    if len(inner) == 1 and (node.span.kind != "tool" or above.name is None):
        return _Owner(next(iter(inner)), settled=True)
    return _Owner(above.name, settled=not batches.holds(node))
