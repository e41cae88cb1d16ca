"""Replies held against expected replies, claim by claim."""

from __future__ import annotations

from typing import Any

import pytest
from evaluating import TableComparator
from hypothesis import given
from hypothesis import strategies as st

from monitor.scoring.claims import keyed, matched_claims
from monitor.scoring.judged import Judged
from monitor.scoring.literals import Literals
from monitor.scoring.outputs import unsaid
from monitor.scoring.replies import ReplyJudge
from monitor.scoring.thresholds import Thresholds
from monitor.scoring.words import is_typed, normalised, tokens
from monitor.verdict import ExpectedResponse


def judged(
    gold: str, actual: str, similar: dict[tuple[str, str], float | None] | None = None
) -> Judged:
    return ReplyJudge(TableComparator(similar), Thresholds()).judge(ExpectedResponse(gold), actual)


def reasons(*texts: str, similar: dict[tuple[str, str], float | None] | None = None) -> list[str]:
    gold, actual = texts
    return [finding.reason for finding in judged(gold, actual, similar).findings]


SAME = [
    ("Which region should the report cover?", "Sure, which region would you like the report for?"),
    ("Done. count: 3; type: lines.", "All set! the type is lines, the count is 3."),
    ("Total: 1000.", "The total is $1,000.00!"),
    ("It is due on 2024-05-21.", "It's due on May 21, 2024."),
    ("It starts at 3 PM.", "It starts at 15:00."),
    ("You have five items.", "You have 5 items."),
    ("The capital of France is Paris.", "Paris is the capital of France."),
    ("Order: W-1\n- item: lamp\n- total: 5", "- total: 5\n- order: W-1\n- item: lamp"),
    ("Hello! How can I help you today?", "Hi there, what can I do for you?"),
    ("Count: 3. Type: lines.", "The count is 3 and the type is lines."),
]


@pytest.mark.parametrize(("gold", "actual"), SAME)
def test_the_same_statements_pass_in_any_order_and_spelling(gold: str, actual: str):
    assert reasons(gold, actual) == []
    assert judged(gold, actual).why is None


CHANGED = [
    ("The flight HAT1 costs 300.", "The flight HAT2 costs 300."),
    ("The flight costs 300.", "The flight costs 3000."),
    ("Your order can be cancelled.", "Your order can't be cancelled."),
    ("Here is the EU revenue report.", "Here is the EU profit report."),
    ("The train goes from Rome to Oslo.", "The train goes from Oslo to Rome."),
    ("Power: on.", "Power: off."),
    ("State: open.", "State: unavailable."),
    ("Mail went to a@b.co.", "Mail went to c@b.co."),
    ("Revenue: 5 million.", "Profit: 5 million."),
]


@pytest.mark.parametrize(("gold", "actual"), CHANGED)
def test_a_changed_statement_is_inconsistent(gold: str, actual: str):
    assert reasons(gold, actual) == ["inconsistent_response"]


LEFT_OUT = [
    ("Order W-1 is cancelled. The refund is 54.04.", "Order W-1 is cancelled."),
    ("count: 3; type: lines; count: 16.", "count: 3; type: lines."),
    ("Choose economy, business or first.", "Choose economy or business."),
    ("The refund of 54.04 arrives on 2024-05-21.", "The refund of 54.04 arrives."),
]


@pytest.mark.parametrize(("gold", "actual"), LEFT_OUT)
def test_a_statement_that_is_left_out_is_incomplete(gold: str, actual: str):
    assert reasons(gold, actual) == ["incomplete_response"]


def test_a_changed_claim_is_paired_with_the_claim_it_replaces():
    (finding,) = judged(
        "count: 3; type: lines; count: 16.", "count: 3; type: lines; count: 61."
    ).findings

    assert (finding.expected, finding.actual) == ("count: 16.", "count: 61.")


def test_a_value_of_several_sentences_that_was_replaced_is_one_change():
    found = reasons("Text: All is well. Nobody called; size: 3.", "Text: unavailable; size: 3.")

    assert found == ["inconsistent_response"]


def test_meaning_decides_where_the_words_do_not():
    gold, actual = "We ship abroad.", "International delivery exists."
    wording: dict[tuple[str, str], float | None] = {
        ("We ship abroad.", "International delivery exists."): 0.8
    }

    assert reasons(gold, actual, similar=wording) == []
    assert judged(gold, actual).why == "unsure"
    assert reasons(gold, "") == ["incomplete_response"]


def test_a_quoted_text_is_not_said_in_other_words():
    similar: dict[tuple[str, str], float | None] = {("dawn", "sunrise"): 0.9}
    gold, actual = (
        "The note says 'leave at dawn' to all.",
        "The note says 'leave at sunrise' to all.",
    )

    found = judged(gold, actual, similar)
    assert (found.findings, found.why) == ((), "unsure")
    # Without the quotes it is a matter of meaning.
    assert judged(gold.replace("'", ""), actual.replace("'", ""), similar).why is None
    # Words that carry nothing elsewhere count where they are quoted.
    assert reasons("The file says 'Hello World'.", "The file says 'Hi World'.") == [
        "inconsistent_response"
    ]
    assert reasons("The note 'at noon' was sent.", "I sent the note 'At noon'.") == []


def test_a_result_that_gave_way_to_another_result_is_inconsistent_however_similar():
    similar: dict[tuple[str, str], float | None] = {("Hello World", "Hi World"): 0.9}
    gold, actual = "Done. content: Hello World.", "Done. content: Hi World."

    def findings(due: Any, given: Any) -> list[str]:
        judge = ReplyJudge(TableComparator(similar), Thresholds())
        found = judge.judge(ExpectedResponse(gold), actual, Literals([due], [given]))
        return [finding.reason for finding in found.findings]

    assert findings({"content": "Hello World!"}, '{"content": "Hi World!"}') == [
        "inconsistent_response"
    ]
    # Both calls gave both texts, or neither text is a result: the reply chose its words.
    assert findings(["Hello World!", "Hi World!"], ["Hello World!", "Hi World!"]) == []
    assert findings({"content": "Hello World!"}, {"content": "other"}) == []
    assert findings(None, None) == []


@pytest.mark.parametrize(
    ("gold", "actual", "found"),
    [
        ("It costs 12 euros.", "The price is 12 euros.", ([], "unsure")),
        ("The total is 12 euros.", "It comes to 12 euros.", ([], "unsure")),
        ("It costs 12 euros.", "The price is 13 euros.", (["inconsistent_response"], None)),
        ("The refund is 12 euros.", "The fee is 12 euros.", (["inconsistent_response"], None)),
        ("Order 55 was cancelled.", "Order 55 was shipped.", (["inconsistent_response"], None)),
    ],
)
def test_sentences_of_different_build_with_the_same_values_are_left_open(
    gold: str, actual: str, found: tuple[list[str], str | None]
):
    assert (reasons(gold, actual), judged(gold, actual).why) == found


def test_a_comparison_that_stays_open_is_no_finding():
    found = judged("State: open.", "State: ajar.", {("open", "ajar"): None})

    assert (found.findings, found.why) == ((), "unsure")


def test_scores_tell_how_much_was_said_and_how_much_of_it_was_right():
    found = judged("a1: 1; b1: 2; c1: 3; d1: 4.", "a1: 1; b1: 2; c1: 9.")

    assert found.scores == {"completeness": 0.75, "truthfulness": pytest.approx(2 / 3)}


def test_the_bar_for_statements_is_settable():
    similar: dict[tuple[str, str], float | None] = {("open", "ajar"): 0.6}
    strict = ReplyJudge(TableComparator(similar), Thresholds(sub_metrics={"truthfulness": 0.7}))

    assert reasons("State: open.", "State: ajar.", similar=similar) == []
    assert strict.judge(ExpectedResponse("State: open."), "State: ajar.").findings


@given(st.text(max_size=200))
def test_any_text_agrees_with_itself(text: str):
    assert judged(text, text).findings == ()


@given(st.text(max_size=120), st.text(max_size=120))
def test_any_two_texts_are_judged_within_range(gold: str, actual: str):
    found = judged(gold, actual)

    assert all(0.0 <= score <= 1.0 for score in found.scores.values())


@given(st.permutations(["count: 3", "type: lines", "count: 16", "owner: Ann", "mail: a@b.co"]))
def test_claims_may_come_in_any_order(parts: list[str]):
    gold = "count: 3; type: lines; count: 16; owner: Ann; mail: a@b.co"

    assert reasons(f"Done. {gold}.", f"Done. {'; '.join(parts)}.") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Done, the 3 items cost $1,000.50!", ("3", "items", "cost", "1000.5")),
        ("2024-05-21T10:00", ("05-21", "year:2024", "10:00")),
        ("21st of May", ("05-21",)),
        ("5-7 days at 3:30 p.m.", ("5", "7", "days", "15:30")),
        ("don't", ("not",)),
        ("'log.txt' #W12 @ann ./a/b.jpg", ("log.txt", "#w12", "@ann", "./a/b.jpg")),
        ("", ()),
    ],
)
def test_tokens_carry_the_meaning_in_one_spelling(text: str, expected: tuple[str, ...]):
    assert tokens(text) == expected


def test_values_are_told_from_words():
    typed = [
        token for token in tokens("Ann paid 5 EUR for log.txt on May 2, 2024") if is_typed(token)
    ]

    assert typed == ["5", "log.txt", "05-02"]


def test_text_is_normalised_without_its_trimmings():
    assert normalised("  It\u2019s  DONE!! ") == "it's done"


def test_a_keyed_claim_has_subject_and_value():
    claim = matched_claims("The total is 5.", "nothing").expected[0]

    assert keyed(claim) == (("total",), "5")


@pytest.mark.parametrize(
    ("output", "reply", "missing"),
    [
        ("1250.5", "It costs $1,250.50.", False),
        ("1,250.50", "It costs 1250.5", False),
        ("250", "It costs 1250", True),
        ("gold status", "You have Gold  Status!", False),
        ("gold", "A golden lamp", True),
        ("camera", "Your camera.", False),
    ],
)
def test_an_output_is_said_as_a_whole_in_any_spelling(output: str, reply: str, missing: bool):
    assert bool(unsaid([output], [reply])) is missing
