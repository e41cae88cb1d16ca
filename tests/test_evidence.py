"""Turns held against what their conversation shows, where no reference covers them."""

from __future__ import annotations

from typing import Any

import pytest
from evaluating import TableComparator, call, evaluated, listed, reply, talk, tool, want
from hypothesis import given
from hypothesis import strategies as st

from monitor.evaluator import Evaluator
from monitor.model import ActionTurn, Conversation, Turn
from monitor.references.contracts import ToolContracts
from monitor.scoring.evidence import EvidenceJudge
from monitor.scoring.judged import Judged, unscored
from monitor.verdict import Verdict

STOCK = {
    "name": "T-Shirt",
    "variants": {
        "111": {"color": "blue", "available": True, "price": 50.88},
        "222": {"color": "red", "available": True, "price": 46.66},
        "333": {"color": "black", "available": False, "price": 49.5},
    },
}
ORDER = {"order_id": "#W2702727", "status": "delivered", "total": 625.6, "placed": "2024-05-24"}


def asking(query: str, *turns: Turn) -> Conversation:
    return talk(*turns, queries=(query,))


def verdict(conversation: Conversation) -> Verdict:
    return evaluated(conversation).turns[-1]


def told(found: Verdict) -> tuple[str, str | None, str | None, str | None]:
    return found.verdict, found.failure_reason, found.detail, found.basis


DENIED = ("fail", "inconsistent_response", "contradicted", "evidence")
OPEN = ("fail", "incomplete_response", "unanswered", "evidence")
UNSCORED = ("unscored", None, None, None)
PASSED = ("pass", None, None, "evidence")


class TestCounts:
    def test_a_count_that_the_listing_denies_fails_the_reply(self):
        found = verdict(
            asking(
                "How many t-shirts are available?",
                call("shop.details", result=STOCK),
                reply("Currently, there are 3 available T-Shirt options."),
            )
        )

        assert told(found) == DENIED
        assert found.findings[0].expected == "2"

    def test_the_right_count_is_no_fault(self):
        found = verdict(
            asking(
                "How many t-shirts are available?",
                call("shop.details", result=STOCK),
                reply("There are two available t-shirts, from $46.66."),
            )
        )

        assert told(found) == PASSED

    @pytest.mark.parametrize(
        "text",
        [
            "There are 3 T-Shirt options.",
            "There are 3 available mugs.",
            "We have 5 available stores near you.",
        ],
    )
    def test_what_the_listing_may_not_be_about_is_open(self, text: str):
        query, shown = "How many are there?", call("shop.details", result=STOCK)

        assert told(verdict(asking(query, shown, reply(text)))) == UNSCORED


class TestNamedValues:
    def test_a_named_value_that_differs_from_the_field_fails(self):
        found = verdict(
            asking("Count it.", call("fs.wc", result={"count": 9}), reply("Done. count: 16."))
        )

        assert told(found) == DENIED
        assert (found.field, found.findings[0].expected) == ("count", 9)

    def test_a_value_called_unavailable_that_the_tool_gave_fails(self):
        given = call("fs.mv", result={"result": "'a.txt' moved to 'b.txt'"})

        assert (
            told(verdict(asking("Move it.", given, reply("Done. result: unavailable")))) == DENIED
        )

    @pytest.mark.parametrize(
        "text", ["count: 9.", "count: 9.0", "words counted: 16", "count: some"]
    )
    def test_the_same_value_another_name_or_a_word_is_no_contradiction(self, text: str):
        found = verdict(asking("Count it.", call("fs.wc", result={"count": 9}), reply(text)))

        assert found.verdict != "fail"


class TestGrounding:
    @pytest.mark.parametrize(
        "text",
        [
            "Your order #W2702727 is delivered; the total was $625.60.",
            "It was placed on May 24, 2024.",
            "Two of them come to $1,251.20, at $625.60 each.",
        ],
    )
    def test_a_reply_whose_values_the_tools_gave_passes(self, text: str):
        query, given = "Where is my order?", call("shop.order", result=ORDER)

        assert told(verdict(asking(query, given, reply(text)))) == PASSED

    @pytest.mark.parametrize(
        "text",
        [
            "Your order #W2702728 is delivered, the total was $625.60.",
            "It was placed on May 25, 2024, for $625.60.",
            "Your order is on its way.",
            "You asked about 77421.",
        ],
    )
    def test_a_reply_with_a_value_from_nowhere_or_none_stays_open(self, text: str):
        query, given = "Where is my order 77421?", call("shop.order", result=ORDER)

        assert told(verdict(asking(query, given, reply(text)))) == UNSCORED

    def test_a_value_within_prose_proves_nothing(self):
        prose = {"contents": "The league was founded in 1901 by owners. " * 8}
        found = verdict(asking("When?", call("search", result=prose), reply("In 1901.")))

        assert told(found) == UNSCORED

    def test_a_call_without_contract_passes_when_its_arguments_were_said(self):
        found = verdict(asking("Where is #W2702727?", call("shop.order", {"id": "#W2702727"})))

        assert told(found) == PASSED

    def test_a_refused_call_does_not_pass(self):
        refused = call("shop.order", {"id": "#W2702727"}, error=True)

        assert told(verdict(asking("Where is #W2702727?", refused))) == UNSCORED


class TestInventions:
    def test_a_refused_id_that_nobody_had_said_is_invented(self):
        bad = call("shop.pay", {"payment_id": "card_90210"}, "Error: no such card", error=True)
        found = verdict(asking("Pay, please.", bad))

        assert told(found) == ("fail", "inconsistent_parameter_values", "invented", "evidence")
        assert (found.field, found.findings[0].actual) == ("payment_id", "card_90210")

    @pytest.mark.parametrize("query", ["My card ends in 90210.", "Use card_90210."])
    def test_an_id_made_of_what_was_said_is_not(self, query: str):
        bad = call("shop.pay", {"payment_id": "card_90210"}, "Error: no such card", error=True)

        assert verdict(asking(query, bad)).verdict != "fail"

    def test_an_id_that_the_tool_knows_is_not(self):
        good = call("shop.pay", {"payment_id": "card_90210"}, {"paid": True})

        assert verdict(asking("Pay, please.", good)).verdict != "fail"

    def test_an_id_that_may_stand_behind_a_placeholder_is_not(self):
        bad = call("shop.find", {"user_id": "jane_90210"}, "Error: unknown", error=True)

        assert verdict(asking("I am <EMAIL:19a3d4>.", bad)).verdict != "fail"

    def test_an_invention_that_the_agent_put_right_is_not_held_against_it(self):
        bad = call("shop.pay", {"payment_id": "card_90210"}, "Error: no such card", error=True)
        good = call("shop.pay", {"payment_id": "card_1"}, {"paid": True})

        report = evaluated(asking("Pay with card_1.", bad, good))

        assert [turn.verdict for turn in report.turns] == ["unscored", "pass"]

    def test_the_same_invention_carried_on_is_inherited(self):
        bad = call("shop.pay", {"payment_id": "card_90210"}, "Error: no such card", error=True)
        worse = call("shop.book", {"payment_id": "card_90210"}, "Error: no such card", error=True)

        report = evaluated(asking("Pay, please.", bad, worse))

        assert [turn.failure_reason for turn in report.turns] == [
            "inconsistent_parameter_values",
            "prior_action_failed",
        ]
        assert report.turns[1].inherited_from == 1


class TestRepeats:
    REFUSED = ("shop.cancel", {"order": "A1"}, "Error: not allowed")

    def test_a_refused_call_made_again_fails_once_and_is_then_inherited(self):
        calls = [call(*self.REFUSED, error=True) for _ in range(3)]
        report = evaluated(asking("Cancel A1.", *calls))

        assert [turn.verdict for turn in report.turns] == ["unscored", "fail", "fail"]
        assert told(report.turns[1]) == ("fail", "action_mismatch", "repeated", "evidence")
        assert report.turns[2].inherited_from == 2

    @pytest.mark.parametrize("error", ["Error: timed out", "503 try again later", "rate limited"])
    def test_a_passing_trouble_may_be_tried_again(self, error: str):
        calls = [call("shop.cancel", {"order": "A1"}, error, error=True) for _ in range(2)]

        assert verdict(asking("Cancel A1.", *calls)).verdict == "unscored"

    def test_a_write_in_between_may_have_changed_things(self):
        refused = call(*self.REFUSED, error=True)
        changed = call("shop.update", {"order": "A1"}, {"ok": True})

        assert verdict(asking("Cancel A1.", refused, changed, refused)).verdict == "unscored"

    def test_what_the_user_asks_to_be_tried_again_is_no_fault(self):
        calls = [call(*self.REFUSED, error=True) for _ in range(2)]

        assert verdict(asking("Try to cancel A1 again.", *calls)).verdict == "unscored"


class TestDeeds:
    def test_a_deed_claimed_although_its_tool_refused_it_fails(self):
        refused = call("shop.cancel_order", {"order": "A1"}, "Error: shipped", error=True)
        found = verdict(asking("Cancel A1.", refused, reply("Your order has been cancelled.")))

        assert told(found) == DENIED

    @pytest.mark.parametrize(
        "text",
        [
            "Your order has not been cancelled.",
            "An order is cancelled only if it has been cancelled before it shipped.",
            "Your order has been located.",
        ],
    )
    def test_conditions_denials_and_other_deeds_are_no_such_claims(self, text: str):
        refused = call("shop.cancel_order", {"order": "A1"}, "Error: shipped", error=True)

        assert verdict(asking("Cancel A1.", refused, reply(text))).verdict == "unscored"

    def test_a_deed_that_was_done_in_the_end_is_no_false_claim(self):
        refused = call("shop.cancel_order", {"order": "A1"}, "Error: busy", error=True)
        done = call("shop.cancel_order", {"order": "A1"}, {"ok": True})
        claimed = reply("Your order has been cancelled.")

        assert told(verdict(asking("Cancel A1.", refused, done, claimed))) == PASSED


class TestAnswers:
    @pytest.mark.parametrize(
        ("query", "text"),
        [
            (
                "Which author wrote it?",
                "The pages give no author. I could not find any information"
                " on that. <answer>None</answer>",
            ),
            ("Which author wrote it?", "Unknown."),
            ("Who wrote it?", "The search results do not specify who wrote it."),
            ("Which is larger, Oslo or Bergen?", "Both are the same size."),
            ("Who wrote it?", '<tool_call>{"q": "who wrote it"}</tool_call>'),
        ],
    )
    def test_a_question_left_open_fails_the_reply(self, query: str, text: str):
        assert told(verdict(asking(query, reply(text)))) == OPEN

    @pytest.mark.parametrize(
        ("query", "text"),
        [
            ("Which author wrote it?", "Jane Doe wrote it."),
            ("Which author wrote it?", "Nora wrote it."),
            ("Which is larger, Oslo or Bergen?", "Oslo is."),
            ("How many words does it contain?", "It contains none."),
            ("How many words does it contain?", "Which file do you mean?"),
            ("How many words does it contain?", "Let me look that up."),
            ("How many words does it contain?", "I am transferring you to a colleague."),
            ("Cancel my order.", "I cannot find your account."),
            ("Is it open?", "Unknown."),
            ("Which author wrote it?", "<think>None so far</think><answer>Jane</answer>"),
        ],
    )
    def test_an_answer_a_question_back_or_work_going_on_is_no_fault(self, query: str, text: str):
        assert told(verdict(asking(query, reply(text)))) == UNSCORED

    def test_a_tool_result_in_the_agents_own_hand_is_invented(self):
        text = "<tool_response>The city is Bath.</tool_response><answer>Bath</answer>"
        found = verdict(asking("Which city?", reply(text)))

        assert told(found) == ("fail", "inconsistent_response", "invented", "evidence")


class TestPrecedence:
    def test_what_gold_covers_the_evidence_leaves_alone(self):
        gold = listed(want("fs.wc", {}), required_outputs=())
        report = evaluated(
            asking("Count.", call("fs.wc", {}, {"count": 9}), reply("Done. count: 16.")), gold
        )

        assert [turn.basis for turn in report.turns] == ["gold", "evidence"]

    def test_a_fault_by_contract_is_not_judged_again(self):
        bad = call("shop.pay", {"payment_id": "card_90210"}, "Error: no such card", error=True)

        pay = tool("shop.pay", {"payment_id": {}, "sum": {}}, ["payment_id", "sum"])

        (found,) = evaluated(asking("Pay.", bad), tools=[pay]).turns

        assert (found.basis, found.failure_reason) == ("contract", "missing_parameters")

    def test_switched_off_it_judges_nothing(self):
        off = Evaluator([], ToolContracts([]), TableComparator(), evidence=False)
        report = off.evaluate(asking("Which author?", reply("None.")), closed=True, revision=1)

        assert [turn.verdict for turn in report.turns] == ["unscored"]
        assert report.evaluator == "aem-4-without-evidence+table"


@given(
    st.lists(
        st.one_of(
            st.text(max_size=60).map(reply),
            st.tuples(st.text(max_size=12), st.text(max_size=30)).map(
                lambda pair: call("t.x", {"id": pair[0]}, pair[1], error=bool(pair[1]))
            ),
        ),
        min_size=1,
        max_size=8,
    ),
    st.text(max_size=60),
)
def test_any_texts_give_a_verdict_and_the_same_one_each_time(turns: list[Any], query: str):
    conversation = asking(query, *turns)

    assert evaluated(conversation) == evaluated(conversation)


def test_a_judge_reads_each_turn_once_whatever_it_is_asked():
    shown = call("shop.order", result=ORDER)
    conversation = asking("Where is it?", shown, reply("Total: $625.60."))
    judge = EvidenceJudge(conversation, ToolContracts([]))
    (first, second) = conversation.turns

    assert isinstance(first, ActionTurn)
    assert judge.action(0, first, unscored("no_reference")).basis is None
    assert judge.reply(1, second) == Judged("evidence", scores={"truthfulness": 1.0})  # type: ignore[arg-type]
    assert judge.reply(1, second).basis == "evidence"  # type: ignore[arg-type]
