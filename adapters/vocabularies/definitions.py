"""Reads what a model call was told before the messages: system instructions, tool definitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from adapters.vocabularies import content
from adapters.vocabularies.messages import read_messages, read_parts_text
from monitor.model import JsonValue, ToolDefinition

_REMEMBERED: Final = 256
_REMEMBERED_CHARACTERS: Final = 65_536
_PARAMETERS: Final = ("parameters", "inputSchema", "input_schema", "parameters_json_schema")


def read_definitions(value: JsonValue) -> tuple[ToolDefinition, ...] | None:
    """Tool definitions in any of the shapes that are seen; None when there are none."""
    if value is None:
        return None
    if not isinstance(value, str):
        return _from_value(value)
    short = len(value) <= _REMEMBERED_CHARACTERS
    return _remembered_definitions(value) if short else _from_text(value)


def read_function(item: Mapping[str, Any]) -> ToolDefinition | None:
    """One definition whose schema may be JSON text; None for what names no tool."""
    name, description, schema = (item.get(key) for key in ("name", "description", "parameters"))
    if isinstance(schema, str) and len(schema) <= _REMEMBERED_CHARACTERS and type(name) is str:
        told = description if type(description) is str else None
        return _remembered_function(name, told, schema)
    return _definition(item)


def read_schemas(texts: Iterable[JsonValue]) -> tuple[ToolDefinition, ...] | None:
    """Definitions that each stand in a JSON text of their own; None when there are none."""
    found = [
        definition for text in texts for definition in read_definitions(text) or () if definition
    ]
    return tuple(found) if found else None


@lru_cache(512)
def _remembered_function(name: str, description: str | None, schema: str) -> ToolDefinition | None:
    return _definition({"name": name, "description": description, "parameters": schema})


def _from_text(text: str) -> tuple[ToolDefinition, ...] | None:
    try:
        return _from_value(content.decode(text))
    except content.Undecodable:
        return None


# Every call of an agent repeats the same long text.
_remembered_definitions = lru_cache(_REMEMBERED)(_from_text)


def _from_value(value: JsonValue) -> tuple[ToolDefinition, ...] | None:
    content.check_depth(value)
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        return None
    return tuple(
        definition
        for item in value
        if isinstance(item, dict) and (definition := _definition(item)) is not None
    )


def _definition(item: Mapping[str, Any]) -> ToolDefinition | None:
    function = item.get("function")
    if isinstance(function, dict):
        item = function
    name = item.get("name")
    if not isinstance(name, str) or not name.strip():
        return None
    description = item.get("description")
    return ToolDefinition(
        name=name.strip(),
        parameters=_parameters(item),
        description=description if isinstance(description, str) else None,
    )


def _parameters(item: Mapping[str, Any]) -> dict[str, JsonValue] | None:
    for key in _PARAMETERS:
        schema = item.get(key)
        if isinstance(schema, str):
            schema, _ = content.arguments(schema)
        if isinstance(schema, dict):
            inner = schema.get("json")
            return inner if isinstance(inner, dict) and len(schema) == 1 else schema
    return None


def read_instructions(value: JsonValue) -> str | None:
    """The system prompt's text; None when there is none."""
    if isinstance(value, str):
        if value.lstrip()[:1] not in ("[", "{", '"'):
            return value or None
        standard = read_parts_text(value)
        if standard is not None:
            return standard
        value = _parts(value)
    if value is None:
        return None
    found, _ = read_messages([{"role": "system", "parts": value}], "system")
    return found[0].text if found else None


def _parts(value: str) -> JsonValue:
    try:
        return content.decode(value)
    except content.Undecodable:
        return value
