"""Features of two short values of one field: names, titles, descriptions, free text."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Final

from monitor.comparison.lexical import overlap
from monitor.comparison.tables import NEGATIONS
from monitor.comparison.text import PREFIX, Text

NAME_FEATURES: Final = (
    "recall",
    "precision",
    "f1",
    "fuzzy",
    "ratio",
    "start",
    "glued",
    "contained",
    "first_word",
    "last_word",
    "initials",
    "skeleton",
    "fewer_words",
    "more_words",
    "shorter",
    "longer",
    "figures_agree",
    "script",
    "negation",
    "sentence",
    "order",
    "cosine",
    "soft",
    "soft_least",
)
"""Both sides count alike: the features do not change when the values change places."""
RISING_NAME_FEATURES: Final = frozenset(
    {
        "recall",
        "precision",
        "f1",
        "fuzzy",
        "ratio",
        "start",
        "glued",
        "contained",
        "initials",
        "skeleton",
        "figures_agree",
        "cosine",
        "soft",
        "soft_least",
    }
)
"""More of these never speaks against the value."""

GLUED_LIMIT: Final = 200
"""Characters of each value that are compared one by one."""


def name_features(one: Text, other: Text) -> list[float]:
    """One row, in the order of NAME_FEATURES without those that take an encoder."""
    shared = overlap(one.claims, other.claims)
    short, long = sorted((one, other), key=lambda text: (len(text.claims), len(text.glued)))
    low, high = sorted((shared.recall, shared.precision))
    return [
        high,
        low,
        shared.f1,
        _fuzzy(short, long),
        *_letters(one.glued[:GLUED_LIMIT], other.glued[:GLUED_LIMIT]),
        float(short.run in long.run),
        float(short.claims[:1] == long.claims[:1]),
        float(short.claims[-1:] == long.claims[-1:]),
        *_short_form(one, other),
        float(len(short.claims)),
        float(len(long.claims)),
        float(min(len(one.glued), len(other.glued))),
        float(max(len(one.glued), len(other.glued))),
        _figures(one, other),
        float(one.said.isascii() == other.said.isascii()),
        float(_negations(one) % 2 != _negations(other) % 2),
        float(max(len(one.words), len(other.words)) > 6),
        float(shared.f1 == 1.0 and one.claims != other.claims),
    ]


def _fuzzy(short: Text, long: Text) -> float:
    """Share of the shorter text's words that the longer has in some form."""
    words = short.claims
    near = sum(word in long.bag or word[:PREFIX] in long.prefixes for word in words)
    return near / max(len(words), 1)


def _letters(one: str, other: str) -> tuple[float, float, float]:
    """Likeness of two runs of letters: as a whole, from the start, one within the other."""
    short, long = sorted((one, other), key=len)
    start = 0
    while start < len(short) and short[start] == long[start]:
        start += 1
    # The matcher is not symmetric; sorted sides make it so.
    first, second = sorted((one, other))
    return (
        SequenceMatcher(None, first, second, autojunk=False).ratio(),
        start / max(len(short), 1),
        float(len(short) > 2 and short in long),
    )


def _short_form(one: Text, other: Text) -> tuple[float, float]:
    """Whether one value is made of the other's initials, or of its letters in their order."""
    short, long = sorted((one.glued, other.glued), key=len)
    if not (1 <= len(short) <= 6 and short.isalpha() and len(long) > len(short) + 1):
        return 0.0, 0.0
    longer = one if one.glued == long else other
    initials = "".join(word[0] for word in longer.words if word[0].isalnum())
    letters = iter(long)
    ordered = short[0] == long[0] and all(char in letters for char in short)
    return float(short == initials), float(ordered and len(short) <= 4)


def _figures(one: Text, other: Text) -> float:
    """1 where both hold the same figures, 0 where they differ, 0.5 where neither has one."""
    if not one.figures and not other.figures:
        return 0.5
    return float(one.figures == other.figures)


def _negations(text: Text) -> int:
    return sum(word in NEGATIONS for word in text.words)
