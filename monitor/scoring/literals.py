"""Values that replies state word for word: quoted ones, and those that tool results hold."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from itertools import islice
from typing import Final, NamedTuple

from monitor.model import JsonValue
from monitor.scoring.values import leaves, unwrapped

LITERALS_LIMIT: Final = 5_000
"""Result values of one conversation and side that are looked for in replies."""
LITERAL_CHARACTERS: Final = 500
"""Longer result values are no literals: nobody states them word for word."""

_WORD: Final = re.compile(r"\w+")
# Each repeat is bounded, so that a hostile text costs no more than its length.
_QUOTED: Final = re.compile(r"\"([^\"\n]{1,200})\"|(?<!\w)'([^'\n]{1,200})'(?!\w)")


class Replaced(NamedTuple):
    """Result texts that one of two replies states and the other does not, as `worded` has them."""

    due: tuple[str, ...]
    given: tuple[str, ...]

    def between(self, expected: str, actual: str) -> bool:
        """Whether one statement states a due text and the other a given one in its place."""
        first, second = worded(expected), worded(actual)
        return any(text in first for text in self.due) and any(
            text in second for text in self.given
        )


class Literals:
    """The texts among the results that were due and among those that were given."""

    def __init__(self, due: Iterable[JsonValue] = (), given: Iterable[JsonValue] = ()) -> None:
        """Nothing is read before two statements differ."""
        self._results = due, given

    def replaced(self, due_reply: str, reply: str) -> Replaced:
        """The due texts that only the due reply states, and the given ones that only the other."""
        due, given = self._texts
        first, second = worded(due_reply), worded(reply)
        return Replaced(
            tuple(text for text in due - given if text in first and text not in second),
            tuple(text for text in given - due if text in second and text not in first),
        )

    @cached_property
    def _texts(self) -> tuple[frozenset[str], frozenset[str]]:
        due, given = (frozenset(islice(_texts(side), LITERALS_LIMIT)) for side in self._results)
        return due, given


def worded(text: str) -> str:
    """The words alone, each between blanks, so that texts are found in it as whole words."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def quoted(text: str) -> tuple[str, ...]:
    """What the text puts in quotes."""
    return tuple(one or other for one, other in _QUOTED.findall(text))


def requoted(expected: str, actual: str, due_reply: str, reply: str) -> bool:
    """Whether a quoted text gave way to another quoted text.

    What either reply states elsewhere was moved, not replaced.
    """
    due, given = quoted(expected), quoted(actual)
    return bool(due and given) and _lost(due, reply) and _lost(given, due_reply)


def _lost(texts: Iterable[str], reply: str) -> bool:
    there = worded(reply)
    return any(worded(text) not in there for text in texts)


def _texts(results: Iterable[JsonValue]) -> Iterable[str]:
    for result in results:
        for _, leaf in leaves(unwrapped(result)):
            if isinstance(leaf, str) and len(leaf) <= LITERAL_CHARACTERS and leaf.strip():
                found = worded(leaf)
                if any(map(str.isalpha, found)):
                    yield found
