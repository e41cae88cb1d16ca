"""Where values come from: the leaves and words that a turn took in and gave out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from monitor.model import JsonValue
from monitor.scoring.values import leaves, plain, unwrapped
from monitor.scoring.words import TEXT_LIMIT, tokens

_KEY_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_CARRIES_NOTHING: Final = frozenset(("", "true", "false", "none", "null"))


class Content(NamedTuple):
    """The scalars of a value, each in its recognisable form, and the words in it."""

    values: AbstractSet[str] = frozenset()
    words: AbstractSet[str] = frozenset()
    """Words of the values, and of the keys where a reply may repeat them."""

    def minus(self, other: Content) -> Content:
        """What only this content holds."""
        return Content(self.values - other.values, self.words - other.words)


NOTHING: Final = Content()


def content_of(value: JsonValue) -> Content:
    """The content of a JSON value, or of text that is JSON."""
    values: set[str] = set()
    words: set[str] = set()
    keys: set[str] = set()
    left = TEXT_LIMIT
    for path, leaf in leaves(unwrapped(value)):
        keys.update(path.split("."))
        text = plain(leaf)
        if text in _CARRIES_NOTHING:
            continue
        values.add(text)
        if left > 0:
            words.update(tokens(text))
            left -= len(text)
    for key in keys:
        words.add(key.casefold().strip("_"))
        words.update(part.casefold() for part in _KEY_WORD.findall(key))
    return Content(frozenset(values), frozenset(words))


def content_of_text(text: str) -> Content:
    """The content of free text: its words are also the values that can be taken from it."""
    words = frozenset(tokens(text))
    return Content(words, words)


def merged(contents: Iterable[Content]) -> Content:
    """What any of them holds."""
    values: set[str] = set()
    words: set[str] = set()
    for content in contents:
        values |= content.values
        words |= content.words
    return Content(frozenset(values), frozenset(words))


def weighs(value: str) -> bool:
    """Whether meeting the value again can mean that it was taken over, not mere chance."""
    return len(value) > 1 and value not in _CARRIES_NOTHING
