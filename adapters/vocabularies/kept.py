"""Builds spans of conventions that keep all that went in as one value, and all that came out."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from adapters.shapes import content
from adapters.shapes.parts import call_id
from adapters.shapes.payload import Given, Said, read_answer, read_arguments
from adapters.vocabularies import genai
from adapters.vocabularies.definitions import read_definitions
from monitor.model import AgentSpan, JsonValue, Message, SpanKind, ToolCall, Usage


def told_run(
    span: AgentSpan,
    kind: SpanKind,
    vocabulary: str,
    given: Given,
    said: Said,
    *,
    agent: str | None = None,
    model: str | None = None,
    definitions: JsonValue = None,
    usage: Usage | None = None,
) -> AgentSpan:
    """A model call, an agent's run, or a root that repeats what its agent heard and said."""
    return msgspec.structs.replace(
        span,
        kind=kind,
        agent=agent,
        model=model or said.model or given.model,
        system=given.system or first_system(given.messages),
        messages_in=given.messages,
        messages_out=said.messages,
        tool_definitions=read_definitions(given.tools if definitions is None else definitions),
        usage=(usage or said.usage) if kind == "model" else None,
        truncated=span.truncated or given.cut or said.cut,
        vocabulary=vocabulary,
    )


def told_tool(
    span: AgentSpan,
    vocabulary: str,
    name: str,
    arguments: JsonValue,
    result: JsonValue,
    *,
    has_result: bool,
    id_: JsonValue = None,
    agent: str | None = None,
    failed: bool = False,
) -> AgentSpan:
    """A tool's run. `arguments` is None where the source carries none."""
    given, state = read_arguments(arguments)
    answer = read_answer(result)
    failure = "error" if failed or answer.failed else None
    return msgspec.structs.replace(
        span,
        kind="tool",
        agent=agent,
        call=ToolCall(name, given, call_id(id_) or answer.call_id, state),
        result=answer.result if has_result else None,
        has_result=has_result,
        error_type=span.error_type or failure,
        truncated=span.truncated or state == "truncated",
        vocabulary=vocabulary,
    )


def told_other(span: AgentSpan, vocabulary: str, *, agent: str | None = None) -> AgentSpan:
    """A span that holds others together."""
    return msgspec.structs.replace(span, kind="other", agent=agent, vocabulary=vocabulary)


def first_system(messages: tuple[Message, ...] | None) -> str | None:
    """The first system message's text."""
    for message in messages or ():
        if message.role in ("system", "developer"):
            return message.text
    return None


def model_of(attributes: Mapping[str, JsonValue]) -> str | None:
    """The model that answered, else the one that was asked for."""
    answered = genai.text_or_none(attributes.get(genai.RESPONSE_MODEL))
    return answered or genai.text_or_none(attributes.get(genai.REQUEST_MODEL))


def plain(value: JsonValue) -> JsonValue:
    """A value out of the JSON text around it; text that is no JSON stays."""
    if not isinstance(value, str):
        return value
    try:
        return content.decode(value)
    except content.Undecodable:
        return value


def usage_or_none(given: JsonValue, said: JsonValue) -> Usage | None:
    """Tokens where either is told."""
    into, out = genai.count_or_none(given), genai.count_or_none(said)
    return None if into is None and out is None else Usage(into, out)
