"""Paths into JSON: keys, indexes and wildcards of JSONPath, compiled once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from monitor.errors import ConfigurationError
from monitor.model import JsonValue

_Part: TypeAlias = str | int | None
"""A key, an index (from the end when negative), or None for every item."""
_TOKEN: Final = re.compile(
    r"""\.(?P<star>\*)
    |\.(?P<key>[^.\[\]*'"\s]+)
    |\[\s*(?P<index>-?\d{1,9})\s*\]
    |\[\s*(?P<every>\*)\s*\]
    |\[\s*'(?P<single>[^']*)'\s*\]
    |\[\s*"(?P<double>[^"]*)"\s*\]""",
    re.VERBOSE,
)
_PATH_CHARACTERS: Final = 500
_FOUND: Final = 100_000


class Path:
    """One compiled path, such as `$.runs[*].messages`, `metadata.role` or `['a key'][-1]`."""

    def __init__(self, text: object, setting: str) -> None:
        """Raises ConfigurationError that names the setting and the place of the fault."""
        if not isinstance(text, str) or not text.strip():
            raise ConfigurationError(
                f"{setting} must be a path such as `$.messages[*]`; the operator must mend it"
            )
        self.text = text.strip()
        self._parts = tuple(_compiled(self.text, setting))

    @property
    def many(self) -> bool:
        """Whether the path has a wildcard."""
        return None in self._parts

    def all(self, document: JsonValue) -> list[JsonValue]:
        """Everything that the path leads to, in order, at most a fixed number."""
        found = [document]
        for part in self._parts:
            found = [inner for value in found for inner in _inside(value, part)][:_FOUND]
        return found

    def first(self, document: JsonValue) -> JsonValue:
        """The first thing that the path leads to; None where there is none."""
        return next(iter(self.all(document)), None)

    def leads(self, document: JsonValue) -> bool:
        """Whether anything is there, be it null."""
        return bool(self.all(document))


def _compiled(text: str, setting: str) -> Iterator[_Part]:
    if len(text) > _PATH_CHARACTERS:
        raise ConfigurationError(f"{setting} is longer than {_PATH_CHARACTERS} characters")
    rest = text[1:] if text.startswith("$") else text
    if rest and rest[0] not in ".[":
        rest = f".{rest}"
    at = 0
    while at < len(rest):
        token = _TOKEN.match(rest, at)
        if token is None:
            raise ConfigurationError(
                f"{setting} = {text!r}: cannot read {rest[at : at + 20]!r}; keys (`.name`, "
                "`['name']`), indexes (`[0]`, `[-1]`) and wildcards (`[*]`, `.*`) are known; "
                "the operator must mend it"
            )
        at = token.end()
        yield _part(token)


def _part(token: re.Match[str]) -> _Part:
    if token["star"] or token["every"]:
        return None
    if token["index"] is not None:
        return int(token["index"])
    names = (token["key"], token["single"], token["double"])
    return next(name for name in names if name is not None)


def _inside(value: JsonValue, part: _Part) -> list[JsonValue]:
    if part is None:
        if isinstance(value, list):
            return value
        return list(value.values()) if isinstance(value, dict) else []
    if isinstance(part, int):
        if isinstance(value, list) and -len(value) <= part < len(value):
            return [value[part]]
        return []
    return [value[part]] if isinstance(value, dict) and part in value else []
