"""What a judge's opinions change in a report, and what they leave as it is."""

from __future__ import annotations

from evaluating import Given, TableComparator, call, outcomes, paired, reply, say, talk, want

from monitor.evaluator import Evaluator
from monitor.model import Conversation
from monitor.references.contracts import ToolContracts
from monitor.verdict import Judgement, Reference, Report

ASKED = talk(
    call("price", {"count": 2}, {"eur": 80}, exchange=0),
    reply("Two tickets cost 80 EUR.", exchange=0),
    reply("So four tickets cost 160 EUR.", exchange=1),
)


def opinion(position: int, verdict: str, **more: object) -> Judgement:
    return Judgement(
        turn_id=ASKED.turns[position].turn_id,
        verdict=verdict,  # type: ignore[arg-type]
        reason=more.pop("reason", None),  # type: ignore[arg-type]
        score=0.9 if verdict == "pass" else 0.1,
        quote="as it stands",
        judge="grader/turn-3",
        **more,  # type: ignore[arg-type]
    )


def judged(conversation: Conversation, *said: Judgement, gold: Reference | None = None) -> Report:
    sources, contracts = [Given(gold)], ToolContracts(())
    return Evaluator(sources, contracts, TableComparator(None), evidence=False).evaluate(
        conversation, closed=True, revision=2, judgements={each.turn_id: each for each in said}
    )


def test_what_nothing_decided_is_decided_by_the_judge():
    report = judged(ASKED, opinion(1, "pass"), opinion(2, "fail", reason="inconsistent_response"))
    assert outcomes(report)[1:] == ["pass", "inconsistent_response"]
    assert [turn.basis for turn in report.turns][1:] == ["judge", "judge"]
    assert report.turns[2].findings[0].score == 0.1
    assert (report.success_rate, report.first_failure_turn) == (0.5, 3)


def test_gold_stands_whatever_a_judge_says():
    gold = paired(
        want("price", {"count": 2}), say("Two tickets cost 80 EUR."), say("Four cost 160 EUR.")
    )
    said = [opinion(position, "fail", reason="inconsistent_response") for position in (1, 2)]
    report = judged(ASKED, *said, gold=gold)
    assert {turn.basis for turn in report.turns} == {"gold"}
    assert outcomes(report)[1] == "pass"


def test_a_turn_that_passes_on_a_failed_ones_result_inherits():
    report = judged(
        ASKED,
        opinion(0, "fail", reason="inconsistent_parameter_values", field="count"),
        opinion(1, "pass", upstream=ASKED.turns[0].turn_id),
    )
    assert outcomes(report)[:2] == ["inconsistent_parameter_values", "prior_action_failed"]
    assert report.turns[0].field == "count"
    assert report.turns[1].inherited_from == 1


def test_a_blamed_turn_that_did_not_fail_passes_nothing_on():
    report = judged(ASKED, opinion(1, "pass", upstream=ASKED.turns[0].turn_id))
    assert outcomes(report)[1] == "pass"
