"""Calls that were never made, and outputs that were never said: whose fault that is."""

from __future__ import annotations

from evaluating import call, evaluated, listed, reply, talk, tool, want

from monitor.model import Turn
from monitor.scoring.causes import asked_for
from monitor.scoring.idle import without_idle
from monitor.verdict import ExpectedTurn, Report

TOOLS = [
    tool("modify_address", {"order_id": {}, "street": {}}, ["order_id"], writes=True),
    tool("modify_items", {"order_id": {}, "items": {}}, ["order_id"], writes=True),
    tool("cancel_order", {"order_id": {}}, ["order_id"], writes=True),
    tool("get_order", {"order_id": {}}, ["order_id"], writes=False),
    tool("transfer_to_human", {"summary": {}}, writes=True),
]
MOVE = want("modify_address", {"order_id": "#W1234", "street": "Elm"})


def report_of(*turns: Turn, gold: tuple[ExpectedTurn, ...] = (MOVE,), **more: object) -> Report:
    queries = more.pop("queries", ("Please change the address of #W1234 to Elm.",))
    reference = listed(*gold, scope="writes", ordered=False, **more)
    return evaluated(talk(*turns, queries=queries), reference, tools=TOOLS)  # type: ignore[arg-type]


def told(report: Report) -> list[tuple[int, str | None, str | None, int | None]]:
    return [
        (turn.turn_no, turn.failure_reason, turn.detail, turn.inherited_from)
        for turn in report.turns
        if turn.verdict == "fail"
    ]


class TestCallsNeverMade:
    def test_it_is_the_fault_of_the_reply_that_refused(self):
        report = report_of(
            call("get_order", {"order_id": "#W1234"}, {"street": "Oak"}),
            reply("I have found it. Unfortunately, I cannot change the address."),
            reply("Is there anything else?"),
        )

        assert told(report) == [
            (2, "incomplete_response", None, None),
            (4, "prior_action_failed", "omitted", 2),
        ]
        assert report.first_failure_turn == 2
        assert [turn.findings[0].confidence for turn in report.turns if turn.findings] == [0.8, 0.8]

    def test_a_refusal_of_something_else_explains_nothing(self):
        report = report_of(reply("I cannot give a discount."))

        assert told(report) == [(2, "action_mismatch", "omitted", None)]
        assert report.turns[-1].findings[0].confidence is None

    def test_it_is_the_fault_of_the_call_that_handed_over_instead(self):
        report = report_of(call("transfer_to_human", {"summary": "moves"}, "done", exchange=0))

        assert told(report) == [
            (1, "action_mismatch", "uninvited", None),
            (2, "prior_action_failed", "omitted", 1),
        ]

    def test_where_the_user_said_no_no_turn_is_its_root(self):
        report = report_of(
            reply("I can modify the address to Elm. Would you like me to proceed?"),
            reply("As you wish.", exchange=1),
            queries=("Can I still get it at Elm?", "Actually, no need. I will be at home."),
        )

        assert told(report) == [(3, "prior_action_failed", "users_choice", None)]
        assert (report.first_failure_turn, report.root_cause, report.root_cause_count) == (
            None,
            None,
            0,
        )

    def test_it_is_the_fault_of_the_own_write_that_barred_the_way(self):
        items = {"order_id": "#W1234", "items": ["9"]}
        report = report_of(
            call("modify_items", items, {"status": "locked"}),
            call("modify_address", MOVE.args, "Error: locked", error=True),
            reply("It is locked."),
            gold=(want("modify_items", items), MOVE),
        )

        assert told(report) == [
            (1, "action_mismatch", None, None),
            (4, "prior_action_failed", "omitted", 1),
        ]

    def test_what_was_asked_for_too_late_was_refused_where_it_was_tried(self):
        items = {"order_id": "#W1234", "items": ["9"]}
        report = report_of(
            call("modify_items", items, {"status": "locked"}),
            reply("Done."),
            call("modify_address", MOVE.args, "Error: locked", error=True, exchange=1),
            reply("It is locked.", exchange=1),
            gold=(want("modify_items", items), MOVE),
            queries=("Add 9 to #W1234.", "And change its address to Elm."),
        )

        assert told(report) == [
            (3, "action_mismatch", None, None),
            (5, "prior_action_failed", "omitted", 3),
        ]

    def test_what_the_tool_refuses_as_expected_nobody_could_have_done(self):
        report = report_of(
            call("modify_address", MOVE.args, "Error: no such order", error=True),
            reply("There is no such order."),
        )

        assert told(report) == []
        assert (report.turns[-1].verdict, report.turns[-1].why) == ("unscored", "unsure")


class TestUsersChoices:
    def test_a_wrong_value_that_the_user_asked_for_is_nobodys_root(self):
        cancel = want("cancel_order", {"order_id": "#W5678"})
        report = report_of(
            reply("Which one?"),
            call("cancel_order", {"order_id": "#W1234"}, "ok", exchange=1),
            gold=(cancel,),
            queries=("Cancel #W5678 or #W1234, the older one.", "The older one is #W1234."),
        )

        assert told(report) == [(2, "prior_action_failed", "users_choice", None)]

    def test_the_last_word_counts_and_only_between_values_of_one_form(self):
        said = ("cancel #w5678, or rather #w1234", "no, #w5678")

        assert not asked_for("#W5678", "#W1234", said)
        assert asked_for("#W1234", "#W5678", said)
        assert not asked_for("6500", "#W5678", said)
        assert not asked_for("#W9", "no", said)


class TestOutputs:
    ORDERS = call("get_order", {"order_id": "#W1234"}, {"a": "746342064230", "b": "194496721133"})

    def test_an_output_is_due_where_another_of_its_form_was_said(self):
        report = report_of(
            self.ORDERS,
            reply("Its number is 194496721133."),
            reply("Goodbye."),
            gold=(),
            required_outputs=("746342064230",),
        )

        assert told(report) == [
            (2, "inconsistent_response", None, None),
            (3, "prior_action_failed", None, 2),
        ]

    def test_a_value_that_the_user_had_named_is_no_answer_in_its_place(self):
        report = report_of(
            self.ORDERS,
            reply("You asked for 194496721133."),
            gold=(),
            required_outputs=("746342064230",),
            queries=("What is 194496721133?",),
        )

        assert told(report) == [(2, "incomplete_response", None, None)]

    def test_an_output_that_no_result_could_give_may_belong_elsewhere(self):
        report = report_of(
            call("get_order", {"order_id": "#W1234"}, {"total": 12.5}),
            reply("It costs $12.50."),
            gold=(),
            required_outputs=("918.43",),
        )

        assert told(report) == []
        assert (report.turns[-1].verdict, report.turns[-1].why) == ("unscored", "unsure")

    def test_it_is_due_with_the_call_that_would_have_given_it(self):
        report = report_of(
            call("get_order", {"order_id": "#W1234"}, {"total": 12.5}),
            reply("It costs $12.50."),
            required_outputs=("918.43",),
        )

        assert told(report) == [(3, "action_mismatch", "omitted", None)]
        assert [finding.expected for finding in report.turns[-1].findings] == [
            "modify_address",
            "918.43",
        ]

    def test_it_inherits_from_a_write_that_went_wrong_before(self):
        report = report_of(
            call("modify_address", {"order_id": "#W1234", "street": "Oak"}, {"total": 12.5}),
            reply("It costs $12.50."),
            required_outputs=("918.43",),
        )

        assert told(report) == [
            (1, "inconsistent_parameter_values", None, None),
            (2, "prior_action_failed", None, 1),
        ]

    def test_a_sum_of_what_the_results_gave_could_have_been_said(self):
        report = report_of(
            call("get_order", {"order_id": "#W1234"}, {"first": 12.5, "second": 30.25}),
            reply("I do not know."),
            gold=(),
            required_outputs=("42.75",),
        )

        assert told(report) == [(2, "incomplete_response", None, None)]


def test_entries_that_are_replaced_by_themselves_are_left_out():
    given = {"items": ["1", "2", "3"], "new_items": ["7", "2", "9"], "new_name": "x"}

    assert without_idle(given) == {"items": ["1", "3"], "new_items": ["7", "9"], "new_name": "x"}
    assert without_idle({"items": ["1"], "new_items": ["2", "3"]}) == {
        "items": ["1"],
        "new_items": ["2", "3"],
    }
