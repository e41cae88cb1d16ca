"""Bedrock Converse messages, which Strands keeps too: each block has one key, its kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from adapters.shapes.blocks import Blocks, Reader, add_blocks, answer_of, role_of, skip
from adapters.shapes.parts import Parts
from monitor.model import JsonValue, Message


def read_message(item: Mapping[str, Any], default_role: str = "assistant") -> Message:
    """One message. A user's message that holds only `toolResult` blocks has no text."""
    parts = Parts()
    add_blocks(parts, item.get("content"), BLOCKS)
    return parts.message(role_of(item.get("role"), default_role))


def text_of(blocks: JsonValue) -> str | None:
    """The text of a prompt that is a string or a list of blocks; None when it has none."""
    parts = Parts()
    add_blocks(parts, blocks, BLOCKS)
    return parts.message("system").text


def _add_text(parts: Parts, block: Mapping[str, Any]) -> None:
    parts.add_text(block.get("text"))


def _add_call(parts: Parts, block: Mapping[str, Any]) -> None:
    call = block["toolUse"]
    if isinstance(call, dict):
        parts.add_call(call.get("name"), call.get("input"), call.get("toolUseId"))


def _add_result(parts: Parts, block: Mapping[str, Any]) -> None:
    answer = block["toolResult"]
    if isinstance(answer, dict):
        parts.add_result(
            answer_of(answer.get("content")),
            answer.get("toolUseId"),
            failed=answer.get("status") == "error",
        )


def _add_cited(parts: Parts, block: Mapping[str, Any]) -> None:
    cited = block["citationsContent"]
    if isinstance(cited, dict):
        add_blocks(parts, cited.get("content"), Blocks({}, {"text": _add_text}))


def _media(modality: str) -> Reader:
    def add(parts: Parts, block: Mapping[str, Any]) -> None:
        inner = block[modality]
        if isinstance(inner, dict):
            source = inner.get("source")
            given = source if isinstance(source, dict) else {}
            parts.add_media(modality, {"format": inner.get("format"), **given})

    return add


BLOCKS: Final = Blocks(
    {},
    {
        "text": _add_text,
        "toolUse": _add_call,
        "toolResult": _add_result,
        "citationsContent": _add_cited,
        "reasoningContent": skip,
        "image": _media("image"),
        "document": _media("document"),
        "video": _media("video"),
    },
)
