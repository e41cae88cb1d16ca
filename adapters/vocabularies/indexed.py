"""The oldest GenAI attributes: numbered messages, and whole prompts and completions as one text.

`gen_ai.prompt.N.*`, `gen_ai.completion.N.*` and `llm.request.functions.N.*` as OpenLLMetry wrote
them; `gen_ai.prompt` and `gen_ai.completion` without a number on the span or on content events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from adapters.shapes import content, mixed, payload
from adapters.vocabularies.definitions import read_function
from adapters.vocabularies.message_events import Content
from adapters.vocabularies.numbered import Row, row, tree_of
from monitor.model import JsonValue, Message, ToolDefinition

PROMPT: Final = "gen_ai.prompt"
COMPLETION: Final = "gen_ai.completion"
FUNCTIONS: Final = "llm.request.functions."
EVENTS: Final = frozenset({"gen_ai.content.prompt", "gen_ai.content.completion"})
KEYS: Final = frozenset({PROMPT, COMPLETION, f"{PROMPT}.", f"{COMPLETION}.", FUNCTIONS})
_STARTS: Final = (PROMPT, COMPLETION)


def tells(attributes: Mapping[str, JsonValue]) -> bool:
    """Whether any of these attributes is there."""
    return any(key.startswith(_STARTS) for key in attributes)


def read_content(
    attributes: Mapping[str, JsonValue], events: Sequence[tuple[str, Mapping[str, JsonValue]]]
) -> Content:
    """Numbered messages; else the whole texts, the span's own before those of its events."""
    prompts = row(tree_of(attributes, f"{PROMPT}."))
    completions = row(tree_of(attributes, f"{COMPLETION}."))
    if prompts.items or completions.items:
        return Content(
            _messages(prompts, "user"),
            _messages(completions, "assistant"),
            prompts.gaps or completions.gaps,
        )
    given = payload.read_given(_whole(attributes, events, PROMPT))
    said = payload.read_said(_whole(attributes, events, COMPLETION))
    return Content(given.messages, said.messages, given.cut or said.cut)


def read_functions(attributes: Mapping[str, JsonValue]) -> tuple[ToolDefinition, ...] | None:
    """The tools that the model was offered; None when none are told."""
    found = [
        definition
        for item in row(tree_of(attributes, FUNCTIONS)).items
        if isinstance(item, Mapping) and (definition := read_function(item)) is not None
    ]
    return tuple(found) if found else None


def _whole(
    attributes: Mapping[str, JsonValue],
    events: Sequence[tuple[str, Mapping[str, JsonValue]]],
    key: str,
) -> JsonValue:
    value = attributes.get(key)
    if value is not None:
        return value
    told = (fields[key] for name, fields in events if name in EVENTS and key in fields)
    return next(told, None)


def _messages(numbered: Row, role: str) -> tuple[Message, ...] | None:
    found = [
        message
        for item in numbered.items
        if isinstance(item, Mapping) and (message := _message(item, role)) is not None
    ]
    return tuple(found) if found else None


def _message(item: Mapping[str, Any], role: str) -> Message | None:
    """None where the content was left out, so that only the role or a finish reason is there."""
    given = item.get("content")
    calls = row(item.get("tool_calls")).items
    if given is None and not calls:
        return None
    return mixed.read_message(
        {
            "role": item.get("role") or role,
            "content": _blocks(given),
            "tool_calls": calls,
            "tool_call_id": item.get("tool_call_id"),
        },
        role,
    )


def _blocks(value: JsonValue) -> JsonValue:
    """Content that is a list of typed blocks as JSON text; any other text is just that."""
    if not isinstance(value, str) or value[:1] != "[":
        return value
    try:
        blocks = content.decode(value)
    except content.Undecodable:
        return value
    content.check_depth(blocks)
    typed = isinstance(blocks, list) and blocks
    return blocks if typed and all(_is_block(block) for block in blocks) else value


def _is_block(block: JsonValue) -> bool:
    return isinstance(block, Mapping) and block.get("type") in mixed.BLOCKS.typed
