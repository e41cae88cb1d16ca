"""The recording rules: what alerts and dashboards share, each once."""

from __future__ import annotations

from typing import Final

from monitor.alerting.rule import Record

HELD_FOR: Final = "15m"
"""How long the last word of a monitor counts that cannot be asked now."""
JUDGED_FLOOR: Final = 100
"""Opinions of the judge in an hour below which its correction is too noisy to act on."""

EVIDENCE: Final = "release_signal:agent_monitor_regression_log10_evidence:max"
THRESHOLD: Final = "signal:agent_monitor_regression_log10_threshold:max"
EFFECT: Final = "release_bound:agent_monitor_regression_effect_ratio:max"
SELECTED: Final = "release_reason_chain:agent_monitor_regression_selected_reason:max"
ROOTS_BY_REASON: Final = "release_reason:agent_monitor_root_failures_per_turn:ratio"
SCORED: Final = "release:agent_monitor_turns_scored:increase1h"
JUDGED: Final = "release:agent_monitor_turns_judged:increase1h"
CORRECT: Final = "release:agent_monitor_turns_correct:ratio_rate1h"
CORRECTED: Final = "release:agent_monitor_correctness_corrected:ratio_rate1h"
CORRECTNESS: Final = "release:agent_monitor_correctness:ratio_rate1h"
PAIRS: Final = "sub_metric_automated_human:agent_monitor_label_pairs:increase7d"
PHI: Final = "sub_metric:agent_monitor_label_agreement:phi_increase7d"
JUDGE_ERRORS: Final = "job:agent_monitor_judge_errors:ratio_rate15m"
LAG: Final = "job:agent_monitor_scoring_lag_seconds:p99_rate5m"
LOST: Final = "job:agent_monitor_spans_lost:ratio_rate15m"
_SCORED: Final = 'agent_monitor_turns_total{verdict!="unscored"}'
_PASSED: Final = 'agent_monitor_turns_total{verdict="pass"}'


def _rates(selector: str, by: str, window: str = "1h") -> str:
    return f"sum by ({by}) (rate({selector}[{window}]))"


def _share(part: str, whole: str, join: str = "") -> str:
    """Absent rather than not a number where there was nothing."""
    return f"{part}\n/ {join}\n({whole} > 0)" if join else f"{part}\n/\n({whole} > 0)"


def _held(name: str, by: str) -> tuple[Record, Record]:
    """The highest of all monitors; one that cannot be asked now keeps its word for a while.

    So a restart neither resolves an alert nor raises it again, nor one that was over before it:
    what is held is what stood at the evaluation before, and not any value of that while.
    """
    level, metric, _ = name.split(":")
    held = f"instance_{level}:{metric}:held"
    last = (
        f"{metric}\n"
        f"or\n"
        f"{held}\n"
        f"  unless on (job, instance) (up == 1)\n"
        f"  and on (job, instance) (max_over_time(up[{HELD_FOR}]) == 1)"
    )
    return Record(held, last), Record(name, f"max by ({by}) ({held})")


REGRESSIONS: Final = (
    *_held(EVIDENCE, "job, release, baseline_release, signal"),
    *_held(THRESHOLD, "job, signal"),
    *_held(EFFECT, "job, release, baseline_release, bound"),
    *_held(SELECTED, "job, release, baseline_release, reason, chain"),
    Record(
        ROOTS_BY_REASON,
        _share(
            'sum by (job, release, reason) (agent_monitor_failures_total{attribution="root"})',
            "sum by (job, release) (agent_monitor_at_risk_turns_total)",
            "on (job, release) group_left ()",
        ),
    ),
)
"""As of now, over a release's whole life: what the evidence speaks of."""

CORRECTNESS_RULES: Final = (
    Record(
        "release:agent_monitor_turns:rate5m",
        _rates("agent_monitor_turns_total", "job, release", "5m"),
    ),
    Record(
        "release_chain:agent_monitor_turns_correct:ratio_rate1h",
        _share(_rates(_PASSED, "job, release, chain"), _rates(_SCORED, "job, release, chain")),
    ),
    Record(
        CORRECT,
        _share(_rates(_PASSED, "job, release"), _rates(_SCORED, "job, release")),
    ),
    Record(
        "release:agent_monitor_coverage:ratio_rate1h",
        _share(
            _rates(_SCORED, "job, release"), _rates("agent_monitor_turns_total", "job, release")
        ),
    ),
    Record(
        "release:agent_monitor_root_failures:ratio_rate1h",
        _share(
            _rates('agent_monitor_failures_total{attribution="root"}', "job, release"),
            _rates("agent_monitor_at_risk_turns_total", "job, release"),
        ),
    ),
    Record(
        "release:agent_monitor_cascade_failures:ratio_rate1h",
        _share(
            _rates('agent_monitor_failures_total{attribution="inherited"}', "job, release"),
            _rates("agent_monitor_failures_total", "job, release"),
        ),
    ),
    Record(
        "release_reason:agent_monitor_failures_per_turn:ratio_rate1h",
        _share(
            _rates("agent_monitor_failures_total", "job, release, reason"),
            _rates(_SCORED, "job, release"),
            "on (job, release) group_left ()",
        ),
    ),
    Record(SCORED, f"sum by (job, release) (increase({_SCORED}[1h]))"),
    Record(
        JUDGED,
        "sum by (job, release) "
        '(increase(agent_monitor_judged_turns_total{verdict!="abstained"}[1h]))',
    ),
    Record(
        CORRECTED,
        _share(
            "(\n"
            f"  {_rates('agent_monitor_predicted_correct_turns_total', 'job, release')}\n"
            f"  + {_rates('agent_monitor_ipw_judged_correct_turns_total', 'job, release')}\n"
            f"  - {_rates('agent_monitor_ipw_predicted_correct_turns_total', 'job, release')}\n"
            ")",
            _rates("agent_monitor_estimated_turns_total", "job, release"),
        ),
    ),
    Record(
        CORRECTNESS,
        f"({CORRECTED} and on (job, release) ({JUDGED} >= {JUDGED_FLOOR}))\nor\n{CORRECT}",
    ),
)
"""Over the last hour, summed over monitors; the judge's correction where there is enough of it."""


def budget_burn(objective: float) -> Record:
    """How many times faster than the objective allows a release fails."""
    allowed = f"{1.0 - objective:.6g}"
    return Record(
        "release:agent_monitor_failure_budget_burn:ratio_rate1h",
        f"(1 - {CORRECTNESS}) / {allowed}",
    )


def _pairs(automated: str, human: str) -> str:
    return f'sum by (job, sub_metric) ({PAIRS}{{automated=~"{automated}",human=~"{human}"}})'


AGREEMENT: Final = (
    Record(
        PAIRS,
        "sum by (job, sub_metric, automated, human) "
        "(increase(agent_monitor_label_pairs_total[7d]))",
    ),
    Record(
        PHI,
        _share(
            f"(\n  {_pairs('pass', 'pass')}\n  * {_pairs('fail', 'fail')}\n"
            f"  - {_pairs('pass', 'fail')}\n  * {_pairs('fail', 'pass')}\n)",
            f"sqrt(\n  {_pairs('pass', '.+')}\n  * {_pairs('fail', '.+')}\n"
            f"  * {_pairs('.+', 'pass')}\n  * {_pairs('.+', 'fail')}\n)",
        ),
    ),
)
JUDGING: Final = (
    Record(
        JUDGE_ERRORS,
        _share(
            _rates('agent_monitor_judge_requests_total{result!="ok"}', "job", "15m"),
            _rates("agent_monitor_judge_requests_total", "job", "15m"),
        ),
    ),
)
HEALTH: Final = (
    Record(
        LAG,
        "histogram_quantile(0.99, sum by (job, le) "
        '(rate(agent_monitor_scoring_lag_seconds_bucket{stage="rules"}[5m])))',
    ),
    Record(
        LOST,
        _share(
            "sum by (job) (\n"
            # Spans of no agent, such as a database's, are none of the monitor's business.
            '  rate(agent_monitor_dropped_spans_total{why!="no_agent"}[15m])\n'
            "  or\n"
            '  rate(agent_monitor_spans_total{outcome="dead_lettered"}[15m])\n'
            ")",
            _rates('agent_monitor_spans_total{outcome="accepted"}', "job", "15m"),
        ),
    ),
)
