"""The parts of one message as they are found, sorted by kind."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from adapters.shapes import content
from monitor.model import JsonValue, Message, ToolCall, ToolResult

HIDDEN: Final = frozenset({"__REDACTED__", "[REDACTED]", "<elided>"})
"""What recorders write in place of content that they were told to leave out."""
NO_ID: Final = frozenset({"", "<not specified>"})
_MIME_CHARACTERS: Final = 100
_BYTES_KEYS: Final = ("content", "data", "base64", "image", "bytes")
_ADDRESS_KEYS: Final = ("uri", "url", "file_id", "file_uri", "fileUri", "file_url", "image_url")
_MIME_KEYS: Final = ("mime_type", "mimeType", "mediaType", "media_type", "format")


class Parts:
    """Collects one message's parts in their order; every shape's reader adds to it."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.calls: list[ToolCall] = []
        self.results: list[ToolResult] = []
        self.media: list[str] = []
        self.compacted = False

    def add_text(self, text: JsonValue) -> None:
        """Take text; anything else is not a text part."""
        if isinstance(text, str):
            self.texts.append(text)

    def add_call(self, name: JsonValue, given: JsonValue, id_: JsonValue) -> None:
        """Take a call, its arguments as the source has them: an object, JSON text, a repr."""
        self.calls.append(tool_call(name if isinstance(name, str) else "", given, id_))

    def add_result(
        self,
        given: JsonValue,
        id_: JsonValue,
        name: JsonValue = None,
        *,
        failed: bool = False,
    ) -> None:
        """Take a tool's answer, decoded as far as it goes."""
        named = name if isinstance(name, str) and name else None
        self.results.append(ToolResult(content.result(given), call_id(id_), named, failed))

    def add_media(self, modality: str, source: Mapping[str, Any]) -> None:
        """Take a part that is not text; its bytes or its address are in `source`."""
        self.media.append(
            media_digest(
                {
                    "modality": modality,
                    "mime_type": first(source, _MIME_KEYS),
                    "content": first(source, _BYTES_KEYS),
                    "uri": first(source, _ADDRESS_KEYS),
                }
            )
        )

    def message(self, role: str, name: JsonValue = None) -> Message:
        """The message of these parts."""
        return Message(
            role,
            "\n".join(self.texts) if self.texts else None,
            tuple(self.calls),
            tuple(self.results),
            name if isinstance(name, str) and name else None,
            tuple(self.media),
            self.compacted,
        )


def first(source: Mapping[str, Any], keys: Sequence[str]) -> JsonValue:
    """The first of the keys' values that is not null; None where there is none."""
    for key in keys:
        if source.get(key) is not None:
            return source[key]
    return None


def tool_call(name: str, given: JsonValue, id_: JsonValue) -> ToolCall:
    """A call with its arguments decoded as far as they go."""
    arguments, state = content.arguments(given)
    return ToolCall(name, arguments, call_id(id_), state)


def call_id(value: JsonValue) -> str | None:
    """A tool call's id without surrounding blanks; None for what stands for no id."""
    if not isinstance(value, str):
        return None if value is None or isinstance(value, dict | list) else str(value)
    value = value.strip()
    return None if value in NO_ID else value


def media_digest(part: Mapping[str, Any]) -> str:
    """`modality:mime:sha256:bytes` of a part that is not text.

    A part that only points at its bytes is told by its address, and its size is left empty.
    """
    given = part.get("content")
    size = ""
    if isinstance(given, str):
        try:
            data = base64.b64decode(given, validate=True)
        except (binascii.Error, ValueError):
            data = given.encode("utf-8", "replace")
        size = str(len(data))
    else:
        address = first(part, ("uri", "file_id"))
        data = str(address if address is not None else "").encode("utf-8", "replace")
    modality, mime = (
        text[:_MIME_CHARACTERS] if isinstance(text := part.get(key), str) else ""
        for key in ("modality", "mime_type")
    )
    return f"{modality}:{mime}:{hashlib.sha256(data).hexdigest()}:{size}"
