"""LangChain's messages: by type or role, as objects, in the `lc` form, or as pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from adapters.shapes import anthropic, converse, gemini, openai, responses
from adapters.shapes.blocks import add_blocks, answer_of, role_of
from adapters.shapes.parts import Parts, first
from monitor.model import JsonValue, Message, Usage

_CLASS_ENDINGS: Final = ("Chunk", "Message")
_ROLES: Final = frozenset(
    {"user", "human", "assistant", "ai", "system", "developer", "tool", "function", "model"}
)
_WRAPPED_TYPES: Final = _ROLES | {"chat", "generic", "remove"}


class Told(NamedTuple):
    """What a message of a model says of the call that made it."""

    model: str | None = None
    usage: Usage | None = None


def fields_of(item: JsonValue) -> Mapping[str, Any] | None:
    """A message's own fields, with `type` or `role`, out of whatever it is wrapped in.

    None for what is no message, such as an instruction to remove one.
    """
    if isinstance(item, list) and len(item) == 2 and isinstance(item[0], str):
        return {"role": item[0], "content": item[1]} if item[0] in _ROLES else None
    if not isinstance(item, dict):
        return None
    inner, name = item.get("kwargs"), item.get("id")
    if isinstance(inner, dict) and ("lc" in item or "content" in inner):
        named = name[-1] if isinstance(name, list) and name else None
        fields = {**inner, "type": _kind(named if isinstance(named, str) else inner.get("type"))}
    elif isinstance(item.get("data"), dict) and _kind(item.get("type")) in _WRAPPED_TYPES:
        fields = {**item["data"], "type": _kind(item.get("type"))}
    else:
        fields = {**item, "type": _kind(item.get("type"))}
    return None if fields["type"] == "remove" else fields


def read_message(item: JsonValue, default_role: str = "assistant") -> Message | None:
    """One message; None for what is none. Calls made in blocks and beside them count once."""
    fields = fields_of(item)
    if fields is None:
        return None
    role = _role(fields, default_role)
    parts = Parts()
    if role == "tool" and ("tool_call_id" in fields or "name" in fields):
        parts.add_result(
            answer_of(fields.get("content")),
            fields.get("tool_call_id"),
            fields.get("name"),
            failed=fields.get("status") == "error",
        )
        return parts.message(role, fields.get("name"))
    add_blocks(parts, fields.get("content"), BLOCKS)
    parts.calls = calls_beside(fields).calls or parts.calls
    return parts.message(role, fields.get("name"))


def is_conversation(document: JsonValue) -> bool:
    """Whether a list holds what was said, message by message, and not records of runs."""
    return isinstance(document, list) and bool(document) and all(map(_is_message, document))


def _is_message(item: JsonValue) -> bool:
    fields = fields_of(item)
    if fields is None or "content" not in fields:
        return False
    role = fields.get("role")
    return fields.get("type") in _ROLES or (isinstance(role, str) and role in _ROLES)


def calls_beside(fields: Mapping[str, Any]) -> Parts:
    """The calls beside the content: LangChain's own reading, which stands for the blocks'."""
    more = fields.get("additional_kwargs")
    more = more if isinstance(more, dict) else {}
    beside = Parts()
    openai.add_calls(beside, fields.get("tool_calls"))
    openai.add_calls(beside, fields.get("invalid_tool_calls"))
    if not beside.calls:
        openai.add_calls(beside, more.get("tool_calls"))
    for source in (fields, more):
        legacy = source.get("function_call")
        if isinstance(legacy, dict) and not beside.calls:
            beside.add_call(legacy.get("name"), legacy.get("arguments"), None)
    return beside


def told(item: JsonValue) -> Told:
    """The model and the tokens behind an assistant's message."""
    fields = fields_of(item)
    if fields is None:
        return Told()
    meta = fields.get("response_metadata")
    meta = meta if isinstance(meta, dict) else {}
    model = first(meta, ("model_name", "model", "model_id"))
    usage = first(fields, ("usage_metadata",)) or first(meta, ("token_usage", "usage"))
    return Told(model if isinstance(model, str) else None, usage_of(usage))


def usage_of(value: JsonValue) -> Usage | None:
    """Tokens under any provider's names; None where none are told."""
    if not isinstance(value, dict):
        return None
    into = _count(first(value, _INPUT_KEYS))
    out = _count(first(value, _OUTPUT_KEYS))
    return None if into is None and out is None else Usage(into, out)


MOST_TOKENS: Final = 2**63 - 1
"""What every store can hold; more is no count."""
_INPUT_KEYS: Final = (
    *("input_tokens", "inputTokens", "prompt_tokens", "promptTokens"),
    *("prompt_token_count", "promptTokenCount", "inputTokenCount"),
)
_OUTPUT_KEYS: Final = (
    *("output_tokens", "outputTokens", "completion_tokens", "completionTokens"),
    *("candidates_token_count", "candidatesTokenCount", "outputTokenCount"),
)


def _count(value: JsonValue) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        return None
    return int(value) if value <= MOST_TOKENS else None


def _role(fields: Mapping[str, Any], default: str) -> str:
    role, kind = fields.get("role"), fields.get("type")
    if isinstance(role, str) and role:
        return role_of(role, default)
    return role_of(kind if kind in _ROLES else None, default)


def _kind(name: JsonValue) -> str | None:
    """`AIMessageChunk` and `ai` are the same kind."""
    if not isinstance(name, str):
        return None
    kind = name
    for ending in _CLASS_ENDINGS:
        kind = kind.removesuffix(ending)
    return kind.lower()


BLOCKS: Final = (
    anthropic.BLOCKS | openai.BLOCKS | responses.BLOCKS | gemini.BLOCKS | converse.BLOCKS
)
"""What models answer stays in their providers' blocks."""
