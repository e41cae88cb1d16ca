"""Agents that a tool ran, though the trace files them beside the tool's caller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from monitor.assembly.histories import last_query, reply_of
from monitor.assembly.orphans import adopted
from monitor.model import AgentSpan, JsonValue

_CANDIDATES: Final = 16
_WORDS: Final = 2
"""Fewer words may be equal by chance."""


def hosted(spans: Sequence[AgentSpan]) -> Sequence[AgentSpan]:
    """The spans, with such agents put below the tool runs that they served.

    Some instrumentations hang every agent below the workflow. An agent ran inside a tool when it
    lived within the tool's time, and was asked what the tool was given or said what it gave back.
    `spans` are ordered by start. Tool runs whose parent is not there are put below their callers.
    """
    spans = adopted(spans)
    agents = [span for span in spans if span.kind == "agent" and span.parent_id]
    tools = [span for span in spans if span.kind == "tool"]
    if len(agents) < 2 or not tools:
        return spans
    parents = {span.span_id: span.parent_id for span in spans}
    by_words: dict[str, list[AgentSpan]] = {}
    for tool in tools:
        for words in {*_given(tool), *_gave(tool)}:
            by_words.setdefault(words, []).append(tool)
    models = _first_and_last(spans, parents, {agent.span_id for agent in agents})
    moved: dict[str, str] = {}
    for agent in agents:
        for words in _spoken(agent, models.get(agent.span_id, [])):
            host = _host(agent, by_words.get(words, ()), parents)
            if host is not None:
                moved[agent.span_id] = parents[agent.span_id] = host.span_id
                break
    if not moved:
        return spans
    return [
        msgspec.structs.replace(span, parent_id=moved[span.span_id])
        if span.span_id in moved
        else span
        for span in spans
    ]


def _host(
    agent: AgentSpan, tools: Sequence[AgentSpan], parents: dict[str, str | None]
) -> AgentSpan | None:
    """The latest tool around the agent whose caller is the agent's sibling."""
    for tool in reversed(tools[-_CANDIDATES:]):
        within = tool.start_ns <= agent.start_ns <= agent.end_ns <= tool.end_ns
        above = list(_above(tool.span_id, parents))
        if within and agent.span_id not in above and agent.parent_id in above[1:]:
            return tool
    return None


def _above(span_id: str, parents: dict[str, str | None]) -> Iterator[str]:
    """The ancestors, nearest first; a loop ends where it closes."""
    seen = {span_id}
    above = parents.get(span_id)
    while above is not None and above not in seen:
        yield above
        seen.add(above)
        above = parents.get(above)


def _first_and_last(
    spans: Sequence[AgentSpan], parents: dict[str, str | None], agents: set[str]
) -> dict[str, list[AgentSpan]]:
    """Each agent's own model calls, by the nearest agent above them."""
    found: dict[str, list[AgentSpan]] = {}
    for span in spans:
        if span.kind == "model":
            boss = next((name for name in _above(span.span_id, parents) if name in agents), None)
            if boss is not None:
                found.setdefault(boss, []).append(span)
    return found


def _spoken(agent: AgentSpan, models: Sequence[AgentSpan]) -> Iterator[str]:
    """What the agent was asked, then what it answered."""
    asked = [last_query(agent.messages_in), *[last_query(span.messages_in) for span in models[:1]]]
    replied = [reply_of(agent.messages_out), *[reply_of(span.messages_out) for span in models[-1:]]]
    for words in (*asked, *replied):
        if words and len(words.split()) >= _WORDS:
            yield words.strip()


def _given(tool: AgentSpan) -> Iterator[str]:
    arguments = tool.call.arguments if tool.call is not None else None
    for value in arguments.values() if isinstance(arguments, dict) else (arguments,):
        yield from _text(value)


def _gave(tool: AgentSpan) -> Iterator[str]:
    yield from _text(tool.result)


def _text(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str) and len(value.split()) >= _WORDS:
        yield value.strip()
