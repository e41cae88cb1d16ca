"""Pydantic AI, formats 1 to 6: the GenAI conventions with attribute names of its own.

A tool's arguments and result may be `tool_arguments` and `tool_response`; an agent's run carries
its whole history as `pydantic_ai.all_messages` and its answer as `final_result`. The first format
wrote the events of each message as one JSON list.
`pydantic_ai.new_message_index` counts something else than those messages and is not read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from adapters.shapes.payload import opened
from adapters.vocabularies import genai
from adapters.vocabularies.definitions import read_definitions
from adapters.vocabularies.event_list import EVENT_LIST, read_event_list
from adapters.vocabularies.messages import read_messages
from monitor.model import AgentSpan, JsonValue, Message, SpanKind, ToolDefinition

SCOPE: Final = "pydantic-ai"
ARGUMENTS: Final = "tool_arguments"
RESULT: Final = "tool_response"
ALL_MESSAGES: Final = "pydantic_ai.all_messages"
FINAL_RESULT: Final = "final_result"
AGENT: Final = "agent_name"
ALL_EVENTS: Final = "all_messages_events"
PARAMETERS: Final = "model_request_parameters"


class PydanticAi:
    """The vocabulary `pydantic_ai`."""

    name = "pydantic_ai"
    keys = genai.GenAi.keys | {
        *(ARGUMENTS, RESULT, ALL_MESSAGES, FINAL_RESULT, AGENT),
        *(EVENT_LIST, ALL_EVENTS, PARAMETERS),
    }
    marks = frozenset({ARGUMENTS, RESULT, ALL_MESSAGES, ALL_EVENTS})
    scopes = frozenset({SCOPE})

    def read(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
    ) -> AgentSpan | None:
        """None for spans of another scope that carry none of its own names."""
        if span.scope != SCOPE and self.marks.isdisjoint(attributes):
            return None
        kind = genai.kind_of(attributes, events)
        if kind == "tool":
            return genai.read_tool(attributes, events, span, self.name, *_tool_keys(attributes))
        if not _FIRST_FORMAT.isdisjoint(attributes) and genai.INPUT not in attributes:
            of_run = ALL_EVENTS in attributes
            key = ALL_EVENTS if of_run else EVENT_LIST
            return self._from_list(attributes, span, "agent" if of_run else "model", key)
        if kind == "agent" or ALL_MESSAGES in attributes:
            return self._agent(attributes, events, span)
        if kind is None or kind == "other":
            return genai.told(span, "other", self.name, attributes)
        return genai.read_call(attributes, events, span, kind, self.name)

    def _from_list(
        self,
        attributes: Mapping[str, JsonValue],
        span: AgentSpan,
        kind: SpanKind,
        key: str,
    ) -> AgentSpan:
        """The first format. A run's list ends with its answer, as any assistant's message."""
        found = read_event_list(attributes[key])
        given, said = found.messages_in, found.messages_out
        if kind == "agent":
            attributes = _with_agent(attributes)
            final = genai.text_or_none(attributes.get(FINAL_RESULT))
            given, said = _split((*(given or ()), *(said or ())), final)
        return genai.told(
            span,
            kind,
            self.name,
            attributes,
            found.system,
            given,
            said,
            found.cut,
            genai.usage_of(attributes) if kind == "model" else None,
            definitions=_definitions(attributes.get(PARAMETERS)),
        )

    def _agent(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
    ) -> AgentSpan:
        attributes = _with_agent(attributes)
        if genai.INPUT in attributes or ALL_MESSAGES not in attributes:
            return genai.read_call(attributes, events, span, "agent", self.name)
        history, cut = read_messages(attributes[ALL_MESSAGES], "user")
        given, said = _split(history, genai.text_or_none(attributes.get(FINAL_RESULT)))
        system = genai.system_of(attributes, given)
        return genai.told(span, "agent", self.name, attributes, system, given, said, cut)


_FIRST_FORMAT: Final = frozenset({EVENT_LIST, ALL_EVENTS})


def _with_agent(attributes: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    if genai.AGENT not in attributes and AGENT in attributes:
        return {**attributes, genai.AGENT: attributes[AGENT]}
    return attributes


def _definitions(parameters: JsonValue) -> tuple[ToolDefinition, ...] | None:
    """The tools of a request; those that only carry the answer are no tools."""
    told, _ = opened(parameters)
    return read_definitions(told.get("function_tools")) if isinstance(told, dict) else None


def _tool_keys(attributes: Mapping[str, JsonValue]) -> tuple[str, str]:
    arguments = genai.ARGUMENTS if genai.ARGUMENTS in attributes else ARGUMENTS
    result = genai.RESULT if genai.RESULT in attributes else RESULT
    return arguments, result


def _split(
    history: tuple[Message, ...] | None, final: str | None
) -> tuple[tuple[Message, ...] | None, tuple[Message, ...] | None]:
    """The history before the agent's answer, and the answer."""
    answer = (Message("assistant", final),) if final is not None else None
    if history is None:
        return None, answer
    if history and history[-1].role == "assistant" and history[-1].text is not None:
        return history[:-1], history[-1:]
    # The answer was given by calling an output tool: only `final_result` says it.
    return history, answer
