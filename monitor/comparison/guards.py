"""Guards for statements that resemble each other: swapped names, claims that are denied."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from monitor.comparison.dates import calendar_name
from monitor.comparison.tables import FILLER, NEGATIONS, OPENERS
from monitor.comparison.words import claim_words, folded, words_of

NAMES_LIMIT: Final = 200
"""Names of one text that are looked at."""
PAIRED_LIMIT: Final = 20
"""Names of one text alone whose counterparts are looked for."""
TITLE_SHARE: Final = 0.6
"""From this share of capitals on, a text is a heading, and capitals tell nothing."""
VARIANT: Final = 0.8
"""Likeness above which two spellings are of one name; Maria and Mario are not."""
SHORT_WORDS: Final = 3
"""Claim words of a statement that a longer one may deny."""
REACH: Final = 3
"""Words before a claim in which a negation speaks of it."""

_TOKEN: Final = re.compile(r"[^\W_][\w'-]{0,60}")
_BEGIN: Final = re.compile(r"(?:^|[.!?:;\n\"(\u2022*-])\s*$")
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s|\n")
_PRONOUNS: Final = frozenset({"i", "i'm", "i've", "i'll", "i'd", "ok", "okay"})


class _Name(NamedTuple):
    word: str
    inside: bool
    """Not at the beginning of a sentence, where every word has a capital."""


def names_swapped(expected: str, actual: str) -> bool:
    """Whether a name of the expected text is gone and another stands in the actual one.

    At the beginning of a sentence a word is taken for a name only where its counterpart is one
    too, and nothing else is changed.
    """
    first, second = [*_names(expected)], [*_names(actual)]
    if not first or not second:
        return False
    one, other = _words(expected), _words(actual)
    lost = [name for name in first if name.word.casefold() not in other][:PAIRED_LIMIT]
    new = [name for name in second if name.word.casefold() not in one][:PAIRED_LIMIT]
    if not lost or not new:
        return False
    inside = [name for name in lost if name.inside], [name for name in new if name.inside]
    if all(inside):
        lost, new = inside
    elif not _one_place(one, other, lost, new) or any(map(_opens, (*lost, *new))):
        return False
    return _unmatched(lost, new) and _unmatched(new, lost)


def _unmatched(some: list[_Name], others: list[_Name]) -> bool:
    """Whether a name has no other spelling among the others."""
    return any(not any(_variants(a.word, b.word) for b in others) for a in some)


def name_words(text: str) -> frozenset[str]:
    """The names within the text, folded."""
    return frozenset(name.word.casefold() for name in _names(text) if name.inside)


def _one_place(
    one: dict[str, None], other: dict[str, None], lost: list[_Name], new: list[_Name]
) -> bool:
    """Whether the texts differ in these names and in nothing else that counts."""
    gone = [word for word in one if word not in other and word not in FILLER]
    come = [word for word in other if word not in one and word not in FILLER]
    return len(gone) == len(lost) <= 2 and len(come) == len(new) <= 2


def _opens(name: _Name) -> bool:
    """Whether a sentence may begin with the word although it names nobody: `Booked`, `Great`."""
    word = name.word.casefold()
    return word in OPENERS or word.endswith(("ed", "ing", "ly"))


def _names(text: str) -> Iterator[_Name]:
    tokens = [*_TOKEN.finditer(text)][: 10 * NAMES_LIMIT]
    worded = [token for token in tokens if token[0][0].isalpha()]
    capital = [token for token in worded if token[0][0].isupper()]
    if len(worded) > 2 and len(capital) > TITLE_SHARE * len(worded):
        return
    for token in capital[:NAMES_LIMIT]:
        word = token[0].removesuffix("'s")
        if word.casefold() not in _PRONOUNS and word.casefold() not in FILLER:
            yield _Name(word, _BEGIN.search(text, max(token.start() - 3, 0), token.start()) is None)


def _words(text: str) -> dict[str, None]:
    return dict.fromkeys(token[0].casefold().removesuffix("'s") for token in _TOKEN.finditer(text))


def _variants(one: str, other: str) -> bool:
    short, long = sorted((one.casefold(), other.casefold()), key=len)
    if long.startswith(short) and len(short) > 2:
        return True
    return SequenceMatcher(None, short, long).ratio() > VARIANT


def days_swapped(lost: Iterable[str], new: Iterable[str]) -> bool:
    """Whether one day of the week gave way to another: moved to Thursday, moved to Tuesday."""
    first = {calendar_name(word) for word in lost if len(word) > 3} - {None}
    second = {calendar_name(word) for word in new if len(word) > 3} - {None}
    return bool(first) and bool(second) and first.isdisjoint(second)


def denied(expected: str, actual: str) -> bool:
    """Whether a longer text denies the short expected one: `done`, `I could not get it done`."""
    due = claim_words(folded(expected))
    if not 0 < len(due) <= SHORT_WORDS or _negations(due):
        return False
    spots = [words_of(folded(sentence)) for sentence in _SENTENCE.split(actual)]
    spots = [words for words in spots if set(due) <= {*words}]
    return bool(spots) and all(_denies(words, set(due)) for words in spots)


def _denies(words: list[str], due: set[str]) -> bool:
    """Whether a negation stands shortly before the words."""
    first = min(index for index, word in enumerate(words) if word in due)
    return _negations(words[max(first - REACH, 0) : first]) % 2 == 1


def _negations(words: Iterable[str]) -> int:
    return sum(word in NEGATIONS for word in words)
