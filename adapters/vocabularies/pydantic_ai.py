"""Pydantic AI, formats 2 to 5: the GenAI conventions with attribute names of its own.

A tool's arguments and result may be `tool_arguments` and `tool_response`; an agent's run carries
its whole history as `pydantic_ai.all_messages` and its answer as `final_result`.
`pydantic_ai.new_message_index` counts something else than those messages and is not read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from adapters.vocabularies import genai
from adapters.vocabularies.messages import read_messages
from monitor.model import AgentSpan, JsonValue, Message

SCOPE: Final = "pydantic-ai"
ARGUMENTS: Final = "tool_arguments"
RESULT: Final = "tool_response"
ALL_MESSAGES: Final = "pydantic_ai.all_messages"
FINAL_RESULT: Final = "final_result"
AGENT: Final = "agent_name"


class PydanticAi:
    """The vocabulary `pydantic_ai`."""

    name = "pydantic_ai"
    keys = genai.GenAi.keys | {ARGUMENTS, RESULT, ALL_MESSAGES, FINAL_RESULT, AGENT}

    def read(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
    ) -> AgentSpan | None:
        """None for spans of another scope that carry none of its own names."""
        if span.scope != SCOPE and _OWN.isdisjoint(attributes):
            return None
        kind = genai.kind_of(attributes, events)
        if kind == "tool":
            return genai.read_tool(attributes, events, span, self.name, *_tool_keys(attributes))
        if kind == "agent" or ALL_MESSAGES in attributes:
            return self._agent(attributes, events, span)
        if kind is None or kind == "other":
            return genai.told(span, "other", self.name, attributes)
        return genai.read_call(attributes, events, span, kind, self.name)

    def _agent(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
    ) -> AgentSpan:
        if genai.AGENT not in attributes and AGENT in attributes:
            attributes = {**attributes, genai.AGENT: attributes[AGENT]}
        if genai.INPUT in attributes or ALL_MESSAGES not in attributes:
            return genai.read_call(attributes, events, span, "agent", self.name)
        history, cut = read_messages(attributes[ALL_MESSAGES], "user")
        given, said = _split(history, genai.text_or_none(attributes.get(FINAL_RESULT)))
        system = genai.system_of(attributes, given)
        return genai.told(span, "agent", self.name, attributes, system, given, said, cut)


_OWN: Final = frozenset({ARGUMENTS, RESULT, ALL_MESSAGES})


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
