"""Judge: what the model that is asked says, costs and is worth."""

from __future__ import annotations

from grafana.expressions import share
from grafana.page import Row, page
from grafana.panels import (
    COUNT,
    HEIGHT,
    LOW_IS_GOOD,
    NEAR_ONE,
    PER_SECOND,
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

NO_JUDGE = "No judge is configured; see [judge] in the settings."
NOT_JUDGED = "Not enough data: no turn was judged in this time, or no judge is configured."
NO_LABELS = "Not enough data: it takes labels of people, of both kinds, within a week."
NO_MONEY = "No judge is configured, or no bound in money."
CALLS = "agent_monitor_judge_requests_total{@all}"
JUDGED = "agent_monitor_judged_turns_total{@by_release}"
ESTIMATED = "agent_monitor_estimated_turns_total{@by_release}"
DOLLARS = Scale("currencyUSD", 2, 0.0)


def judge() -> str:
    """The page about the sampled model calls and the labels of people."""
    return page(
        "agent-monitor-judge",
        "Agent monitor: Judge",
        "The judged sample: what it says of all turns, what it costs, and whether to believe it.",
        (
            Row("Cost and health", (*_figures(), *_limits(), *_calls(), *_spared())),
            Row("What it says", _says()),
            Row("Whether to believe it", (*_canaries(), *_people())),
        ),
    )


def _figures() -> tuple[Panel, ...]:
    calls = f"sum(increase({CALLS}[$__range]))"
    failed = 'sum(increase(agent_monitor_judge_requests_total{@all,result!="ok"}[$__range]))'
    return (
        numbers(
            Told("Calls", "Questions put to the model in the time shown.", NO_JUDGE),
            Query(calls, "calls"),
            scale=COUNT,
            width=4,
        ),
        numbers(
            Told(
                "Failed calls",
                "Calls without a usable answer, or forbidden by a bound, of all in the time shown.",
                NOT_JUDGED,
            ),
            Query(share(failed, calls), "failed"),
            scale=Scale("percentunit", 1, 0.0, 1.0, LOW_IS_GOOD),
            width=4,
        ),
        numbers(
            Told("Cost", "Of the calls in the time shown, by the price table.", NO_JUDGE),
            Query("sum(increase(agent_monitor_judge_cost_usd_total{@all}[$__range]))", "cost"),
            scale=DOLLARS,
            width=4,
        ),
    )


def _limits() -> tuple[Panel, ...]:
    return (
        numbers(
            Told(
                "Budget left",
                "What the hour's and the day's bounds still allow.",
                NO_MONEY,
            ),
            Query("min(agent_monitor_judge_budget_remaining_usd{@all})", "left"),
            scale=Scale("currencyUSD", 2, steps=((None, "red"), (0.01, "green"))),
            width=4,
        ),
        numbers(
            Told(
                "Turns that were judged",
                "Of the turns in settled conversations in the time shown.",
                NOT_JUDGED,
            ),
            Query(
                share(
                    f"sum(increase({JUDGED}[$__range]))", f"sum(increase({ESTIMATED}[$__range]))"
                ),
                "judged",
            ),
            width=4,
        ),
        numbers(
            Told(
                "Circuit",
                "Open after five failures in a row: the judge is left alone for a while.",
                NO_JUDGE,
            ),
            Query("max(agent_monitor_judge_circuit_open{@all})", "circuit"),
            scale=Scale(
                "short",
                0,
                steps=((None, "green"), (1.0, "red")),
                texts={"0": "closed", "1": "open"},
            ),
            width=4,
        ),
    )


def _calls() -> tuple[Panel, ...]:
    per = "[$__rate_interval]"
    return (
        lines(
            Told("Calls by result", "What became of each call, or what forbade it.", NO_JUDGE),
            Query(f"sum by (result) (rate({CALLS}{per}))", "{{result}}"),
            scale=PER_SECOND,
            stacked="normal",
        ),
        lines(
            Told(
                "Waiting conversations",
                "Drawn for the judge and not yet asked about.",
                NO_JUDGE,
            ),
            Query("sum(agent_monitor_judge_waiting_conversations{@all})", "waiting"),
            scale=COUNT,
            width=6,
        ),
        lines(
            Told("Tokens", "Of the judge's calls.", NO_JUDGE),
            Query(
                f"sum by (direction) (rate(agent_monitor_judge_tokens_total{{@all}}{per}))",
                "{{direction}}",
            ),
            scale=PER_SECOND,
            width=6,
        ),
    )


def _spared() -> tuple[Panel, ...]:
    return (
        bars(
            Told(
                "Conversations passed over",
                "Drawn conversations that nobody was asked about, and why; they are never made up "
                "for.",
                NO_JUDGE,
            ),
            Query(
                "sort_desc(sum by (why) "
                "(increase(agent_monitor_judge_skipped_conversations_total{@all}[$__range])))",
                "{{why}}",
            ),
            width=8,
        ),
        lines(
            Told("Cost an hour", "US dollars an hour, within the window.", NO_JUDGE),
            Query("sum(rate(agent_monitor_judge_cost_usd_total{@all}[$window])) * 3600", "an hour"),
            scale=DOLLARS,
            width=8,
        ),
        lines(
            Told(
                "Answers from the cache",
                "Of the questions that had an answer, those that cost nothing, within the window.",
                NOT_JUDGED,
            ),
            Query(
                share(
                    "sum(rate(agent_monitor_judge_cached_answers_total{@all}[$window]))",
                    "(sum(rate(agent_monitor_judge_cached_answers_total{@all}[$window])) + "
                    'sum(rate(agent_monitor_judge_requests_total{@all,result="ok"}[$window])))',
                ),
                "cached",
            ),
            scale=SHARE,
            width=8,
        ),
    )


def _says() -> tuple[Panel, ...]:
    return (
        lines(
            Told(
                "Correct turns by the judge's lights",
                "The cheap estimate over all turns, corrected by the judged sample, with bounds "
                "that hold at every look.",
                NOT_JUDGED,
            ),
            Query(
                "max by (release, bound) (agent_monitor_corrected_correctness_ratio{@by_release})",
                "{{release}}, {{bound}}",
            ),
            scale=NEAR_ONE,
        ),
        lines(
            Told(
                "Correct turns in the last hour",
                "What the alert on the error budget reads: corrected by the judge where it judged "
                "at least 100 turns within the hour, else as verdicts say.",
                "Not enough data: no turn was scored within the last hour.",
            ),
            Query(
                "max by (release) "
                "(release:agent_monitor_correctness:ratio_rate1h{@rule_by_release})",
                "{{release}}",
            ),
            scale=NEAR_ONE,
        ),
        lines(
            Told(
                "Judged turns",
                "What the judge said. It abstains rather than guess.",
                NO_JUDGE,
            ),
            Query(f"sum by (verdict) (rate({JUDGED}[$__rate_interval]))", "{{verdict}}"),
            scale=PER_SECOND,
            stacked="normal",
        ),
        bars(
            Told("Abstentions", "Judged turns without an opinion, and why.", NO_JUDGE),
            Query(
                "sort_desc(sum by (why) "
                "(increase(agent_monitor_judge_abstentions_total{@all}[$__range])))",
                "{{why}}",
            ),
        ),
    )


def _canaries() -> tuple[Panel, ...]:
    return (
        bars(
            Told(
                "Turns of known verdict",
                "Canaries: what the judge said of turns whose verdict is known.",
                NO_JUDGE,
            ),
            Query(
                "sum by (result) (increase(agent_monitor_judge_canaries_total{@all}[$__range]))",
                "{{result}}",
            ),
            width=8,
        ),
        bars(
            Told(
                "Suspected injections",
                "Judged turns whose text seems to speak to its grader, by family.",
                NO_JUDGE,
            ),
            Query(
                "sort_desc(sum by (family) "
                "(increase(agent_monitor_judge_suspected_injections_total{@all}[$__range]))) "
                'or on () label_replace(vector(0), "family", "none", "", "")',
                "{{family}}",
            ),
            width=8,
        ),
        numbers(
            Told(
                "Agreement with people",
                "Correlation of verdicts and labels over a week; below 0.4 verdicts say little "
                "about what people think. Not to be read with fewer than 200 labels.",
                NO_LABELS,
            ),
            Query(
                "max by (sub_metric) "
                "(sub_metric:agent_monitor_label_agreement:phi_increase7d{@rule})",
                "{{sub_metric}}",
            ),
            scale=Scale("none", 2, -1.0, 1.0, ((None, "red"), (0.4, "orange"), (0.6, "green"))),
            width=8,
            height=HEIGHT,
        ),
    )


def _people() -> tuple[Panel, ...]:
    pairs = "sum by (sub_metric, automated, human) (agent_monitor_label_pairs_total{@all})"
    task = (
        "sum by (verdict, task) (increase(agent_monitor_task_turns_total{@by_release}[$__range]))"
    )
    return (
        rows(
            Told(
                "Labels of people beside verdicts",
                "Each label once, since the ledger began.",
                "No label of a person was read yet.",
            ),
            {
                "sub_metric": "Sub-metric",
                "automated": "Monitor says",
                "human": "People say",
                "Value": "Labels",
            },
            Query(f"sort_desc({pairs})"),
            width=12,
        ),
        rows(
            Told(
                "Verdicts beside the task's outcome",
                "Turns in the time shown of conversations whose trace told how the task ended.",
                "No turn was seen in this time.",
            ),
            {"verdict": "Verdict", "task": "Task", "Value": "Turns"},
            Query(f"sort_desc({task})"),
            width=12,
        ),
        numbers(
            Told(
                "Correct turns by people's lights",
                "Turns that passed among those with a verdict, mended by the labels of people "
                "since the ledger began, with a 95 % interval.",
                "Not enough data: fewer than 30 labels of whole turns.",
            ),
            Query(
                "max by (bound) (agent_monitor_people_corrected_correctness_ratio{@all})",
                "{{bound}}",
            ),
            scale=Scale("percentunit", 1, 0.0, 1.0),
            width=12,
            height=HEIGHT,
        ),
    )
