"""OpenAI's Responses items: messages, calls and outputs side by side in one list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from adapters.shapes.blocks import Blocks, Reader, add_blocks, add_text, answer_of, role_of, skip
from adapters.shapes.parts import Parts, first
from monitor.model import JsonValue, Message

_CALL_ENDING: Final = "_call"
_OUTPUT_ENDING: Final = "_call_output"
_MCP: Final = "mcp_call"


def is_item(item: Mapping[str, Any]) -> bool:
    """Whether this is an item of the API that is no plain message."""
    kind = item.get("type")
    return isinstance(kind, str) and kind.endswith((_CALL_ENDING, _OUTPUT_ENDING))


def read_items(value: JsonValue) -> tuple[Message, ...]:
    """Messages in order; calls that stand in a row were asked for together, in one message."""
    messages: list[Message] = []
    calls = Parts()

    def close() -> None:
        nonlocal calls
        if calls.calls:
            messages.append(calls.message("assistant"))
        calls = Parts()

    for item in value if isinstance(value, list) else (value,):
        if isinstance(item, str):
            item = {"role": "user", "content": item}
        if not isinstance(item, dict) or item.get("type") == "reasoning":
            continue
        if _is_call(item):
            _add_call(calls, item)
            if item.get("type") != _MCP:
                continue
            close()
            messages.append(_output(item))
            continue
        close()
        messages.append(_output(item) if is_item(item) else read_message(item))
    close()
    return tuple(messages)


def read_message(item: Mapping[str, Any], default_role: str = "assistant") -> Message:
    """A message item."""
    parts = Parts()
    add_blocks(parts, item.get("content"), BLOCKS)
    return parts.message(role_of(item.get("role"), default_role))


def _is_call(item: Mapping[str, Any]) -> bool:
    kind = item.get("type")
    return isinstance(kind, str) and kind.endswith(_CALL_ENDING)


def _add_call(parts: Parts, item: Mapping[str, Any]) -> None:
    kind = str(item.get("type"))
    name = item.get("name")
    parts.add_call(
        name if isinstance(name, str) else kind.removesuffix(_CALL_ENDING),
        first(item, ("arguments", "input", "action", "queries", "code")),
        first(item, ("call_id", "id")),
    )


def _output(item: Mapping[str, Any]) -> Message:
    parts = Parts()
    failed = item.get("error") is not None or item.get("status") == "failed"
    given = item.get("output") if item.get("error") is None else item.get("error")
    parts.add_result(answer_of(given), first(item, ("call_id", "id")), failed=failed)
    return parts.message("tool")


def _media(modality: str) -> Reader:
    def add(parts: Parts, block: Mapping[str, Any]) -> None:
        parts.add_media(modality, block)

    return add


def _add_refusal(parts: Parts, block: Mapping[str, Any]) -> None:
    parts.add_text(block.get("refusal"))


BLOCKS: Final = Blocks(
    {
        "input_text": add_text,
        "output_text": add_text,
        "text": add_text,
        "refusal": _add_refusal,
        "input_image": _media("image"),
        "input_file": _media("file"),
        "reasoning": skip,
    }
)
