"""The metrics of judging; there only where a judge is configured."""

from __future__ import annotations

from typing import Final

from monitor.exposition.catalogue import PREFIX, Metric
from monitor.judging.reply import ABSTAINED
from monitor.ledger.tally import MICRO
from monitor.verdict import CHAINS

_BY_CHAIN: Final = tuple((chain,) for chain in CHAINS)
SAID: Final = ("pass", "fail", "abstained")
RESULTS: Final = ("ok", "down", "timeout", "throttled", "refused", "garbage", "fault")
SKIPS: Final = (
    *(f"{window}_{bound}" for window in ("hour", "day") for bound in ("calls", "tokens", "usd")),
    *("queue_full", "damaged", "defect", "forgotten"),
)


def _counted(name: str, text: str, labels: tuple[str, ...], *values: str) -> Metric:
    return Metric(f"{PREFIX}{name}", "counter", text, labels, zeros=tuple((v,) for v in values))


ESTIMATED: Final = Metric(
    f"{PREFIX}estimated_turns",
    "counter",
    "Turns that the corrected estimate speaks of: of settled conversations, judged or not.",
    ("release", "chain", "judge"),
    zeros=_BY_CHAIN,
    family="estimated",
    parts=MICRO,
)
PREDICTED: Final = Metric(
    f"{PREFIX}predicted_correct_turns",
    "counter",
    "Sum of the cheap probabilities that a turn is correct, over the estimated turns.",
    ("release", "chain", "judge"),
    zeros=_BY_CHAIN,
    family="predicted_correct",
    parts=MICRO,
)
IPW_JUDGED: Final = Metric(
    f"{PREFIX}ipw_judged_correct_turns",
    "counter",
    "Turns that the judge passed, each by the inverse of its chance to be judged.",
    ("release", "chain", "judge"),
    zeros=_BY_CHAIN,
    family="ipw_judged_correct",
    parts=MICRO,
)
IPW_PREDICTED: Final = Metric(
    f"{PREFIX}ipw_predicted_correct_turns",
    "counter",
    "Cheap probabilities of the judged turns, each by the inverse of its chance to be judged.",
    ("release", "chain", "judge"),
    zeros=_BY_CHAIN,
    family="ipw_predicted_correct",
    parts=MICRO,
)
JUDGED: Final = Metric(
    f"{PREFIX}judged_turns",
    "counter",
    "Turns that a judge was asked about, by what it said.",
    ("release", "judge", "verdict"),
    zeros=tuple((said,) for said in SAID),
    family="judged",
)
CORRECTED: Final = Metric(
    f"{PREFIX}corrected_correctness_ratio",
    "gauge",
    "Correct turns among all, by the judge's lights; bounds that hold at every look (95 %).",
    ("release", "judge", "bound"),
    unit="ratio",
)
REQUESTS: Final = _counted(
    "judge_requests", "Calls to the judge, or what forbade one.", ("result",), *RESULTS
)
ABSTENTIONS: Final = _counted(
    "judge_abstentions", "Judged turns without an opinion, and why.", ("why",), *ABSTAINED
)
SUSPECTED: Final = _counted(
    "judge_suspected_injections",
    "Judged turns whose text seems to speak to its grader, by family.",
    ("family",),
)
CANARIES: Final = _counted(
    "judge_canaries",
    "Turns of known verdict that the judge was asked about.",
    ("result",),
    *("right", "wrong", "abstained"),
)
SKIPPED: Final = Metric(
    f"{PREFIX}judge_skipped_conversations",
    "counter",
    "Drawn conversations that nobody was asked about, and why; they are never made up for.",
    ("why",),
    zeros=tuple((why,) for why in SKIPS),
    family="judge_skipped",
)
CACHED: Final = _counted("judge_cached_answers", "Questions answered from the cache.", ())
TOKENS: Final = _counted(
    "judge_tokens", "Tokens of the judge's calls.", ("direction",), "input", "output"
)
COST: Final = Metric(
    f"{PREFIX}judge_cost_usd",
    "counter",
    "Cost of the judge's calls by the price table.",
    unit="usd",
)
LEFT: Final = Metric(
    f"{PREFIX}judge_budget_remaining_usd",
    "gauge",
    "What the hour's and the day's bounds still allow; absent without a bound in money.",
    unit="usd",
)
WAITING: Final = Metric(
    f"{PREFIX}judge_waiting_conversations", "gauge", "Drawn conversations in the queue."
)
CIRCUIT: Final = Metric(
    f"{PREFIX}judge_circuit_open", "gauge", "1 while failed calls keep the judge from being asked."
)


def labels_of(metric: Metric, release: str, judge: str) -> list[tuple[str, ...]]:
    """The label values of a release that stand at zero from the start, for the judge of now."""
    by_chain = "chain" in metric.labels
    return [
        (release, *zero, judge) if by_chain else (release, judge, *zero) for zero in metric.zeros
    ]


BY_RELEASE: Final = (ESTIMATED, PREDICTED, IPW_JUDGED, IPW_PREDICTED, JUDGED)
"""Counters that the ledger keeps by release."""
