"""The oldest GenAI attributes: numbered messages, and whole prompts and completions as one text.

`gen_ai.prompt.N.*`, `gen_ai.completion.N.*` and `llm.request.functions.N.*` as OpenLLMetry wrote
them; `gen_ai.prompt` and `gen_ai.completion` without a number on the span or on content events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from adapters.shapes import content, mixed, payload, plain
from adapters.shapes.remembered import Remembered
from adapters.vocabularies.definitions import read_function
from adapters.vocabularies.message_events import Content
from adapters.vocabularies.numbered import Numbered, row
from monitor.model import JsonValue, Message, ToolDefinition

PROMPT: Final = "gen_ai.prompt"
COMPLETION: Final = "gen_ai.completion"
FUNCTIONS: Final = "llm.request.functions."
EVENTS: Final = frozenset({"gen_ai.content.prompt", "gen_ai.content.completion"})
KEYS: Final = frozenset({PROMPT, COMPLETION, f"{PROMPT}.", f"{COMPLETION}.", FUNCTIONS})
_STARTS: Final = (PROMPT, COMPLETION)
_SHORT: Final = 128
_NAMES: Final = 4_096
_PROMPTS: Final = f"{PROMPT}."
_COMPLETIONS: Final = f"{COMPLETION}."
_prompts: Final[Remembered[Message]] = Remembered()
_completions: Final[Remembered[Message]] = Remembered()
_functions: Final[Remembered[ToolDefinition]] = Remembered()


class _Starting(dict[str, bool]):
    """Whether attributes are such, by their names: the same ones come with every span."""

    def __missing__(self, key: str) -> bool:
        found = key.startswith(_STARTS)
        if len(key) <= _SHORT and len(self) < _NAMES:
            self[key] = found
        return found


_starting: Final = _Starting()


def tells(attributes: Mapping[str, JsonValue]) -> bool:
    """Whether any of these attributes is there."""
    return any(map(_starting.__getitem__, attributes))


def read_content(
    attributes: Mapping[str, JsonValue],
    events: Sequence[tuple[str, Mapping[str, JsonValue]]],
    numbered: Numbered,
) -> Content:
    """Numbered messages; else the whole texts, the span's own before those of its events."""
    prompts, gaps_in = numbered.read(_PROMPTS, _prompt, _prompts)
    completions, gaps_out = numbered.read(_COMPLETIONS, _completion, _completions)
    if numbered.has(_PROMPTS) or numbered.has(_COMPLETIONS):
        return Content(
            tuple(prompts) or None,
            tuple(completions) or None,
            gaps_in or gaps_out,
        )
    given = payload.read_given(_whole(attributes, events, PROMPT))
    said = payload.read_said(_whole(attributes, events, COMPLETION))
    return Content(given.messages, said.messages, given.cut or said.cut)


def read_functions(numbered: Numbered) -> tuple[ToolDefinition, ...] | None:
    """The tools that the model was offered; None when none are told."""
    found, _ = numbered.read(FUNCTIONS, _function, _functions)
    return tuple(found) or None


def _function(item: JsonValue) -> ToolDefinition | None:
    return read_function(item) if isinstance(item, dict) else None


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


def _prompt(item: JsonValue) -> Message | None:
    return _message(item, "user") if isinstance(item, dict) else None


def _completion(item: JsonValue) -> Message | None:
    return _message(item, "assistant") if isinstance(item, dict) else None


def _message(item: Mapping[str, Any], role: str) -> Message | None:
    """None where the content was left out, so that only the role or a finish reason is there."""
    given, own = item.get("content"), item.get("role")
    calls = row(item["tool_calls"]).items if "tool_calls" in item else []
    if type(given) is str and given[:1] != "[":
        if len(item) == 2 and own in plain.ROLES:
            return Message(own, given)
        if len(item) == 3 and own == "tool" and item.get("tool_call_id"):
            return plain.answering(given, item["tool_call_id"])
    elif given is None and calls and own == "assistant" and len(item) == 2:
        told = plain.calling(own, None, calls)
        if told is not None:
            return told
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
    return isinstance(block, dict) and block.get("type") in mixed.BLOCKS.typed
