"""OpenInference, in the dialects of its instrumentations.

A span's kind decides what its values are: a tool's arguments and result, a run's question and
answer, or a model call's messages, which mostly stand in numbered attributes too. Where GenAI
attributes carry the messages or the call as well, these are read and the others are not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from adapters.shapes import payload
from adapters.shapes.payload import Given, Said
from adapters.vocabularies import genai, kept
from adapters.vocabularies import openinference_messages as numbered
from adapters.vocabularies import openinference_tools as tools
from adapters.vocabularies.definitions import read_definitions
from adapters.vocabularies.identity import METADATA_USERS, conversation_id, user_id
from adapters.vocabularies.numbered import Numbered
from adapters.vocabularies.openinference_messages import shown
from adapters.vocabularies.openinference_tools import first_text
from monitor.model import AgentSpan, JsonValue, Message, SpanKind

KIND: Final = "openinference.span.kind"
METADATA: Final = "metadata"
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
CREWS: Final = frozenset({"crew_key", "flow_id"})
"""On the span of CrewAI that holds a whole run."""
CONVERSATIONS: Final = ("thread_id", "session_id", "conversation_id")
_SCOPES: Final = ("openinference.", "@arizeai/openinference")
_KINDS: Final[dict[str, SpanKind]] = {"LLM": "model", "AGENT": "agent", "TOOL": "tool"}
_STEPS: Final = frozenset({"CHAIN", "PROMPT"})
_INVOKED: Final = ('"tools"', '"system"', '"instructions"')
_STEPPING: Final = ".smolagents"
_STEP_OF_GRAPH: Final = '"langgraph_node"'


class OpenInference:
    """The vocabulary `openinference`."""

    name = "openinference"
    keys = (
        genai.GenAi.keys
        | numbered.KEYS
        | tools.KEYS
        | {KIND, METADATA, INVOCATION, *CREWS, *AGENTS, *MODELS, *TOKENS}
    )

    marks = frozenset({KIND})
    scopes: frozenset[str] = frozenset()

    def read(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
    ) -> AgentSpan | None:
        """None for a span without a kind."""
        kind = attributes.get(KIND)
        return self._read(attributes, events, span, kind.upper()) if type(kind) is str else None

    def _read(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
        kind: str,
    ) -> AgentSpan:
        found = _KINDS.get(kind, "other")
        if kind == "CHAIN" and not CREWS.isdisjoint(attributes):
            found = "agent"
        if found == "tool":
            read = tools.read_tool(attributes, events, span, self.name)
        elif found == "other" and kind not in _STEPS:
            read = kept.told_other(span, self.name)
        elif genai.INPUT in attributes or genai.OUTPUT in attributes:
            read = genai.read_call(attributes, events, span, found, f"{self.name}_genai")
        else:
            read = _read_run(attributes, span, found, self.name)
        return _with_conversation(read, attributes)


class WithoutKind(OpenInference):
    """The same for spans of its own scopes whose kind an exporter's limit dropped."""

    name = "openinference_without_kind"

    def read(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
    ) -> AgentSpan | None:
        """None for spans of other scopes, and where what is left does not tell what it was."""
        if KIND in attributes or not span.scope.startswith(_SCOPES):
            return None
        kind = _dropped_kind(attributes)
        return None if kind is None else self._read(attributes, events, span, kind)


def _dropped_kind(attributes: Mapping[str, JsonValue]) -> str | None:
    """What a span was whose kind was dropped: the oldest attributes go first."""
    if tools.NAME in attributes:
        return "TOOL"
    messages = (numbered.MESSAGES_IN, numbered.MESSAGES_OUT)
    return "LLM" if any(key.startswith(messages) for key in attributes) else None


def _read_run(
    attributes: Mapping[str, JsonValue], span: AgentSpan, kind: SpanKind, vocabulary: str
) -> AgentSpan:
    """A model call, an agent's run or a step: numbered messages before the whole values."""
    if kind == "other" and (
        _STEP_OF_GRAPH in str(attributes.get(METADATA, "")) or span.scope.endswith(_STEPPING)
    ):
        # A node of a graph repeats the state that the graph's own span carries; a step of
        # smolagents carries the repr of its memory.
        return kept.told_other(span, vocabulary)
    told = Numbered(attributes)
    if kind == "model":
        given, said = _given(attributes, told), _said(attributes, told)
    else:
        # Of a graph's state LangChain numbers the first message only; the whole value is right.
        given = _asked(payload.read_given(shown(attributes.get(tools.INPUT))))
        given = given if given.messages else _asked(_given(attributes, told))
        said = _replied(payload.read_said(shown(attributes.get(tools.OUTPUT))), kind)
        said = said if said.messages else _replied(_said(attributes, told), kind)
    beside = _invocation(attributes)
    if given.system is None and kept.first_system(given.messages) is None:
        given = given._replace(system=beside.system)
    usage = kept.usage_or_none(attributes.get(TOKENS[0]), attributes.get(TOKENS[1]))
    read = kept.told_run(
        span,
        kind,
        vocabulary,
        given,
        said,
        agent=first_text(attributes, AGENTS) if kind == "agent" else None,
        model=first_text(attributes, MODELS),
        usage=usage or genai.usage_of(attributes),
    )
    definitions = numbered.read_tools(told) or read_definitions(beside.tools)
    if not definitions:
        return read
    return msgspec.structs.replace(read, tool_definitions=definitions)


def _given(attributes: Mapping[str, JsonValue], all_: Numbered) -> Given:
    told = numbered.read_numbered(all_, numbered.MESSAGES_IN, "user")
    if told.messages is not None and not numbered.lost_results(told.messages):
        return Given(told.messages, cut=told.gaps)
    if told.messages is not None:
        whole = payload.read_given(shown(attributes.get(tools.INPUT)))
        if any(message.results for message in whole.messages or ()):
            return whole
        return Given(numbered.with_results(told.messages), cut=told.gaps)
    prompts = numbered.read_completion(all_, numbered.PROMPTS, "prompt", "user")
    if prompts is not None:
        return Given(prompts)
    return payload.read_given(shown(attributes.get(tools.INPUT)))


def _said(attributes: Mapping[str, JsonValue], all_: Numbered) -> Said:
    told = numbered.read_numbered(all_, numbered.MESSAGES_OUT, "assistant")
    if told.messages is not None:
        return Said(told.messages, cut=told.gaps)
    choices = numbered.read_completion(all_, numbered.CHOICES, "completion", "assistant")
    if choices is not None:
        return Said(choices)
    return payload.read_said(shown(attributes.get(tools.OUTPUT)))


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


def _invocation(attributes: Mapping[str, JsonValue]) -> Given:
    """The instructions and tools among the parameters of a call, where some recorders put them."""
    text = attributes.get(INVOCATION)
    if not isinstance(text, str) or not any(word in text for word in _INVOKED):
        return Given()
    return payload.read_given(text)


def _with_conversation(span: AgentSpan, attributes: Mapping[str, JsonValue]) -> AgentSpan:
    """The conversation and the user that the metadata names, where no attribute does."""
    metadata = attributes.get(METADATA)
    named = span.conversation_id is not None
    if metadata is None or (named and (span.user_id or "user" not in str(metadata))):
        return span
    fields, _ = payload.opened(metadata)
    if not isinstance(fields, dict):
        return span
    return msgspec.structs.replace(
        span,
        conversation_id=span.conversation_id or conversation_id(fields, CONVERSATIONS),
        user_id=span.user_id or user_id(fields, METADATA_USERS),
    )
