"""Two statements by their words and the cosine of their vectors; guards have spoken before."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from monitor.comparison.guards import name_words
from monitor.comparison.lexical import TEXT_LIMIT, overlap
from monitor.comparison.words import claim_words, folded

ANSWER_WORDS: Final = 8
"""Up to so many claim words an expected text is an answer to be found in a longer reply."""
NAME_WEIGHT: Final = 2.0
"""How much more a name or a figure tells than another word."""
LABEL_WEIGHT: Final = 0.5
"""How much less the name of a value tells than the value: `status: completed`."""

_LABEL: Final = re.compile(r"\s*([\w-]{1,40}(?: [\w-]{1,40}){0,2}):\s+\S")


def statement_score(
    expected: str, actual: str, cosine: Callable[[str, str], float]
) -> float | None:
    """A score in [0, 1]; None for texts without words."""
    one, other = folded(expected[:TEXT_LIMIT]), folded(actual[:TEXT_LIMIT])
    first, second = claim_words(one), claim_words(other)
    if not first or not second:
        return None
    shared = overlap(first, second)
    if len(first) <= ANSWER_WORDS and len(second) > len(first) and shared.recall > 0:
        return 0.9 * _told(first, frozenset(second), expected[:TEXT_LIMIT])
    near = max(cosine(one, other), 0.0)
    return min(0.5 * max(shared.recall, shared.f1) + 0.5 * near, 1.0)


def _told(due: list[str], said: frozenset[str], expected: str) -> float:
    """The share of the expected words that are said, each by its weight."""
    names = name_words(expected)
    label = _LABEL.match(expected)
    labels = frozenset(claim_words(folded(label[1]))) if label else frozenset()
    weights = [_weight(word, names, labels) for word in due]
    met = sum(weight for weight, word in zip(weights, due, strict=True) if word in said)
    return met / sum(weights)


def _weight(word: str, names: frozenset[str], labels: frozenset[str]) -> float:
    if word in names or any(map(str.isdigit, word)):
        return NAME_WEIGHT
    return LABEL_WEIGHT if word in labels else 1.0
