"""The turns of one trace's part of a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final, NamedTuple

import msgspec

from monitor.assembly.asides import without_asides
from monitor.assembly.calls import matched
from monitor.assembly.flow import Event, Survey, call_of, events_of, in_causal_order
from monitor.assembly.frames import Frames
from monitor.assembly.histories import Tail, last_query, tail_of, times_asked
from monitor.assembly.hosts import hosted
from monitor.assembly.segments import Segment
from monitor.assembly.steps import turns_of, unfinished
from monitor.assembly.tree import Node, Tree
from monitor.assembly.wrappings import as_declared
from monitor.model import (
    AgentSpan,
    JsonValue,
    Message,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Turn,
    Usage,
)

_MOST_TOKENS: Final = 2**63 - 1


class Part(msgspec.Struct, frozen=True, array_like=True):
    """One invocation's share of an exchange: an agent's run, or a bare client's calls."""

    turns: tuple[Turn, ...]
    """In order, all of exchange 0."""
    query: str | None
    opens: bool
    """The user spoke just before. Else the part goes on with the exchange before it, if any."""
    asked: int
    """How often the user had spoken by the history of the first call."""
    calls: tuple[ToolCall, ...]
    """Calls of this exchange that the first call's history tells, and no tool span before it."""
    results: tuple[ToolResult, ...]
    """Results since the last reply that the first call's history tells."""
    start_ns: int
    end_ns: int
    broke_off: bool = False
    """The run failed or never ended, so that what it lacks may just not have come."""


class TraceTurns(msgspec.Struct, frozen=True, array_like=True):
    """All that one trace tells of one conversation."""

    parts: tuple[Part, ...]
    release: str | None = None
    model: str | None = None
    system: str | None = None
    tools: tuple[ToolDefinition, ...] = ()
    expected: JsonValue = None
    usage: Usage | None = None
    skewed: int = 0
    """Spans that end before they start; their durations count as zero."""
    usage_missing: int = 0
    """Model calls at the bottom whose tokens neither they nor a call around them told."""
    outcome: float | None = None
    """By the span that ended last of those that tell one."""
    service: str | None = None


def trace_turns(segment: Segment) -> TraceTurns:
    """The segment's turns, the same for any order in which its spans arrived."""
    spans = without_asides(segment.spans)
    tree = Tree(hosted(spans))
    survey = Survey(tree)
    # What guards and evaluators spend is spent as well.
    spending = survey if spans is segment.spans else Survey(Tree(hosted(segment.spans)))
    parts: list[Part] = []
    tools = _tools(spans)
    for unit in _units(tree, survey):
        part = _part(segment.conversation_id, unit, parts[-1] if parts else None)
        if tools:
            part = msgspec.structs.replace(part, turns=as_declared(part.turns, tools))
        parts.append(part)
    release = model = expected = service = None
    skewed = 0
    for span in spans:
        release = release or span.release
        model = model or span.model
        service = service or span.service
        expected = span.expected if expected is None else expected
        skewed += 0 < span.end_ns < span.start_ns
    return TraceTurns(
        parts=tuple(parts),
        release=release,
        model=model,
        system=_system(spans, survey),
        tools=tools,
        expected=expected,
        usage=_usage(spending),
        skewed=skewed,
        usage_missing=_usage_missing(spending),
        # A checker's span is no turn of the agent's, and may well be the one that tells.
        outcome=_outcome(segment.spans),
        service=service,
    )


def _outcome(spans: Sequence[AgentSpan]) -> float | None:
    told = [span for span in spans if span.outcome is not None]
    return max(told, key=lambda span: (span.end_ns, span.span_id)).outcome if told else None


class _Unit:
    """What becomes a part: the events below an agent, or of bare clients between two queries."""

    __slots__ = ("end_ns", "events", "first", "root", "start_ns")

    def __init__(self, root: AgentSpan | None, events: Sequence[Event]) -> None:
        self.root = root
        self.events = events
        self.first: AgentSpan | None = None
        """The outermost agent's first model call, else the first of an inner agent."""
        spans = [event.span for event in events]
        outermost = False
        for event in events:
            if event.span.kind == "model" and not outermost:
                outermost = event.depth == 0
                if outermost or self.first is None:
                    self.first = event.span
        if root is not None and (root.start_ns or not spans):
            # One clock told both ends of the root; those of the spans below may disagree.
            spans = [root]
        self.start_ns = min([span.start_ns for span in spans])
        self.end_ns = max(self.start_ns, *[span.end_ns for span in spans])


def _units(tree: Tree, survey: Survey) -> list[_Unit]:
    agents: list[Node] = []
    bare: list[Node] = []
    frames = Frames(tree)
    stack = tree.roots[::-1]
    while stack:
        node = stack.pop()
        if node.span.kind == "agent" or frames.holds_run(node):
            agents.append(node)
        elif node.span.kind != "other":
            bare.append(node)
        else:
            stack.extend(reversed(node.children))
    units: list[_Unit] = []
    for node in agents:
        units += _agent_units(node.span, in_causal_order(events_of([node], survey)))
    if bare:
        units += _bare_units(in_causal_order(events_of(bare, survey)))
    units.sort(key=lambda unit: unit.start_ns)
    return units


def _agent_units(root: AgentSpan, events: Sequence[Event]) -> list[_Unit]:
    """One unit, or one for each exchange where the agent's span is around a whole dialogue."""
    cuts = [] if root.messages_in else _questions(events)
    if not cuts:
        return [_Unit(root, events)]
    bounds = zip([0, *cuts], [*cuts, len(events)], strict=True)
    units = [_Unit(None, events[start:end]) for start, end in bounds]
    if root.messages_out or unfinished(root):
        units[-1].root = root
    return units


def _questions(events: Sequence[Event]) -> list[int]:
    """Where the agent's own model call was given its last reply, and then words said by nobody."""
    cuts: list[int] = []
    before, reply = None, None
    said: list[str] = []
    for position, event in enumerate(events):
        if event.span.kind != "model" or event.depth > 0:
            continue
        given = event.span.messages_in
        if before is None:
            before = given
        elif reply is not None and _asks_anew(given, before) and _goes_on(given, reply, said):
            cuts.append(position)
            before = given
        spoken = [message for message in event.span.messages_out or () if message.text]
        said += [message.text for message in spoken if message.text]
        reply = spoken[-1].text if spoken and not spoken[-1].calls else None
    return cuts


def _goes_on(given: Sequence[Message] | None, reply: str, said: Sequence[str]) -> bool:
    """Whether the history ends with the reply and a question that no agent below has asked."""
    query = tail_of(given).query
    if not query or any(query in text or text in query for text in said):
        return False
    for message in reversed(given or ()):
        if message.role == "assistant" and not message.calls and message.text:
            return message.text.strip() == reply.strip()
    return False


def _bare_units(events: Sequence[Event]) -> list[_Unit]:
    """Cut where a model call was given a new query."""
    cuts, before = [0], None
    for position, event in enumerate(events):
        if event.span.kind != "model" or event.depth > 0:
            continue
        given = event.span.messages_in
        if before is None:
            before = given
        elif _asks_anew(given, before):
            cuts.append(position)
            before = given
    ends = [*cuts[1:], len(events)]
    return [_Unit(None, events[start:end]) for start, end in zip(cuts, ends, strict=True)]


def _asks_anew(given: Sequence[Message] | None, before: Sequence[Message] | None) -> bool:
    tail = tail_of(given)
    if not tail.asked:
        return False
    return tail.query != last_query(before) or times_asked(given) > times_asked(before)


def _part(conversation_id: str, unit: _Unit, before: Part | None) -> Part:
    first = unit.first.messages_in if unit.first is not None else None
    tail = tail_of(first)
    asked = times_asked(first)
    query = tail.query
    if unit.root is not None and unit.root.messages_in:
        query = _bare_query(query, unit.root.messages_in)
    return Part(
        turns=turns_of(conversation_id, unit.root, unit.events),
        query=query or last_query(first),
        opens=_opens(unit, tail, query, asked, before),
        asked=asked,
        calls=_without_runs(tail.calls, unit) if tail.calls else (),
        results=tail.results,
        start_ns=unit.start_ns,
        end_ns=unit.end_ns,
        broke_off=_broke_off(unit),
    )


def _broke_off(unit: _Unit) -> bool:
    """By the agent's own span; without one, by the last call of the bare client."""
    if unit.root is not None:
        return unfinished(unit.root)
    outermost = [event.span for event in unit.events if event.depth == 0]
    return bool(outermost) and outermost[-1].kind == "model" and unfinished(outermost[-1])


class _Call(NamedTuple):
    call: ToolCall


def _without_runs(calls: Sequence[ToolCall], unit: _Unit) -> tuple[ToolCall, ...]:
    """The calls whose tool spans the unit does not have.

    The model span that asked may be missing where the tool's own, and the history, are there.
    """
    ran: list[_Call] = []
    for event in unit.events:
        if event.span is unit.first:
            break
        if event.span.kind == "tool" and event.depth == 0:
            ran.append(_Call(call_of(event.span)))
    told = [_Call(call) for call in calls]
    seen = {id(one) for one, _ in matched(told, ran)}
    return tuple(one.call for one in told if id(one) not in seen)


def _bare_query(query: str | None, given: Sequence[Message]) -> str | None:
    """The user's words without the context that a framework may wrap them in.

    The agent's span has them bare where the model's has them wrapped. Where the two have nothing
    to do with each other, the model was asked by an inner agent, and the outermost was asked by
    the user.
    """
    if query is None:
        return last_query(given)
    if given[-1].text == query:
        return query
    bare = tail_of(given).query
    return query if not bare or query in bare else bare


def _opens(unit: _Unit, tail: Tail, query: str | None, asked: int, before: Part | None) -> bool:
    if tail.asked:
        again = before is not None and query == before.query and asked <= before.asked
        return not again
    if tail.calls or tail.results or (unit.first is None and unit.root is None):
        return False
    if before is not None:
        return bool(query) and query != before.query
    return True


def _system(spans: Sequence[AgentSpan], survey: Survey) -> str | None:
    for span in chain([node.span for node in survey.models], spans):
        if span.system is not None:
            return span.system
        for message in span.messages_in or ():
            if message.role in ("system", "developer") and message.text:
                return message.text
            break
    return None


def _tools(spans: Sequence[AgentSpan]) -> tuple[ToolDefinition, ...]:
    found: list[ToolDefinition] = []
    before: tuple[ToolDefinition, ...] | None = None
    for span in spans:
        given = span.tool_definitions
        if given and given != before:
            found.extend(definition for definition in given if definition not in found)
            before = given
    return tuple(found)


def _usage(survey: Survey) -> Usage | None:
    """Tokens of the calls at the bottom: what stands above them repeats their sum."""
    covered: set[Node] = set()
    for node in survey.models:
        above = node.caller if node.span.usage is not None else None
        while above is not None and above not in covered:
            covered.add(above)
            above = above.caller
    return total_usage([node.span.usage for node in survey.models if node not in covered])


def _usage_missing(survey: Survey) -> int:
    missing = 0
    for node in survey.models:
        if node in survey.wrapped:
            continue
        told: Node | None = node
        while told is not None and told.span.usage is None:
            told = told.caller
        missing += told is None
    return missing


def total_usage(told: Iterable[Usage | None]) -> Usage | None:
    """The sum, as far as stores can hold it; a kind of token that nobody told stays unknown."""
    into = out = None
    for usage in told:
        if usage is not None and usage.input_tokens is not None:
            into = min((into or 0) + usage.input_tokens, _MOST_TOKENS)
        if usage is not None and usage.output_tokens is not None:
            out = min((out or 0) + usage.output_tokens, _MOST_TOKENS)
    return None if into is None and out is None else Usage(into, out)
