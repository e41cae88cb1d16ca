"""Gemini's contents: parts told by their key, in camel or in snake case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from adapters.shapes.blocks import Blocks, Reader, add_blocks, role_of
from adapters.shapes.parts import Parts, first
from monitor.model import JsonValue, Message


def read_message(item: Mapping[str, Any], default_role: str = "assistant") -> Message:
    """One content. A user's content that holds only function responses has no text."""
    parts = Parts()
    add_blocks(parts, item.get("parts"), BLOCKS)
    return parts.message(role_of(item.get("role"), default_role))


def text_of(content: JsonValue) -> str | None:
    """The text of an instruction: a string, a content, a part or a list; None when it has none."""
    if isinstance(content, dict) and "parts" in content:
        content = content["parts"]
    parts = Parts()
    add_blocks(parts, content, BLOCKS)
    return parts.message("system").text


def declarations(tools: JsonValue) -> list[JsonValue]:
    """The function declarations in a request's list of tools."""
    found: list[JsonValue] = []
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict):
            inner = first(tool, ("function_declarations", "functionDeclarations"))
            found.extend(inner if isinstance(inner, list) else ())
    return found


def lower_types(schema: JsonValue) -> JsonValue:
    """Gemini's schema with JSON Schema's names of the types; `STRING` becomes `string`."""
    if isinstance(schema, list):
        return [lower_types(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    lowered = {key: lower_types(value) for key, value in schema.items()}
    kind = schema.get("type")
    if isinstance(kind, str) and kind.lower() in _TYPES:
        lowered["type"] = kind.lower()
    return lowered


_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})


def _add_text(parts: Parts, part: Mapping[str, Any]) -> None:
    # A thought is a summary of the model's reasoning; the user does not see it.
    if part.get("thought") is not True:
        parts.add_text(part.get("text"))


def _call(key: str) -> Reader:
    def add(parts: Parts, part: Mapping[str, Any]) -> None:
        call = part[key]
        if isinstance(call, dict):
            parts.add_call(call.get("name"), call.get("args"), call.get("id"))

    return add


def _response(key: str) -> Reader:
    def add(parts: Parts, part: Mapping[str, Any]) -> None:
        answer = part[key]
        if isinstance(answer, dict):
            given = answer.get("response")
            failed = isinstance(given, dict) and set(given) == {"error"}
            parts.add_result(given, answer.get("id"), answer.get("name"), failed=failed)

    return add


def _media(key: str) -> Reader:
    def add(parts: Parts, part: Mapping[str, Any]) -> None:
        inner = part[key]
        if isinstance(inner, dict):
            mime = first(inner, ("mime_type", "mimeType"))
            modality = mime.partition("/")[0] if isinstance(mime, str) else "file"
            parts.add_media(modality, inner)

    return add


BLOCKS: Final = Blocks(
    {},
    {
        "functionCall": _call("functionCall"),
        "function_call": _call("function_call"),
        "functionResponse": _response("functionResponse"),
        "function_response": _response("function_response"),
        "text": _add_text,
        "inlineData": _media("inlineData"),
        "inline_data": _media("inline_data"),
        "fileData": _media("fileData"),
        "file_data": _media("file_data"),
    },
)
