"""Anthropic's messages: calls and their answers are blocks of the content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from adapters.shapes.blocks import Blocks, add_blocks, add_text, answer_of, role_of, skip
from adapters.shapes.parts import Parts
from monitor.model import Message


def read_message(item: Mapping[str, Any], default_role: str = "assistant") -> Message:
    """One message. A user's message that holds only `tool_result` blocks has no text."""
    parts = Parts()
    add_blocks(parts, item.get("content"), BLOCKS)
    return parts.message(role_of(item.get("role"), default_role))


def _add_call(parts: Parts, block: Mapping[str, Any]) -> None:
    parts.add_call(block.get("name"), block.get("input"), block.get("id"))


def _add_result(parts: Parts, block: Mapping[str, Any]) -> None:
    given = block.get("content")
    failed = block.get("is_error") is True
    if isinstance(given, dict):
        failed = failed or str(given.get("type", "")).endswith("_error")
    parts.add_result(answer_of(given), block.get("tool_use_id"), failed=failed)


def _media(modality: str) -> Any:
    def add(parts: Parts, block: Mapping[str, Any]) -> None:
        source = block.get("source")
        parts.add_media(modality, source if isinstance(source, dict) else block)

    return add


BLOCKS: Final = Blocks(
    {
        "text": add_text,
        "tool_use": _add_call,
        "server_tool_use": _add_call,
        "mcp_tool_use": _add_call,
        "tool_result": _add_result,
        "mcp_tool_result": _add_result,
        "web_search_tool_result": _add_result,
        "web_fetch_tool_result": _add_result,
        "code_execution_tool_result": _add_result,
        "thinking": skip,
        "redacted_thinking": skip,
        "image": _media("image"),
        "document": _media("document"),
    }
)
