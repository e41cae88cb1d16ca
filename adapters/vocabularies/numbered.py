"""Puts numbered attributes, such as `gen_ai.prompt.10.role`, together again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from monitor.model import JsonValue

Tree: TypeAlias = dict[str, Any]
_LEVELS: Final = 12
_DIGITS: Final = 9


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
            path = key[at:].split(".", _LEVELS)
            level = tree
            for name in path[:-1]:
                inner = level.get(name)
                if type(inner) is not _Level:
                    inner = level[name] = _Level()
                level = inner
            if type(level.get(path[-1])) is not _Level:
                level[path[-1]] = value
    return tree


class _Level(Tree):
    """A level of names, told apart from an attribute's own structured value."""


def row_of(tree: JsonValue, name: str) -> Row:
    """The list below a name; empty where there is none."""
    numbered = tree.get(name) if type(tree) is dict or type(tree) is _Level else None
    return row(numbered)


def row(numbered: JsonValue) -> Row:
    """A level whose names are numbers as a list; other names beside them are left out."""
    if type(numbered) is not dict and type(numbered) is not _Level:
        return Row([], False)
    numbers = {int(name): name for name in numbered if name.isdecimal() and len(name) <= _DIGITS}
    ordered = sorted(numbers)
    gaps = bool(ordered) and ordered[0] != 0
    return Row([numbered[numbers[number]] for number in ordered], gaps)
