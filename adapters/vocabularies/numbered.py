"""Puts numbered attributes, such as `gen_ai.prompt.10.role`, together again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from adapters.shapes.content import nesting
from adapters.shapes.remembered import Remembered
from monitor.model import JsonValue

T = TypeVar("T")
Tree: TypeAlias = dict[str, Any]
_LEVELS: Final = 12
_DIGITS: Final = 9
_PLACES: Final = 16_384
_SHORT: Final = 128
_PLACE_COST: Final = 100
"""What a plan takes for each name, about."""


class Row(NamedTuple):
    """The members of a numbered list, in the order of their numbers."""

    items: list[Any]
    gaps: bool
    """A number is absent: an exporter's limit drops attributes, the oldest first."""


class _Member(NamedTuple):
    """Where the attributes of one member of a list stand."""

    names: tuple[str | None, ...]
    """What the names do not share, in order; None for a member that is itself the attribute."""
    keys: tuple[str, ...]
    pick: Callable[[Mapping[str, JsonValue]], Any]
    """The values by these keys; of a single key the value alone."""

    def values(self, attributes: Mapping[str, JsonValue]) -> tuple[JsonValue, ...]:
        """In the order of the names."""
        found: Any = self.pick(attributes)
        return found if len(self.keys) > 1 else (found,)


class _Members(NamedTuple):
    """The members of one list, in the order of their numbers."""

    items: tuple[_Member, ...] = ()
    gaps: bool = False


_NO_MEMBERS: Final = _Members()
_Plan: TypeAlias = dict[str, _Members]
"""The lists by their prefixes, without the last dot."""


class Numbered:
    """The numbered attributes of one span, sorted by list and member.

    Spans of one kind have the same attributes, so that the sorting is remembered by their names.
    """

    def __init__(self, attributes: Mapping[str, JsonValue]) -> None:
        keys = tuple(attributes)
        plan = _plans.known(keys)
        if plan is None:
            plan = _plan_of(keys)
            _plans.keep(keys, plan, _PLACE_COST * len(keys))
        self._plan = plan
        self._attributes = attributes

    def row(self, prefix: str) -> Row:
        """The members below a prefix, which ends in a dot, each a value or a tree of names."""
        members = self._plan.get(prefix[:-1], _NO_MEMBERS)
        found = [_tree(one.names, one.values(self._attributes)) for one in members.items]
        return Row(found, members.gaps)

    def read(
        self, prefix: str, read: Callable[[JsonValue], T | None], remembered: Remembered[T]
    ) -> tuple[list[T], bool]:
        """What `read` makes of each member, if anything, and whether a number is absent.

        A history repeats: a member that was read before is looked up by all its names and texts.
        """
        members = self._plan.get(prefix[:-1])
        found: list[T] = []
        if members is None:
            return found, False
        levels, attributes = nesting(), self._attributes
        for names, keys, pick in members.items:
            values = pick(attributes) if len(keys) > 1 else (pick(attributes),)
            # Numbers may equal each other and not be the same: only texts tell a member.
            texts = [*map(type, values)].count(str) == len(values)
            key = (levels, names, values)
            told = remembered.known(key) if texts else None
            if told is None:
                told = read(_tree(names, values))
                if told is not None and texts:
                    remembered.keep(key, told, sum(map(len, values)) + sum(map(len, keys)))
            if told is not None:
                found.append(told)
        return found, members.gaps

    def has(self, prefix: str) -> bool:
        """Whether there is any member below a prefix."""
        return prefix[:-1] in self._plan


def _plan_of(keys: Sequence[str]) -> _Plan:
    lists: dict[str, dict[str, list[tuple[str | None, str]]]] = {}
    for key in keys:
        place = _places[key]
        if place is not None:
            prefix, _, number = place[0].rpartition(".")
            lists.setdefault(prefix, {}).setdefault(number, []).append((place[1], key))
    return {prefix: _members(by_number) for prefix, by_number in lists.items()}


def _members(by_number: Mapping[str, list[tuple[str | None, str]]]) -> _Members:
    numbers = _numbers(by_number)
    ordered = sorted(numbers)
    items = []
    for number in ordered:
        # Protobuf hands attributes out in no order.
        pairs = sorted(by_number[numbers[number]], key=lambda pair: pair[0] or "")
        names, keys = zip(*pairs, strict=True)
        items.append(_Member(names, keys, itemgetter(*keys)))
    return _Members(tuple(items), ordered[-1] != len(ordered) - 1)


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
_plans: Final[Remembered[_Plan]] = Remembered()


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


def _tree(names: Sequence[str | None], values: Sequence[JsonValue]) -> JsonValue:
    """A level for each dot of the names; the value itself of a member that has no names.

    A name that is also the beginning of others gives way to them, whatever their order.
    """
    tree: Tree = _Level()
    for name, value in zip(names, values, strict=True):
        if name is None:
            continue
        path = _paths[name]
        level = tree
        for step in path[:-1]:
            inner = level.get(step)
            if type(inner) is not _Level:
                inner = level[step] = _Level()
            level = inner
        if type(level.get(path[-1])) is not _Level:
            level[path[-1]] = value
    return tree or values[0]
