"""The last rung: a calibrated chance from the likeness of words and, where one is at hand, vectors.

Likeness alone never overrules a type or a guard: what those decide does not come here.
"""

from __future__ import annotations

from typing import Final

from monitor.comparison.answers import answer_features
from monitor.comparison.calibration import Calibration
from monitor.comparison.gathering import NotYetEncoded
from monitor.comparison.names import name_features
from monitor.comparison.rung import Pair, unsure
from monitor.comparison.statements import statement_score
from monitor.comparison.tables import QUALIFIERS
from monitor.comparison.text import Text
from monitor.comparison.vectors import UNASKED, Vectors
from monitor.errors import BackendUnavailable
from monitor.ports import Encoder
from monitor.verdict import Similarity

UNAVAILABLE: Final = unsure("encoder: unsure")
"""The encoder did not answer. It may the next time, so this is not to be remembered."""


class Residual:
    """Weighs two texts: values of one field, an answer to a question, or two statements."""

    def __init__(self, calibration: Calibration | None, encoder: Encoder | None = None) -> None:
        """Without a calibration only statements are weighed, and they need an encoder."""
        self._calibration = calibration
        self._vectors = None if encoder is None else Vectors(encoder)
        self.unavailable = 0
        """Pairs that the encoder failed to answer for."""
        parts = [] if calibration is None else [calibration.version]
        parts += [] if encoder is None else [encoder.version]
        self.version = f"residual-1({','.join(parts)})"

    def compare(self, pair: Pair) -> Similarity | None:
        """A score in [0, 1], None within the band; None alone for what is not two texts."""
        expected, actual = pair.expected, pair.actual
        if not isinstance(expected, str) or not isinstance(actual, str):
            return None
        try:
            if pair.hint.field:
                return self._names(expected, actual)
            if pair.hint.query is not None:
                return self._answer(expected, actual, pair.hint.query)
            return self._statements(expected, actual)
        except BackendUnavailable as error:
            self.unavailable += not isinstance(error, NotYetEncoded)
            return UNAVAILABLE

    def _names(self, expected: str, actual: str) -> Similarity | None:
        if self._calibration is None:
            return None
        one, other = Text(expected), Text(actual)
        if not one.claims or not other.claims:
            return unsure()
        if one.is_foreign != other.is_foreign:
            # Letters say nothing across scripts.
            return unsure("script: unsure")
        if _qualified(one, other):
            return unsure("qualifier: unsure")
        row = name_features(one, other)
        near = UNASKED
        fitted = self._calibration.fields
        if self._vectors is not None and (fitted.is_encoded or fitted.scale.cosine):
            near = self._vectors.names(one.said, other.said, one.claims, other.claims)
        if fitted.is_encoded:
            row += near
        return Similarity(fitted.score(row, near.cosine), "calibrated")

    def _answer(self, expected: str, actual: str, query: str) -> Similarity | None:
        if self._calibration is None:
            return None
        found = answer_features(expected, actual, query)
        near = UNASKED
        fitted = self._calibration.answers
        if self._vectors is not None and (fitted.is_encoded or fitted.scale.cosine):
            near = self._vectors.answer(found.options, found.words, actual, found.reply)
        row = [*found.row, *near] if fitted.is_encoded else found.row
        return Similarity(fitted.score(row, near.cosine), "calibrated")

    def _statements(self, expected: str, actual: str) -> Similarity | None:
        if self._vectors is None:
            return None
        score = statement_score(expected, actual, self._vectors.cosine)
        return None if score is None else Similarity(score, "embedding")


def _qualified(one: Text, other: Text) -> bool:
    """Whether one value is the other with a word that may make another thing of it."""
    surplus = one.bag ^ other.bag
    return (one.bag < other.bag or other.bag < one.bag) and not QUALIFIERS.isdisjoint(surplus)
