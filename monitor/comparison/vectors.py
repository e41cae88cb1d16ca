"""What an encoder says of texts: the nearest of several, and words that stand for each other."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from monitor.ports import Encoder

WORDS_LIMIT: Final = 40
"""Words of one side that are paired by meaning."""
DECIMALS: Final = 4
"""Vectors of one text may differ beyond that, as they come from batches of different size."""


class Closeness(NamedTuple):
    """How near two texts lie; each in [-1, 1]."""

    cosine: float
    soft: float
    """Mean over the words of the cosine to the nearest word of the other side."""
    soft_least: float
    """Of the word that has the least near partner."""


UNASKED: Final = Closeness(0.0, 0.0, 0.0)


class Vectors:
    """Asks an encoder; every text of one question in one batch. Raises BackendUnavailable."""

    def __init__(self, encoder: Encoder) -> None:
        """`encoder` had better remember: words come again and again."""
        self._encoder = encoder

    def names(self, one: str, other: str, first: list[str], second: list[str]) -> Closeness:
        """Of two values and their words, both directions alike."""
        first, second = first[:WORDS_LIMIT], second[:WORDS_LIMIT]
        rows = self._encoder.encode([one, other, *first, *second])
        cosine = _rounded(rows[0] @ rows[1])
        if not first or not second:
            return Closeness(cosine, 0.0, 0.0)
        table = rows[2 : 2 + len(first)] @ rows[2 + len(first) :].T
        there, back = table.max(axis=1), table.max(axis=0)
        return Closeness(
            cosine,
            _rounded((there.mean() + back.mean()) / 2),
            _rounded(min(there.min(), back.min())),
        )

    def answer(
        self, options: list[str], words: list[list[str]], actual: str, reply: list[str]
    ) -> Closeness:
        """Of the nearest accepted answer to a reply, and of the one whose words are best met."""
        kept = [some[:WORDS_LIMIT] for some in words]
        reply = reply[: 2 * WORDS_LIMIT]
        flat = list(dict.fromkeys(word for some in kept for word in some))
        rows = self._encoder.encode([actual, *options, *flat, *reply])
        cosine = _rounded((rows[1 : 1 + len(options)] @ rows[0]).max())
        if not flat or not reply:
            return Closeness(cosine, 0.0, 0.0)
        start = 1 + len(options)
        met = (rows[start : start + len(flat)] @ rows[start + len(flat) :].T).max(axis=1)
        best = dict(zip(flat, met.tolist(), strict=True))
        means = [float(np.mean([best[word] for word in some])) for some in kept if some]
        least = [min(best[word] for word in some) for some in kept if some]
        return Closeness(cosine, _rounded(max(means)), _rounded(max(least)))

    def cosine(self, one: str, other: str) -> float:
        """Of two texts."""
        rows = self._encoder.encode([one, other])
        return _rounded(rows[0] @ rows[1])


def _rounded(value: npt.ArrayLike) -> float:
    found = round(float(value), DECIMALS)  # type: ignore[arg-type]
    return found if found == found else 0.0  # not a number is no likeness
