"""The last rung: free text by its words and, where an encoder is at hand, by its vector."""

from __future__ import annotations

import math
from typing import Final

from monitor.comparison.lexical import SHORT_WORDS, TEXT_LIMIT, Overlap, overlap
from monitor.comparison.rung import Pair
from monitor.comparison.words import claim_words, folded
from monitor.errors import BackendUnavailable
from monitor.ports import Encoder
from monitor.verdict import Similarity

SIBLINGS: Final = 0.5
"""Cosine below which two names without a common word are taken for different."""
SYNONYMS: Final = 0.72
"""Cosine from which they are taken for the same; months and spouses come up to 0.70."""
VARIANTS: Final = 0.65
"""Cosine below which two names that share some words are taken for different."""
SAME_NAME: Final = 0.8
"""Cosine from which they are taken for the same."""
ALTERNATIVES_LIMIT: Final = 64
"""Alternatives of one expected answer that are looked at."""
ANSWER_WORDS: Final = 8
"""Up to so many claim words an expected text is an answer to be found in a longer reply."""
PAUSE_LIMIT: Final = 256
"""At most so many asks are skipped after a failure before the encoder is tried again."""


class Embedding:
    """Weighs free text. Without an answer from the encoder it says nothing."""

    def __init__(self, encoder: Encoder) -> None:
        """`encoder` may fail at any time; it is tried again after a pause counted in asks."""
        self._encoder = encoder
        self.version = f"embedding-1({encoder.version})"
        self.unavailable = 0
        """Asks that the encoder failed to answer or that were not put to it in a pause."""
        self._pause = 0
        self._next_pause = 1

    def compare(self, pair: Pair) -> Similarity | None:
        """A score in [0, 1] for two texts; None for other values or without an encoder."""
        if not isinstance(pair.expected, str) or not isinstance(pair.actual, str):
            return None
        if pair.hint.query is not None and pair.hint.field is None:
            return self._best(pair)
        return self._weighed(pair, pair.expected, pair.actual)

    def _best(self, pair: Pair) -> Similarity | None:
        """The best of the alternatives that a short expected answer lists with slashes."""
        found = [self._weighed(pair, option, pair.actual) for option in alternatives(pair.expected)]
        scored = [s for s in found if s is not None and s.score is not None]
        return max(scored, key=lambda s: s.score or 0.0, default=found[0])

    def _weighed(self, pair: Pair, expected: str, actual: str) -> Similarity | None:
        expected, actual = folded(expected[:TEXT_LIMIT]), folded(actual[:TEXT_LIMIT])
        first, second = claim_words(expected), claim_words(actual)
        if not first or not second:
            return None
        cosine = self._cosine(expected, actual)
        if cosine is None:
            return None
        shared = overlap(first, second)
        if pair.hint.field and min(len(first), len(second)) <= SHORT_WORDS:
            return Similarity(_name_score(shared, cosine), "embedding")
        return Similarity(_text_score(shared, len(first), len(second), cosine), "embedding")

    def _cosine(self, expected: str, actual: str) -> float | None:
        if self._pause:
            self._pause -= 1
            self.unavailable += 1
            return None
        try:
            vectors = self._encoder.encode([expected, actual])
        except BackendUnavailable:
            self.unavailable += 1
            self._pause, self._next_pause = self._next_pause, min(2 * self._next_pause, PAUSE_LIMIT)
            return None
        self._next_pause = 1
        cosine = float(vectors[0] @ vectors[1])
        return None if math.isnan(cosine) else cosine


def alternatives(text: str) -> list[str]:
    """The text, and its parts where slashes part short names: `Rome/Roma` accepts either."""
    parts = text.split("/")
    if len(parts) == 1 or "://" in text or len(parts) > ALTERNATIVES_LIMIT:
        return [text]
    if any(not part.strip() or len(part.split()) > ANSWER_WORDS for part in parts):
        return [text]
    return [text, *dict.fromkeys(part.strip() for part in parts)]


def _name_score(shared: Overlap, cosine: float) -> float | None:
    """Two names: their words must agree, since names of one class lie close together.

    Names without a common word may be synonyms (film, movie); between siblings (husband, wife)
    and synonyms the vectors cannot tell.
    """
    cosine = max(cosine, 0.0)
    if max(shared.recall, shared.precision) == 1.0:
        return 0.5 + 0.35 * shared.f1 * cosine
    if shared.f1 == 0.0:
        if cosine < SIBLINGS:
            return 0.2 * cosine
        return cosine if cosine >= SYNONYMS else None
    if cosine < VARIANTS:
        return 0.6 * cosine
    return cosine - 0.3 if cosine >= SAME_NAME else None


def _text_score(shared: Overlap, expected: int, actual: int, cosine: float) -> float:
    """Two texts: a short expected one may be answered within a longer one."""
    if expected <= ANSWER_WORDS and actual > expected and shared.recall > 0:
        return 0.25 + 0.65 * shared.recall
    return min(0.5 * max(shared.recall, shared.f1) + 0.5 * max(cosine, 0.0), 1.0)
