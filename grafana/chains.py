"""Chain length and latency: do long chains fail more, and do slow conversations?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from grafana.expressions import quantile, share
from grafana.page import Row, page
from grafana.panels import (
    HEIGHT,
    HIGH_IS_GOOD,
    NEAR_ONE,
    PER_SECOND,
    RATE,
    SECONDS,
    Panel,
    Query,
    Scale,
    Told,
    bars,
    heat,
    lines,
    numbers,
)
from monitor.exposition.catalogue import BUCKETS

NO_TURNS = "No turn was seen in this time."
NOT_SCORED = "Not enough data: no turn was scored in this time."
NOT_CLOSED = "Not enough data: no scored conversation closed in this time."
TURNS = "agent_monitor_turns_total{@by_release%s}"
LATENCY = "agent_monitor_conversation_latency_seconds"
PASSED, SCORED = ',verdict="pass"', ',verdict!="unscored"'


def chains() -> str:
    """The page about how the length of the work and its quality go together."""
    return page(
        "agent-monitor-chains",
        "Agent monitor: Chain length and latency",
        "Correctness by the number of tool calls behind a reply, and by how long users waited.",
        (
            Row("Chain length", (*_lengths(), *_lengths_over_time())),
            Row("Latency", (*_latency(), *_latency_spread(), *_latency_over_time())),
            Row("Tokens and cost", _spending()),
        ),
    )


def _lengths() -> tuple[Panel, ...]:
    in_range = f"sum by (chain) (increase({TURNS}[$__range]))"
    by_release = f"sum by (release, chain) (rate({TURNS}[$window]))"
    return (
        bars(
            Told(
                "Correct turns by chain length",
                "Turns that passed, of those with a verdict, in the time shown, by the number of "
                "tool calls behind the reply. 0 is a reply without any.",
                NOT_SCORED,
            ),
            Query(share(in_range % PASSED, in_range % SCORED), "chain {{chain}}"),
            scale=Scale("percentunit", 1, 0.0, 1.0, HIGH_IS_GOOD),
        ),
        lines(
            Told(
                "Correct turns by chain length and release",
                "Turns that passed, of those with a verdict, within the window.",
                NOT_SCORED,
            ),
            Query(share(by_release % PASSED, by_release % SCORED), "{{release}}, chain {{chain}}"),
            scale=NEAR_ONE,
        ),
    )


def _lengths_over_time() -> tuple[Panel, ...]:
    return (
        lines(
            Told(
                "Turns by chain length",
                "How long the work behind replies is. A change of this mix changes correctness "
                "without anything having got worse.",
                NO_TURNS,
            ),
            Query(
                "sum by (chain) (rate(agent_monitor_turns_total{@by_release}[$__rate_interval]))",
                "chain {{chain}}",
            ),
            scale=PER_SECOND,
            stacked="normal",
        ),
        lines(
            Told(
                "Inherited failures by chain length",
                "Failed turns that an earlier failure explains, of all turns with a verdict, "
                "within the window. Longer chains inherit more.",
                NOT_SCORED,
            ),
            Query(
                share(
                    f"sum by (chain) (rate({TURNS}[$window]))" % ',verdict="cascade_fail"',
                    f"sum by (chain) (rate({TURNS}[$window]))" % SCORED,
                ),
                "chain {{chain}}",
            ),
            scale=RATE,
        ),
    )


def _spending() -> tuple[Panel, ...]:
    closed = "sum by (release) (increase(agent_monitor_conversations_total{@by_release}[$window]))"
    tokens = "sum by (release) (increase(agent_monitor_tokens_total{@by_release}[$window]))"
    cost = "sum by (release) (increase(agent_monitor_cost_usd_total{@by_release}[$window]))"
    return (
        lines(
            Told(
                "Tokens of a conversation",
                "Tokens of the agent's model calls, read and written, by closed conversation, "
                "within the window; as far as traces tell them.",
                NOT_CLOSED,
            ),
            Query(share(tokens, closed), "{{release}}"),
            scale=Scale("short", 0, 0.0),
        ),
        lines(
            Told(
                "Cost of a conversation",
                "What those tokens cost by the price table. 0 where the model has no price: "
                "[judge.prices] gives it one.",
                NOT_CLOSED,
            ),
            Query(share(cost, closed), "{{release}}"),
            scale=Scale("currencyUSD", 4, 0.0),
        ),
    )


def _by_bucket() -> Iterator[Query]:
    """One query for each bucket, since a panel does not sort series by their bounds.

    A bucket without a conversation is -1, which the panel puts into words.
    """
    for before, bound in pairwise(("", *BUCKETS)):
        passed, scored = (_between(before, bound, outcome) for outcome in ("pass", ".+"))
        legend = f"more than {before} s" if bound == "+Inf" else f"up to {bound} s"
        yield Query(f"{share(passed, scored)} or vector(-1)", legend.replace(".0 s", " s"))


def _between(before: str, bound: str, outcome: str) -> str:
    """Conversations of the time shown that fell between two bounds."""
    up_to = f'sum(increase({LATENCY}_bucket{{@by_release,outcome=~"%s",le="%s"}}[$__range]))'
    if not before:
        return up_to % (outcome, bound)
    return f"({up_to % (outcome, bound)} - {up_to % (outcome, before)})"


def _latency() -> tuple[Panel, ...]:
    correlation = "agent_monitor_latency_correctness_correlation_ratio{@by_release}"
    return (
        bars(
            Told(
                "Correct conversations by time waited",
                "Conversations that passed, of those with a verdict in which users waited so "
                "long, in the time shown.",
                NOT_CLOSED,
            ),
            *_by_bucket(),
            scale=Scale("percentunit", 1, 0.0, 1.0, HIGH_IS_GOOD, {"-1": "no conversation"}),
        ),
        numbers(
            Told(
                "Latency against correctness",
                "Rank correlation of a conversation's latency with its success, within chain "
                "lengths; below 0 slow conversations fail more.",
                "Not enough data: latency or outcome never varied within a chain length.",
            ),
            Query(f"max by (release) ({correlation})", "{{release}}"),
            scale=Scale("none", 2, -1.0, 1.0),
            width=12,
            height=HEIGHT,
        ),
        lines(
            Told(
                "Time waited, 95th percentile, by outcome",
                "Time that users waited for the replies of a conversation, added up; within the "
                "window.",
                NOT_CLOSED,
            ),
            Query(quantile(0.95, LATENCY, "le, outcome"), "{{outcome}}"),
            scale=SECONDS,
        ),
    )


def _latency_spread() -> tuple[Panel, ...]:
    total = f"{LATENCY}_sum{{@by_release}}"
    count = f"{LATENCY}_count{{@by_release}}"
    return (
        lines(
            Told(
                "Time waited by release",
                "Half of the conversations took less than the median, 95 of 100 less than the 95th "
                "percentile; within the window.",
                NOT_CLOSED,
            ),
            Query(quantile(0.5, LATENCY, "le, release"), "{{release}}, median"),
            Query(quantile(0.95, LATENCY, "le, release"), "{{release}}, 95th"),
            scale=SECONDS,
        ),
        heat(
            Told(
                "Conversations by time waited",
                "How many conversations fell between two bounds, over time.",
                NOT_CLOSED,
            ),
            Query(
                f"sum by (le) (increase({LATENCY}_bucket{{@by_release}}[$__rate_interval]))",
                "{{le}}",
            ),
        ),
        lines(
            Told(
                "Mean time waited by chain length",
                "Of a conversation, by its longest chain; within the window.",
                NOT_CLOSED,
            ),
            Query(
                share(
                    f"sum by (chain) (rate({total}[$window]))",
                    f"sum by (chain) (rate({count}[$window]))",
                ),
                "chain {{chain}}",
            ),
            scale=SECONDS,
        ),
    )


def _latency_over_time() -> tuple[Panel, ...]:
    correlation = "agent_monitor_latency_correctness_correlation_ratio{@by_release}"
    return (
        lines(
            Told(
                "Latency against correctness over time",
                "The same rank correlation, of all conversations up to then.",
                "Not enough data: latency or outcome never varied within a chain length.",
            ),
            Query(f"max by (release) ({correlation})", "{{release}}"),
            scale=Scale("none", 2, -1.0, 1.0),
        ),
        lines(
            Told(
                "Closed conversations by longest chain",
                "By the most tool calls behind any of their replies.",
                "No conversation closed in this time.",
            ),
            Query(
                "sum by (chain) "
                "(rate(agent_monitor_conversations_total{@by_release}[$__rate_interval]))",
                "chain {{chain}}",
            ),
            scale=PER_SECOND,
            stacked="normal",
        ),
    )
