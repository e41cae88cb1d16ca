"""Each of the eight reasons: a case in which it is given, and a near miss in which it is not."""

from __future__ import annotations

from typing import Any

import pytest
from evaluating import call, evaluated, listed, only, outcomes, paired, reply, say, talk, tool, want

from monitor.model import ActionTurn, ToolDefinition
from monitor.scoring.thresholds import Thresholds
from monitor.verdict import ExpectedAction, Report

BUY = tool(
    "shop.buy",
    {
        "item": {"type": "integer"},
        "count": {"type": "integer", "default": 1},
        "note": {"type": "string"},
        "gift": {"type": "boolean"},
    },
    ["item"],
)


def bought(
    gold: dict[str, Any],
    actual: dict[str, Any] | None,
    *,
    tools: tuple[ToolDefinition, ...] = (BUY,),
    name: str = "shop.buy",
    **more: Any,
) -> Report:
    """One call held against `shop.buy` with the gold arguments."""
    return evaluated(talk(call(name, actual)), paired(want("shop.buy", gold, **more)), tools=tools)


class TestToolMismatch:
    def test_another_tool_is_a_mismatch_even_with_perfect_arguments(self):
        verdict = only(bought({"item": 7}, {"item": 7}, name="store.buy"))

        assert (verdict.failure_reason, verdict.detail) == ("tool_mismatch", "replaced")
        assert verdict.scores == {"structural": 0.0}

    @pytest.mark.parametrize("name", ["buy", "shop.buy"])
    def test_a_tool_that_the_trace_does_not_tell_is_none(self, name: str):
        assert only(bought({"item": 7}, {"item": 7}, name=name, tools=())).verdict == "pass"

    def test_the_contract_tells_the_tool_of_a_flat_name(self):
        flat = ToolDefinition("buy", "store", "buy", {"type": "object"})

        assert outcomes(bought({}, {}, name="buy", tools=(flat,))) == ["tool_mismatch"]

    def test_a_reference_without_an_action_names_the_tool(self):
        gold = paired(want("shop.buy"), want("shop.buy"))
        bare = [ExpectedAction(action=None, tool_id="shop") for _ in gold.turns]

        report = evaluated(talk(call("shop.sell"), call("store.sell")), paired(*bare))

        assert outcomes(report) == ["pass", "tool_mismatch"]


class TestActionMismatch:
    @pytest.mark.parametrize("name", ["shop.sell", "sell"])
    def test_another_action_is_a_mismatch(self, name: str):
        verdict = only(bought({"item": 7}, {"item": 7}, name=name, tools=()))

        assert (verdict.failure_reason, verdict.detail) == ("action_mismatch", "replaced")

    def test_an_expected_call_that_was_never_made_is_omitted(self):
        report = evaluated(talk(), listed(want("shop.buy", {"item": 7})))

        assert (only(report).failure_reason, only(report).detail) == ("action_mismatch", "omitted")

    def test_a_call_that_nobody_asked_for_is_uninvited(self):
        report = evaluated(
            talk(call("shop.buy", {"item": 7}), call("shop.cancel", {"order": 1})),
            listed(want("shop.buy", {"item": 7}), ordered=False),
        )

        assert [v.detail for v in report.turns] == [None, "uninvited"]

    def test_a_read_is_not_uninvited_where_only_writes_are_listed(self):
        find = tool("shop.find", {"name": {"type": "string"}}, writes=False)
        gold = listed(want("shop.buy", {"item": 7}), scope="writes", ordered=False)

        report = evaluated(
            talk(call("shop.find", {"name": "x"}), call("shop.buy", {"item": 7})),
            gold,
            tools=[find, BUY],
        )

        assert outcomes(report) == ["pass", "pass"]

    def test_a_refused_write_is_none(self):
        cancel = tool("shop.cancel", {"order": {"type": "integer"}}, writes=True)
        gold = listed(scope="writes", ordered=False)

        refused = talk(call("shop.cancel", {"order": 1}, error=True))
        done = talk(call("shop.cancel", {"order": 1}))

        assert outcomes(evaluated(refused, gold, tools=[cancel])) == ["pass"]
        assert outcomes(evaluated(done, gold, tools=[cancel])) == ["action_mismatch"]

    def test_a_turn_without_gold_is_uninvited_only_where_the_reference_lists_all_writes(self):
        cancel = tool("shop.cancel", {"order": {"type": "integer"}}, writes=True)
        conversation = talk(call("shop.cancel", {"order": 1}))
        silent = paired(pairs=(None,))
        complete = silent.__class__("gold", match="pairs", pairs=(None,), scope="writes")

        assert only(evaluated(conversation, silent, tools=[cancel])).basis == "contract"
        assert only(evaluated(conversation, silent)).why == "no_reference"
        assert only(evaluated(conversation, complete, tools=[cancel])).detail == "uninvited"

    def test_a_retry_and_a_repeated_read_need_no_partner(self):
        conversation = talk(
            call("shop.find", {"name": "x"}, turn_id="1"),
            call("shop.find", {"name": "x"}, turn_id="2"),
            call("shop.buy", {"item": 9}, error=True, turn_id="3"),
            call("shop.buy", {"item": 7}, turn_id="4"),
        )

        report = evaluated(
            conversation, listed(want("shop.find", {"name": "x"}), want("shop.buy", {"item": 7}))
        )

        assert outcomes(report) == ["pass", "unscored", "unscored", "pass"]


class TestMissingParameters:
    def test_every_missing_key_is_named(self):
        report = bought({"item": 7, "note": "x"}, {}, tools=())

        assert only(report).failure_reason == "missing_parameters"
        assert [f.field for f in only(report).findings] == ["item", "note"]
        assert only(report).scores["completeness"] == 0.0

    def test_what_the_tool_does_not_require_is_not_missing(self):
        verdict = only(bought({"item": 7, "note": "x", "gift": True}, {"item": 7}))

        assert (verdict.verdict, verdict.scores["completeness"]) == ("pass", 1.0)

    def test_golds_own_list_counts_before_the_schema(self):
        gold = {"item": 7, "note": "x"}

        assert outcomes(bought(gold, {"item": 7}, required=("item", "note"))) == [
            "missing_parameters"
        ]
        assert outcomes(bought(gold, {"item": 7}, tools=(), optional=("note",))) == ["pass"]

    def test_a_default_that_is_left_out_is_not_missing(self):
        gold = {"item": 7, "count": 1}

        assert outcomes(bought(gold, {"item": 7}, required=("item", "count"))) == ["pass"]
        assert outcomes(
            bought({"item": 7, "count": 2}, {"item": 7}, required=("item", "count"))
        ) == ["missing_parameters"]


class TestExtraParameters:
    def test_a_key_that_nobody_declared_is_extra(self):
        for tools in ((), (BUY,)):
            verdict = only(bought({"item": 7}, {"item": 7, "force": True}, tools=tools))

            assert (verdict.failure_reason, verdict.field) == ("extra_parameters", "force")
            assert verdict.scores["completeness"] == 0.5

    def test_a_declared_key_that_gold_does_not_use_is_allowed(self):
        assert outcomes(bought({"item": 7}, {"item": 7, "note": "x", "count": 1})) == ["pass"]

    def test_a_schema_that_opens_itself_takes_any_key(self):
        for more in (True, {"type": "string"}):
            free = tool("shop.buy", {"item": {}}, ["item"], additionalProperties=more)

            assert outcomes(bought({"item": 7}, {"item": 7, "x": "y"}, tools=(free,))) == ["pass"]

    def test_nested_objects_are_open(self):
        gold = {"item": {"id": 7}}

        assert outcomes(bought(gold, {"item": {"id": 7, "price": 3}}, tools=())) == ["pass"]


class TestInconsistentParameterValues:
    def test_the_field_is_named_with_both_values_and_its_score(self):
        finding = only(
            evaluated(
                talk(call("reports.filter", {"metric": "profit"})),
                paired(want("reports.filter", {"metric": "revenue"})),
                similar={("revenue", "profit"): 0.4},
            )
        ).findings[0]

        assert (finding.reason, finding.field) == ("inconsistent_parameter_values", "metric")
        assert (finding.expected, finding.actual, finding.score) == ("revenue", "profit", 0.4)

    def test_a_nested_value_has_a_dotted_path(self):
        gold = {"legs": [{"from": "JFK", "day": 1}, {"from": "SFO", "day": 2}]}
        actual = {"legs": [{"from": "JFK", "day": 1}, {"from": "LAX", "day": 2}]}

        assert only(bought(gold, actual, tools=())).field == "legs.1.from"

    def test_lists_that_belong_together_keep_their_pairs(self):
        gold = {"item_ids": ["a", "b"], "new_item_ids": ["x", "y"]}
        similar = {("['a', 'b']", "['b', 'a']"): 1.0, ("['x', 'y']", "['y', 'x']"): 1.0}

        def outcome(item_ids: list[str], new_item_ids: list[str]) -> list[str]:
            actual = {"item_ids": item_ids, "new_item_ids": new_item_ids}
            return outcomes(
                evaluated(
                    talk(call("shop.swap", actual)),
                    paired(want("shop.swap", gold)),
                    similar=similar,
                )
            )

        assert outcome(["b", "a"], ["y", "x"]) == ["pass"]
        assert outcome(["b", "a"], ["x", "y"]) == ["inconsistent_parameter_values"]

    def test_objects_may_come_in_another_order_where_the_comparator_says_so(self):
        gold, actual = [{"n": 1}, {"n": 2}], [{"n": 2}, {"n": 1}]

        def outcome(similar: dict[tuple[str, str], float | None]) -> list[str]:
            return outcomes(
                evaluated(
                    talk(call("a.x", {"rows": actual})),
                    paired(want("a.x", {"rows": gold})),
                    similar=similar,
                )
            )

        assert outcome({(str(gold), str(actual)): 1.0}) == ["pass"]
        assert outcome({}) == ["inconsistent_parameter_values"]

    def test_the_same_meaning_passes(self):
        for actual in ({"item": 7.0}, {"item": 7, "gift": True}):
            assert outcomes(bought({"item": 7}, actual)) == ["pass"]
        report = evaluated(
            talk(call("trips.book", {"to": "NYC"})),
            paired(want("trips.book", {"to": "New York City"})),
            similar={("NYC", "New York City"): 0.9},
        )
        assert (outcomes(report), only(report).scores["truthfulness"]) == (["pass"], 0.9)

    def test_the_threshold_turns_a_score_into_a_verdict(self):
        def at(thresholds: Thresholds) -> list[str]:
            return outcomes(
                evaluated(
                    talk(call("trips.book", {"to": "York"})),
                    paired(want("trips.book", {"to": "New York"})),
                    similar={("York", "New York"): 0.6},
                    thresholds=thresholds,
                )
            )

        wrong = ["inconsistent_parameter_values"]
        assert at(Thresholds()) == ["pass"]
        assert at(Thresholds(default=0.7)) == wrong
        assert at(Thresholds(sub_metrics={"truthfulness": 0.7})) == wrong
        assert at(Thresholds(tools={"book": 0.7})) == wrong
        assert at(Thresholds(tools={"trips.book": 0.7}, fields={"to": 0.6})) == ["pass"]
        assert at(Thresholds(fields={"to": 0.1, "trips.book:to": 0.7})) == wrong

    def test_another_accepted_argument_object_passes(self):
        accepted = bought({"item": 7}, {"item": 9}, variants=({"item": 8}, {"item": 9}))

        assert outcomes(accepted) == ["pass"]

    def test_what_cannot_be_compared_is_unsure_and_no_failure(self):
        gold = paired(want("notes.add", {"text": "a b", "kind": "x"}))
        similar = {("a b", "c d"): None}

        open_only = evaluated(
            talk(call("notes.add", {"text": "c d", "kind": "x"})), gold, similar=similar
        )
        also_wrong = evaluated(
            talk(call("notes.add", {"text": "c d", "kind": "y"})), gold, similar=similar
        )

        assert (only(open_only).verdict, only(open_only).why) == ("unscored", "unsure")
        assert outcomes(also_wrong) == ["inconsistent_parameter_values"]


class TestIncompleteResponse:
    def test_a_part_that_is_left_out_is_missed(self):
        report = evaluated(
            talk(reply("Done. Order: W-1.")), paired(say("Done. Order: W-1; total: 54.04."))
        )

        assert only(report).failure_reason == "incomplete_response"
        assert only(report).findings[0].expected == "total: 54.04."
        assert only(report).scores["completeness"] == 0.5

    def test_another_order_and_other_wording_leave_nothing_out(self):
        report = evaluated(
            talk(reply("All set! The total is 54.04, the order is W-1.")),
            paired(say("Done. Order: W-1; total: 54.04.")),
        )

        assert outcomes(report) == ["pass"]


class TestInconsistentResponse:
    @pytest.mark.parametrize("wrong", ["Total: 54.05.", "Total: unavailable.", "Total: 45.04."])
    def test_a_changed_value_departs_from_gold(self, wrong: str):
        report = evaluated(
            talk(reply(f"Done. Order: W-1; {wrong}")),
            paired(say("Done. Order: W-1; total: 54.04.")),
        )

        assert outcomes(report) == ["inconsistent_response"]
        assert only(report).scores["completeness"] == 1.0

    @pytest.mark.parametrize(
        "same",
        ["Done. Order: W-1; total: $1,054.00.", "Your order is W-1. The total is 1054!"],
    )
    def test_another_spelling_of_the_value_agrees(self, same: str):
        report = evaluated(talk(reply(same)), paired(say("Done. Order: W-1; total: 1054.")))

        assert outcomes(report) == ["pass"]

    def test_a_denied_statement_departs(self):
        report = evaluated(
            talk(reply("Your order cannot be cancelled.")),
            paired(say("Your order can be cancelled.")),
        )

        assert outcomes(report) == ["inconsistent_response"]

    def test_a_variant_of_the_reply_is_as_good(self):
        gold = paired(say("Total: 5.", variants=("Total: 6.",)))

        assert outcomes(evaluated(talk(reply("Total: 6.")), gold)) == ["pass"]

    def test_a_reply_that_was_not_captured_is_unscored(self):
        assert only(evaluated(talk(reply(None)), paired(say("Hi.")))).why == "content_missing"


class TestContentMissing:
    @pytest.mark.parametrize(
        ("state", "why"),
        [("absent", "content_missing"), ("raw", "content_missing"), ("truncated", "truncated")],
    )
    def test_arguments_that_were_not_captured_are_never_wrong(self, state: str, why: str):
        turn: ActionTurn = call("shop.buy", {"item": "??"}, state=state)

        for reference in (None, paired(want("shop.buy", {"item": 7}))):
            verdict = only(evaluated(talk(turn), reference, tools=[BUY]))
            assert (verdict.verdict, verdict.why) == ("unscored", why)

    def test_a_wrong_tool_is_seen_without_arguments(self):
        turn = call("store.buy", {}, state="absent")

        assert outcomes(evaluated(talk(turn), paired(want("shop.buy")))) == ["tool_mismatch"]


class TestReportedReason:
    def test_of_several_findings_the_first_in_the_public_order_is_reported(self):
        verdict = only(
            bought({"item": 7, "note": "a"}, {"note": "b", "force": 1}, required=("item",))
        )

        assert verdict.failure_reason == "missing_parameters"
        assert [f.reason for f in verdict.findings] == [
            "missing_parameters",
            "extra_parameters",
            "inconsistent_parameter_values",
        ]

    def test_gold_overrules_the_contract(self):
        # The contract wants a whole number; the annotator accepted text.
        assert outcomes(bought({"item": "seven"}, {"item": "seven"})) == ["pass"]
