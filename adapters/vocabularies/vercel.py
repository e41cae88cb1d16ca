"""The AI SDK's own attributes, `ai.*`, as its first tracer wrote them.

`ai.generateText` is a run of an agent; the model calls are its `.doGenerate` and `.doStream`.
The newer tracer writes the GenAI conventions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from adapters.shapes.payload import Given, Said, opened, read_given, read_said
from adapters.vocabularies import genai
from adapters.vocabularies.kept import told_other, told_run, told_tool, usage_or_none
from monitor.model import AgentSpan, JsonValue, Message, Usage

OPERATION: Final = "ai.operationId"
MESSAGES: Final = "ai.prompt.messages"
PROMPT: Final = "ai.prompt"
TOOLS: Final = "ai.prompt.tools"
TEXT: Final = ("ai.response.text", "ai.result.text")
CALLS: Final = ("ai.response.toolCalls", "ai.result.toolCalls")
OBJECT: Final = ("ai.response.object", "ai.result.object")
TOOL_NAME: Final = "ai.toolCall.name"
TOOL_ID: Final = "ai.toolCall.id"
TOOL_ARGUMENTS: Final = "ai.toolCall.args"
TOOL_RESULT: Final = "ai.toolCall.result"
MODEL: Final = "ai.response.model"
MODEL_ID: Final = "ai.model.id"
INPUT_TOKENS: Final = ("ai.usage.inputTokens", "ai.usage.promptTokens")
OUTPUT_TOKENS: Final = ("ai.usage.outputTokens", "ai.usage.completionTokens")
FUNCTION: Final = "ai.telemetry.functionId"
_RUNS: Final = frozenset(
    {"ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject"}
)
_INNER: Final = (".doGenerate", ".doStream")


class Vercel:
    """The vocabulary `vercel`."""

    name = "vercel"
    keys = frozenset(
        {
            *(OPERATION, MESSAGES, PROMPT, TOOLS, *TEXT, *CALLS, *OBJECT),
            *(TOOL_NAME, TOOL_ID, TOOL_ARGUMENTS, TOOL_RESULT, MODEL, MODEL_ID, FUNCTION),
            *(*INPUT_TOKENS, *OUTPUT_TOKENS, *genai.INPUT_TOKENS, *genai.OUTPUT_TOKENS),
            *(genai.RESPONSE_MODEL, genai.REQUEST_MODEL),
        }
    )
    marks = frozenset({OPERATION})
    scopes: frozenset[str] = frozenset()

    def read(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
    ) -> AgentSpan | None:
        """None for spans without `ai.operationId`."""
        operation = attributes.get(OPERATION)
        if not isinstance(operation, str):
            return None
        agent = genai.text_or_none(attributes.get(FUNCTION))
        if operation == "ai.toolCall":
            return told_tool(
                span,
                self.name,
                genai.text_or_none(attributes.get(TOOL_NAME)) or span.name,
                attributes.get(TOOL_ARGUMENTS),
                attributes.get(TOOL_RESULT),
                has_result=TOOL_RESULT in attributes,
                id_=attributes.get(TOOL_ID),
                agent=agent,
            )
        inner = operation.endswith(_INNER)
        if not inner and operation not in _RUNS:
            return told_other(span, self.name, agent=agent)
        return told_run(
            span,
            "model" if inner else "agent",
            self.name,
            _given(attributes),
            _said(attributes),
            agent=agent,
            model=_model(attributes),
            definitions=_tools(attributes.get(TOOLS)),
            usage=_usage(attributes),
        )


def _given(attributes: Mapping[str, JsonValue]) -> Given:
    """The prompt, and its messages where they are told apart."""
    prompt = read_given(attributes[PROMPT]) if PROMPT in attributes else Given()
    if MESSAGES not in attributes:
        return prompt
    given = read_given(attributes[MESSAGES])
    return given._replace(system=given.system or prompt.system)


def _said(attributes: Mapping[str, JsonValue]) -> Said:
    text, calls = _first(attributes, TEXT), _first(attributes, CALLS)
    structured = _first(attributes, OBJECT)
    if calls is not None:
        asked, cut = opened(calls)
        if cut or not isinstance(asked, list):
            return Said(cut=cut)
        return read_said({"role": "assistant", "content": text, "toolCalls": asked})
    if text is None and structured is not None:
        return Said((Message("assistant", str(structured)),))
    # The text is the user's to read, whatever it looks like.
    return Said((Message("assistant", text),)) if isinstance(text, str) else Said()


def _tools(value: JsonValue) -> JsonValue:
    """A list of JSON texts; some relays leave them in the wire's own wrapping."""
    if isinstance(value, dict) and isinstance(value.get("values"), list):
        value = [_unwrapped(item) for item in value["values"]]
    if not isinstance(value, list):
        return value
    return [opened(item)[0] for item in value]


def _unwrapped(item: JsonValue) -> JsonValue:
    return item.get("stringValue", item) if isinstance(item, dict) else item


def _model(attributes: Mapping[str, JsonValue]) -> str | None:
    for key in (genai.RESPONSE_MODEL, genai.REQUEST_MODEL, MODEL, MODEL_ID):
        if name := genai.text_or_none(attributes.get(key)):
            return name
    return None


def _usage(attributes: Mapping[str, JsonValue]) -> Usage | None:
    told = genai.usage_of(attributes)
    return told or usage_or_none(
        _first(attributes, INPUT_TOKENS), _first(attributes, OUTPUT_TOKENS)
    )


def _first(attributes: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((attributes[key] for key in keys if key in attributes), None)
