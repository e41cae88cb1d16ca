"""Langfuse's own attributes, as its SDKs send them over OTLP.

The SDKs also put session, user and tags on spans of other conventions; these stay theirs. The
type `span` is what an untyped observation gets, so it tells nothing about a span that another
convention knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from adapters.shapes.langchain import usage_of
from adapters.shapes.payload import Given, Said, read_given, read_said
from adapters.vocabularies.failures import is_control_flow
from adapters.vocabularies.genai import text_or_none
from adapters.vocabularies.kept import plain, told_other, told_run, told_tool, usage_or_none
from monitor.model import AgentSpan, JsonValue, SpanKind, Usage

TYPE: Final = "langfuse.observation.type"
INPUT: Final = "langfuse.observation.input"
OUTPUT: Final = "langfuse.observation.output"
LEVEL: Final = "langfuse.observation.level"
STATUS: Final = "langfuse.observation.status_message"
MODEL: Final = "langfuse.observation.model.name"
USAGE: Final = "langfuse.observation.usage_details"
TRACE_INPUT: Final = "langfuse.trace.input"
TRACE_OUTPUT: Final = "langfuse.trace.output"
ROOTS: Final = ("langfuse.internal.is_app_root", "langfuse.internal.as_root")

KINDS: Final[dict[str, SpanKind]] = {
    "generation": "model",
    "agent": "agent",
    "tool": "tool",
    "chain": "other",
    "retriever": "other",
    "embedding": "other",
    "evaluator": "other",
    "guardrail": "other",
    "event": "other",
}
"""The types that tell what an observation is."""


class Langfuse:
    """The vocabulary `langfuse`: of typed observations, or of those that carry only content."""

    name = "langfuse"
    keys = frozenset(
        {TYPE, INPUT, OUTPUT, LEVEL, STATUS, MODEL, USAGE, TRACE_INPUT, TRACE_OUTPUT, *ROOTS}
    )
    marks = frozenset({TYPE, INPUT, OUTPUT})
    scopes: frozenset[str] = frozenset()

    def __init__(self, *, typed: bool) -> None:
        self._typed = typed

    def read(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
    ) -> AgentSpan | None:
        """None for observations of the other half, and for spans that carry none of its own."""
        kind = _kind(attributes.get(TYPE)) if TYPE in attributes else None
        if (kind is not None) != self._typed:
            return None
        if not self._typed and TYPE not in attributes and _CONTENT.isdisjoint(attributes):
            return None
        if attributes.get(LEVEL) == "ERROR":
            waits = is_control_flow(attributes.get(STATUS))
            failure = None if waits else span.error_type or "error"
            span = msgspec.structs.replace(span, error_type=failure)
        if kind == "tool":
            return told_tool(
                span,
                self.name,
                span.name,
                attributes.get(INPUT),
                attributes.get(OUTPUT),
                has_result=OUTPUT in attributes,
            )
        return _run(attributes, span, kind or "other", self.name)


_CONTENT: Final = frozenset({INPUT, OUTPUT})


def _kind(name: JsonValue) -> SpanKind | None:
    return KINDS.get(name.lower()) if isinstance(name, str) else None


def _run(
    attributes: Mapping[str, JsonValue], span: AgentSpan, kind: SpanKind, vocabulary: str
) -> AgentSpan:
    is_root = span.parent_id is None or any(attributes.get(key) is True for key in ROOTS)
    if kind == "other" and not is_root:
        return told_other(span, vocabulary)
    given, said = attributes.get(INPUT), attributes.get(OUTPUT)
    if is_root and kind != "model":
        given = attributes.get(TRACE_INPUT) if given is None else given
        said = attributes.get(TRACE_OUTPUT) if said is None else said
    return told_run(
        span,
        kind,
        vocabulary,
        read_given(given) if given is not None else Given(),
        read_said(said, structured=kind != "other") if said is not None else Said(),
        agent=span.name or None if kind == "agent" else None,
        model=text_or_none(attributes.get(MODEL)),
        usage=_usage(attributes.get(USAGE)),
    )


def _usage(value: JsonValue) -> Usage | None:
    """Tokens; what was read from a cache is a part of `input` already."""
    told = plain(value)
    if not isinstance(told, dict):
        return None
    return usage_or_none(told.get("input"), told.get("output")) or usage_of(told)
