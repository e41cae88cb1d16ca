"""OpenInference's tool spans: the call in `input.value`, the result in `output.value`.

What stands there is the dialect's: the arguments, the function call around them, the repr of a
LangChain message; `tool.parameters` is a schema with some and the arguments with others.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from adapters.shapes import payload
from adapters.vocabularies import genai, kept
from adapters.vocabularies.openinference_messages import HIDDEN, shown
from monitor.model import AgentSpan, JsonValue

INPUT: Final = "input.value"
OUTPUT: Final = "output.value"
NAME: Final = "tool.name"
ID: Final = "tool.id"
PARAMETERS: Final = "tool.parameters"
KEYS: Final = frozenset({INPUT, OUTPUT, NAME, ID, PARAMETERS})
_HANDOFF: Final = "handoff to "
_RUN_OPTIONS: Final = frozenset({"input", "options", "signal", "kwargs"})
_CREW_CALL: Final = frozenset({"calling", "tool"})
_REPR: Final = re.compile(r"content=('(?:[^'\\]|\\.){0,65536}'|\"(?:[^\"\\]|\\.){0,65536}\")")
_REPR_ID: Final = re.compile(r" tool_call_id='([^'\\]{1,256})'")


def read_tool(
    attributes: Mapping[str, JsonValue],
    events: Sequence[tuple[str, Mapping[str, JsonValue]]],
    span: AgentSpan,
    vocabulary: str,
) -> AgentSpan:
    """A tool's run. GenAI attributes go first, for the arguments and for the result."""
    own = genai.ARGUMENTS in attributes
    arguments = attributes[genai.ARGUMENTS] if own else _arguments(attributes, span)
    key = genai.RESULT if genai.RESULT in attributes else OUTPUT
    result, id_, failed = _unrepr(shown(attributes.get(key)))
    has_result = attributes.get(key) is not None and attributes[key] != HIDDEN
    if not has_result and span.error_type is None:
        failed = any(name == genai.EXCEPTION_EVENT for name, _ in events)
    read = kept.told_tool(
        span,
        vocabulary,
        _tool_name(attributes, span),
        arguments,
        result,
        has_result=has_result,
        id_=attributes.get(genai.CALL_ID) or attributes.get(ID) or id_,
        agent=first_text(attributes, (genai.AGENT,)),
        failed=failed,
    )
    return _without_names(read, arguments)


def _without_names(span: AgentSpan, given: JsonValue) -> AgentSpan:
    """A value that is no object has lost its name, as LangChain leaves out that of a lone text."""
    call = span.call
    if call is None or call.arguments_state != "parsed" or isinstance(call.arguments, dict):
        return span
    text = given if isinstance(given, str) else msgspec.json.encode(given).decode()
    raw = msgspec.structs.replace(call, arguments=text, arguments_state="raw")
    return msgspec.structs.replace(span, call=raw)


def _tool_name(attributes: Mapping[str, JsonValue], span: AgentSpan) -> str:
    named = first_text(attributes, (genai.TOOL_NAME, NAME))
    if named is not None:
        return named
    if span.name.startswith(_HANDOFF):
        # The model asked for the handoff under this name.
        agent = span.name[len(_HANDOFF) :]
        return re.sub(r"[^a-zA-Z0-9_]", "_", f"transfer_to_{agent}").lower()
    return span.name


def _arguments(attributes: Mapping[str, JsonValue], span: AgentSpan) -> JsonValue:
    """The arguments; None where the span carries none."""
    if span.name.startswith(_HANDOFF) and NAME not in attributes:
        return None
    given = shown(attributes.get(INPUT))
    parameters = shown(attributes.get(PARAMETERS))
    if given is not None:
        fields, _ = payload.opened(given)
        return _called(given, fields, parameters) if isinstance(fields, dict) else given
    # Some instrumentations put the schema here and some the arguments themselves.
    return None if _is_schema(payload.opened(parameters)[0]) else parameters


def _called(given: JsonValue, fields: Mapping[str, Any], parameters: JsonValue) -> JsonValue:
    """The arguments out of the call of the function that runs the tool."""
    if fields.keys() >= _CREW_CALL:
        calling = fields["calling"]
        return calling.get("arguments") if isinstance(calling, dict) else None
    if fields.keys() <= _RUN_OPTIONS and isinstance(fields.get("input"), dict):
        return fields["input"]
    if fields.get("args") and isinstance(fields["args"], list) and "kwargs" in fields:
        return _named(fields["args"], fields["kwargs"], parameters) or given
    return given


def _named(args: list[JsonValue], kwargs: JsonValue, parameters: JsonValue) -> JsonValue:
    """Positional arguments by the names of the tool's parameters; None where these are unknown."""
    schema, _ = payload.opened(parameters)
    if not isinstance(schema, dict) or not _is_schema(schema):
        return None
    properties = schema.get("properties", schema)
    names = list(properties) if isinstance(properties, dict) else []
    if len(names) < len(args):
        return None
    named = dict(zip(names, args, strict=False))
    return {**named, **kwargs} if isinstance(kwargs, dict) else named


def _is_schema(value: JsonValue) -> bool:
    if not isinstance(value, dict):
        return False
    if "properties" in value or value.get("type") == "object":
        return True
    return bool(value) and all(
        isinstance(item, dict) and isinstance(item.get("type"), str) for item in value.values()
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


def first_text(attributes: Mapping[str, JsonValue], keys: Sequence[str]) -> str | None:
    """The first of the attributes that is a text and says something."""
    for key in keys:
        text = genai.text_or_none(shown(attributes.get(key)))
        if text is not None:
            return text
    return None
