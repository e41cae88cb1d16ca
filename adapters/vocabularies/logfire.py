"""Logfire's instrumentation of the OpenAI and Anthropic clients: request and response as JSON.

A stream is two spans: the request, and after it a log that repeats it with what was answered.
Logfire also announces a span when it starts, as a second span that is not to be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from adapters.shapes import content
from adapters.shapes.payload import Given, Said, read_given, read_said
from adapters.vocabularies import genai
from adapters.vocabularies.event_list import EVENT_LIST, read_event_list
from adapters.vocabularies.kept import model_of, plain, told_other, told_run
from monitor.model import AgentSpan, JsonValue, Message, ToolCall

REQUEST: Final = "request_data"
RESPONSE: Final = "response_data"
SPAN_TYPE: Final = "logfire.span_type"
PENDING: Final = "pending_span"
ANTHROPIC: Final = "logfire.anthropic"
_ASKS: Final = ("messages", "prompt")
_ANSWERS: Final = ("message", "text", "combined_chunk_content", "choices", "content")


class Logfire:
    """The vocabulary `logfire`."""

    name = "logfire"
    keys = frozenset({REQUEST, RESPONSE, SPAN_TYPE, EVENT_LIST}) | genai.GenAi.keys
    marks = frozenset({REQUEST, SPAN_TYPE})
    scopes: frozenset[str] = frozenset()

    def read(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
    ) -> AgentSpan | None:
        """None for spans that are not of these clients; an announcement is no one's."""
        if attributes.get(SPAN_TYPE) == PENDING:
            return told_other(span, self.name)
        if REQUEST not in attributes:
            return None
        asked, answered = plain(attributes[REQUEST]), plain(attributes.get(RESPONSE))
        told = read_event_list(attributes.get(EVENT_LIST))
        if not told.messages_in and not _holds(asked, _ASKS) and not _holds(answered, _ANSWERS):
            return told_other(span, self.name)
        given, said = read_given(asked), _said(answered, span.scope)
        if told.messages_in is not None or told.messages_out is not None:
            given = given._replace(messages=told.messages_in, system=told.system)
            said = said._replace(messages=told.messages_out)
        return told_run(
            span,
            "model",
            self.name,
            given if isinstance(asked, dict) else Given(),
            said,
            model=model_of(attributes),
            usage=genai.usage_of(attributes),
        )


def _holds(value: JsonValue, keys: Sequence[str]) -> bool:
    return isinstance(value, dict) and any(value.get(key) is not None for key in keys)


def _said(answered: JsonValue, scope: str) -> Said:
    if not isinstance(answered, dict) or not _holds(answered, _ANSWERS):
        return Said()
    said = read_said(answered)
    if scope != ANTHROPIC or not said.messages:
        return said
    return said._replace(messages=tuple(_without_input(message) for message in said.messages))


def _without_input(message: Message) -> Message:
    """The client's arguments stand under `input` in what is recorded as arguments."""
    calls = tuple(_bare(call) for call in message.calls)
    return msgspec.structs.replace(message, calls=calls)


def _bare(call: ToolCall) -> ToolCall:
    given = call.arguments
    if not isinstance(given, dict) or given.keys() != {"input"}:
        return call
    inner, state = content.arguments(given["input"])
    return msgspec.structs.replace(call, arguments=inner, arguments_state=state)
