"""OpenInference, in the dialects of its instrumentations.

A span's kind decides what its values are: a tool's arguments and result, a run's question and
answer, or a model call's messages, which mostly stand in numbered attributes too. Where GenAI
attributes carry the messages or the call as well, these are read and the others are not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from adapters.shapes import payload
from adapters.shapes.payload import Given, Said
from adapters.vocabularies import genai, kept
from adapters.vocabularies import openinference_messages as numbered
from adapters.vocabularies.definitions import read_definitions
from adapters.vocabularies.identity import conversation_id
from adapters.vocabularies.openinference_messages import shown
from monitor.model import AgentSpan, JsonValue, Message, SpanKind, ToolDefinition

KIND: Final = "openinference.span.kind"
INPUT: Final = "input.value"
OUTPUT: Final = "output.value"
METADATA: Final = "metadata"
TOOL_NAME: Final = "tool.name"
TOOL_ID: Final = "tool.id"
TOOL_PARAMETERS: Final = "tool.parameters"
AGENTS: Final = ("agent.name", "graph.node.id", genai.AGENT)
MODELS: Final = (
    genai.RESPONSE_MODEL,
    "llm.response.model_name",
    "llm.model_name",
    "llm.request.model_name",
    genai.REQUEST_MODEL,
)
TOKENS: Final = ("llm.token_count.prompt", "llm.token_count.completion")
INVOCATION: Final = "llm.invocation_parameters"
CONVERSATIONS: Final = ("thread_id", "session_id", "conversation_id")
_SCOPES: Final = ("openinference.", "@arizeai/openinference")
_KINDS: Final[dict[str, SpanKind]] = {"LLM": "model", "AGENT": "agent", "TOOL": "tool"}
_STEPS: Final = frozenset({"CHAIN", "PROMPT"})
_HANDOFF: Final = "handoff to "
_STEP_OF_GRAPH: Final = '"langgraph_node"'
_REPR: Final = re.compile(r"content=('(?:[^'\\]|\\.){0,65536}'|\"(?:[^\"\\]|\\.){0,65536}\")")
_REPR_ID: Final = re.compile(r" tool_call_id='([^'\\]{1,256})'")


class OpenInference:
    """The vocabulary `openinference`."""

    name = "openinference"
    keys = (
        genai.GenAi.keys
        | numbered.KEYS
        | {KIND, INPUT, OUTPUT, METADATA, TOOL_NAME, TOOL_ID, TOOL_PARAMETERS, INVOCATION}
        | {*AGENTS, *MODELS, *TOKENS}
    )

    def read(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
    ) -> AgentSpan | None:
        """None for a span without a kind, unless an exporter's limit dropped it."""
        named = attributes.get(KIND)
        if named is None and not span.scope.startswith(_SCOPES):
            return None
        kind = named.upper() if isinstance(named, str) else _dropped_kind(attributes)
        if kind is None:
            return None
        found = _KINDS.get(kind, "other")
        if found == "tool":
            read = _read_tool(attributes, events, span, self.name)
        elif found == "other" and kind not in _STEPS:
            read = kept.told_other(span, self.name)
        elif genai.INPUT in attributes or genai.OUTPUT in attributes:
            read = genai.read_call(attributes, events, span, found, f"{self.name}_genai")
        else:
            read = _read_run(attributes, span, found, self.name)
        return _with_conversation(read, attributes)


def _dropped_kind(attributes: Mapping[str, JsonValue]) -> str | None:
    """What a span was whose kind was dropped: the oldest attributes go first."""
    if TOOL_NAME in attributes:
        return "TOOL"
    messages = (numbered.MESSAGES_IN, numbered.MESSAGES_OUT)
    return "LLM" if any(key.startswith(messages) for key in attributes) else None


def _read_run(
    attributes: Mapping[str, JsonValue], span: AgentSpan, kind: SpanKind, vocabulary: str
) -> AgentSpan:
    """A model call, an agent's run or a step: numbered messages before the whole values."""
    if kind == "other" and _STEP_OF_GRAPH in str(attributes.get(METADATA, "")):
        # A node of a graph repeats the state that the graph's own span carries.
        return kept.told_other(span, vocabulary)
    given = _given(attributes)
    said = _said(attributes)
    if kind != "model":
        given, said = _asked(given), _replied(said, kind)
    usage = kept.usage_or_none(attributes.get(TOKENS[0]), attributes.get(TOKENS[1]))
    read = kept.told_run(
        span,
        kind,
        vocabulary,
        given,
        said,
        agent=_first_text(attributes, AGENTS) if kind == "agent" else None,
        model=_first_text(attributes, MODELS),
        usage=usage or genai.usage_of(attributes),
    )
    tools = numbered.read_tools(attributes) or _invocation_tools(attributes)
    return read if tools is None else msgspec.structs.replace(read, tool_definitions=tools)


def _given(attributes: Mapping[str, JsonValue]) -> Given:
    told = numbered.read_numbered(attributes, numbered.MESSAGES_IN, "user")
    if told.messages is not None:
        return Given(told.messages, cut=told.gaps)
    prompts = numbered.read_completion(attributes, numbered.PROMPTS, "prompt", "user")
    if prompts is not None:
        return Given(prompts)
    return payload.read_given(shown(attributes.get(INPUT)))


def _said(attributes: Mapping[str, JsonValue]) -> Said:
    told = numbered.read_numbered(attributes, numbered.MESSAGES_OUT, "assistant")
    if told.messages is not None:
        return Said(told.messages, cut=told.gaps)
    choices = numbered.read_completion(attributes, numbered.CHOICES, "completion", "assistant")
    if choices is not None:
        return Said(choices)
    return payload.read_said(shown(attributes.get(OUTPUT)))


def _asked(given: Given) -> Given:
    """What a run was asked: the messages before it are told by the model calls inside."""
    for message in reversed(given.messages or ()):
        if message.role == "user" and (message.text or message.media):
            return given._replace(messages=(message,))
    return given._replace(messages=None)


def _replied(said: Said, kind: SpanKind) -> Said:
    """What a run replied; a state of a graph that holds no reply is none."""
    for message in reversed(said.messages or ()):
        if message.role == "assistant" and message.text:
            if kind == "other" and message.text.startswith(("{", "[")):
                break
            return said._replace(messages=(Message("assistant", message.text),))
        if message.role == "user":
            break
    return said._replace(messages=None)


def _invocation_tools(
    attributes: Mapping[str, JsonValue],
) -> tuple[ToolDefinition, ...] | None:
    """The tools among the parameters of a call, where older instrumentations put them."""
    text = attributes.get(INVOCATION)
    if not isinstance(text, str) or '"tools"' not in text:
        return None
    parameters, _ = payload.opened(text)
    tools = parameters.get("tools") if isinstance(parameters, Mapping) else None
    return read_definitions(tools) if isinstance(tools, list) and tools else None


def _read_tool(
    attributes: Mapping[str, JsonValue],
    events: Sequence[tuple[str, Mapping[str, JsonValue]]],
    span: AgentSpan,
    vocabulary: str,
) -> AgentSpan:
    own = genai.ARGUMENTS in attributes or genai.RESULT in attributes
    arguments = attributes.get(genai.ARGUMENTS) if own else _arguments(attributes, span)
    key = genai.RESULT if own else OUTPUT
    result, id_, failed = _unrepr(shown(attributes.get(key)))
    has_result = attributes.get(key) is not None and attributes[key] != numbered.HIDDEN
    if not has_result and span.error_type is None:
        failed = any(name == genai.EXCEPTION_EVENT for name, _ in events)
    return kept.told_tool(
        span,
        vocabulary,
        _tool_name(attributes, span),
        arguments,
        result,
        has_result=has_result,
        id_=attributes.get(genai.CALL_ID) or attributes.get(TOOL_ID) or id_,
        agent=_first_text(attributes, (genai.AGENT,)),
        failed=failed,
    )


def _tool_name(attributes: Mapping[str, JsonValue], span: AgentSpan) -> str:
    named = _first_text(attributes, (genai.TOOL_NAME, TOOL_NAME))
    if named is not None:
        return named
    if span.name.startswith(_HANDOFF):
        # The model asked for the handoff under this name.
        agent = span.name[len(_HANDOFF) :]
        return re.sub(r"[^a-zA-Z0-9_]", "_", f"transfer_to_{agent}").lower()
    return span.name


def _arguments(attributes: Mapping[str, JsonValue], span: AgentSpan) -> JsonValue:
    if span.name.startswith(_HANDOFF) and TOOL_NAME not in attributes:
        return None
    given = shown(attributes.get(INPUT))
    if given is not None:
        return given
    # Some instrumentations put the schema here and some the arguments themselves.
    parameters = shown(attributes.get(TOOL_PARAMETERS))
    return None if _is_schema(payload.opened(parameters)[0]) else parameters


def _is_schema(value: JsonValue) -> bool:
    if not isinstance(value, Mapping):
        return False
    if "properties" in value or value.get("type") == "object":
        return True
    return bool(value) and all(
        isinstance(item, Mapping) and isinstance(item.get("type"), str) for item in value.values()
    )


def _unrepr(value: JsonValue) -> tuple[JsonValue, str | None, bool]:
    """A result, its call's id and whether it failed, out of the repr of LangChain's message."""
    if not isinstance(value, str) or not value.startswith("content="):
        return value, None, False
    found = _REPR.match(value)
    if found is None:
        return value, None, False
    try:
        text: Any = ast.literal_eval(found[1])
    except (ValueError, SyntaxError):
        return value, None, False
    rest = value[found.end() :]
    id_ = _REPR_ID.search(rest)
    return text, id_[1] if id_ else None, " status='error'" in rest


def _with_conversation(span: AgentSpan, attributes: Mapping[str, JsonValue]) -> AgentSpan:
    """The conversation that the metadata names, where no attribute does."""
    metadata = attributes.get(METADATA)
    if span.conversation_id is not None or metadata is None:
        return span
    fields, _ = payload.opened(metadata)
    if not isinstance(fields, Mapping):
        return span
    name = conversation_id(fields, CONVERSATIONS)
    return span if name is None else msgspec.structs.replace(span, conversation_id=name)


def _first_text(attributes: Mapping[str, JsonValue], keys: Sequence[str]) -> str | None:
    for key in keys:
        text = genai.text_or_none(shown(attributes.get(key)))
        if text is not None:
            return text
    return None
