"""LangWatch's attributes: input and output say of what kind their value is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from adapters.shapes.payload import Given, Said, read_given, read_said
from adapters.vocabularies import genai
from adapters.vocabularies.identity import METADATA_USERS, conversation_id, user_id
from adapters.vocabularies.kept import (
    model_of,
    plain,
    told_other,
    told_run,
    told_tool,
    usage_or_none,
)
from monitor.model import AgentSpan, JsonValue, SpanKind, Usage

TYPE: Final = "langwatch.span.type"
INPUT: Final = "langwatch.input"
OUTPUT: Final = "langwatch.output"
METRICS: Final = "langwatch.metrics"
METADATA: Final = "metadata"
CONVERSATIONS: Final = ("thread_id", "session_id")

_KINDS: Final[dict[str, SpanKind]] = {"llm": "model", "agent": "agent", "tool": "tool"}


class LangWatch:
    """The vocabulary `langwatch`."""

    name = "langwatch"
    marks = frozenset({TYPE, INPUT, OUTPUT})
    scopes: frozenset[str] = frozenset()
    keys = marks | {METRICS, METADATA} | genai.GenAi.keys

    def read(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
    ) -> AgentSpan | None:
        """None for spans without any of its own names."""
        if self.marks.isdisjoint(attributes):
            return None
        if METADATA in attributes:
            span = _with_conversation(span, plain(attributes[METADATA]))
        kind = _KINDS.get(str(attributes.get(TYPE)).lower(), "other")
        given, said = _value(attributes.get(INPUT)), _value(attributes.get(OUTPUT))
        if kind == "tool":
            return told_tool(
                span,
                self.name,
                genai.text_or_none(attributes.get(genai.TOOL_NAME)) or span.name,
                given,
                said,
                has_result=OUTPUT in attributes,
                id_=attributes.get(genai.CALL_ID),
            )
        if kind == "other" and span.parent_id is not None:
            return told_other(span, self.name)
        return told_run(
            span,
            kind,
            self.name,
            read_given(given) if given is not None else Given(),
            read_said(said, structured=kind != "other") if said is not None else Said(),
            agent=genai.text_or_none(attributes.get(genai.AGENT)),
            model=model_of(attributes),
            usage=genai.usage_of(attributes) or _usage(attributes.get(METRICS)),
        )


def _with_conversation(span: AgentSpan, metadata: JsonValue) -> AgentSpan:
    """The conversation and the user that the trace's metadata names."""
    if not isinstance(metadata, dict):
        return span
    return msgspec.structs.replace(
        span,
        conversation_id=span.conversation_id or conversation_id(metadata, CONVERSATIONS),
        user_id=span.user_id or user_id(metadata, METADATA_USERS),
    )


def _value(typed: JsonValue) -> JsonValue:
    """What stands inside `{type, value}`; a list of replies with one entry is that entry."""
    typed = plain(typed)
    if not isinstance(typed, dict) or "value" not in typed:
        return typed
    value = typed["value"]
    if typed.get("type") == "list" and isinstance(value, list):
        inner = [_value(item) for item in value]
        return inner[0] if len(inner) == 1 else inner
    return value


def _usage(metrics: JsonValue) -> Usage | None:
    told = _value(metrics)
    if not isinstance(told, dict):
        return None
    return usage_or_none(
        told.get("promptTokens", told.get("prompt_tokens")),
        told.get("completionTokens", told.get("completion_tokens")),
    )
