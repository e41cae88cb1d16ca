"""Values that replies state word for word: quoted ones, and those that tool results hold."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from itertools import islice
from typing import Final

from monitor.model import JsonValue
from monitor.scoring.values import leaves, unwrapped

LITERALS_LIMIT: Final = 5_000
"""Result values of one conversation and side that are looked for in replies."""
LITERAL_CHARACTERS: Final = 500
"""Longer result values are no literals: nobody states them word for word."""

_WORD: Final = re.compile(r"\w+")
# Each repeat is bounded, so that a hostile text costs no more than its length.
_QUOTED: Final = re.compile(r"\"([^\"\n]{1,200})\"|(?<!\w)'([^'\n]{1,200})'(?!\w)")


class Literals:
    """The texts among the results that were due and among those that were given."""

    def __init__(self, due: Iterable[JsonValue] = (), given: Iterable[JsonValue] = ()) -> None:
        """Nothing is read before two statements differ."""
        self._results = due, given

    def replaced(self, expected: str, actual: str, due_reply: str, reply: str) -> bool:
        """Whether one statement states a due result's text and the other a given one's instead.

        What either reply states elsewhere was moved, not replaced.
        """
        due, given = self._texts
        return _lost(due - given, expected, reply) and _lost(given - due, actual, due_reply)

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
    """Whether a quoted text gave way to another quoted text."""
    return _lost(map(worded, quoted(expected)), expected, reply) and _lost(
        map(worded, quoted(actual)), actual, due_reply
    )


def _lost(texts: Iterable[str], statement: str, elsewhere: str) -> bool:
    """Whether one of the texts stands in the statement and nowhere in the other reply."""
    there, here = worded(statement), worded(elsewhere)
    return any(text in there and text not in here for text in texts)


def _texts(results: Iterable[JsonValue]) -> Iterable[str]:
    for result in results:
        for _, leaf in leaves(unwrapped(result)):
            if isinstance(leaf, str) and len(leaf) <= LITERAL_CHARACTERS and leaf.strip():
                found = worded(leaf)
                if any(map(str.isalpha, found)):
                    yield found
