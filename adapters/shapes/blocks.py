"""Content blocks: what the readers of all shapes have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from adapters.shapes.parts import Parts
from monitor.model import JsonValue

Reader: TypeAlias = Callable[[Parts, Mapping[str, Any]], None]
ROLES: Final[dict[str, str]] = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "function": "tool",
    "chatbot": "assistant",
}
"""How providers call the roles that the monitor calls otherwise."""


class Blocks(NamedTuple):
    """How one shape writes its blocks: told by their `type`, or by the key that they have."""

    typed: Mapping[str, Reader]
    keyed: Mapping[str, Reader] = {}

    def __or__(self, other: object) -> Blocks:
        """Both shapes; where they disagree, this one."""
        if not isinstance(other, Blocks):
            return NotImplemented
        return Blocks({**other.typed, **self.typed}, {**other.keyed, **self.keyed})


def add_blocks(parts: Parts, value: JsonValue, blocks: Blocks) -> None:
    """Take a message's content: text, a block, or a list of both. Unknown blocks are left out."""
    for block in value if isinstance(value, list) else (value,):
        if isinstance(block, str):
            parts.texts.append(block)
        elif isinstance(block, dict):
            _add_block(parts, block, blocks)


def _add_block(parts: Parts, block: Mapping[str, Any], blocks: Blocks) -> None:
    kind = block.get("type")
    reader = blocks.typed.get(kind) if isinstance(kind, str) else None
    if reader is None:
        reader = next((found for key, found in blocks.keyed.items() if key in block), None)
    if reader is not None:
        reader(parts, block)


def add_text(parts: Parts, block: Mapping[str, Any]) -> None:
    """A block of text, under either of its names."""
    text = block.get("text")
    parts.add_text(block.get("content") if text is None else text)


def skip(parts: Parts, block: Mapping[str, Any]) -> None:
    """A block that is neither said to the user nor done, such as reasoning."""


def role_of(value: JsonValue, default: str) -> str:
    """The role in the monitor's word; a role of the source's own stays."""
    if not isinstance(value, str) or not value:
        return default
    return ROLES.get(value.lower(), value)


def answer_of(value: JsonValue) -> JsonValue:
    """What a tool answered, out of the text and JSON blocks that a provider wraps it in."""
    if not isinstance(value, list) or not value:
        return value
    answers = [_answer(block) for block in value]
    if any(answer is _NOT_WRAPPED for answer in answers):
        return value
    if all(isinstance(answer, str) for answer in answers):
        return "\n".join(answers)
    return answers[0] if len(answers) == 1 else answers


_NOT_WRAPPED: Final = object()
_WRAPPINGS: Final = (
    frozenset({"text"}),
    frozenset({"json"}),
    frozenset({"type", "text"}),
    frozenset({"type", "text", "id"}),
    frozenset({"type", "text", "annotations"}),
    frozenset({"type", "text", "citations"}),
    frozenset({"type", "text", "cache_control"}),
)


def _answer(block: JsonValue) -> Any:
    if not isinstance(block, dict) or frozenset(block) not in _WRAPPINGS:
        return _NOT_WRAPPED
    if "type" in block and block["type"] not in ("text", "input_text", "output_text"):
        return _NOT_WRAPPED
    if "json" in block:
        return block["json"]
    text = block["text"]
    return text if isinstance(text, str) else _NOT_WRAPPED
