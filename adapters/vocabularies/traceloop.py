"""Traceloop's own spans: workflows, tasks, agents and tools around the model calls.

Their values are JSON: the arguments of a decorated function (`{"args": [..], "kwargs": {..}}`), or
what LangChain handed to its callbacks (`{"inputs": ..}`, `{"input_str": ..}`, `{"outputs": ..}`).
Model calls carry the GenAI conventions, of whichever generation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from adapters.shapes import payload
from adapters.shapes.payload import Given, Said
from adapters.vocabularies import genai, kept
from monitor.model import AgentSpan, JsonValue, Message, SpanKind

KIND: Final = "traceloop.span.kind"
NAME: Final = "traceloop.entity.name"
INPUT: Final = "traceloop.entity.input"
OUTPUT: Final = "traceloop.entity.output"
_KINDS: Final[dict[str, SpanKind]] = {"workflow": "agent", "agent": "agent", "tool": "tool"}
_BESIDE: Final = frozenset({"tags", "metadata", "kwargs", "name"})
_OUTPUTS: Final = ("output", "outputs")
_TOOL_ENDING: Final = ".tool"


class Traceloop:
    """The vocabulary `traceloop`."""

    name = "traceloop"
    keys = genai.GenAi.keys | {KIND, NAME, INPUT, OUTPUT}
    marks = frozenset({KIND})
    scopes: frozenset[str] = frozenset()

    def read(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
    ) -> AgentSpan | None:
        """None for spans that are not Traceloop's own, or that GenAI names tell more of."""
        named = attributes.get(KIND)
        if not isinstance(named, str):
            return None
        kind = genai.kind_of(attributes, events) or _KINDS.get(named.lower(), "other")
        if kind == "tool":
            return self._tool(attributes, events, span)
        if kind == "other":
            return kept.told_other(span, self.name)
        if kind == "model" or genai.INPUT in attributes or genai.OUTPUT in attributes:
            return genai.read_call(attributes, events, span, kind, f"{self.name}_genai")
        named_agent = genai.text_or_none(attributes.get(genai.AGENT))
        if named_agent is None and named.lower() == "agent":
            named_agent = genai.text_or_none(attributes.get(NAME))
        return kept.told_run(
            span,
            kind,
            self.name,
            _asked(attributes.get(INPUT)),
            _replied(attributes.get(OUTPUT)),
            agent=named_agent,
            model=kept.model_of(attributes),
            definitions=attributes.get(genai.DEFINITIONS),
        )

    def _tool(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
    ) -> AgentSpan:
        arguments = _first(attributes, (genai.ARGUMENTS, INPUT))
        returned = _first(attributes, (genai.RESULT, OUTPUT))
        fields, _ = payload.opened(arguments)
        if genai.ARGUMENTS in attributes and not _is_callback(fields):
            return genai.read_tool(attributes, events, span, f"{self.name}_genai")
        failed = returned is None and any(name == genai.EXCEPTION_EVENT for name, _ in events)
        beside = fields.get("kwargs") if isinstance(fields, dict) else None
        id_ = beside.get("tool_call_id") if isinstance(beside, dict) else None
        return kept.told_tool(
            span,
            self.name,
            _tool_name(attributes, span),
            _without_callback(arguments, fields),
            _returned(returned),
            has_result=returned is not None,
            id_=attributes.get(genai.CALL_ID) or (id_ if _is_callback(fields) else None),
            agent=genai.text_or_none(attributes.get(genai.AGENT)),
            failed=failed,
        )


def _tool_name(attributes: Mapping[str, JsonValue], span: AgentSpan) -> str:
    for key in (genai.TOOL_NAME, NAME):
        name = genai.text_or_none(attributes.get(key))
        if name is not None:
            return name
    return span.name.removesuffix(_TOOL_ENDING)


def _is_callback(fields: JsonValue) -> bool:
    """Whether this is what LangChain tells its callbacks about a tool's run."""
    if not isinstance(fields, dict):
        return False
    return "input_str" in fields or ("inputs" in fields and not _BESIDE.isdisjoint(fields))


def _without_callback(value: JsonValue, fields: JsonValue) -> JsonValue:
    """A tool's arguments without what stands beside them."""
    if not isinstance(fields, dict):
        return value
    inputs = fields.get("inputs")
    if isinstance(inputs, dict) and inputs:
        return {"inputs": inputs}
    if "input_str" in fields:
        return {"input_str": fields["input_str"]}
    if "args" in fields or "kwargs" in fields:
        return {key: item for key, item in fields.items() if key in ("args", "kwargs")}
    return value


def _returned(value: JsonValue) -> JsonValue:
    """What the function returned."""
    fields, _ = payload.opened(value)
    if isinstance(fields, dict) and fields.keys() <= {*_OUTPUTS, *_BESIDE}:
        for key in _OUTPUTS:
            if key in fields:
                return fields[key]
    return value


def _asked(value: JsonValue) -> Given:
    given = payload.read_given(value)
    for message in reversed(given.messages or ()):
        if message.role == "user" and (message.text or message.media):
            return given._replace(messages=(message,))
    return given._replace(messages=None)


def _replied(value: JsonValue) -> Said:
    said = payload.read_said(_returned(value))
    for message in reversed(said.messages or ()):
        if message.role == "assistant" and message.text:
            return said._replace(messages=(Message("assistant", message.text),))
    return said._replace(messages=None)


def _first(attributes: Mapping[str, JsonValue], keys: Sequence[str]) -> JsonValue:
    return next((value for key in keys if (value := attributes.get(key)) is not None), None)
