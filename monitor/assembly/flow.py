"""The order of work below one root: which model calls and tools ran, for whom, and how deep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from monitor.assembly.calls import canonical
from monitor.assembly.histories import tail_of
from monitor.assembly.tree import Node
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

    def __init__(self, roots: Sequence[Node]) -> None:
        self.models: list[Node] = []
        self.wrapped: dict[str, list[Node]] = {}
        """Leaf calls by the span id of the model span around them."""
        self.leading: set[str] = set()
        """Agents that call a model themselves; any other agent only wraps agents."""
        for root in roots:
            for node in (root, *root.below()):
                if node.span.kind == "model":
                    self._take(node)

    def _take(self, node: Node) -> None:
        self.models.append(node)
        if node.boss is not None and node.boss.span.kind == "agent":
            self.leading.add(node.boss.span.span_id)
        if node.caller is not None:
            self.wrapped.setdefault(node.caller.span.span_id, []).append(node)

    def speaks_for(self, node: Node) -> bool:
        """Whether a model span's content stands for the calls below it, which have none."""
        below = self.wrapped.get(node.span.span_id)
        if below is None:
            return True
        return node.span.messages_out is not None and all(
            inner.span.messages_out is None for inner in below
        )


def events_of(tops: Iterable[Node], survey: Survey) -> Iterator[Event]:
    """The events below the tops in order: parents before children, then by start."""
    stack = [_Visit(top, 0, False, None, None, False) for top in tops][::-1]
    while stack:
        visit = stack.pop()
        event = visit.event(survey)
        if event is not None:
            yield event
        stack.extend(reversed(visit.below(event, survey)))


class _Visit:
    __slots__ = ("agent", "depth", "host", "led", "mute", "node")

    def __init__(
        self, node: Node, depth: int, led: bool, host: Event | None, agent: str | None, mute: bool
    ) -> None:
        self.node = node
        self.depth = depth
        self.led = led
        self.host = host
        self.agent = agent
        self.mute = mute

    def event(self, survey: Survey) -> Event | None:
        span = self.node.span
        if span.kind == "tool":
            if self.host is not None and not self.led and same_run(self.host.span, span):
                self.host.twins.append(span)
                return None
            return Event(span, self.depth, self.host, span.agent or self.agent)
        if span.kind == "model" and not self.mute and survey.speaks_for(self.node):
            return Event(span, self.depth, self.host, span.agent or self.agent)
        return None

    def below(self, event: Event | None, survey: Survey) -> list[_Visit]:
        span = self.node.span
        depth, led, host, mute = self.depth, self.led, self.host, self.mute
        agent = self.agent
        if span.kind == "agent":
            depth += led
            led = led or span.span_id in survey.leading
            agent = span.agent or agent
        elif span.kind == "tool" and event is not None:
            depth, led, host, mute = depth + 1, False, event, False
        elif span.kind == "model":
            mute = mute or event is not None
        return [_Visit(child, depth, led, host, agent, mute) for child in self.node.children]


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


def in_causal_order(events: Sequence[Event]) -> list[Event]:
    """Model calls after those whose calls' results they were given; else the order as it is.

    Clocks of several machines disagree; histories do not.
    """
    models = [event for event in events if event.span.kind == "model"]
    if len(models) < 2 or not _out_of_order(models):
        return list(events)
    ordered = iter(_sorted_by_history(models))
    return [next(ordered) if event.span.kind == "model" else event for event in events]


def _out_of_order(models: Sequence[Event]) -> bool:
    if not models[0].span.start_ns:
        return True
    made_at = {
        call.call_id: position
        for position, event in enumerate(models)
        for message in event.span.messages_out or ()
        for call in message.calls
        if call.call_id
    }
    for position, event in enumerate(models):
        given = event.span.messages_in
        for result in given[-1].results if given else ():
            if made_at.get(result.call_id or "", -1) > position:
                return True
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
