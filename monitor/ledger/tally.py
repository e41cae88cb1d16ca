"""Which counters a turn's first verdict and a conversation's first close raise."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from typing import Final, Literal, TypeAlias, get_args

from monitor.judging.prices import Price
from monitor.ledger.counters import Counters
from monitor.ledger.labels import OTHER
from monitor.verdict import BASES, REASONS, SUB_METRIC_OF, UNSCORED_WHYS, Detail, Report, Verdict

VerdictLabel: TypeAlias = Literal["pass", "root_fail", "cascade_fail", "unscored", "withdrawn"]
VERDICT_LABELS: Final[tuple[VerdictLabel, ...]] = get_args(VerdictLabel)
"""By code. `withdrawn` is only ever a correction: a later revision no longer has the turn."""
PASS, ROOT, CASCADE, UNSCORED, WITHDRAWN = range(5)

LATENCY_BUCKETS_S: Final = (1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0)
MICRO: Final = 1_000_000
"""Scores and seconds are summed in millionths, so that sums are exact in any order."""

_LATENCY_CEILING_S: Final = 1e9
_TOKENS_CEILING: Final = 10**9
_REASONS: Final = frozenset(REASONS)
_BASES: Final = frozenset(BASES)
_WHYS: Final = frozenset(UNSCORED_WHYS)
_DETAILS: Final = frozenset(get_args(Detail))
_SUB_METRICS: Final = frozenset(SUB_METRIC_OF.values())

_Kind: TypeAlias = tuple[str, str, str, int, str | None, str | None, str | None, str | None]
"""Slot, chain, turn type, code, basis, why, reason, detail."""


def code_of(verdict: Verdict) -> int:
    """The index of the verdict's label."""
    if verdict.verdict == "pass":
        return PASS
    if verdict.verdict == "unscored":
        return UNSCORED
    return CASCADE if verdict.is_inherited else ROOT


def _outcome_of(report: Report) -> str:
    return "unscored" if report.test_pass is None else "pass" if report.test_pass else "fail"


class Tally:
    """Counts turns by their whole kind first: most turns of a batch are of a few kinds."""

    def __init__(
        self, counters: Counters, price: Callable[[str], Price | None] = lambda _: None
    ) -> None:
        """Everything gathered goes to `counters` on `drain`. `price` tells a model's, if known."""
        self._counters = counters
        self._price = price
        self._kinds: dict[_Kind, int] = {}
        self._scores: dict[tuple[str, str], list[int]] = {}

    def count_turn(self, verdict: Verdict, code: int, slot: str) -> None:
        """A turn with its first verdict."""
        kind = (
            slot,
            verdict.chain,
            verdict.turn_type,
            code,
            verdict.basis,
            verdict.why,
            verdict.failure_reason,
            verdict.detail,
        )
        kinds = self._kinds
        kinds[kind] = kinds.get(kind, 0) + 1
        if code != UNSCORED:
            for name, score in verdict.scores.items():
                self._count_score((slot, name), score)

    def count_closed(self, report: Report, slot: str) -> None:
        """A conversation when it first closes."""
        labels = (slot, report.chain_length, _outcome_of(report))
        self._counters.add("conversations", labels)
        self._count_tokens(report, slot)
        latency_s = report.latency_s
        if latency_s is None or not math.isfinite(latency_s) or latency_s < 0:
            return
        latency_s = min(latency_s, _LATENCY_CEILING_S)
        bucket = bisect_left(LATENCY_BUCKETS_S, latency_s)
        self._counters.add("latency", (*labels, str(bucket)))
        self._counters.add("latency_sum", labels, round(latency_s * MICRO))

    def count_task(self, report: Report, slot: str) -> None:
        """The turns of a closed conversation beside how its task ended, once that is known."""
        if report.outcome is None:
            return
        task = "pass" if report.outcome.passed else "fail"
        self._counters.add("task_conversations", (slot, _outcome_of(report), task))
        for verdict in report.turns:
            self._counters.add("task_turns", (slot, VERDICT_LABELS[code_of(verdict)], task))

    def drain(self) -> None:
        """Raise the counters by what was gathered."""
        for kind, amount in self._kinds.items():
            self._raise(kind, amount)
        for (slot, name), (turns, score) in self._scores.items():
            labels = (slot, self._known(name, _SUB_METRICS, "sub_metric", turns))
            self._counters.add("sub_metric_turns", labels, turns)
            self._counters.add("sub_metric_score", labels, score)
        self.forget()

    def forget(self) -> None:
        """Drop what was gathered."""
        self._kinds.clear()
        self._scores.clear()

    def _count_tokens(self, report: Report, slot: str) -> None:
        """What the agent's own model calls took, and cost where the model has a price."""
        read, written = report.input_tokens, report.output_tokens
        for direction, tokens in (("input", read), ("output", written)):
            if tokens is not None and 0 <= tokens < _TOKENS_CEILING:
                self._counters.add("tokens", (slot, direction), tokens)
        price = self._price(report.model) if report.model else None
        if price is None or read is None or written is None:
            return
        if 0 <= read < _TOKENS_CEILING and 0 <= written < _TOKENS_CEILING:
            self._counters.add("cost", (slot,), round(price.of(read, written) * MICRO))

    def _count_score(self, labels: tuple[str, str], score: float) -> None:
        if not 0.0 <= score <= 1.0:
            if not math.isfinite(score):
                return
            score = min(max(score, 0.0), 1.0)
        sums = self._scores.get(labels)
        if sums is None:
            sums = self._scores[labels] = [0, 0]
        sums[0] += 1
        sums[1] += round(score * MICRO)

    def _raise(self, kind: _Kind, amount: int) -> None:
        slot, chain, turn_type, code, basis, why, reason, detail = kind
        add = self._counters.add
        add("turns", (slot, chain, turn_type, VERDICT_LABELS[code]), amount)
        if code == UNSCORED:
            add("unscored", (slot, self._known(why, _WHYS, "why", amount)), amount)
            return
        add("scored", (slot, self._known(basis, _BASES, "basis", amount)), amount)
        if code != CASCADE:
            add("at_risk", (slot, chain), amount)
        if code != PASS:
            reason = self._known(reason, _REASONS, "reason", amount)
            attribution = "root" if code == ROOT else "inherited"
            add("failures", (slot, chain, reason, attribution), amount)
            if detail is not None:
                detail = self._known(detail, _DETAILS, "detail", amount)
                add("failure_details", (slot, reason, detail), amount)

    def _known(self, value: str | None, known: frozenset[str], label: str, amount: int) -> str:
        if value in known:
            return str(value)
        self._counters.add("overflow", (label,), amount)
        return OTHER
