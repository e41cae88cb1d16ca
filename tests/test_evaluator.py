"""A conversation and its references in, a report out."""

from __future__ import annotations

import msgspec
import pytest
from evaluating import call, evaluated, listed, only, outcomes, paired, reply, say, talk, tool, want

from monitor.model import Usage
from monitor.scoring.composition import Gating
from monitor.verdict import Report


def test_the_five_turn_sales_report_gives_the_published_figures():
    conversation = talk(
        reply("Sure, which region would you like the report for?", exchange=0),
        call("reports.FilterData", {"metric": "profit", "region": "EU"}, exchange=1),
        call("reports.SortData", {"by": "profit", "descending": True}, exchange=2),
        call("charts.Draw", {"series": "profit", "kind": "bar"}, exchange=3),
        reply("Here is the EU profit report, as a bar chart.", exchange=4),
    )
    gold = paired(
        say("Which region should the report cover?"),
        want("reports.FilterData", {"metric": "revenue", "region": "EU"}, group="filter"),
        want("reports.SortData", {"by": "revenue", "descending": True}),
        want("charts.Draw", {"series": "revenue", "kind": "bar"}),
        say("Here is the EU revenue report, as a bar chart."),
    )

    report = evaluated(conversation, gold)

    assert (report.success_rate, report.test_pass) == (0.2, False)
    assert (report.first_failure_turn, report.root_cause) == (2, "inconsistent_parameter_values")
    assert (report.root_cause_count, report.cascading_count) == (1, 3)
    assert [v.failure_reason for v in report.turns[2:]] == ["prior_action_failed"] * 3
    assert [v.inherited_from for v in report.turns] == [None, None, 2, 2, 2]
    assert report.turns[1].field == "metric"


def test_a_wrong_document_summarised_well_is_inherited_and_an_invented_figure_is_not():
    wrong, right = (
        {"document": "Annual report 2021", "text": "Sales grew slowly in Asia."},
        {"document": "Annual report 2023", "text": "Sales fell sharply in Europe."},
    )
    conversation = talk(
        reply("Which year do you mean?", exchange=0),
        call("library.fetch", {"year": 2021}, wrong, exchange=1),
        reply("Sales grew slowly in Asia.", exchange=1),
        reply("Sales grew by 37% in Asia.", exchange=2),
    )
    gold = paired(
        say("Which year do you mean?"),
        want("library.fetch", {"year": 2023}, right),
        say("Sales fell sharply in Europe."),
        say("Sales fell by 12% in Europe."),
    )

    report = evaluated(conversation, gold)

    assert outcomes(report) == [
        "pass",
        "inconsistent_parameter_values",
        "prior_action_failed",
        "inconsistent_response",
    ]
    assert (report.root_cause_count, report.cascading_count) == (2, 1)
    assert report.first_failure_turn == 2


def test_a_conversation_held_against_itself_passes_with_full_score():
    conversation = talk(
        call("shop.find", {"name": "lamp", "limit": 3}, {"items": [{"id": 7}]}),
        call("shop.buy", {"item": 7, "note": None, "tags": []}, {"order": "W-1"}),
        reply("Done. Order: W-1; item: 7."),
    )
    gold = (
        want("shop.find", {"name": "lamp", "limit": 3}, {"items": [{"id": 7}]}),
        want("shop.buy", {"item": 7, "note": None, "tags": []}, {"order": "W-1"}),
        say("Done. Order: W-1; item: 7."),
    )

    for reference in (paired(*gold), listed(*gold), listed(*gold, ordered=False)):
        report = evaluated(conversation, reference)

        assert (report.success_rate, report.test_pass) == (1.0, True)
        assert (report.first_failure_turn, report.root_cause) == (None, None)
        scores = [score for verdict in report.turns for score in verdict.scores.values()]
        assert scores == [1.0] * len(scores)


def test_without_anything_to_hold_against_nothing_is_scored():
    report = evaluated(talk(call("shop.find", {"name": "lamp"}), reply("Here you are.")))

    assert [(v.verdict, v.why, v.basis) for v in report.turns] == [
        ("unscored", "no_reference", None)
    ] * 2
    assert (report.success_rate, report.test_pass, report.unscored_count) == (None, None, 2)
    assert (report.composition.score, report.composition.passed) == (None, None)


def test_an_empty_conversation_gives_an_empty_report():
    report = evaluated(talk())

    assert (report.turns, report.chain_length, report.success_rate) == ((), "0", None)


def test_a_chain_counts_the_calls_behind_each_reply():
    report = evaluated(
        talk(
            reply("Hello."),
            call("a.x", exchange=1),
            reply("One.", exchange=1),
            call("a.x", exchange=2),
            call("a.y", exchange=2),
            call("a.z", exchange=2, depth=1),
            reply("Two.", exchange=2),
            call("a.x", exchange=3),
            call("a.y", exchange=3),
            call("a.z", exchange=3),
        )
    )

    assert [v.chain for v in report.turns] == ["0", "1", "1", *["2"] * 4, *["3+"] * 3]
    assert report.chain_length == "3+"


def test_times_and_tokens_are_reported_as_far_as_they_are_known():
    timed = msgspec.structs.replace(reply("Hello."), start_ns=2_000_000_000, end_ns=3_500_000_000)
    report = evaluated(talk(timed, reply("Bye."), usage=Usage(10, None), model="m1"))

    assert (report.latency_s, report.started_s) == (1.5, 2.0)
    assert [v.latency_s for v in report.turns] == [1.5, None]
    assert (report.input_tokens, report.output_tokens, report.model) == (10, None, "m1")


def test_what_is_still_to_come_is_missing_only_once_the_conversation_is_closed():
    conversation = talk(call("shop.find", {"name": "lamp"}))
    gold = listed(
        want("shop.find", {"name": "lamp"}),
        want("shop.buy", {"item": 7}),
        say("Bought."),
        required_outputs=("42",),
    )

    assert outcomes(evaluated(conversation, gold, closed=False)) == ["pass"]
    report = evaluated(conversation, gold)
    assert outcomes(report) == ["pass", "action_mismatch", "incomplete_response"]
    assert [(v.detail, v.span_ids, v.turn_no) for v in report.turns[1:]] == [
        ("omitted", (), 2),
        ("omitted", (), 3),
    ]


def test_an_omitted_turn_keeps_its_identity_and_stands_where_it_was_due():
    gold = paired(want("a.x"), want("a.y"), want("a.z"), pairs=(0, 2))
    first = evaluated(talk(call("a.x"), call("a.z")), gold)

    assert [v.detail for v in first.turns] == [None, "omitted", None]
    assert [v.turn_no for v in first.turns] == [1, 2, 3]
    assert (
        first.turns[1].turn_id == evaluated(talk(call("a.x"), call("a.z")), gold).turns[1].turn_id
    )


def test_a_required_output_that_no_reply_states_is_blamed_on_the_last_reply():
    gold = listed(scope="writes", required_outputs=("1,250.50", "gold status"))
    said = talk(reply("It costs $1250.50."), reply("You have Gold status."))
    unsaid = talk(reply("It costs $250.50."), reply("You have gold status."))

    assert outcomes(evaluated(said, gold)) == ["unscored", "unscored"]
    report = evaluated(unsaid, gold)
    assert outcomes(report) == ["unscored", "incomplete_response"]
    assert report.turns[1].findings[0].expected == "1,250.50"


def test_a_required_output_cannot_be_missed_where_a_reply_was_not_captured():
    gold = listed(required_outputs=("42",))

    report = evaluated(talk(reply(None), reply("Hello.")), gold)

    assert [v.why for v in report.turns] == ["content_missing", "content_missing"]


def test_a_reference_that_does_not_speak_of_calls_leaves_them_to_their_contract():
    conversation = talk(call("shop.find", {"n": 1}), reply("7."))
    tools = [tool("shop.find", {"n": {"type": "integer"}}, ["n"])]
    silent = listed(required_outputs=("7",), tells_actions=False)

    assert outcomes(evaluated(conversation, silent)) == ["unscored", "unscored"]
    assert only_basis(evaluated(conversation, silent, tools=tools)) == ["contract"]
    assert outcomes(evaluated(conversation, listed())) == ["action_mismatch", "unscored"]


def only_basis(report: Report) -> list[str]:
    return [verdict.basis for verdict in report.turns if verdict.basis is not None]


def test_a_report_keeps_no_more_than_fifty_findings_of_a_turn_and_the_one_that_decides():
    extra = {f"k{number}": number for number in range(5_000)}
    tools = [tool("shop.find", {"n": {"type": "integer"}}, ["n"])]

    verdict = only(evaluated(talk(call("shop.find", {**extra, "n": 1})), tools=tools))
    assert (len(verdict.findings), verdict.failure_reason) == (50, "extra_parameters")
    # One required key of 5,001 looked at: 1/5001.
    assert verdict.scores["completeness"] == pytest.approx(1 / 5_001)

    # Gold tells 60 wrong values, contract order puts keys first; the reason stays among the kept.
    gold = paired(say(" ".join(f"Item {n}: {n * 7}." for n in range(60))))
    report = evaluated(talk(reply(" ".join(f"Item {n}: {n * 7 + 1}." for n in range(60)))), gold)
    assert len(report.turns[0].findings) == 50
    assert report.turns[0].failure_reason in {f.reason for f in report.turns[0].findings}


def test_what_was_not_captured_is_content_missing_before_it_lacks_a_reference():
    report = evaluated(talk(call("shop.find", None, state="absent"), reply(None), reply("Hello.")))

    assert [v.why for v in report.turns] == ["content_missing", "content_missing", "no_reference"]


def test_the_composition_and_critical_turns_follow_the_reference():
    gold = paired(want("bank.pay", {"amount": 5}, critical=True, weight=3.0), say("Paid."))

    report = evaluated(
        talk(call("bank.pay", {"amount": 50}), reply("Paid.")), gold, composition=Gating(0.1)
    )

    assert report.turns[0].critical
    assert report.composition.rule == "gating"
    assert report.composition.score == 0.1
    assert report.success_rate == 0.5


def test_the_same_conversation_gives_the_same_bytes():
    conversation = talk(
        call("shop.find", {"name": "lamp"}, {"id": 3}), reply("Lamp 3 costs 5."), queries=["A lamp"]
    )
    gold = paired(want("shop.find", {"name": "sofa"}, {"id": 4}), say("Sofa 4 costs 9."))

    def encoded() -> bytes:
        return msgspec.json.encode(evaluated(conversation, gold))

    assert encoded() == encoded()
    assert msgspec.json.decode(encoded(), type=Report).turns


def test_the_version_names_rules_and_comparator():
    assert evaluated(talk()).evaluator == "aem-4+table"


@pytest.mark.parametrize("pairs", [(), (0, 1, 2, 3), (7,)])
def test_pairs_that_do_not_fit_the_turns_are_read_as_far_as_they_go(pairs: tuple[int, ...]):
    report = evaluated(talk(call("a.x")), paired(want("a.x"), pairs=pairs))

    assert len(report.turns) in (1, 2)


def test_a_reply_that_answers_no_expected_one_is_unscored_and_a_read_falls_to_its_contract():
    tools = [tool("shop.find", {"name": {"type": "string"}}, ["name"], writes=False)]
    gold = listed(want("shop.buy", {"item": 7}), scope="writes", ordered=False)

    report = evaluated(
        talk(call("shop.find", {"name": "lamp"}), reply("Which?"), call("shop.buy", {"item": 7})),
        gold,
        tools=tools,
    )

    assert [(v.verdict, v.basis) for v in report.turns] == [
        ("pass", "contract"),
        ("unscored", None),
        ("pass", "gold"),
    ]
    assert only(evaluated(talk(reply("Hi.")), gold, closed=False)).why == "no_reference"


def test_a_surplus_statement_is_traced_by_its_value_not_by_what_it_is_about():
    due = {"messages": {"A3": ["busy", "hello moon"]}}
    given = {"messages": {"A3": ["busy", "farewell sun"]}}
    report = evaluated(
        talk(
            call("mail.send", {"to": "A3", "text": "farewell sun"}),
            call("mail.sent", {}, given),
            reply("messages A3: busy; messages A3: farewell sun."),
        ),
        paired(
            want("mail.send", {"to": "A3", "text": "hello moon"}),
            want("mail.sent", {}, due),
            say("messages A3: busy."),
        ),
    )

    assert outcomes(report) == [
        "inconsistent_parameter_values",
        "prior_action_failed",
        "prior_action_failed",
    ]


def test_a_call_is_not_missed_where_nothing_at_all_was_captured():
    expected = listed(want("find", {"a": 1}), say("Found."))
    report = evaluated(talk(reply(None), queries=["Find it"]), expected)
    assert [verdict.why for verdict in report.turns] == ["content_missing", "content_missing"]
    assert (report.success_rate, report.test_pass) == (None, None)
    # One call that was seen shows that calls are seen.
    seen = talk(call("look"), reply(None), queries=["Find it"])
    assert "action_mismatch" in outcomes(evaluated(seen, expected))
