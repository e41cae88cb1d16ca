"""Overview: is the agent right, since when not, and is anybody called?"""

from __future__ import annotations

from grafana.expressions import quantile, share
from grafana.page import Row, page
from grafana.panels import (
    COUNT,
    HIGH_IS_GOOD,
    LOW_IS_GOOD,
    NEAR_ONE,
    NONE_IS_GOOD,
    PER_SECOND,
    RATE,
    SECONDS,
    Panel,
    Query,
    Scale,
    Told,
    lines,
    numbers,
)

NOT_SCORED = "Not enough data: no turn was scored in this time."
NO_TURNS = "No turn was seen in this time."
NOT_COMPARED = "Not enough data: no release can be compared with another yet."
EVIDENCE = Scale("none", 1, 0.0, steps=((None, "green"), (1.0, "orange"), (2.3, "red")))
CORRECT = Scale("percentunit", 1, 0.0, 1.0, HIGH_IS_GOOD)
ROOTS = Scale("percentunit", 1, 0.0, None, LOW_IS_GOOD)


def overview() -> str:
    """The page that is looked at first."""
    return page(
        "agent-monitor-overview",
        "Agent monitor: Overview",
        "Correctness of an agent's turns by release, and what stands behind it.",
        (
            Row("Now", (*_now(), *_called())),
            Row("Correctness", (*_correctness(), *_evidence())),
            Row("What stands behind it", (*_behind(), *_conversations())),
        ),
    )


def _now() -> tuple[Panel, ...]:
    turns = "sum by (release) (increase(agent_monitor_turns_total{@by_release%s}[$__range]))"
    roots = (
        'sum by (release) (increase(agent_monitor_failures_total{@by_release,attribution="root"}'
        "[$__range]))"
    )
    at_risk = (
        "sum by (release) (increase(agent_monitor_at_risk_turns_total{@by_release}[$__range]))"
    )
    scored = turns % ',verdict!="unscored"'
    return (
        numbers(
            Told(
                "Correct turns",
                "Turns that passed, of those with a verdict, in the time shown. Verdicts stand as "
                "they were first given.",
                NOT_SCORED,
            ),
            Query(share(turns % ',verdict="pass"', scored), "{{release}}"),
            scale=CORRECT,
        ),
        numbers(
            Told(
                "Root failures",
                "Turns that failed by themselves, of those that inherited no failure. This is what "
                "releases are compared by: one slip with ten consequences counts once.",
                NOT_SCORED,
            ),
            Query(share(roots, at_risk), "{{release}}"),
            scale=ROOTS,
        ),
    )


def _called() -> tuple[Panel, ...]:
    evidence = (
        "max by (release, baseline_release) "
        "(release_signal:agent_monitor_regression_log10_evidence:max"
        '{@rule_by_release,signal="total"})'
    )
    return (
        numbers(
            Told(
                "Evidence of a regression",
                "Power of ten by which the data speak for a release being worse than its baseline, "
                "the highest so far. At 2.3 (200 to 1) the on-call engineer is called.",
                NOT_COMPARED,
            ),
            Query(evidence, "{{release}} against {{baseline_release}}"),
            scale=EVIDENCE,
        ),
        numbers(
            Told(
                "Alerts firing",
                "Alerts of the monitor that fire now; those about no release of yours as well.",
                "Prometheus did not answer.",
            ),
            Query(
                'count(ALERTS{alertname=~"Agent.+",alertstate="firing",job=~"$job|"}) or vector(0)',
                "firing",
            ),
            scale=Scale("short", 0, 0.0, None, NONE_IS_GOOD),
            width=3,
        ),
        numbers(
            Told(
                "Turns",
                "Turns of all releases in the time shown, with or without a verdict.",
                NO_TURNS,
            ),
            Query(
                "sum(increase(agent_monitor_turns_total{@by_release}[$__range])) or vector(0)",
                "turns",
            ),
            scale=COUNT,
            width=3,
        ),
    )


def _correctness() -> tuple[Panel, ...]:
    turns = "sum by (release) (rate(agent_monitor_turns_total{@by_release%s}[$window]))"
    scored = turns % ',verdict!="unscored"'
    roots = (
        'sum by (release) (rate(agent_monitor_failures_total{@by_release,attribution="root"}'
        "[$window]))"
    )
    at_risk = "sum by (release) (rate(agent_monitor_at_risk_turns_total{@by_release}[$window]))"
    return (
        lines(
            Told(
                "Correct turns by release",
                "Turns that passed, of those with a verdict, within the window. Blue marks stand "
                "at the first conversation of a release, red ones where an alert fires.",
                NOT_SCORED,
            ),
            Query(share(turns % ',verdict="pass"', scored), "{{release}}"),
            scale=NEAR_ONE,
        ),
        lines(
            Told(
                "Root failures per turn at risk",
                "Turns that failed by themselves, of those that inherited no failure, within the "
                "window.",
                NOT_SCORED,
            ),
            Query(share(roots, at_risk), "{{release}}"),
            scale=RATE,
        ),
    )


def _evidence() -> tuple[Panel, ...]:
    return (
        lines(
            Told(
                "Evidence against a release",
                "Power of ten by which the data speak for a release being worse than its baseline. "
                "It may be looked at after every conversation and only falls when it is cleared. "
                "Above the dashed line the on-call engineer is called.",
                NOT_COMPARED,
            ),
            Query(
                "max by (release, baseline_release) "
                "(release_signal:agent_monitor_regression_log10_evidence:max"
                '{@rule_by_release,signal="total"})',
                "{{release}} against {{baseline_release}}",
            ),
            Query(
                'max(signal:agent_monitor_regression_log10_threshold:max{@rule,signal="total"})',
                "threshold",
            ),
            scale=Scale("none", 1, 0.0),
            limit="threshold",
        ),
        lines(
            Told(
                "Turns by verdict",
                "All turns by their first verdict. A turn that nothing could be held against is "
                "unscored: neither a pass nor a failure.",
                NO_TURNS,
            ),
            Query(
                "sum by (verdict) (rate(agent_monitor_turns_total{@by_release}[$__rate_interval]))",
                "{{verdict}}",
            ),
            scale=PER_SECOND,
            stacked="normal",
        ),
    )


def _behind() -> tuple[Panel, ...]:
    return (
        lines(
            Told(
                "Root causes by reason",
                "Failures that began in their turn, by reason. Dots are traces: choose one to open "
                "it.",
                NO_TURNS,
            ),
            Query(
                "sum by (reason) (rate(agent_monitor_failures_total"
                '{@by_release,attribution="root"}[$__rate_interval]))',
                "{{reason}}",
                exemplar=True,
            ),
            scale=PER_SECOND,
            stacked="normal",
        ),
        lines(
            Told(
                "Coverage",
                "Turns with a verdict, of all turns within the window. The rest had nothing to be "
                "held against.",
                NO_TURNS,
            ),
            Query(
                share(
                    "sum by (release) (rate(agent_monitor_turns_total"
                    '{@by_release,verdict!="unscored"}[$window]))',
                    "sum by (release) (rate(agent_monitor_turns_total{@by_release}[$window]))",
                ),
                "{{release}}",
            ),
            scale=NEAR_ONE,
        ),
    )


def _conversations() -> tuple[Panel, ...]:
    return (
        lines(
            Told(
                "Waiting time of users, 95th percentile",
                "Time that users waited for the replies of a conversation, added up; only "
                "conversations with a verdict, within the window.",
                "Not enough data: no scored conversation closed within the window.",
            ),
            Query(
                quantile(0.95, "agent_monitor_conversation_latency_seconds", "le, outcome"),
                "{{outcome}}",
            ),
            scale=SECONDS,
        ),
        lines(
            Told(
                "Closed conversations by outcome",
                "A conversation passes when all its turns with a verdict do.",
                "No conversation closed in this time.",
            ),
            Query(
                "sum by (outcome) "
                "(rate(agent_monitor_conversations_total{@by_release}[$__rate_interval]))",
                "{{outcome}}",
            ),
            scale=PER_SECOND,
            stacked="normal",
        ),
    )
