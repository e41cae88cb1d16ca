"""A Bedrock agent's trace events: what its model said, which tools ran, who worked for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from adapters.frameworks.documents import list_in, object_in, text_or_none
from adapters.frameworks.times import time_ns
from adapters.frameworks.transcript import Step
from adapters.shapes import content, langchain
from adapters.shapes.parts import first
from monitor.model import JsonValue, Message, ToolCall, ToolResult, Usage

_TYPED: Final = frozenset({"integer", "number", "boolean", "array", "object"})
_PHASES: Final = ("orchestrationTrace", "routingClassifierTrace")


class AgentEvents:
    """One invocation's events in order, told as steps."""

    def __init__(self, events: Sequence[Mapping[str, Any]]) -> None:
        self.steps: list[Step] = []
        self.model: str | None = None
        self.session: str | None = None
        self.usage: Usage | None = None
        self._chunks: list[str] = []
        self._final: str | None = None
        self.start_ns = 0
        self._at_ns = 0
        self._collaborator: str | None = None
        self._open: list[ToolCall] = []
        for event in events:
            self._take(event)
        for call in self._open:
            self.steps.append(self._step(Message("tool", None, (call,))))
        if self.reply is not None:
            self.steps.append(
                Step(
                    message=Message("assistant", self.reply),
                    start_ns=self._at_ns,
                    end_ns=self._at_ns,
                    model=self.model,
                )
            )

    @property
    def reply(self) -> str | None:
        """What the user got: the chunks, else the trace's final response."""
        return "".join(self._chunks) if self._chunks else self._final

    def _take(self, event: Mapping[str, Any]) -> None:
        chunk = event.get("chunk")
        if isinstance(chunk, Mapping):
            text = _text(chunk.get("bytes"))
            if text is not None:
                self._chunks.append(text)
        outer = object_in(event, "trace")
        inner = object_in(outer, "trace") or outer
        if not inner:
            return
        self.session = self.session or text_or_none(outer.get("sessionId"))
        self._collaborator = text_or_none(outer.get("collaboratorName"))
        self._at_ns = time_ns(outer.get("eventTime")) or self._at_ns
        self.start_ns = self.start_ns or self._at_ns
        for phase in _PHASES:
            self._orchestration(object_in(inner, phase))

    def _orchestration(self, trace: Mapping[str, Any]) -> None:
        asked = object_in(trace, "modelInvocationInput")
        named = text_or_none(asked.get("foundationModel"))
        self.model = self.model or named
        made = object_in(trace, "modelInvocationOutput")
        if made:
            self._model_made(made)
        invoked = object_in(trace, "invocationInput")
        if invoked:
            self._open += _calls(invoked)
        observed = object_in(trace, "observation")
        if observed:
            self._observe(observed)

    def _model_made(self, made: Mapping[str, Any]) -> None:
        """Only tokens: the raw answer of a model is in the prompt's own format."""
        usage = langchain.usage_of(object_in(object_in(made, "metadata"), "usage"))
        if usage is not None:
            self.usage = usage if self.usage is None else _sum(self.usage, usage)

    def _observe(self, observed: Mapping[str, Any]) -> None:
        final = object_in(observed, "finalResponse")
        if final and self._collaborator is None:
            self._final = text_or_none(final.get("text"))
        for result in _results(observed):
            if not self._open:
                continue
            call = self._open.pop(0)
            answer = msgspec.structs.replace(result, name=call.name)
            self.steps.append(self._step(Message("tool", None, (call,), (answer,))))

    def _step(self, message: Message) -> Step:
        return Step(
            message=message,
            agent=self._collaborator,
            inner=self._collaborator is not None,
            model=self.model,
            start_ns=self._at_ns,
            end_ns=self._at_ns,
        )


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        _plus(one.input_tokens, other.input_tokens), _plus(one.output_tokens, other.output_tokens)
    )


def _plus(one: int | None, other: int | None) -> int | None:
    return other if one is None else min(one + (other or 0), langchain.MOST_TOKENS)


def _calls(invoked: Mapping[str, Any]) -> Iterator[ToolCall]:
    group = object_in(invoked, "actionGroupInvocationInput")
    if group:
        name = text_or_none(first(group, ("function", "apiPath", "actionGroupName")))
        yield ToolCall(name or "", _arguments(group))
    lookup = object_in(invoked, "knowledgeBaseLookupInput")
    if lookup:
        yield ToolCall("knowledge_base_lookup", dict(lookup))
    other = object_in(invoked, "agentCollaboratorInvocationInput")
    if other:
        name = text_or_none(other.get("agentCollaboratorName"))
        yield ToolCall(name or "", dict(object_in(other, "input")))
    code = object_in(invoked, "codeInterpreterInvocationInput")
    if code:
        yield ToolCall("code_interpreter", dict(code))


def _arguments(group: Mapping[str, Any]) -> dict[str, JsonValue]:
    listed = [*list_in(group, "parameters")]
    for body in object_in(object_in(group, "requestBody"), "content").values():
        listed += body if isinstance(body, list) else []
    named = (item for item in listed if isinstance(item, Mapping))
    return {
        item["name"]: _typed(item.get("value"), item.get("type"))
        for item in named
        if isinstance(item.get("name"), str)
    }


def _typed(value: JsonValue, kind: JsonValue) -> JsonValue:
    """Values come as text beside the type that the action declares for them."""
    if not isinstance(value, str) or not isinstance(kind, str) or kind.lower() not in _TYPED:
        return value
    try:
        return content.decode(value)
    except content.Undecodable:
        return value


def _results(observed: Mapping[str, Any]) -> Iterator[ToolResult]:
    group = object_in(observed, "actionGroupInvocationOutput")
    if group:
        yield ToolResult(content.result(group.get("text")))
    lookup = object_in(observed, "knowledgeBaseLookupOutput")
    if lookup:
        yield ToolResult(lookup.get("retrievedReferences"))
    other = object_in(observed, "agentCollaboratorInvocationOutput")
    if other:
        yield ToolResult(content.result(object_in(other, "output").get("text")))
    code = object_in(observed, "codeInterpreterInvocationOutput")
    if code:
        error = code.get("executionError")
        given = code.get("executionOutput") if error is None else error
        yield ToolResult(content.result(given), is_error=error is not None)


def _text(given: JsonValue) -> str | None:
    """A chunk's bytes: text, or the numbers of a buffer."""
    if isinstance(given, str):
        return given
    if isinstance(given, Mapping):
        given = given.get("data")
    if isinstance(given, list) and all(isinstance(b, int) and 0 <= b < 256 for b in given):
        return bytes(given).decode("utf-8", "replace")
    return None
