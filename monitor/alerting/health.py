"""The alerts about the monitor itself: whether it sees, keeps up, and hands on."""

from __future__ import annotations

from typing import Final

from monitor.alerting import recording as rec
from monitor.alerting.rule import PAGE, TICKET, Alert

_SHARE: Final = "{{ $value | humanizePercentage }}"


def _relabelled(metric: str, label: str, value: str, window: str = "15m") -> str:
    """How much a counter grew, under a label that says in a word what it counts."""
    grown = f'label_replace(increase({metric}[{window}]), "{label}", "{value}", "", "")'
    return f"sum by (job, {label}) ({grown}) > 0"


_FAULTS: Final = (
    'sum by (job, fault) (increase(agent_monitor_faults_total{fault!="sink"}[15m])) > 0\n'
    "or\n"
    "sum by (job, fault) (label_replace(increase(agent_monitor_events_total"
    '{event=~"evaluation_failed|damaged_state|reload_failed:.+"}[15m]), '
    '"fault", "$1", "event", "(.+)")) > 0\n'
    "or\n"
    + _relabelled(
        'agent_monitor_embedding_cache_lookups_total{result="unanswered"}', "fault", "encoder"
    )
)
# A sink that fails is tried again, so that must last; what was dropped is lost.
_UNDELIVERED: Final = (
    _relabelled('agent_monitor_faults_total{fault="sink"}', "to", "a sink", "10m")
    + "\nor\n"
    + _relabelled("agent_monitor_sink_dropped_reports_total", "to", "a sink", "30m")
    + "\nor\n"
    + _relabelled(
        'agent_monitor_events_total{event=~"forward_dropped:.+"}',
        "to",
        "the backend behind",
        "30m",
    )
)
_BEHIND: Final = (
    "max by (job, group, topic) (min_over_time(agent_monitor_group_lag_records[15m])) > 100\n"
    "and on (job, group, topic)\n"
    "max by (job, group, topic) (delta(agent_monitor_group_lag_records[15m])) > 0"
)


def health(job: str) -> tuple[Alert, ...]:
    """What an operator must know of the monitors behind a scrape job."""
    return (*_seeing(job), *_taking_in(), *_handing_on())


def _seeing(job: str) -> tuple[Alert, ...]:
    return (
        Alert(
            "AgentMonitorDown",
            f'absent(up{{job="{job}"}} == 1)',
            PAGE,
            "No agent monitor can be scraped",
            f"No target of the job {job} answers: nothing is watched, and no other alert can tell.",
            # With a scrape and an evaluation it comes to two minutes at most.
            hold="90s",
        ),
        Alert(
            "AgentMonitorScoringLag",
            f"{rec.LAG} > 5",
            TICKET,
            "Verdicts come late",
            "One in a hundred takes {{ $value | humanizeDuration }} or more from the close of its "
            "turn to the ledger.",
            hold="10m",
            keep="5m",
        ),
        Alert(
            "AgentTurnsDropped",
            f"{rec.LOST} > 0.001",
            TICKET,
            "Spans that were accepted are lost to scoring",
            f"{_SHARE} of them were dropped at a limit, or set aside as unreadable.",
            hold="10m",
            keep="5m",
        ),
        Alert(
            "AgentReleaseLabelOverflow",
            'max by (job) (increase(agent_monitor_label_overflow_total{label="release"}[15m])) > 0',
            TICKET,
            "More releases than series",
            "A release found no place of its own and counts as `other`, where it is not compared "
            "with anything; the newest takes the place of the one with the least traffic.",
            keep="5m",
        ),
    )


def _taking_in() -> tuple[Alert, ...]:
    return (
        Alert(
            "AgentPayloadsRefused",
            'sum by (job) (rate(agent_monitor_rejected_payloads_total{why!="overloaded"}[15m]))\n'
            "/ on (job)\n"
            'sum by (job) (rate(agent_monitor_spans_total{outcome="accepted"}[15m])) > 0.01',
            TICKET,
            "What agents send is refused",
            f"Refused for good, against what is accepted: {_SHARE}. The turns in it are missing "
            "everywhere.",
            hold="10m",
            keep="5m",
        ),
        Alert(
            "AgentSourceDown",
            "min by (job, instance, source) (agent_monitor_source_up) == 0",
            TICKET,
            "{{ $labels.source }} cannot be read",
            "Nothing arrives from {{ $labels.source }}, which {{ $labels.instance }} polls; "
            "/readyz there says why.",
            hold="10m",
            keep="5m",
        ),
        Alert(
            "AgentMonitorFaults",
            _FAULTS,
            TICKET,
            "The monitor fails at something: {{ $labels.fault }}",
            "{{ $value | humanize }} times within a quarter of an hour. It went on each time; what "
            "it failed at may be without a verdict.",
            keep="5m",
        ),
    )


def _handing_on() -> tuple[Alert, ...]:
    return (
        Alert(
            "AgentReportsUndelivered",
            _UNDELIVERED,
            TICKET,
            "Reports or spans do not reach {{ $labels.to }}",
            "What cannot be handed on waits, and is dropped when the queue is full.",
            hold="10m",
            keep="5m",
        ),
        Alert(
            "AgentPagesUntold",
            'sum by (job) (increase(agent_monitor_events_total{event="alerts_failed"}[5m])) > 3',
            TICKET,
            "The monitor cannot tell Alertmanager of pages",
            "{{ $value | humanize }} attempts failed within five minutes. Pages come by the rules "
            "alone, later than they could.",
            hold="2m",
            keep="5m",
        ),
        Alert(
            "AgentGroupBehind",
            _BEHIND,
            TICKET,
            "{{ $labels.group }} falls behind",
            "The records of {{ $labels.topic }} are not worked on as fast as they come; verdicts "
            "and alerts are late by as much.",
            hold="10m",
            keep="5m",
        ),
        Alert(
            "AgentGroupsUnmeasured",
            "max by (job, instance) (agent_monitor_group_lag_age_seconds) > 60",
            TICKET,
            "How far the groups are behind is not known",
            "{{ $labels.instance }} has not heard it from a broker for {{ $value | "
            "humanizeDuration }}; while none answers, nothing is scored.",
            hold="3m",
            keep="5m",
        ),
    )
