"""Texts gathered before they are encoded: a slow encoder is asked once, not pair by pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from monitor.comparison.cache import CachedEncoder
from monitor.errors import BackendUnavailable


class NotYetEncoded(BackendUnavailable):
    """The texts were noted; once they are fetched the same question will be answered."""


class GatheringEncoder:
    """A cached encoder that can be told to note what it would have to ask for."""

    def __init__(self, cached: CachedEncoder) -> None:
        """`cached` had better hold all texts of one evaluation at once."""
        self.version = cached.version
        self._cached = cached
        self._wanted: dict[str, None] | None = None

    @property
    def dimensions(self) -> int:
        """Of the encoder behind."""
        return self._cached.dimensions

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One row per text; while gathering, NotYetEncoded where some are not known."""
        if self._wanted is not None:
            unknown = self._cached.unknown(texts)
            if unknown:
                self._wanted.update(dict.fromkeys(unknown))
                raise NotYetEncoded("gathered")
        return self._cached.encode(texts)

    @contextmanager
    def gathering(self) -> Iterator[dict[str, None]]:
        """Within, nothing is asked of the encoder; yields the texts that are noted."""
        wanted: dict[str, None] = {}
        self._wanted = wanted
        try:
            yield wanted
        finally:
            self._wanted = None
