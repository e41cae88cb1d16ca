"""Reading an author's JSON document: decoding, and errors that say where to look."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from monitor.errors import InvalidInput
from monitor.model import JsonValue

SHOWN_CHARACTERS: Final = 120
"""Characters of a name from outside that an error text quotes."""


def decoded(source: bytes | str | JsonValue, where: str) -> JsonValue:
    """The JSON value of bytes or text; a value that is decoded already is returned as it is."""
    if not isinstance(source, bytes | bytearray | str):
        return source
    try:
        return msgspec.json.decode(source)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidInput(f"{where}: not valid JSON: {error}") from error


def shown(text: str) -> str:
    """A name from outside as error texts quote it: one line, printable, not too long."""
    if len(text) > SHOWN_CHARACTERS:
        text = f"{text[:SHOWN_CHARACTERS]}\u2026"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def unwrapped(value: JsonValue) -> JsonValue:
    """The value of a JSON object or array that was written as text; anything else unchanged."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return value


def object_at(value: JsonValue, where: str) -> dict[str, JsonValue]:
    """The value as an object; InvalidInput names what stands there instead."""
    if not isinstance(value, dict):
        raise InvalidInput(f"{where}: must be an object, is {_type_name(value)}")
    return value


def list_at(value: JsonValue, where: str) -> list[JsonValue]:
    """The value as a list; InvalidInput names what stands there instead."""
    if not isinstance(value, list):
        raise InvalidInput(f"{where}: must be a list, is {_type_name(value)}")
    return value


def text_of(entry: Mapping[str, JsonValue], key: str, where: str) -> str | None:
    """The text under a key; None when absent or null."""
    value = entry.get(key)
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"{where}: {key} must be text, is {_type_name(value)}")
    return value


def texts_of(entry: Mapping[str, JsonValue], key: str, where: str) -> tuple[str, ...] | None:
    """The list of texts under a key; None when absent or null."""
    value = entry.get(key)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InvalidInput(f"{where}: {key} must be a list of texts")
    return tuple(value)


def flag_of(entry: Mapping[str, JsonValue], key: str, where: str) -> bool | None:
    """The boolean under a key; None when absent or null."""
    value = entry.get(key)
    if value is not None and not isinstance(value, bool):
        raise InvalidInput(f"{where}: {key} must be true or false, is {_type_name(value)}")
    return value


def _type_name(value: JsonValue) -> str:
    if value is None:
        return "null"
    names = {dict: "an object", list: "a list", str: "text", bool: "a boolean"}
    return names.get(type(value), "a number")
