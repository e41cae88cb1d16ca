"""The last rung: free text by its words and, where an encoder is at hand, by its vector."""

from __future__ import annotations

import math
from typing import Final

from monitor.comparison.lexical import SHORT_WORDS, TEXT_LIMIT, overlap
from monitor.comparison.rung import Pair
from monitor.comparison.words import claim_words, folded
from monitor.errors import BackendUnavailable
from monitor.ports import Encoder
from monitor.verdict import Similarity

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
        expected, actual = folded(pair.expected[:TEXT_LIMIT]), folded(pair.actual[:TEXT_LIMIT])
        first, second = claim_words(expected), claim_words(actual)
        if not first or not second:
            return None
        cosine = self._cosine(expected, actual)
        if cosine is None:
            return None
        shared = overlap(first, second)
        if pair.hint.field and min(len(first), len(second)) <= SHORT_WORDS:
            # Names resemble each other in every vector space; their words must agree.
            contained = max(shared.recall, shared.precision)
            return Similarity(0.5 * contained + 0.35 * shared.f1 * max(cosine, 0.0), "embedding")
        contained = max(shared.recall, shared.f1)
        score = 0.5 * contained + 0.5 * max(cosine, 0.0)
        return Similarity(min(max(score, 0.0), 1.0), "embedding")

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
