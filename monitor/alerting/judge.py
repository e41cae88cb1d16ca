"""The alerts about the judge: whether it answers, may be asked, and can be believed."""

from __future__ import annotations

from typing import Final

from monitor.alerting import recording as rec
from monitor.alerting.rule import PAGE, TICKET, Alert

LEAST_PAIRS: Final = 200
LEAST_PHI: Final = 0.4
LEAST_JUDGED: Final = 100
MUCH_VOID: Final = 0.05
MOST_VOID: Final = 0.2
"""Shares of judged turns whose verdict does not hold, of a ticket and of a page."""


def disagreement() -> Alert:
    """That verdicts and people's labels part."""
    return Alert(
        "AgentJudgeDisagreesWithHumans",
        f"{rec.PHI} < {LEAST_PHI}\n"
        f"and on (job, sub_metric) (sum by (job, sub_metric) ({rec.PAIRS}) >= {LEAST_PAIRS})",
        TICKET,
        "Verdicts on {{ $labels.sub_metric }} disagree with people",
        "Their correlation over a week is {{ $value | humanize }}; "
        f"below {LEAST_PHI} the verdicts say little about what people think.",
        hold="1h",
        keep="15m",
    )


def judge() -> tuple[Alert, ...]:
    """What an operator must know of the judge."""
    return (
        Alert(
            "AgentJudgeFailing",
            f"{rec.JUDGE_ERRORS} > 0.2\nor\nmax by (job) (agent_monitor_judge_circuit_open) > 0\n"
            "or\n"
            "sum by (job) (increase(agent_monitor_judge_skipped_conversations_total"
            '{why=~"queue_full|damaged|defect"}[15m])) > 0',
            TICKET,
            "The judge fails",
            "More than 20 % of the calls to the judge fail, or it is not asked any more because "
            "they did, or drawn conversations never reached it. Turns that only it could decide "
            "stay unscored.",
            hold="10m",
            keep="5m",
        ),
        Alert(
            "AgentJudgeBudgetExhausted",
            "min by (job) (agent_monitor_judge_budget_remaining_usd) <= 0\n"
            "or\n"
            "sum by (job) (increase(agent_monitor_judge_skipped_conversations_total"
            '{why=~"(hour|day)_(calls|tokens|usd)"}[15m])) > 0',
            TICKET,
            "The judge's budget is spent",
            "Conversations that were drawn for the judge are passed over; the corrected estimate "
            "gets no new turns.",
            hold="10m",
            keep="5m",
        ),
        *_judge_integrity(),
        Alert(
            "AgentEvaluatorIdle",
            "sum by (job) (increase(agent_monitor_turns_total[1h])) > 50\n"
            "unless on (job)\n"
            'sum by (job) (increase(agent_monitor_turns_total{verdict!="unscored"}[1h])) > 0\n'
            "or\n"
            "sum by (job) (increase(agent_monitor_estimated_turns_total[1h])) > 200\n"
            "unless on (job)\n"
            "sum by (job) (increase(agent_monitor_judged_turns_total[1h])) > 0",
            TICKET,
            "Turns arrive and none is judged",
            "{{ $value | humanize }} turns came within an hour. Either nothing scores them, "
            "or a judge is configured that sees none of them.",
            hold="15m",
            keep="5m",
        ),
    )


def _judge_integrity() -> tuple[Alert, ...]:
    void, many = "a judge whose verdicts do not hold", "of the turns put to it within six hours"
    return (
        Alert(
            "AgentJudgeSteered",
            _void(MOST_VOID),
            PAGE,
            f"Somebody steers {void}, or it grades blindly",
            f"For {{{{ $value | humanizePercentage }}}} {many} there is no verdict: the reply, its "
            "quote or the control question was wrong. The corrected estimate stands on the rest.",
            hold="15m",
            keep="15m",
        ),
        Alert(
            "AgentJudgeAbstaining",
            f"{_void(MUCH_VOID)}\nunless on (job)\n{_void(MOST_VOID)}",
            TICKET,
            f"More and more turns meet {void}",
            f"For {{{{ $value | humanizePercentage }}}} {many} there is no verdict: the reply, its "
            "quote or the control question was wrong.",
            hold="1h",
            keep="15m",
        ),
        Alert(
            "AgentJudgeUnsound",
            'sum by (job) (increase(agent_monitor_judge_canaries_total{result="wrong"}[6h])) > 0',
            TICKET,
            "The judge was wrong about a turn of known verdict",
            "A canary came back with the wrong verdict. What this model says of other turns "
            "deserves the same doubt.",
            keep="15m",
        ),
    )


def _void(share: float) -> str:
    """Beyond a share of judged turns without a verdict, other than by the judge's own doubt."""
    judged = "sum by (job) (increase(agent_monitor_judged_turns_total[6h]))"
    return (
        "(\n"
        "  sum by (job) (increase(agent_monitor_judge_abstentions_total"
        '{why!~"abstained|evidence_cut|unavailable"}[6h]))\n'
        f"  / {judged}\n"
        f") > {share:g}\n"
        f"and on (job) {judged} >= {LEAST_JUDGED}"
    )
