"""OpenAI's chat messages: `tool_calls` beside the content, answers in messages of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from adapters.shapes.blocks import Blocks, add_blocks, add_text, answer_of, role_of, skip
from adapters.shapes.parts import Parts, first
from monitor.model import JsonValue, Message, ToolDefinition


def read_message(item: Mapping[str, Any], default_role: str = "assistant") -> Message:
    """One message; its content a text, a list of blocks, or null."""
    return read_with(item, BLOCKS, default_role)


def read_with(item: Mapping[str, Any], blocks: Blocks, default_role: str = "assistant") -> Message:
    """A message whose content is written in other blocks, as compatible clients do."""
    parts = Parts()
    add_blocks(parts, item.get("content"), blocks)
    parts.add_text(item.get("refusal"))
    add_calls(parts, item.get("tool_calls"))
    legacy = item.get("function_call")
    if isinstance(legacy, dict) and not parts.calls:
        parts.add_call(legacy.get("name"), legacy.get("arguments"), None)
    role = role_of(item.get("role"), default_role)
    if role == "tool" and not parts.results and not parts.calls:
        return _answer(item, parts, role)
    return parts.message(role, item.get("name"))


def add_calls(parts: Parts, calls: JsonValue) -> None:
    """A message's list of calls, in the form of any client: the name and arguments nested or not.

    The same list stands for LangChain's `args`, the AI SDK's `toolName`, Ollama's objects.
    """
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            shape = first(call, ("function", "custom"))
            shape = shape if isinstance(shape, dict) else call
            parts.add_call(
                first(shape, ("name", "toolName", "tool_name")),
                first(shape, ("arguments", "args", "input")),
                first(call, ("id", "call_id", "tool_call_id", "toolCallId")),
            )


def tool_definition(name: str, schema: JsonValue, description: JsonValue) -> ToolDefinition:
    """A tool's contract from its parts."""
    return ToolDefinition(
        name,
        parameters=schema if isinstance(schema, dict) else None,
        description=description if isinstance(description, str) else None,
    )


def _answer(item: Mapping[str, Any], parts: Parts, role: str) -> Message:
    """A tool's message holds nothing but the answer; its media stay beside it."""
    given = item.get("content")
    answer = Parts()
    if given is not None or first(item, ("tool_call_id", "id")) is not None:
        answer.add_result(
            answer_of(given),
            first(item, ("tool_call_id", "id")),
            item.get("name"),
            failed=item.get("is_error") is True or item.get("status") == "error",
        )
    answer.media = parts.media
    return answer.message(role, item.get("name"))


def _add_image(parts: Parts, block: Mapping[str, Any]) -> None:
    inner = block.get("image_url")
    parts.add_media("image", inner if isinstance(inner, dict) else block)


def _add_audio(parts: Parts, block: Mapping[str, Any]) -> None:
    inner = block.get("input_audio")
    parts.add_media("audio", inner if isinstance(inner, dict) else block)


def _add_file(parts: Parts, block: Mapping[str, Any]) -> None:
    inner = block.get("file")
    parts.add_media("file", inner if isinstance(inner, dict) else block)


def _add_refusal(parts: Parts, block: Mapping[str, Any]) -> None:
    parts.add_text(block.get("refusal"))


BLOCKS: Final = Blocks(
    {
        "text": add_text,
        "refusal": _add_refusal,
        "image_url": _add_image,
        "input_audio": _add_audio,
        "file": _add_file,
        "reasoning": skip,
    }
)
