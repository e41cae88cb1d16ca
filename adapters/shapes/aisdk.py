"""The AI SDK's messages: model messages with hyphenated parts, and UI messages with states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from adapters.shapes.blocks import Blocks, Reader, add_blocks, add_text, role_of, skip
from adapters.shapes.openai import add_calls
from adapters.shapes.parts import Parts, first
from monitor.model import JsonValue, Message

_TOOL: Final = "tool-"
_MODEL_PARTS: Final = frozenset({"tool-call", "tool-result", "tool-error"})
_ERROR_OUTPUTS: Final = frozenset({"error-text", "error-json", "execution-denied"})
_OUTPUTS: Final = frozenset({"text", "json", "content"}) | _ERROR_OUTPUTS


def read_message(item: Mapping[str, Any], default_role: str = "assistant") -> Message:
    """One message, of the model's or of the user interface's kind."""
    parts = Parts()
    given = item.get("parts")
    add_blocks(parts, renamed(item.get("content") if given is None else given), BLOCKS)
    if not parts.calls:
        add_calls(parts, item.get("toolCalls"))
        add_blocks(parts, renamed(item.get("toolInvocations")), INVOCATIONS)
    return parts.message(role_of(item.get("role"), default_role))


def renamed(value: JsonValue) -> JsonValue:
    """A UI part's type holds the tool's name; the table wants one type for all."""
    if not isinstance(value, list):
        return value
    return [
        {**part, "type": "dynamic-tool", "toolName": part["type"][len(_TOOL) :]}
        if isinstance(part, dict) and _is_ui_tool(part)
        else part
        for part in value
    ]


def _is_ui_tool(part: Mapping[str, Any]) -> bool:
    kind = part.get("type")
    return (
        isinstance(kind, str)
        and kind.startswith(_TOOL)
        and kind not in _MODEL_PARTS
        and "toolCallId" in part
    )


def _add_call(parts: Parts, part: Mapping[str, Any]) -> None:
    parts.add_call(part.get("toolName"), first(part, ("input", "args")), part.get("toolCallId"))


def _add_result(parts: Parts, part: Mapping[str, Any]) -> None:
    given = first(part, ("output", "result", "error"))
    failed = part.get("isError") is True or part.get("type") == "tool-error"
    if isinstance(given, dict) and "value" in given:
        kind = given.get("type")
        if isinstance(kind, str) and kind in _OUTPUTS:
            failed = failed or kind in _ERROR_OUTPUTS
            given = given["value"]
    parts.add_result(given, part.get("toolCallId"), part.get("toolName"), failed=failed)


def _add_ui_tool(parts: Parts, part: Mapping[str, Any]) -> None:
    """A part of the user interface: the call, and its answer once its state says so."""
    _add_call(parts, part)
    error = part.get("errorText")
    if error is not None or part.get("state") == "output-error":
        parts.add_result(error, part.get("toolCallId"), part.get("toolName"), failed=True)
    elif part.get("state") in ("output-available", "result"):
        _add_result(parts, part)


def _add_invocation(parts: Parts, part: Mapping[str, Any]) -> None:
    inner = part.get("toolInvocation")
    if isinstance(inner, dict):
        _add_ui_tool(parts, inner)


def _media(modality: str) -> Reader:
    def add(parts: Parts, part: Mapping[str, Any]) -> None:
        parts.add_media(modality, part)

    return add


BLOCKS: Final = Blocks(
    {
        "text": add_text,
        "reasoning": skip,
        "redacted-reasoning": skip,
        "step-start": skip,
        "tool-call": _add_call,
        "tool-result": _add_result,
        "tool-error": _add_result,
        "tool-invocation": _add_invocation,
        "dynamic-tool": _add_ui_tool,
        "image": _media("image"),
        "file": _media("file"),
    }
)
INVOCATIONS: Final = Blocks({}, {"toolCallId": _add_ui_tool})
