"""The order of work below one root: which model calls and tools ran, for whom, and how deep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from monitor.assembly.calls import canonical
from monitor.assembly.histories import tail_of
from monitor.assembly.tree import Node, Tree
from monitor.model import AgentSpan, ToolCall


class Event:
    """One model call or one tool run."""

    __slots__ = ("agent", "depth", "host", "span", "twins")

    def __init__(self, span: AgentSpan, depth: int, host: Event | None, agent: str | None) -> None:
        self.span = span
        self.depth = depth
        """0 for the outermost agent, 1 more for each agent or tool between."""
        self.host = host
        """The tool run in which this happened."""
        self.agent = agent
        self.twins: list[AgentSpan] = []
        """Further spans of the same tool run, by a second instrumentation."""


class Survey:
    """What must be known of the whole trace before its events can be told."""

    __slots__ = ("leading", "models", "wrapped")

    def __init__(self, tree: Tree) -> None:
        self.models: list[Node] = [node for node in tree.nodes if node.span.kind == "model"]
        self.wrapped: dict[Node, list[Node]] = {}
        """Leaf calls by the model span around them."""
        self.leading: set[Node] = set()
        """Agents that call a model themselves; any other agent only wraps agents."""
        for node in self.models:
            if node.boss is not None and node.boss.span.kind == "agent":
                self.leading.add(node.boss)
            if node.caller is not None:
                self.wrapped.setdefault(node.caller, []).append(node)

    def speaks_for(self, node: Node) -> bool:
        """Whether a model span's content stands for the calls below it, which have none."""
        below = self.wrapped.get(node)
        if below is None:
            return True
        return node.span.messages_out is not None and all(
            inner.span.messages_out is None for inner in below
        )


class _Place(NamedTuple):
    """Where the walk is."""

    depth: int = 0
    led: bool = False
    """An agent that calls models is above, within the same tool run."""
    host: Event | None = None
    agent: str | None = None
    mute: bool = False
    """A model span above has spoken for the calls below it, up to the next agent or tool."""


def events_of(tops: Sequence[Node], survey: Survey) -> list[Event]:
    """The events below the tops in order: parents before children, then by start."""
    events: list[Event] = []
    stack = [(top, _Place()) for top in reversed(tops)]
    while stack:
        node, place = stack.pop()
        span = node.span
        event = None
        if span.kind == "tool":
            host = place.host
            if host is not None and not place.led and same_run(host.span, span):
                host.twins.append(span)
            else:
                event = Event(span, place.depth, host, span.agent or place.agent)
                events.append(event)
        elif span.kind == "model" and not place.mute and survey.speaks_for(node):
            event = Event(span, place.depth, place.host, span.agent or place.agent)
            events.append(event)
        if node.children:
            below = _below(node, place, event, survey)
            stack.extend([(child, below) for child in reversed(node.children)])
    return events


def _below(node: Node, place: _Place, event: Event | None, survey: Survey) -> _Place:
    depth, led, host, agent, _ = place
    span = node.span
    if span.kind == "agent":
        led_here = led or node in survey.leading
        return _Place(depth + led, led_here, host, span.agent or agent, False)
    if span.kind == "tool" and event is not None:
        return _Place(depth + 1, False, event, agent, False)
    if span.kind == "model" and event is not None:
        return _Place(depth, led, host, agent, True)
    return place


def same_run(outer: AgentSpan, inner: AgentSpan) -> bool:
    """Whether a tool span directly inside a tool span records the same run a second time."""
    above, below = call_of(outer), call_of(inner)
    if above.name != below.name:
        return False
    if above.call_id and below.call_id:
        return above.call_id == below.call_id
    if "absent" in (above.arguments_state, below.arguments_state):
        return True
    return canonical(above.arguments) == canonical(below.arguments)


def call_of(span: AgentSpan) -> ToolCall:
    """The call that a tool span records, named by the span where it says no more."""
    return span.call or ToolCall(span.name, arguments_state="absent")


def in_causal_order(events: list[Event]) -> list[Event]:
    """Model calls after those whose calls' results they were given; else the order as it is.

    Clocks of several machines disagree; histories do not.
    """
    models = [event for event in events if event.span.kind == "model"]
    if len(models) < 2 or not _out_of_order(models):
        return events
    ordered = iter(_sorted_by_history(models))
    return [next(ordered) if event.span.kind == "model" else event for event in events]


def _out_of_order(models: Sequence[Event]) -> bool:
    if not models[0].span.start_ns:
        return True
    used: set[str | None] = set()
    for event in models:
        for message in event.span.messages_out or ():
            for call in message.calls:
                if call.call_id and call.call_id in used:
                    return True
        given = event.span.messages_in
        if given:
            used.update([result.call_id for result in given[-1].results])
    return False


def _sorted_by_history(models: Sequence[Event]) -> list[Event]:
    makers: dict[str, int] = {}
    for position, event in enumerate(models):
        for message in event.span.messages_out or ():
            for call in message.calls:
                if call.call_id:
                    makers.setdefault(call.call_id, position)
    needs = []
    for position, event in enumerate(models):
        given = tail_of(event.span.messages_in).results
        found = {makers[result.call_id] for result in given if result.call_id in makers}
        needs.append(found - {position})
    order = sorted(range(len(models)), key=lambda at: _rank(models[at].span))
    done: list[int] = []
    while order:
        ready = next((at for at in order if needs[at] <= set(done)), order[0])
        order.remove(ready)
        done.append(ready)
    return [models[at] for at in done]


def _rank(span: AgentSpan) -> tuple[int, int, str]:
    history = len(span.messages_in or ()) if not span.start_ns else 0
    return span.start_ns, history, span.span_id
