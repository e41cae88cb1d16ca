"""The comparator: rungs asked in order, objects and lists taken apart to their leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from monitor.comparison.answers import alternatives
from monitor.comparison.calibration import Calibrations, shipped
from monitor.comparison.exact import EXACT, identical
from monitor.comparison.kinds import kind_of
from monitor.comparison.lexical import Lexical
from monitor.comparison.residual import UNAVAILABLE, Residual
from monitor.comparison.rung import Pair, Rung, decided, unsure
from monitor.comparison.structure import Leaves, opened
from monitor.comparison.told import tells_answer
from monitor.comparison.typed import Typed
from monitor.comparison.words import claim_words, folded
from monitor.model import JsonValue
from monitor.ports import Encoder, Hint
from monitor.verdict import Similarity

VERDICTS_LIMIT: Final = 65_536
"""Similarities of texts that are remembered; all are forgotten when there are more."""
KEY_CHARACTERS: Final = 512
"""Longer texts are compared anew."""
SHORT_REPLY_WORDS: Final = 4
"""A reply with so many words beyond the expected answer is held to the guards of statements."""

_SCALARS: Final = (str, int, float, bool, type(None))


class Ladder:
    """Compares any two JSON values; the first rung with an opinion decides.

    Symmetric but for objects, which are held to the expected side's keys (what the actual side
    adds is no fault of the value), and for answers, which are looked for in the reply.
    """

    def __init__(
        self,
        rungs: Sequence[Rung] | None = None,
        encoder: Encoder | None = None,
        calibrations: Calibrations | None = None,
    ) -> None:
        """`rungs` from the surest up, after raw equality; None takes the standard ones.

        The last of the standard ones weighs texts by `calibrations`, those that come with the
        package unless told otherwise, and by an encoder where there is one.
        """
        if rungs is None:
            version = None if encoder is None else encoder.version
            chosen = (calibrations or shipped()).chosen(version)
            rungs = [Typed(), Lexical(), Residual(chosen, encoder)]
        self.rungs: tuple[Rung, ...] = tuple(rungs)
        self.version = "+".join(["ladder-3", "exact", *(rung.version for rung in self.rungs)])
        self._leaves = Leaves(self.compare)
        self._known: dict[object, tuple[Similarity, Mapping[str, JsonValue] | None]] = {}

    @property
    def unavailable(self) -> int:
        """Pairs of texts that an encoder failed to answer for."""
        return sum(getattr(rung, "unavailable", 0) for rung in self.rungs)

    def compare(self, expected: JsonValue, actual: JsonValue, hint: Hint) -> Similarity:
        """Similarity in [0, 1], or None where no rung could say."""
        if type(expected) is type(actual) and expected == actual and identical(expected, actual):
            return EXACT
        if isinstance(expected, str) and isinstance(actual, str):
            return self._texts(expected, actual, hint)
        if not isinstance(expected, _SCALARS) or not isinstance(actual, _SCALARS):
            return self._leaves.compare(expected, actual, hint)
        return self._climbed(Pair(expected, actual, kind_of(hint), hint), self.rungs) or unsure()

    def _texts(self, expected: str, actual: str, hint: Hint) -> Similarity:
        """Two texts, from memory where they were compared before.

        A schema is known by identity: its entry holds it, so that no other can take its place.
        """
        field, kind, schema, query, tolerance = hint
        key = (expected, actual, field, kind, id(schema), query, tolerance)
        known = self._known.get(key)
        if known is not None and known[1] is schema:
            return known[0]
        whole = opened(expected, actual)
        if whole is not None:
            return self.compare(*whole, hint)
        pair = Pair(expected, actual, kind_of(hint), hint)
        if query is not None and not field:
            found = self._answered(pair)
        else:
            found = self._climbed(pair, self._rungs_for(hint)) or unsure()
        if found is not UNAVAILABLE and len(expected) + len(actual) <= KEY_CHARACTERS:
            if len(self._known) >= VERDICTS_LIMIT:
                self._known.clear()
            self._known[key] = found, schema
        return found

    def _rungs_for(self, hint: Hint) -> Sequence[Rung]:
        """Where only rules may decide, the last rung has no say."""
        return self.rungs[:-1] if hint.kind == "typed" else self.rungs

    def _answered(self, pair: Pair) -> Similarity:
        """A reply against the accepted answers: one that it gives is enough."""
        surer, last = self.rungs[:-1], self.rungs[-1:]
        options = alternatives(str(pair.expected))
        found = [self._climbed(pair._replace(expected=option), surer) for option in options]
        scores = [(one.score, one) for one in found if one is not None and one.score is not None]
        best = max(scores, key=lambda scored: scored[0], default=None)
        if best is not None and best[0] >= 0.5:
            return best[1]
        denied = any(one is not None and one.why == "negation" for one in found)
        told = tells_answer(options, str(pair.actual))
        if told is not None and not denied:
            return decided(told, "value")
        # Within a longer reply a changed word may stand beside the answer.
        if best is not None and len(scores) == len(options) and _is_short(pair, options):
            return best[1]
        weighed = self._climbed(pair, last) or unsure()
        if denied and weighed.score:
            return unsure("negation: unsure") if weighed.score >= 0.5 else weighed
        return weighed

    @staticmethod
    def _climbed(pair: Pair, rungs: Sequence[Rung]) -> Similarity | None:
        for rung in rungs:
            found = rung.compare(pair)
            if found is not None:
                return found
        return None


def _is_short(pair: Pair, options: Sequence[str]) -> bool:
    longest = max(len(claim_words(folded(option))) for option in options)
    return len(claim_words(folded(str(pair.actual)))) <= longest + SHORT_REPLY_WORDS
