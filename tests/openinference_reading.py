"""Reads one span of OpenInference as a test writes it down."""

from __future__ import annotations

from typing import Any

from adapters.vocabularies.openinference import OpenInference, WithoutKind
from monitor.model import AgentSpan, ToolCall

SCOPE = "openinference.instrumentation."


def read(kind: str | None, attributes: dict[str, Any], **fields: Any) -> AgentSpan:
    scope = SCOPE + fields.pop("dialect", "langchain")
    events = fields.pop("events", ())
    span = AgentSpan("t", "s", "other", fields.pop("name", "span"), scope=scope, **fields)
    kinds = {} if kind is None else {"openinference.span.kind": kind}
    vocabulary = WithoutKind() if kind is None else OpenInference()
    found = vocabulary.read({**kinds, **attributes}, events, span)
    assert found is not None
    return found


def numbered(prefix: str, *messages: dict[str, Any]) -> dict[str, Any]:
    return {
        f"{prefix}.{at}.message.{name}": value
        for at, message in enumerate(messages)
        for name, value in message.items()
    }


def call(at: int, name: str, arguments: str, id_: str | None = None) -> dict[str, Any]:
    prefix = f"tool_calls.{at}.tool_call"
    found = {f"{prefix}.function.name": name, f"{prefix}.function.arguments": arguments}
    return found if id_ is None else {**found, f"{prefix}.id": id_}


PARIS = '{"city": "Paris"}'
LOOK = ToolCall("look", {"city": "Paris"}, "call-1")
