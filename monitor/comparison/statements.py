"""Two statements by their words and the cosine of their vectors; guards have spoken before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from monitor.comparison.lexical import TEXT_LIMIT, Overlap, overlap
from monitor.comparison.words import claim_words, folded

ANSWER_WORDS: Final = 8
"""Up to so many claim words an expected text is an answer to be found in a longer reply."""


def statement_score(
    expected: str, actual: str, cosine: Callable[[str, str], float]
) -> float | None:
    """A score in [0, 1]; None for texts without words."""
    expected, actual = folded(expected[:TEXT_LIMIT]), folded(actual[:TEXT_LIMIT])
    first, second = claim_words(expected), claim_words(actual)
    if not first or not second:
        return None
    shared = overlap(first, second)
    near = max(cosine(expected, actual), 0.0)
    return _score(shared, len(first), len(second), near)


def _score(shared: Overlap, expected: int, actual: int, cosine: float) -> float:
    """Two texts: a short expected one may be answered within a longer one."""
    if expected <= ANSWER_WORDS and actual > expected and shared.recall > 0:
        return 0.25 + 0.65 * shared.recall
    return min(0.5 * max(shared.recall, shared.f1) + 0.5 * cosine, 1.0)
