"""Monitor health: does anything keep spans from becoming verdicts?"""

from __future__ import annotations

from grafana.expressions import quantile, share
from grafana.page import Row, page
from grafana.panels import (
    COUNT,
    HEIGHT,
    NONE_IS_GOOD,
    PER_SECOND,
    SECONDS,
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

GONE = "The monitor was not there in this time."
PER = "[$__rate_interval]"
SHOWN = "[$__range]"
BYTES = Scale("bytes", None, 0.0)
POLLED = Scale(
    "short",
    0,
    0.0,
    2.0,
    ((None, "red"), (1.0, "green"), (2.0, "text")),
    {"0": "refuses", "1": "readable", "2": "none is polled"},
)
LOST = Scale("short", 0, 0.0, None, NONE_IS_GOOD)


def health() -> str:
    """The page about the monitor itself."""
    return page(
        "agent-monitor-health",
        "Agent monitor: Monitor health",
        "From spans to verdicts: what came in, what was lost, what waits.",
        (
            Row("Now", (*_now(), *_accounts())),
            Row("Spans", (*_spans(), *_spans_by_cause())),
            Row("Delay and backlog", _delay()),
            Row("Limits, sources and sinks", (*_ends(), *_rarely())),
        ),
    )


def _now() -> tuple[Panel, ...]:
    lost = (
        f'sum(increase(agent_monitor_dropped_spans_total{{@all,why!="no_agent"}}{SHOWN})) '
        "or vector(0)"
    )
    return (
        numbers(
            Told(
                "Monitors",
                "Processes that Prometheus can scrape.",
                "Prometheus knows no such target.",
            ),
            Query("sum(up{@all})", "up"),
            scale=Scale("short", 0, 0.0, None, ((None, "red"), (1.0, "green"))),
            width=4,
        ),
        numbers(
            Told(
                "Verdicts within",
                "99 of 100 verdicts by rules came within so long of the close of their turn, in "
                "the time shown.",
                "Not enough data: no verdict in this time.",
            ),
            Query(
                "histogram_quantile(0.99, sum by (le) (increase("
                f'agent_monitor_scoring_lag_seconds_bucket{{@all,stage="rules"}}{SHOWN}))) >= 0',
                "99 of 100",
            ),
            scale=Scale("s", 2, 0.0, None, ((None, "green"), (2.0, "orange"), (5.0, "red"))),
            width=4,
        ),
        numbers(
            Told(
                "Spans lost",
                "Accepted spans that were dropped in the time shown, apart from those of no agent.",
                GONE,
            ),
            Query(lost, "lost"),
            scale=LOST,
            width=4,
        ),
    )


def _accounts() -> tuple[Panel, ...]:
    accepted = 'sum(agent_monitor_spans_total{@all,outcome="accepted"})'
    sorted_out = 'sum(agent_monitor_spans_total{@all,outcome!="accepted"})'
    return (
        numbers(
            Told(
                "Faults survived",
                "Faults of the monitor itself in the time shown.",
                GONE,
            ),
            Query(f"sum(increase(agent_monitor_faults_total{{@all}}{SHOWN}))", "faults"),
            scale=LOST,
            width=4,
        ),
        numbers(
            Told(
                "Spans not accounted for",
                "Accepted, less what became of them and what is open. Other than 0 is a defect.",
                GONE,
            ),
            Query(f"{accepted} - {sorted_out} - sum(agent_monitor_open_spans{{@all}})", "spans"),
            scale=Scale("short", 0, None, None, ((None, "red"), (0.0, "green"), (1.0, "red"))),
            width=4,
        ),
        rows(
            Told("Versions", "Of the running monitors.", GONE),
            {"instance": "Instance", "version": "Version"},
            Query("max by (instance, version) (agent_monitor_build_info{@all})"),
            scale=Scale("short", 0),
            width=4,
            height=5,
        ),
    )


def _spans() -> tuple[Panel, ...]:
    return (
        lines(
            Told(
                "Spans by what became of them",
                "Attached spans became part of a turn; late ones came after their conversation "
                "could still be corrected; dead-lettered ones could not be read.",
                GONE,
            ),
            Query(
                "sum by (outcome) (rate(agent_monitor_spans_total"
                f'{{@all,outcome!="accepted"}}{PER}))',
                "{{outcome}}",
            ),
            scale=PER_SECOND,
            stacked="normal",
        ),
        lines(
            Told(
                "Refused at the door",
                "Payloads, or spans of them, that were refused before acceptance, by the rule.",
                GONE,
            ),
            Query(
                f"sum by (why) (rate(agent_monitor_rejected_payloads_total{{@all}}{PER}))",
                "{{why}}",
            ),
            scale=PER_SECOND,
        ),
    )


def _spans_by_cause() -> tuple[Panel, ...]:
    return (
        bars(
            Told(
                "Dropped spans",
                "Accepted spans that were dropped in the time shown, by the limit that bit; "
                "`no_agent` are spans that belong to no agent, which is harmless.",
                GONE,
            ),
            Query(
                "sort_desc(sum by (why) "
                f"(increase(agent_monitor_dropped_spans_total{{@all}}{SHOWN})))"
                ' or on () label_replace(vector(0), "why", "none", "", "")',
                "{{why}}",
            ),
            width=8,
        ),
        bars(
            Told(
                "Personal data and secrets taken out",
                "Values that placeholders replaced at the door in the time shown, by kind.",
                GONE,
            ),
            Query(
                "sort_desc(sum by (kind) "
                f"(increase(agent_monitor_redactions_total{{@all}}{SHOWN})))",
                "{{kind}}",
            ),
            width=8,
        ),
        bars(
            Told(
                "Events",
                "Limits that bit and oddities that were met on the way, the ten most frequent of "
                "the time shown.",
                GONE,
            ),
            Query(
                f"topk(10, sum by (event) (increase(agent_monitor_events_total{{@all}}{SHOWN})))",
                "{{event}}",
            ),
            width=8,
        ),
    )


def _delay() -> tuple[Panel, ...]:
    lag = "agent_monitor_scoring_lag_seconds"
    return (
        lines(
            Told(
                "From the close of a turn to its verdict",
                "By rules, and by the judge where one is configured; within the window.",
                "Not enough data: no verdict within the window.",
            ),
            Query(quantile(0.5, lag, "le, stage", "@all"), "{{stage}}, median"),
            Query(quantile(0.99, lag, "le, stage", "@all"), "{{stage}}, 99th"),
            scale=SECONDS,
        ),
        lines(
            Told("Open", "What may still get spans.", GONE),
            Query("sum(agent_monitor_open_conversations{@all})", "conversations"),
            Query("sum(agent_monitor_open_turns{@all})", "turns"),
            Query("sum(agent_monitor_open_spans{@all})", "spans"),
            scale=COUNT,
        ),
        lines(
            Told(
                "Backlog",
                "Bytes accepted and not yet scored; the first sign of overload.",
                GONE,
            ),
            Query("sum by (instance) (agent_monitor_spool_bytes{@all})", "{{instance}}"),
            scale=BYTES,
        ),
        lines(
            Told("Batches that wait", "Accepted and not yet scored.", GONE),
            Query("sum by (instance) (agent_monitor_spool_rows{@all})", "{{instance}}"),
            scale=COUNT,
        ),
        *_apart(),
    )


def _apart() -> tuple[Panel, ...]:
    """Of the roles over Kafka; one process has no lag of this kind, and shows 0."""
    records = "sum by (group, topic) (agent_monitor_group_lag_records{@all})"
    one = 'label_replace(vector(0), "group", "one process", "", "")'
    age = "max by (instance) (agent_monitor_export_lag_seconds{@all})"
    alone = 'label_replace(vector(0), "instance", "one process", "", "")'
    return (
        lines(
            Told(
                "Records that a group has not acknowledged",
                "Of each topic, where the roles stand apart over Kafka.",
                GONE,
            ),
            Query(f"{records} or on () {one}", "{{group}} {{topic}}"),
            scale=COUNT,
        ),
        lines(
            Told(
                "Age of the export's last record",
                "What a scrape is behind the workers, where the roles stand apart over Kafka.",
                GONE,
            ),
            Query(f"{age} or on () {alone}", "{{instance}}"),
            scale=SECONDS,
        ),
    )


def _ends() -> tuple[Panel, ...]:
    none = 'label_replace(vector(0), "sink", "no sink is configured", "", "")'
    waiting = "sum by (sink) (agent_monitor_sink_pending_reports{@all})"
    never = f"sum by (sink) (increase(agent_monitor_sink_dropped_reports_total{{@all}}{SHOWN}))"
    source = "min by (source) (agent_monitor_source_up{@all})"
    return (
        bars(
            Told(
                "Reports on their way to sinks",
                "Those that wait, and those lost in the time shown because the queue was full.",
                GONE,
            ),
            Query(f"{waiting} or on () {none}", "{{sink}}: waiting"),
            Query(f"{never} or on () {none}", "{{sink}}: lost"),
            scale=COUNT,
            width=8,
        ),
        numbers(
            Told(
                "Sources that are polled",
                "Whether each could be read the last time.",
                GONE,
            ),
            Query(
                f'{source} or on () label_replace(vector(2), "source", "source", "", "")',
                "{{source}}",
            ),
            scale=POLLED,
            width=8,
            height=HEIGHT,
        ),
        bars(
            Told(
                "Labels without room",
                "Times that a label had no place of its own and `other` took the count, in the "
                "time shown.",
                GONE,
            ),
            Query(
                f"sum by (label) (increase(agent_monitor_label_overflow_total{{@all}}{SHOWN}))",
                "{{label}}",
            ),
            scale=LOST,
            width=8,
        ),
    )


def _rarely() -> tuple[Panel, ...]:
    cache = "agent_monitor_embedding_cache_lookups_total"
    return (
        lines(
            Told(
                "Embedding cache",
                "Look-ups that needed no encoder, within the window.",
                "No encoder is configured, or nothing was looked up within the window.",
            ),
            Query(
                share(
                    f'sum(rate({cache}{{@all,result="hit"}}[$window]))',
                    f"sum(rate({cache}{{@all}}[$window]))",
                ),
                "hits",
            ),
            scale=SHARE,
            width=8,
        ),
        lines(
            Told("Faults", "Of the monitor itself, by kind.", GONE),
            Query(f"sum by (fault) (rate(agent_monitor_faults_total{{@all}}{PER}))", "{{fault}}"),
            scale=PER_SECOND,
            width=8,
        ),
        lines(
            Told(
                "Not counted elsewhere",
                "Reports of conversations too old to be corrected, and model calls that told no "
                "tokens.",
                GONE,
            ),
            Query(
                f"sum(rate(agent_monitor_expired_reports_total{{@all}}{PER}))", "expired reports"
            ),
            Query(
                f"sum(rate(agent_monitor_usage_missing_total{{@all}}{PER}))", "calls without tokens"
            ),
            scale=PER_SECOND,
            width=8,
        ),
    )
