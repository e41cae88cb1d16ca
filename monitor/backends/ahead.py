"""An evaluator that encodes ahead: first it notes the texts that it needs, then it asks once."""

from __future__ import annotations

from typing import Any, Final

from monitor.comparison.gathering import GatheringEncoder
from monitor.errors import BackendUnavailable
from monitor.evaluator import Evaluator
from monitor.verdict import Report

ROUNDS: Final = 3
"""Times that texts are gathered; a verdict may lead to a comparison that was not foreseen."""
TEXTS_LIMIT: Final = 2_000
"""Texts of one evaluation that are asked for at once; the rest waits for the next round."""


class ForesightedEvaluator(Evaluator):
    """For encoders that take their time: one batch a conversation, and none where all is known.

    The caller still waits for that batch, at most its timeout; the circuit sees to it that a
    backend that is down is waited for once in a while only.
    """

    def __init__(self, *parts: Any, encoder: GatheringEncoder, **more: Any) -> None:
        """`parts` and `more` are the evaluator's, whose comparator asks `encoder`."""
        super().__init__(*parts, **more)
        self._encoder = encoder

    def evaluate(self, *given: Any, **more: Any) -> Report:
        """As the evaluator; its report is the same as if each pair had been asked for."""
        for _ in range(ROUNDS):
            with self._encoder.gathering() as wanted:
                report = super().evaluate(*given, **more)
            if not wanted:
                return report
            try:
                self._encoder.encode(list(wanted)[:TEXTS_LIMIT])
            except BackendUnavailable:
                break
        return super().evaluate(*given, **more)
