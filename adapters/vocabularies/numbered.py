"""Puts numbered attributes, such as `gen_ai.prompt.10.role`, together again."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from monitor.model import JsonValue

Tree: TypeAlias = dict[str, Any]
_LEVELS: Final = 12
_DIGITS: Final = 9
_PATHS: Final = 8_192
_SHORT: Final = 128


class Row(NamedTuple):
    """The members of a numbered list, in the order of their numbers."""

    items: list[Any]
    gaps: bool
    """The first is absent: an exporter's limit drops the oldest. Recorders leave others out."""


def tree_of(attributes: Mapping[str, JsonValue], prefix: str) -> Tree:
    """What stands below a prefix (which ends in a dot), a level for each dot of the names.

    A name that is also the beginning of others gives way to them, whatever their order.
    """
    tree: Tree = {}
    at = len(prefix)
    for key, value in attributes.items():
        if key.startswith(prefix):
            name = key[at:]
            path = _path(name) if len(name) <= _SHORT else name.split(".", _LEVELS)
            level = tree
            for step in path[:-1]:
                inner = level.get(step)
                if type(inner) is not _Level:
                    inner = level[step] = _Level()
                level = inner
            if type(level.get(path[-1])) is not _Level:
                level[path[-1]] = value
    return tree


@lru_cache(_PATHS)
def _path(name: str) -> list[str]:
    # The same names come with every span.
    return name.split(".", _LEVELS)


_EMPTY: Final = Row([], False)


class _Level(Tree):
    """A level of names, told apart from an attribute's own structured value."""


def row(numbered: JsonValue) -> Row:
    """A level whose names are numbers as a list; other names beside them are left out."""
    if not isinstance(numbered, dict):
        return _EMPTY
    numbers = {int(name): name for name in numbered if name.isdecimal() and len(name) <= _DIGITS}
    ordered = sorted(numbers)
    gaps = bool(ordered) and ordered[0] != 0
    return Row([numbered[numbers[number]] for number in ordered], gaps)
