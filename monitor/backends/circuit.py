"""A circuit before an encoder: after a failure it is left alone for a while, then tried again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from monitor.errors import BackendUnavailable
from monitor.ports import Encoder

FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0


class Circuit:
    """Fails at once while its encoder rests, so that nobody waits for what is known to be down.

    The pause doubles with each failure in a row; one question ends it, and its answer closes the
    circuit. An encoder that asks for a longer pause gets it.
    """

    def __init__(
        self,
        encoder: Encoder,
        clock: Callable[[], float],
        first_pause_s: float = FIRST_PAUSE_S,
        longest_pause_s: float = LONGEST_PAUSE_S,
    ) -> None:
        """`clock` is monotonic, in seconds."""
        self.version = encoder.version
        self.failures = 0
        """Questions that the encoder failed to answer."""
        self.refused = 0
        """Questions that were not put to it while it rested."""
        self.last_failure: str | None = None
        """What it said; None since the last answer."""
        self._encoder = encoder
        self._clock = clock
        self._first_pause_s, self._longest_pause_s = first_pause_s, longest_pause_s
        self._pause_s = first_pause_s
        self._rests_until: float | None = None

    @property
    def unanswered(self) -> int:
        """Questions without an answer, put or not."""
        return self.failures + self.refused

    @property
    def is_open(self) -> bool:
        """Whether questions are kept from the encoder now."""
        return self._rests_until is not None and self._clock() < self._rests_until

    @property
    def dimensions(self) -> int:
        """Of the encoder behind. Raises BackendUnavailable where it does not tell."""
        return self._encoder.dimensions

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """As the encoder; while it rests, BackendUnavailable without asking it."""
        if self.is_open:
            self.refused += 1
            raise BackendUnavailable(f"the encoder rests after: {self.last_failure}")
        try:
            rows = self._encoder.encode(texts)
        except BackendUnavailable as error:
            self.failures += 1
            self.last_failure = str(error)
            pause_s = max(self._pause_s, min(error.retry_after_s or 0.0, self._longest_pause_s))
            self._rests_until = self._clock() + pause_s
            self._pause_s = min(2 * self._pause_s, self._longest_pause_s)
            raise
        self._rests_until, self._pause_s, self.last_failure = None, self._first_pause_s, None
        return rows
