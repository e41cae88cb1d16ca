"""Strands Agents: the GenAI conventions, with content blocks of Bedrock Converse.

By default a tool's arguments and result stand in events of its span, under the names that on other
spans hold a tool's answer and a model's choice. Sent to some endpoints, events are copied to the
span's attributes, where the last one wins: events go first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from adapters.shapes.parts import HIDDEN
from adapters.vocabularies import genai
from adapters.vocabularies.kept import told_other, told_tool
from adapters.vocabularies.messages import read_messages
from monitor.model import AgentSpan, JsonValue, SpanKind

SCOPE: Final = "strands.telemetry.tracer"
CYCLE: Final = "event_loop.cycle_id"
ARGUMENTS: Final = ("gen_ai.tool.message", "content")
RESULT: Final = ("gen_ai.choice", "message")
_SWARMS: Final = ("invoke_swarm", "invoke_graph")

Events: TypeAlias = Sequence[tuple[str, Mapping[str, JsonValue]]]


class Strands:
    """The vocabulary `strands`."""

    name = "strands"
    keys = genai.GenAi.keys | {"content", "message", CYCLE}
    marks = frozenset({CYCLE})
    scopes = frozenset({SCOPE})

    def read(
        self, attributes: Mapping[str, JsonValue], events: Events, span: AgentSpan
    ) -> AgentSpan | None:
        """None for spans of other tracers."""
        if span.scope != SCOPE and CYCLE not in attributes:
            return None
        operation = attributes.get(genai.OPERATION)
        known = genai.kind_of(attributes, events) or "other"
        kind: SpanKind = "agent" if operation in _SWARMS else known
        if kind == "tool":
            return _tool(attributes, events, span, self.name)
        if kind == "other":
            return told_other(
                span, self.name, agent=genai.text_or_none(attributes.get(genai.AGENT))
            )
        return genai.read_call(_without_copies(attributes, events), events, span, kind, self.name)


def _without_copies(attributes: Mapping[str, JsonValue], events: Events) -> dict[str, JsonValue]:
    """The attributes save those of which the events tell all."""
    own = dict(attributes)
    for name, fields in events:
        if name == genai.DETAILS_EVENT:
            for key in (genai.INPUT, genai.OUTPUT):
                if key in fields:
                    own.pop(key, None)
    return own


def _tool(
    attributes: Mapping[str, JsonValue], events: Events, span: AgentSpan, vocabulary: str
) -> AgentSpan:
    given = _first(attributes, events, genai.ARGUMENTS, ARGUMENTS)
    said = _first(attributes, events, genai.RESULT, RESULT)
    if said is None:
        said = _failure(attributes, events)
    return told_tool(
        span,
        vocabulary,
        genai.text_or_none(attributes.get(genai.TOOL_NAME)) or span.name,
        given,
        said,
        has_result=said is not None,
        id_=attributes.get(genai.CALL_ID),
        agent=genai.text_or_none(attributes.get(genai.AGENT)),
        failed=attributes.get(genai.TOOL_STATUS) == "error",
    )


def _first(
    attributes: Mapping[str, JsonValue], events: Events, key: str, event: tuple[str, str]
) -> JsonValue:
    """The convention's attribute, else the event's field, else that field's copy on the span."""
    name, field = event
    told = attributes.get(key)
    if told is None:
        told = next((fields.get(field) for found, fields in events if found == name), None)
    if told is None:
        told = attributes.get(field)
    return None if isinstance(told, str) and told in HIDDEN else told


def _failure(attributes: Mapping[str, JsonValue], events: Events) -> JsonValue:
    """The answer of a failed tool, which stands only where a model's answer does."""
    details = [fields for name, fields in events if name == genai.DETAILS_EVENT]
    for fields in (*details, attributes):
        if genai.OUTPUT in fields:
            messages, _ = read_messages(fields[genai.OUTPUT], "tool")
            for message in messages or ():
                for answer in message.results:
                    return answer.result
    return None
