"""The metrics that compare releases; the rest of the catalogue stands beside this file."""

from __future__ import annotations

from typing import Final

from monitor.exposition.catalogue import PREFIX, Metric

BOUNDS: Final = ("estimate", "lower", "upper")
_PAIR: Final = ("release", "baseline_release")

EVIDENCE: Final = Metric(
    f"{PREFIX}regression_log10_evidence",
    "gauge",
    "log10 of the e-value that a release is worse, the highest since it was cleared, by signal.",
    (*_PAIR, "signal"),
)
THRESHOLD: Final = Metric(
    f"{PREFIX}regression_log10_threshold",
    "gauge",
    "log10 of the evidence at which an alert is due, by signal.",
    ("signal",),
)
EFFECT: Final = Metric(
    f"{PREFIX}regression_effect_ratio",
    "gauge",
    "Drop in the share of correct turns at equal mix of chains and intents; bounds hold always.",
    (*_PAIR, "bound"),
    unit="ratio",
)
NEEDED: Final = Metric(
    f"{PREFIX}regression_needed_turns",
    "gauge",
    "Turns of a new release until its evidence can be weighed; 0 when it is.",
    _PAIR,
)
LEFT_OUT: Final = Metric(
    f"{PREFIX}regression_left_out_ratio",
    "gauge",
    "Share of a release's turns at risk whose chain and intent its baseline does not know.",
    _PAIR,
    unit="ratio",
)
COMPARISON: Final = Metric(
    f"{PREFIX}regression_comparison",
    "info",
    "What a release is compared with: canary, a concurrent control; swap, history.",
    (*_PAIR, "mode"),
)
SELECTED: Final = Metric(
    f"{PREFIX}regression_selected_reason",
    "gauge",
    "1 for each reason and chain that fails more than in the baseline, at 5 % false discoveries.",
    (*_PAIR, "reason", "chain"),
)
CORRECTNESS: Final = Metric(
    f"{PREFIX}correctness_ratio",
    "gauge",
    "Share of correct turns among the scored ones, with bounds that hold at all times at once.",
    ("release", "bound"),
    unit="ratio",
)
CORRELATION: Final = Metric(
    f"{PREFIX}latency_correctness_correlation_ratio",
    "gauge",
    "Rank correlation of a conversation's latency and its success, within chain lengths.",
    ("release",),
    unit="ratio",
)
"""Below 0 where slow conversations fail more."""
BY_PEOPLE: Final = Metric(
    f"{PREFIX}people_corrected_correctness_ratio",
    "gauge",
    "Correct turns among the scored ones, mended by labels of people; absent below thirty.",
    ("bound",),
    unit="ratio",
)
