"""Every alert: when it is due, and what it tells the engineer who is called."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from monitor.alerting import recording as rec
from monitor.alerting.budget import burn_factor
from monitor.alerting.health import health
from monitor.alerting.judge import disagreement, judge
from monitor.alerting.rule import PAGE, TICKET, Alert, Group, rule_file
from monitor.errors import ConfigurationError

REGRESSION: Final = "AgentCorrectnessRegression"
LEAST_EFFECT: Final = 0.01
"""Drop in correctness that is worth a page, however sure it is."""
LEAST_TURNS: Final = 200
_JOB: Final = re.compile(r"[\w./:@ -]{1,128}")
_PAIR: Final = "on (job, release, baseline_release)"
# In a template's query `%q` quotes a label's value, whatever it holds.
_FELL: Final = (
    '{{ with printf "' + rec.EFFECT + '{job=%q,release=%q,baseline_release=%q,bound=%q}" '
    '$labels.job $labels.release $labels.baseline_release "estimate" | query }}'
    "Correct turns fell by {{ . | first | value | humanizePercentage }} at an equal mix of "
    "requests. {{ end }}"
)
_ROSE: Final = (
    '{{ with printf "topk(1, ' + rec.ROOTS_BY_REASON + "{job=%q,release=%q} - on (job, reason) "
    f'{rec.ROOTS_BY_REASON}{{job=%q,release=%q}} > 0)" '
    "$labels.job $labels.release $labels.job $labels.baseline_release | query }}"
    'What rose most: {{ . | first | label "reason" }} '
    "(+{{ . | first | value | humanizePercentage }} of turns). {{ end }}"
)


class Policy(NamedTuple):
    """What an operator decides."""

    objective: float = 0.9
    """Share of turns that should be correct."""
    job: str = "agent-monitor"
    """Prometheus' name for the scrape of the monitors."""
    runbook: str = "deploy/runbook.md"
    """Address of the runbook; an alert's section is a fragment of it."""


def rule_files(policy: Policy) -> dict[str, str]:
    """The rule files by name. Raises ConfigurationError for a policy that cannot be."""
    if not _JOB.fullmatch(policy.job):
        raise ConfigurationError(f"the job {policy.job!r} is no name of a scrape job")
    groups = {
        "regressions.yaml": Group("agent-monitor-regressions", (*rec.REGRESSIONS, *_regressions())),
        "correctness.yaml": Group(
            "agent-monitor-correctness",
            (
                *rec.CORRECTNESS_RULES,
                rec.budget_burn(policy.objective),
                _budget_burn(policy.objective),
            ),
            "30s",
        ),
        "agreement.yaml": Group("agent-monitor-agreement", (*rec.AGREEMENT, disagreement()), "5m"),
        "judge.yaml": Group("agent-monitor-judge", (*rec.JUDGING, *judge()), "30s"),
        "health.yaml": Group("agent-monitor-health", (*rec.HEALTH, *health(policy.job)), "15s"),
    }
    return {name: rule_file((group,), policy.runbook) for name, group in groups.items()}


def _evidence(signal: str, threshold: str) -> str:
    """A release's evidence on a signal that has reached the threshold of one."""
    return (
        "max by (job, release, baseline_release) (\n"
        f'  {rec.EVIDENCE}{{signal="{signal}"}}\n'
        "    >= on (job) group_left ()\n"
        f'  {rec.THRESHOLD}{{signal="{threshold}"}}\n'
        ")"
    )


def _regressions() -> tuple[Alert, ...]:
    return (
        Alert(
            REGRESSION,
            f"{_evidence('total', 'total')}\n"
            f"and {_PAIR} (\n"
            f'  {rec.EFFECT}{{bound="estimate"}} >= {LEAST_EFFECT}\n'
            "  or\n"
            # Once it fires it ends with the evidence, not with the estimate's ups and downs.
            f'  ALERTS{{alertname="{REGRESSION}",alertstate="firing"}}\n'
            ")",
            PAGE,
            "Release {{ $labels.release }} is less correct than {{ $labels.baseline_release }}",
            f"{_FELL}{_ROSE}Evidence: 10^{{{{ $value | humanize }}}} to 1.",
        ),
        Alert(
            "AgentFailureReasonShift",
            f"{rec.SELECTED} == 1",
            TICKET,
            "{{ $labels.reason }} rose in release {{ $labels.release }}",
            "Turns behind {{ $labels.chain }} tool calls fail with {{ $labels.reason }} more often "
            "than in {{ $labels.baseline_release }}; the total may stand still all the same.",
            hold="5m",
            keep="5m",
        ),
        Alert(
            "AgentCascadeRising",
            _evidence("cascade", "total"),
            TICKET,
            "Failures spread further in release {{ $labels.release }}",
            "A larger share of failures is inherited from earlier turns than in "
            "{{ $labels.baseline_release }}. Evidence: 10^{{ $value | humanize }} to 1.",
            hold="5m",
            keep="5m",
        ),
        Alert(
            "AgentSilentDrift",
            f"max by (job, release) (\n{_indented(_evidence('drift', 'drift'))}\n)",
            TICKET,
            "Release {{ $labels.release }} got worse without a change of release",
            "Root failures rose against the release's own beginnings. "
            "Evidence: 10^{{ $value | humanize }}.",
        ),
    )


def _budget_burn(objective: float) -> Alert:
    factor = burn_factor(objective)
    return Alert(
        "AgentCorrectnessBudgetBurn",
        f"release:agent_monitor_failure_budget_burn:ratio_rate1h > {factor:g}\n"
        f"and on (job, release) {rec.SCORED} > {LEAST_TURNS}",
        PAGE,
        "Release {{ $labels.release }} burns its error budget "
        "{{ $value | humanize }} times too fast",
        f"More than {factor:g} times the failures that an objective of {objective:.6g} allows, "
        "over the last hour.",
        hold="5m",
        keep="5m",
    )


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
