"""Root or inherited, by dependency and never by position."""

from __future__ import annotations

from typing import Any

import pytest
from evaluating import call, evaluated, listed, outcomes, paired, reply, say, talk, tool, want
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import Turn
from monitor.verdict import ExpectedTurn, Report

WRONG = "inconsistent_parameter_values"
INHERITED = "prior_action_failed"


def test_a_value_taken_from_a_failed_turns_result_is_inherited():
    report = evaluated(
        talk(
            call("crm.find", {"name": "Ann"}, {"id": "C-77", "name": "Ann"}),
            call("crm.open", {"id": "C-77"}),
        ),
        paired(
            want("crm.find", {"name": "Bob"}, {"id": "C-12", "name": "Bob"}),
            want("crm.open", {"id": "C-12"}),
        ),
    )

    assert outcomes(report) == [WRONG, INHERITED]
    assert report.turns[1].inherited_from == 1
    assert report.turns[1].field == "id"


def test_a_wrong_value_from_nowhere_is_another_root():
    report = evaluated(
        talk(
            call("crm.find", {"name": "Ann"}, {"id": "C-77"}),
            call("crm.open", {"id": "C-99"}),
        ),
        paired(want("crm.find", {"name": "Bob"}, {"id": "C-12"}), want("crm.open", {"id": "C-12"})),
    )

    assert outcomes(report) == [WRONG, WRONG]
    assert (report.root_cause_count, report.turns[1].inherited_from) == (2, None)


def test_the_same_wrong_value_carried_on_is_inherited():
    report = evaluated(
        talk(call("a.x", {"metric": "profit"}), call("b.y", {"sort": {"by": "profit"}})),
        paired(want("a.x", {"metric": "revenue"}), want("b.y", {"sort": {"by": "revenue"}})),
    )

    assert outcomes(report) == [WRONG, INHERITED]


def test_own_faults_beside_inherited_ones_make_a_root_that_notes_the_inheritance():
    report = evaluated(
        talk(
            call("crm.find", {"name": "Ann"}, {"id": "C-77"}),
            call("crm.pay", {"id": "C-77", "amount": 900}),
        ),
        paired(
            want("crm.find", {"name": "Bob"}, {"id": "C-12"}),
            want("crm.pay", {"id": "C-12", "amount": 9}),
        ),
    )

    second = report.turns[1]
    assert (second.failure_reason, second.field, second.inherited_from) == (WRONG, "amount", 1)
    assert [finding.field for finding in second.findings] == ["amount"]


def test_a_failure_after_a_root_without_any_dependency_is_a_root_even_if_it_comes_last():
    report = evaluated(
        talk(call("a.x", {"city": "Rome"}), call("b.y", {"day": "Monday"})),
        paired(want("a.x", {"city": "Oslo"}), want("b.y", {"day": "Friday"})),
    )

    assert (report.root_cause_count, report.cascading_count) == (2, 0)


def test_state_that_a_failed_write_left_behind_is_inherited():
    conversation = talk(
        call("files.create", {"name": "a.txt"}, {"ok": True}),
        call("files.cat", {"name": "b.txt"}, {"error": "no such file"}, error=True),
        call("mail.inbox", {}, {"unread": 3}),
    )
    gold = paired(
        want("files.create", {"name": "b.txt"}, {"ok": True}),
        want("files.cat", {"name": "b.txt"}, {"text": "hello"}),
        want("mail.inbox", {}, {"unread": 2}),
    )

    report = evaluated(conversation, gold)

    # The mailbox is another tool's state: nobody's fault.
    assert outcomes(report) == [WRONG, INHERITED, "pass"]
    assert report.turns[1].detail == "result_differs"
    assert report.turns[1].inherited_from == 1


def test_a_failed_read_leaves_no_state_behind():
    gold = paired(
        want("files.cat", {"name": "a"}, {"text": "A"}), want("files.size", {}, {"bytes": 1})
    )
    conversation = talk(
        call("files.cat", {"name": "b"}, {"text": "B"}), call("files.size", {}, {"bytes": 2})
    )

    assert outcomes(evaluated(conversation, gold)) == [WRONG, "pass"]
    writing = [tool("files.cat", {"name": {}}, writes=True)]
    assert outcomes(evaluated(conversation, gold, tools=writing)) == [WRONG, INHERITED]


def test_a_result_that_differs_with_nothing_failed_before_is_no_failure():
    report = evaluated(
        talk(
            call("shop.order", {"item": 1}, {"order": "W-900"}),
            call("shop.track", {"order": "W-900"}),
            reply("Your order is W-900."),
        ),
        paired(
            want("shop.order", {"item": 1}, {"order": "W-100"}),
            want("shop.track", {"order": "W-100"}),
            say("Your order is W-100."),
        ),
    )

    assert outcomes(report) == ["pass", "pass", "pass"]


@pytest.mark.parametrize(
    ("due", "given_result"),
    [("null", None), ('{"a": 1}', {"a": 1.0}), ('"done"', "done"), ("7", 7)],
)
def test_a_result_as_json_text_is_the_same_result(due: object, given_result: object):
    report = evaluated(
        talk(call("a.set", {"k": 2}, 1), call("a.use", {}, given_result)),
        paired(want("a.set", {"k": 1}, 1), want("a.use", {}, due)),
    )

    assert outcomes(report) == [WRONG, "pass"]


def test_an_error_alone_is_no_failure_of_the_contract():
    tools = [tool("shop.order", {"item": {"type": "integer"}}, ["item"])]

    report = evaluated(
        talk(call("shop.order", {"item": 1}, {"error": "sold out"}, error=True)), tools=tools
    )

    assert outcomes(report) == ["pass"]


def test_a_declared_dependency_explains_what_cannot_be_traced():
    gold = paired(want("a.x", {"k": 1}), want("b.y", {"v": "right"}, depends_on=(1,)), pairs=(0, 1))
    conversation = talk(call("a.x", {"k": 2}), call("b.y", {"v": "other"}))

    assert outcomes(evaluated(conversation, gold)) == [WRONG, INHERITED]
    # The dependency did not fail, so it explains nothing.
    right = talk(call("a.x", {"k": 1}), call("b.y", {"v": "other"}))
    assert outcomes(evaluated(right, gold)) == ["pass", WRONG]


def test_an_omitted_call_starts_a_chain():
    report = evaluated(
        talk(
            call("files.cat", {"name": "b"}, {"error": "none"}, error=True), reply("Error: none.")
        ),
        paired(
            want("files.create", {"name": "b"}, None),
            want("files.cat", {"name": "b"}, {"text": "hello"}),
            say("Text: hello."),
            pairs=(1, 2),
        ),
    )

    assert outcomes(report) == ["action_mismatch", INHERITED, INHERITED]
    assert [v.inherited_from for v in report.turns] == [None, 1, 1]


def test_inheritance_names_the_earliest_root_along_the_chain():
    report = evaluated(
        talk(
            call("a.x", {"q": "u"}, {"id": "X1"}),
            call("b.y", {"id": "X1"}, {"code": "Y1"}),
            call("c.z", {"code": "Y1"}),
        ),
        paired(
            want("a.x", {"q": "v"}, {"id": "X2"}),
            want("b.y", {"id": "X2"}, {"code": "Y2"}),
            want("c.z", {"code": "Y2"}),
        ),
    )

    assert outcomes(report) == [WRONG, INHERITED, INHERITED]
    assert report.turns[2].inherited_from == 1


def test_a_failed_call_that_was_retried_with_success_passes_nothing_on():
    def report(second: Turn) -> Report:
        return evaluated(
            talk(
                call("files.create", {"nam": "b"}, {"error": "bad"}, error=True, turn_id="1"),
                second,
                call("files.cat", {"name": "b"}, {"text": "?"}),
            ),
            paired(
                want("files.create", {"name": "b"}, {"ok": 1}),
                want("files.cat", {"name": "b"}, {"text": "hello"}),
                pairs=(0, None, 1),
            ),
        )

    assert outcomes(report(call("files.create", {"name": "b"}, {"ok": 1})))[2] == "pass"
    assert outcomes(report(call("files.create", {"name": "c"}, {"ok": 1})))[2] == INHERITED


def test_an_unscored_turn_makes_no_cascade():
    report = evaluated(
        talk(
            call("crm.find", {"name": "Ann"}, {"id": "C-77"}, state="absent"),
            call("crm.open", {"id": "C-77"}),
        ),
        paired(want("crm.find", {"name": "Bob"}, {"id": "C-12"}), want("crm.open", {"id": "C-12"})),
    )

    assert outcomes(report) == ["unscored", WRONG]


def test_a_value_that_the_user_gave_is_not_traced_to_a_call_of_unknown_expectation():
    conversation = talk(
        call("shop.find", {"q": "b"}, {"items": ["I-5", "I-6"]}),
        call("shop.buy", {"item": "I-6"}),
        queries=["Buy me I-6 or I-5"],
    )
    gold = paired(want("shop.find", {"q": "a"}), want("shop.buy", {"item": "I-5"}))

    assert outcomes(evaluated(conversation, gold)) == [WRONG, WRONG]


class TestReplies:
    """A reply inherits when all that departs in it came from failed turns."""

    FAILED = call("bank.balance", {"account": "A2"}, {"balance": 71, "currency": "EUR"})
    EXPECTED = want("bank.balance", {"account": "A1"}, {"balance": 15, "currency": "EUR"})
    GOOD = call("bank.owner", {"account": "A1"}, {"owner": "Ann"})
    OWNER = want("bank.owner", {"account": "A1"}, {"owner": "Ann"})

    def outcome(self, gold: str, actual: str) -> str:
        report = evaluated(
            talk(self.GOOD, self.FAILED, reply(actual)),
            paired(self.OWNER, self.EXPECTED, say(gold)),
        )
        assert outcomes(report)[:2] == ["pass", WRONG]
        return outcomes(report)[2]

    def test_repeating_a_wrong_result_is_inherited(self):
        assert self.outcome("Owner: Ann; balance: 15.", "Owner: Ann; balance: 71.") == INHERITED

    def test_leaving_out_what_a_failed_call_should_have_told_is_inherited(self):
        assert self.outcome("Owner: Ann; balance: 15.", "Owner: Ann.") == INHERITED

    def test_leaving_out_what_a_good_call_told_is_its_own_fault(self):
        found = self.outcome("Owner: Ann; balance: 15.", "Balance: 71.")

        assert found == "incomplete_response"

    def test_inventing_on_top_is_its_own_fault(self):
        found = self.outcome("Owner: Ann; balance: 15.", "Owner: Ann; balance: 99.")

        assert found == "inconsistent_response"

    def test_adding_a_failed_calls_words_is_inherited(self):
        found = self.outcome("Owner: Ann.", "Owner: Ann; balance: 71.")

        assert found == INHERITED

    def test_an_added_figure_from_nowhere_is_its_own_fault(self):
        gold = paired(self.OWNER, say("Owner: Ann."))

        invented = talk(self.GOOD, reply("Owner: Ann; limit: 4000."))
        known = talk(self.GOOD, reply("Owner: Ann; account: A1."))

        assert outcomes(evaluated(invented, gold)) == ["pass", "inconsistent_response"]
        assert outcomes(evaluated(known, gold)) == ["pass", "pass"]

    def test_telling_the_failure_instead_of_success_is_inherited(self):
        report = evaluated(
            talk(
                call("shop.buy", {"item": 9}, {"error": "sold out"}, error=True),
                reply("I could not buy it: sold out."),
            ),
            paired(want("shop.buy", {"item": 7}, {"ok": True}), say("The lamp is yours.")),
        )

        assert outcomes(report) == [WRONG, INHERITED]

    def test_a_missing_required_output_is_never_inherited(self):
        gold = listed(
            want("shop.buy", {"item": 7}),
            scope="writes",
            required_outputs=("54.04",),
            ordered=False,
        )

        report = evaluated(talk(call("shop.buy", {"item": 9}), reply("Bought.")), gold)

        assert outcomes(report) == [WRONG, "incomplete_response"]


VALUES = st.sampled_from(["u", "vv", "www", "x1"])
STEP = st.tuples(st.sampled_from(["a.get", "a.set", "b.put"]), VALUES, VALUES, VALUES, VALUES)


def _conversation(steps: list[tuple[str, str, str, str, str]]) -> tuple[list[Turn], list[Any]]:
    turns: list[Turn] = []
    gold: list[ExpectedTurn] = []
    for number, (name, due, given_value, due_result, result) in enumerate(steps):
        turns.append(call(name, {"k": given_value}, {"r": result}, turn_id=f"t{number}"))
        gold.append(want(name, {"k": due}, {"r": due_result}))
    return turns, gold


@given(st.lists(STEP, min_size=1, max_size=8), st.booleans())
def test_every_cascade_names_an_earlier_root_and_scores_stay_in_range(
    steps: list[tuple[str, str, str, str, str]], in_pairs: bool
):
    turns, gold = _conversation(steps)

    report = evaluated(talk(*turns), paired(*gold) if in_pairs else listed(*gold))

    by_no = {verdict.turn_no: verdict for verdict in report.turns}
    for verdict in report.turns:
        assert all(0.0 <= score <= 1.0 for score in verdict.scores.values())
        if verdict.is_inherited:
            assert verdict.inherited_from is not None
            assert verdict.inherited_from < verdict.turn_no
            assert by_no[verdict.inherited_from].is_root
    assert report.root_cause_count + report.cascading_count == sum(
        verdict.verdict == "fail" for verdict in report.turns
    )
    assert [verdict.turn_no for verdict in report.turns] == list(range(1, len(report.turns) + 1))


@pytest.mark.parametrize("length", [1, 2, 5])
def test_removing_the_roots_failure_removes_exactly_its_cascades(length: int):
    def chain(start: str, value: str, wrong: bool) -> tuple[list[Turn], list[ExpectedTurn]]:
        bad = f"{value}-bad" if wrong else value
        turns: list[Turn] = [call(f"{start}.open", {"v": bad}, {"id": bad})]
        gold: list[ExpectedTurn] = [want(f"{start}.open", {"v": value}, {"id": value})]
        for number in range(length):
            turns.append(call(f"{start}.use{number}", {"id": bad}, {"id": bad}))
            gold.append(want(f"{start}.use{number}", {"id": value}, {"id": value}))
        return turns, gold

    def report(first_wrong: bool) -> Report:
        one, one_gold = chain("a", "first", first_wrong)
        other, other_gold = chain("b", "second", True)
        return evaluated(talk(*one, *other), paired(*one_gold, *other_gold))

    both, mended = report(True), report(False)

    assert (both.root_cause_count, both.cascading_count) == (2, 2 * length)
    assert (mended.root_cause_count, mended.cascading_count) == (1, length)
    assert outcomes(mended)[: length + 1] == ["pass"] * (length + 1)
    assert outcomes(mended)[length + 1 :] == outcomes(both)[length + 1 :]


def test_a_reply_right_behind_a_failed_call_of_unknown_output_is_not_blamed_for_it():
    gold = paired(
        want("kb.find", {"doc": "new"}),
        say("Returns take 30 days."),
        say("Most returns are quick."),
    )
    conversation = talk(
        call("kb.find", {"doc": "old"}),
        reply("Returns take 14 days."),
        reply("93% of returns are quick."),
    )

    # The last reply has no call behind it: its figure comes from nowhere.
    assert outcomes(evaluated(conversation, gold)) == [WRONG, INHERITED, "inconsistent_response"]


def test_surroundings_that_changed_excuse_only_what_they_took_away():
    due, now = {"rooms": ["R-1", "R-2"]}, {"rooms": ["R-2", "R-3"]}
    gold = (want("hotel.rooms", {}, due), want("hotel.book", {"room": "R-1"}))
    still_there = (want("hotel.rooms", {}, due), want("hotel.book", {"room": "R-2"}))
    conversation = talk(call("hotel.rooms", {}, now), call("hotel.book", {"room": "R-3"}))

    assert outcomes(evaluated(conversation, paired(*gold))) == ["pass", "pass"]
    assert outcomes(evaluated(conversation, paired(*still_there))) == ["pass", WRONG]
