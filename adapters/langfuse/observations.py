"""Langfuse observations to spans.

What the SDK or framework recorded in the attributes, kept under `metadata.attributes`, is read by
the vocabularies of OpenTelemetry; what they do not tell is read from the observation's own fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from adapters.langfuse.events import events_of, told_as_events
from adapters.langfuse.rows import (
    NO_TRACE,
    Observation,
    TraceRow,
    object_of,
    observation_of,
    span_id_of,
    trace_id_of,
)
from adapters.langfuse.speech import derived_calls, given_in, prompt_as_system, said_in
from adapters.langfuse.tools import answer_in, call_of, is_tool_message
from adapters.shapes.payload import Given, Said
from adapters.vocabularies import identity
from adapters.vocabularies.asides import aside_of, named_aside
from adapters.vocabularies.completing import completed, lacks_content
from adapters.vocabularies.definitions import read_definitions
from adapters.vocabularies.failures import is_control_flow
from adapters.vocabularies.finishing import cut_short, tells_cut
from adapters.vocabularies.genai import INPUT_TOKENS, OUTPUT_TOKENS, tokens_of
from adapters.vocabularies.identity import (
    CONVERSATION_KEYS,
    METADATA_USERS,
    RELEASE_KEYS,
    USER_KEYS,
    conversation_id,
    release,
    service,
    user_id,
)
from adapters.vocabularies.outcomes import OUTCOME, outcome_of
from adapters.vocabularies.registry import VOCABULARIES
from monitor.model import (
    AgentSpan,
    JsonValue,
    Message,
    SpanKind,
    ToolDefinition,
    Usage,
)
from monitor.ports import Vocabulary

VOCABULARY: Final = "langfuse"
EXPECTED: Final = "agent_monitor.expected"
METADATA_KEYS: Final = ("langfuse_session_id", "session_id", "thread_id", "conversation_id")
"""Entries of the metadata that may name the conversation, after the session and attributes."""
EXPANDED: Final = ("attributes", "scope", "resourceAttributes", *METADATA_KEYS, EXPECTED)
"""Entries of the metadata that must come whole."""
_NAME_CHARACTERS: Final = 1_024
_ERROR_CHARACTERS: Final = 200
_KINDS: Final[dict[str, SpanKind]] = {
    "GENERATION": "model",
    "TOOL": "tool",
    "AGENT": "agent",
    "EMBEDDING": "other",
    "RETRIEVER": "other",
    "GUARDRAIL": "other",
    "EVALUATOR": "other",
    "EVENT": "other",
}
_ATTRIBUTE_KINDS: Final[dict[str, SpanKind]] = {
    "LLM": "model",
    "TOOL": "tool",
    "AGENT": "agent",
    "CHAIN": "other",
    "RETRIEVER": "other",
    "RERANKER": "other",
    "EMBEDDING": "other",
    "GUARDRAIL": "other",
    "EVALUATOR": "other",
    "PROMPT": "other",
}
_KIND_KEYS: Final = ("openinference.span.kind", "traceloop.span.kind", "langsmith.span.kind")
_INPUT_TOKENS: Final = (*INPUT_TOKENS, "llm.token_count.prompt")
_OUTPUT_TOKENS: Final = (*OUTPUT_TOKENS, "llm.token_count.completion")
_LANGCHAIN: Final = ("ls_model_type", "ls_provider", "langgraph_node", "langgraph_step")


class _Marks(NamedTuple):
    """What stands in an observation's metadata."""

    attributes: Mapping[str, JsonValue]
    resource: Mapping[str, JsonValue]
    scope: str
    cut: bool
    """The attributes came, but not whole."""


class ObservationReader:
    """Reads rows with a fixed choice of vocabularies and configured names."""

    def __init__(
        self,
        conversation_attribute: str | None = None,
        release_attribute: str | None = None,
        vocabularies: Sequence[Vocabulary] = VOCABULARIES,
    ) -> None:
        """The named entries, of the attributes or the metadata, go before all others."""
        self._vocabularies = tuple(vocabularies)
        first = (conversation_attribute,) if conversation_attribute else ()
        self._conversation_keys = (*first, *CONVERSATION_KEYS, *METADATA_KEYS)
        first = (release_attribute,) if release_attribute else ()
        self._release_keys = (*first, *RELEASE_KEYS)

    def read(self, row: JsonValue, trace: TraceRow = NO_TRACE) -> AgentSpan:
        """One row as a span. Raises MalformedPayload, and PayloadTooLarge at a limit."""
        return self.read_observation(observation_of(row), trace)

    def read_observation(self, seen: Observation, trace: TraceRow = NO_TRACE) -> AgentSpan:
        """The same, for a row whose fields are known. Raises PayloadTooLarge."""
        marks = _marks(seen.metadata)
        bare = self._bare(seen, trace, marks)
        told = self._told(seen, marks, bare)
        kind = _kind(seen, marks, told)
        if kind == "tool":
            return _tool(seen, marks, bare, told)
        if kind == "other":
            aside = named_aside(seen.type) or aside_of(marks.attributes)
            return msgspec.structs.replace(bare, kind="other", vocabulary=VOCABULARY, aside=aside)
        return _speaking(seen, marks, bare, told, kind)

    def _bare(self, seen: Observation, trace: TraceRow, marks: _Marks) -> AgentSpan:
        """Identity, times, conversation and release."""
        named: dict[str, JsonValue] = {**trace.metadata, **seen.metadata}
        named.update(marks.resource)
        named.update(marks.attributes)
        session, declared = seen.session_id or trace.session_id, seen.release or trace.release
        if session is not None:
            named["langfuse.session.id"] = session
        if user := seen.user_id or trace.user_id:
            named["user.id"] = user
        if declared is not None:
            named["langfuse.release"] = declared
        told = identity.named(named, self._conversation_keys)
        outcome = outcome_of(named.get(OUTCOME))
        return AgentSpan(
            trace_id_of(seen.trace_id),
            span_id_of(seen.id),
            "other",
            seen.name[:_NAME_CHARACTERS],
            _parent(seen),
            seen.start_ns,
            seen.end_ns,
            told.conversation_id,
            None,
            release(named, self._release_keys),
            error_type=_error(seen, marks),
            expected=_expected(named.get(EXPECTED)),
            outcome=trace.outcome if outcome is None else outcome,
            scope=marks.scope[:_NAME_CHARACTERS],
            id_remark=told.refused,
            user_id=user_id(named, (*USER_KEYS, *METADATA_USERS)),
            service=service(marks.resource),
        )

    def _told(self, seen: Observation, marks: _Marks, bare: AgentSpan) -> AgentSpan | None:
        """What a vocabulary reads from the original attributes and events."""
        if not marks.attributes:
            return None
        events = events_of(seen.input, seen.output) if told_as_events(marks.scope) else ()
        told: AgentSpan | None = None
        for vocabulary in self._vocabularies:
            found = vocabulary.read(marks.attributes, events, bare)
            if found is not None:
                told = found if told is None else completed(told, found)
                if not lacks_content(told):
                    break
        return told


def carrier_of(trace: TraceRow, trace_id: str) -> AgentSpan | None:
    """What a trace's own row says, for observations that came or will come without it.

    None when it says nothing. It stands below a root that never comes, so that it is none itself.
    """
    if trace == TraceRow(metadata=trace.metadata):
        return None
    named = {"langfuse.session.id": trace.session_id, "user.id": trace.user_id}
    return AgentSpan(
        trace_id_of(trace_id),
        span_id_of(f"{trace_id}:trace"),
        "other",
        parent_id=span_id_of(f"{trace_id}:root"),
        conversation_id=conversation_id(named, CONVERSATION_KEYS),
        release=trace.release,
        vocabulary=VOCABULARY,
        user_id=user_id(named),
        outcome=trace.outcome,
    )


def _parent(seen: Observation) -> str | None:
    """A root that has not ended yet must not pass for the end of its trace."""
    if seen.parent_id:
        return span_id_of(seen.parent_id)
    if seen.end_ns or seen.type == "EVENT":
        return None
    return span_id_of(f"{seen.trace_id}:root")


def _marks(metadata: Mapping[str, JsonValue]) -> _Marks:
    given = metadata.get("attributes")
    attributes = object_of(given)
    scope = object_of(metadata.get("scope")).get("name")
    return _Marks(
        attributes,
        object_of(metadata.get("resourceAttributes")),
        scope if isinstance(scope, str) else "",
        cut=isinstance(given, str) and given.startswith("{") and not attributes,
    )


def _kind(seen: Observation, marks: _Marks, told: AgentSpan | None) -> SpanKind:
    """By the type; a span or chain says more in its attributes, its output, or its place."""
    kind = _KINDS.get(seen.type)
    if kind is not None:
        return kind
    for key in _KIND_KEYS:
        name = marks.attributes.get(key)
        kind = _ATTRIBUTE_KINDS.get(name.upper()) if isinstance(name, str) else None
        if kind is not None and kind != "other":
            return kind
    if told is not None and told.kind != "other":
        return told.kind
    if is_tool_message(seen.output):
        return "tool"
    top = seen.parent_id is None if seen.is_root is None else seen.is_root
    recorded = seen.input is not None or seen.output is not None
    return "agent" if top and recorded else "other"


def _error(seen: Observation, marks: _Marks) -> str | None:
    """A run that stops to ask a person has not failed."""
    if seen.level != "ERROR" or is_control_flow(seen.status_message):
        return None
    named = marks.attributes.get("error.type")
    if is_control_flow(named):
        return None
    return named.strip()[:_ERROR_CHARACTERS] if isinstance(named, str) and named else "error"


def _tool(seen: Observation, marks: _Marks, bare: AgentSpan, told: AgentSpan | None) -> AgentSpan:
    """A tool's run. The attributes' own words go first, field by field."""
    told = told if told is not None and told.kind == "tool" else None
    answer, cut = answer_in(seen.output)
    call = call_of(seen.name, seen.input, told.call if told else None, answer)
    told_result = told is not None and told.has_result
    error = bare.error_type or (told.error_type if told else None)
    return msgspec.structs.replace(
        bare,
        kind="tool",
        agent=told.agent if told else None,
        call=call,
        result=told.result if told and told_result else answer.result,
        has_result=told_result or (seen.output is not None and not cut),
        error_type=error or ("error" if answer.failed else None),
        truncated=call.arguments_state == "truncated" or (cut and not told_result),
        vocabulary=_provenance(told, told is not None and told.call is not None),
    )


def _speaking(
    seen: Observation, marks: _Marks, bare: AgentSpan, told: AgentSpan | None, kind: SpanKind
) -> AgentSpan:
    """A model call or an agent's run; structured messages in the attributes go first."""
    told_in, told_out = (told.messages_in, told.messages_out) if told else (None, None)
    asked = given_in(seen.input) if told_in is None else Given(told_in)
    said = said_in(seen.output) if told_out is None else Said(told_out)
    given, answer = asked.messages, said.messages
    if kind == "model":
        if any(key in seen.metadata for key in _LANGCHAIN):
            given = prompt_as_system(given)
        if seen.tool_calls and not any(message.calls for message in answer or ()):
            answer = (*(answer or ()), *derived_calls(seen.tool_calls)) or None
    return msgspec.structs.replace(
        bare,
        kind=kind,
        agent=_agent(seen, told, kind),
        model=_model(seen, marks, told) or said.model or asked.model,
        system=(told.system if told else None) or asked.system or _system(given),
        messages_in=given,
        messages_out=answer,
        tool_definitions=_definitions(seen, told, asked),
        usage=(_usage(seen, marks) or said.usage) if kind == "model" else None,
        truncated=asked.cut or said.cut or (marks.cut and given is None and answer is None),
        cut_short=cut_short(marks.attributes) or tells_cut(seen.output),
        vocabulary=_provenance(told, told_in is not None or told_out is not None),
    )


def _provenance(told: AgentSpan | None, used: bool) -> str:
    """Who read the content."""
    return f"{VOCABULARY}+{told.vocabulary}" if used and told is not None else VOCABULARY


def _agent(seen: Observation, told: AgentSpan | None, kind: SpanKind) -> str | None:
    if told is not None and told.agent:
        return told.agent
    return seen.name[:_NAME_CHARACTERS] or None if kind == "agent" else None


def _model(seen: Observation, marks: _Marks, told: AgentSpan | None) -> str | None:
    answered = marks.attributes.get("gen_ai.response.model")
    if isinstance(answered, str) and answered.strip():
        return answered.strip()
    return seen.model or (told.model if told else None)


def _system(given: tuple[Message, ...] | None) -> str | None:
    for message in given or ():
        if message.role in ("system", "developer"):
            return message.text
    return None


def _definitions(
    seen: Observation, told: AgentSpan | None, asked: Given
) -> tuple[ToolDefinition, ...] | None:
    if told is not None and told.tool_definitions:
        return told.tool_definitions
    return read_definitions(asked.tools) or _derived_definitions(seen.tool_definitions) or None


def _derived_definitions(value: JsonValue) -> tuple[ToolDefinition, ...] | None:
    """Definitions as the server derived them: by name, each a JSON text."""
    by_name = object_of(value)
    if not by_name:
        return read_definitions(value) if isinstance(value, list) else None
    return read_definitions([{"name": name, **object_of(by_name[name])} for name in by_name])


def _usage(seen: Observation, marks: _Marks) -> Usage | None:
    """Of what was recorded first, in which the cached tokens are among the input."""
    into, out = (tokens_of(marks.attributes, keys) for keys in (_INPUT_TOKENS, _OUTPUT_TOKENS))
    derived = seen.usage or Usage()
    into = derived.input_tokens if into is None else into
    out = derived.output_tokens if out is None else out
    return None if into is None and out is None else Usage(into, out)


def _expected(value: JsonValue) -> JsonValue:
    if not isinstance(value, str):
        return value
    return object_of(value) or None
