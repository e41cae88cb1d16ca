"""Failure reasons: root causes first, and apart from them what was only inherited."""

from __future__ import annotations

from grafana.expressions import share
from grafana.page import Row, page
from grafana.panels import (
    COUNT,
    LOW_IS_GOOD,
    PER_SECOND,
    RATE,
    SHARE,
    Panel,
    Query,
    Scale,
    Told,
    bars,
    lines,
    numbers,
    rows,
)

NO_TURNS = "No turn was seen in this time."
NOT_SCORED = "Not enough data: no turn was scored in this time."
NO_FAILURES = "Nothing failed in this time."
ROOT = 'agent_monitor_failures_total{@by_release,attribution="root"}'
INHERITED = 'agent_monitor_failures_total{@by_release,attribution="inherited"}'
EACH = "agent_monitor_failures_total{@by_release}"
AT_RISK = "agent_monitor_at_risk_turns_total{@by_release}"


def reasons() -> str:
    """The page that says what to mend."""
    return page(
        "agent-monitor-reasons",
        "Agent monitor: Failure reasons",
        "What the agent gets wrong: where failures begin, and how far they spread.",
        (
            Row("Root causes", (*_roots(), *_roots_in_detail(), *_roots_over_time())),
            Row("Inherited from earlier turns", (*_inherited(), *_inherited_over_time())),
            Row("Scores, coverage and corrections", (*_scores(), *_bases())),
        ),
    )


def _roots() -> tuple[Panel, ...]:
    ranked = f"sort_desc(sum by (reason) (increase({ROOT}[$__range])))"
    return (
        bars(
            Told(
                "Root causes in this time",
                "Failures that began in their turn. Mending one also removes what inherited it.",
                NO_TURNS,
            ),
            Query(ranked, "{{reason}}"),
            scale=COUNT,
        ),
        lines(
            Told(
                "Root causes per turn at risk",
                "Failures that began in their turn, of the turns that inherited none, by reason, "
                "within the window. Dots are traces: choose one to open it.",
                NOT_SCORED,
            ),
            Query(
                f"sum by (reason) (rate({ROOT}[$window])) "
                f"/ scalar(sum(rate({AT_RISK}[$window])) > 0) >= 0",
                "{{reason}}",
                exemplar=True,
            ),
            scale=RATE,
            stacked="normal",
        ),
    )


def _roots_in_detail() -> tuple[Panel, ...]:
    return (
        rows(
            Told(
                "Root causes by release",
                "How often each reason began a failure in the time shown.",
                NO_FAILURES,
            ),
            {"reason": "Reason", "release": "Release", "Value": "Root causes"},
            Query(f"sort_desc(sum by (reason, release) (increase({ROOT}[$__range])))"),
            width=12,
        ),
        bars(
            Told(
                "Details of reasons",
                "What kind of mismatch it was: a call left out, one that nobody asked for, one in "
                "place of another, or a tool that does not exist.",
                NO_TURNS,
            ),
            Query(
                "topk(10, sum by (reason, detail) (increase(agent_monitor_failure_details_total"
                '{@by_release,reason!="prior_action_failed"}[$__range])))',
                "{{reason}}: {{detail}}",
            ),
        ),
    )


def _roots_over_time() -> tuple[Panel, ...]:
    return (
        lines(
            Told(
                "Root causes by chain length",
                "Failures that began in their turn, of the turns that inherited none, by the "
                "number of tool calls behind the reply.",
                NOT_SCORED,
            ),
            Query(
                share(
                    f"sum by (chain) (rate({ROOT}[$window]))",
                    f"sum by (chain) (rate({AT_RISK}[$window]))",
                ),
                "chain {{chain}}",
            ),
            scale=RATE,
        ),
        lines(
            Told(
                "Root causes per turn at risk, by release",
                "The rate that releases are compared by, within the window.",
                NOT_SCORED,
            ),
            Query(
                share(
                    f"sum by (release) (rate({ROOT}[$window]))",
                    f"sum by (release) (rate({AT_RISK}[$window]))",
                ),
                "{{release}}",
            ),
            scale=RATE,
        ),
    )


def _inherited() -> tuple[Panel, ...]:
    return (
        numbers(
            Told(
                "Failures that were inherited",
                "Of all failed turns in the time shown, those that every earlier failure explains.",
                NO_FAILURES,
            ),
            Query(
                share(
                    f"sum by (release) (increase({INHERITED}[$__range]))",
                    f"sum by (release) (increase({EACH}[$__range]))",
                ),
                "{{release}}",
            ),
            scale=Scale("percentunit", 1, 0.0, 1.0),
            width=8,
        ),
        numbers(
            Told(
                "Turns spoilt by one root cause",
                "Inherited failures for each failure that began in its turn, in the time shown.",
                NO_FAILURES,
            ),
            Query(
                share(
                    f"sum by (release) (increase({INHERITED}[$__range]))",
                    f"sum by (release) (increase({ROOT}[$__range]))",
                ),
                "{{release}}",
            ),
            scale=Scale("none", 2, 0.0),
            width=8,
        ),
        numbers(
            Told(
                "Inherited failures",
                "Failed turns in the time shown that nothing needs to be mended for.",
                NO_TURNS,
            ),
            Query(f"sum by (release) (increase({INHERITED}[$__range]))", "{{release}}"),
            scale=COUNT,
            width=8,
        ),
    )


def _inherited_over_time() -> tuple[Panel, ...]:
    return (
        lines(
            Told(
                "Share of failures that was inherited",
                "Within the window. Where it rises the agent mends less of its own mistakes, or "
                "makes more calls after them.",
                "No failure within the window.",
            ),
            Query(
                share(
                    f"sum by (release) (rate({INHERITED}[$window]))",
                    f"sum by (release) (rate({EACH}[$window]))",
                ),
                "{{release}}",
            ),
            scale=SHARE,
        ),
        lines(
            Told(
                "Failures by where they began",
                "Root failures and inherited ones, apart.",
                NO_TURNS,
            ),
            Query(f"sum by (attribution) (rate({EACH}[$__rate_interval]))", "{{attribution}}"),
            scale=PER_SECOND,
            stacked="normal",
        ),
    )


def _scores() -> tuple[Panel, ...]:
    score = "agent_monitor_sub_metric_score_total{@by_release}"
    looked = "agent_monitor_sub_metric_turns_total{@by_release}"
    return (
        lines(
            Told(
                "Mean score by sub-metric",
                "From 0 to 1, over the turns that a sub-metric looked at, within the window.",
                NOT_SCORED,
            ),
            Query(
                share(
                    f"sum by (sub_metric) (rate({score}[$window]))",
                    f"sum by (sub_metric) (rate({looked}[$window]))",
                ),
                "{{sub_metric}}",
            ),
            scale=Scale("percentunit", 1, 0.0, 1.0, LOW_IS_GOOD),
        ),
        bars(
            Told(
                "Turns without a verdict, by cause",
                "Why nothing could decide. `content_missing` wants the agent's instrumentation to "
                "record messages and arguments.",
                NO_TURNS,
            ),
            Query(
                "sort_desc(sum by (why) "
                "(increase(agent_monitor_unscored_turns_total{@by_release}[$__range])))",
                "{{why}}",
            ),
        ),
    )


def _bases() -> tuple[Panel, ...]:
    return (
        lines(
            Told(
                "Turns by what decided",
                "The kind of reference that verdicts rest on.",
                NO_TURNS,
            ),
            Query(
                "sum by (basis) "
                "(rate(agent_monitor_scored_turns_total{@by_release}[$__rate_interval]))",
                "{{basis}}",
            ),
            scale=PER_SECOND,
            stacked="normal",
        ),
        bars(
            Told(
                "Verdicts that were corrected",
                "Verdicts that late spans or the judge changed in the time shown, of all releases; "
                "the counters of turns keep the first verdict.",
                "The monitor was not there in this time.",
            ),
            Query(
                "sort_desc(sum by (from, to) "
                "(increase(agent_monitor_corrections_total{@all}[$__range])) > 0) "
                "or on () label_replace(label_replace(vector(0), "
                '"from", "none", "", ""), "to", "corrected", "", "")',
                "{{from}} → {{to}}",
            ),
        ),
    )
