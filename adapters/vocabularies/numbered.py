"""Puts numbered attributes, such as `gen_ai.prompt.10.role`, together again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from adapters.shapes.content import nesting
from adapters.shapes.remembered import Remembered
from monitor.model import JsonValue

T = TypeVar("T")
Tree: TypeAlias = dict[str, Any]
Flat: TypeAlias = list[Any]
"""The attributes of one member: name, value, name, value, without what the names share."""
_LEVELS: Final = 12
_DIGITS: Final = 9
_PLACES: Final = 16_384
_SHORT: Final = 128


class Row(NamedTuple):
    """The members of a numbered list, in the order of their numbers."""

    items: list[Any]
    gaps: bool
    """A number is absent: an exporter's limit drops attributes, the oldest first."""


class Numbered:
    """The numbered attributes of one span, sorted by list and member in one pass."""

    def __init__(self, attributes: Mapping[str, JsonValue]) -> None:
        flats: dict[str, Flat] = {}
        places = _places
        for key, value in attributes.items():
            place = places[key]
            if place is not None:
                member, name = place
                if member in flats:
                    flats[member] += (name, value)
                else:
                    flats[member] = [name, value]
        self._lists: dict[str, dict[str, Flat]] = {}
        for member, flat in flats.items():
            prefix, _, number = member.rpartition(".")
            self._lists.setdefault(prefix, {})[number] = flat

    def row(self, prefix: str) -> Row:
        """The members below a prefix, which ends in a dot, each a value or a tree of names."""
        members, gaps = self._ordered(prefix)
        return Row([_tree(flat) for flat in members], gaps)

    def read(
        self, prefix: str, read: Callable[[JsonValue], T | None], remembered: Remembered[T]
    ) -> tuple[list[T], bool]:
        """What `read` makes of each member, if anything, and whether a number is absent.

        A history repeats: a member that was read before is looked up by all its names and texts.
        """
        members, gaps = self._ordered(prefix)
        found: list[T] = []
        if not members:
            return found, gaps
        levels = nesting()
        for flat in members:
            key = _key(levels, flat)
            told = remembered.known(key) if key is not None else None
            if told is None:
                told = read(_tree(flat))
                if told is not None and key is not None:
                    remembered.keep(key, told, sum(map(len, flat)))
            if told is not None:
                found.append(told)
        return found, gaps

    def has(self, prefix: str) -> bool:
        """Whether there is any member below a prefix."""
        return prefix[:-1] in self._lists

    def _ordered(self, prefix: str) -> tuple[list[Flat], bool]:
        members = self._lists.get(prefix[:-1])
        if members is None:
            return [], False
        numbers = _numbers(members)
        ordered = sorted(numbers)
        return [members[numbers[number]] for number in ordered], ordered[-1] != len(ordered) - 1


def row(numbered: JsonValue) -> Row:
    """A level whose names are numbers as a list; other names beside them are left out."""
    if not isinstance(numbered, dict):
        return _EMPTY
    numbers = _numbers([name for name in numbered if name.isdecimal() and len(name) <= _DIGITS])
    ordered = sorted(numbers)
    gaps = bool(ordered) and ordered[0] != 0
    return Row([numbered[numbers[number]] for number in ordered], gaps)


_EMPTY: Final = Row([], False)


def _numbers(names: Collection[str]) -> dict[int, str]:
    """The names by their numbers; of 1 and 01 the first in the alphabet of digits counts."""
    numbers = {int(name): name for name in names}
    if len(numbers) < len(names):
        numbers = {int(name): name for name in sorted(names, reverse=True)}
    return numbers


def _place_of(key: str) -> tuple[str, str | None] | None:
    """The list with the number, and the name, of a numbered attribute; None for any other.

    The name is None for a member that is itself the attribute.
    """
    at = 0
    for part in key.split("."):
        if at and part.isdecimal():
            if len(part) > _DIGITS:
                return None
            end = at + len(part)
            return key[:end], key[end + 1 :] if end < len(key) else None
        at += len(part) + 1
    return None


class _Places(dict[str, tuple[str, str | None] | None]):
    """Where attributes stand, by their names: the same ones come with every span."""

    def __missing__(self, key: str) -> tuple[str, str | None] | None:
        place = _place_of(key)
        if len(key) <= _SHORT and len(self) < _PLACES:
            self[key] = place
        return place


_places: Final = _Places()


def _key(levels: int, flat: Flat) -> tuple[Any, ...] | None:
    """What tells a member from all others; None for one that holds more than texts.

    Protobuf hands attributes out in no order. Numbers may equal each other and not be the same.
    """
    if len(flat) == 4:
        name, text, second, more = flat
        if type(text) is not str or type(more) is not str or not name or not second:
            return None
        return (
            (levels, name, text, second, more)
            if name < second
            else (levels, second, more, name, text)
        )
    if not all(type(text) is str for text in flat):
        return None
    return (levels, *sorted(zip(flat[::2], flat[1::2], strict=True)))


class _Paths(dict[str, list[str]]):
    """Names split at their dots: the same ones come with every member."""

    def __missing__(self, name: str) -> list[str]:
        path = name.split(".", _LEVELS - 1)
        if len(name) <= _SHORT and len(self) < _PLACES:
            self[name] = path
        return path


_paths: Final = _Paths()


class _Level(Tree):
    """A level of names, told apart from an attribute's own structured value."""


def _tree(flat: Flat) -> JsonValue:
    """A level for each dot of the names; the value itself of a member that has no names.

    A name that is also the beginning of others gives way to them, whatever their order.
    """
    tree: Tree = _Level()
    for at in range(0, len(flat), 2):
        if flat[at] is None:
            continue
        path = _paths[flat[at]]
        level = tree
        for step in path[:-1]:
            inner = level.get(step)
            if type(inner) is not _Level:
                inner = level[step] = _Level()
            level = inner
        if type(level.get(path[-1])) is not _Level:
            level[path[-1]] = flat[at + 1]
    return tree or flat[1]
