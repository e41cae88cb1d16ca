"""What kind of request a conversation serves: the nearest of a few phrases.

Clusters are fixed by the phrases, so a conversation has the same one whenever and wherever it is
read, and two releases are compared over the same ones. Vectors come from the cached encoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

import numpy as np

from monitor.errors import BackendUnavailable
from monitor.ports import Encoder
from monitor.releases.arms import INTENTS, Floats

PHRASES: Final = (
    "cancel my order or subscription, I no longer want it",
    "change, modify or update my order, reservation or account",
    "return or exchange an item and get a refund",
    "where is my order, what is the status, check or track it",
    "a question, please explain how this works, give me information or a recommendation",
    "book a table, ticket or trip, buy or order something new, make a payment",
    "something does not work, fix my device, connection, error or problem",
    "do a task: search, write, compute, analyse or create a file",
)
"""Kinds of requests that agents of many trades get; an operator may name those of one trade."""
TEXT_LIMIT: Final = 400
"""Characters of a request that are looked at: people say first what they want."""


class Intents:
    """Tells the cluster of a conversation's first request."""

    def __init__(self, encoder: Encoder, phrases: Sequence[str] = PHRASES) -> None:
        """`encoder` is asked for the phrases on first use; at most eight of them count."""
        self._encoder = encoder
        self._phrases = tuple(phrases[:INTENTS])
        self._centre: Floats | None = None
        self._anchors: Floats | None = None
        key = "\0".join((encoder.version, *self._phrases))
        self.version = blake2b(key.encode("utf-8", "replace"), digest_size=4).hexdigest()
        """Clusters of different versions are not to be compared."""

    def of(self, queries: Sequence[str | None]) -> int | None:
        """The number of the nearest phrase; None without words, or without an encoder's answer."""
        first = next((query for query in queries if query and query.strip()), None)
        if first is None:
            return None
        try:
            vector = self._encoder.encode([first[:TEXT_LIMIT]])[0]
            centre, anchors = self._fixed()
        except BackendUnavailable:
            return None
        if not vector.any():
            return None
        return int(np.argmax(anchors @ (vector - centre)))

    def _fixed(self) -> tuple[Floats, Floats]:
        """The phrases' mean, which is common to all requests, and their directions from it."""
        if self._centre is None or self._anchors is None:
            vectors = np.asarray(self._encoder.encode(self._phrases), dtype=np.float64)
            self._centre = vectors.mean(axis=0)
            away = vectors - self._centre
            lengths = np.linalg.norm(away, axis=1, keepdims=True)
            self._anchors = away / np.maximum(lengths, 1e-12)
        return self._centre, self._anchors
