"""What the order of words says when the words are the same: clauses, voice, signs between them."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import Final

from monitor.comparison.tables import split
from monitor.comparison.words import claim_words, squeezed, words_of

_CLAUSE: Final = re.compile(r"[;:]\s|,(?!\d)\s?|(?<=\w)[.!?]\s|\b(?:and|while|but|whereas)\b")
_MARKS: Final = (" for ", " of ", ",", " in ")
_BE: Final = frozenset({"is", "are", "was", "were", "be", "been", "being"})
_PARTICIPLES: Final = frozenset(
    split(
        "made sent paid sold bought taken given done found held kept left lost met put read said "
        "seen set shown told won written begun broken built caught chosen drawn driven led lent "
        "lit sung hit beaten brought known run"
    )
)
_REGULAR: Final = re.compile(r"[a-z]{2,30}(?:ed|en)")
_OPERATOR: Final = re.compile(r"(?<=[\w)\]])( ?)(\*\*|[+*/^%-])\1(?=[\w(\[])")
"""A sign that stands alike to both sides: in `kill /f` it belongs to what follows."""


def is_free(expected: str, actual: str) -> bool:
    """Whether the order of equal words is free: a quarter, a filler, a comma or a clause moved.

    Of several clauses each must say the same: 5 for the fare and 3 in taxes is not the reverse.
    """
    if squeezed(expected) == squeezed(actual):
        return False
    first, second = _clauses(expected), _clauses(actual)
    if len(first) > 1 and len(second) > 1 and _figures(expected) > 1:
        return first == second
    return any(mark in expected + actual for mark in _MARKS)


def voices_differ(expected: str, actual: str) -> bool:
    """Whether one of two folded texts alone is in the passive voice, which turns its order."""
    return _is_passive(expected) != _is_passive(actual)


def is_turned(expected: str, actual: str) -> bool:
    """Whether words in equal order say the reverse: A beat B, A was beaten by B."""
    agents = [_is_passive(text) and " by " in text for text in (expected, actual)]
    return agents[0] != agents[1] and " by " not in (actual if agents[0] else expected)


def operators_differ(expected: str, actual: str) -> bool:
    """Whether texts of equal words have other signs between them: `x + 1`, `x - 1`."""
    first, second = (
        Counter(found[2] for found in _OPERATOR.finditer(text)) for text in (expected, actual)
    )
    return bool(first) and bool(second) and first != second


def _clauses(text: str) -> Counter[tuple[str, ...]]:
    """The claim words of each clause, sorted."""
    parts = (tuple(sorted(claim_words(part))) for part in _CLAUSE.split(text) if part.strip())
    return Counter(part for part in parts if part)


def _figures(text: str) -> int:
    return len({word for word in words_of(text) if any(map(str.isdigit, word))})


def _is_passive(text: str) -> bool:
    words = words_of(text)
    return any(one in _BE and _is_participle(other) for one, other in pairwise(words))


def _is_participle(word: str) -> bool:
    return word in _PARTICIPLES or _REGULAR.fullmatch(word) is not None
