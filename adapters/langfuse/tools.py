"""A tool's run: its call and its result, out of an observation's fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from adapters.langfuse.rows import CUT
from adapters.langfuse.speech import MASKED
from adapters.shapes import content
from adapters.shapes.blocks import answer_of
from adapters.shapes.payload import Answer, opened, read_answer, read_arguments
from monitor.model import JsonValue, ToolCall

_PREFIXES: Final = ("execute_tool ", "running tool: ")
_SERVER_ANSWER: Final = frozenset({"content", "isError", "is_error", "structuredContent", "_meta"})


def call_of(name: str, given: JsonValue, told: ToolCall | None, answer: Answer) -> ToolCall:
    """The call: what the original attributes told, completed by the observation's own fields."""
    told_as = told.arguments_state if told is not None else "absent"
    if told is not None and told_as == "parsed":
        arguments, state = read_arguments(told.arguments)
    elif isinstance(given, str) and given.strip() == CUT:
        arguments, state = None, "truncated"
    else:
        arguments, state = read_arguments(given)
        if state == "absent" and told is not None:
            arguments, state = told.arguments, told_as
    return ToolCall(
        (told.name if told else None) or _bare(name),
        arguments,
        (told.call_id if told else None) or answer.call_id,
        state,
    )


def answer_in(value: JsonValue) -> tuple[Answer, bool]:
    """The answer, out of a message or of what a tool server sends; and whether it was cut."""
    if isinstance(value, str) and value.strip() in (CUT, MASKED):
        return Answer(None), True
    inner, cut = opened(value) if isinstance(value, str) else (value, False)
    if isinstance(inner, Mapping) and _is_server_answer(inner):
        failed = inner.get("isError") is True or inner.get("is_error") is True
        return Answer(content.result(answer_of(inner["content"])), failed=failed), cut
    return read_answer(value), cut


def is_tool_message(value: JsonValue) -> bool:
    """Whether this is the one message in which a framework hands a tool's answer on."""
    if isinstance(value, str):
        if "tool_call_id" not in value or value.lstrip()[:1] != "{":
            return False
        value, _ = opened(value)
    if not isinstance(value, Mapping):
        return False
    inner = value.get("kwargs")
    fields = inner if "lc" in value and isinstance(inner, Mapping) else value
    return isinstance(fields.get("tool_call_id"), str) and "content" in fields


def _is_server_answer(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("content"), list) and value.keys() <= _SERVER_ANSWER


def _bare(name: str) -> str:
    for prefix in _PREFIXES:
        if name.startswith(prefix):
            return name[len(prefix) :].strip()
    return name
