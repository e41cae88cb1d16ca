"""Replies that say the same in other words or another language are never failed for it."""

from __future__ import annotations

import pytest

from monitor.comparison.ladder import Ladder
from monitor.scoring.judged import Judged
from monitor.scoring.replies import ReplyJudge
from monitor.scoring.thresholds import Thresholds
from monitor.verdict import ExpectedResponse

JUDGE = ReplyJudge(Ladder(), Thresholds())


def judged(expected: str, actual: str, query: str | None = None) -> Judged:
    return JUDGE.judge(ExpectedResponse(expected), actual, query=query)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("Which region should the report cover?", "Could you tell me the region you'd like?"),
        ("Your flight departs at 14:30 from gate B12.", "Gate B12 it is, leaving 2:30 pm."),
        (
            "I couldn't find your order. Please give me the order number.",
            "There's no such order on file, what's the order number?",
        ),
        ("The meeting was moved to Friday.", "I rescheduled the meeting; it is on Friday now."),
        ("You are not eligible for a refund.", "Unfortunately, a refund isn't possible for you."),
        ("Yes, the item is in stock.", "It's available."),
        ("Sorry, I can't change it after shipping.", "Once shipped, it cannot be modified."),
        ("Ihre Bestellung wurde storniert.", "Ich habe die Bestellung für Sie storniert."),
        ("Votre commande a été annulée.", "J'ai bien annulé la commande."),
        ("Ваш заказ отменён.", "Я отменил заказ."),
        ("您的订单已取消，退款将在5天内到账。", "订单我已经帮您取消了，5天内会收到退款。"),
        ("आपका ऑर्डर रद्द कर दिया गया है।", "मैंने आपका ऑर्डर रद्द कर दिया।"),
        ("Your order was cancelled.", "Ihre Bestellung wurde storniert."),
        ("Your order was cancelled.", "您的订单已取消。"),
        ("I emailed Alice and Bob.", "I emailed Bob and Alice."),
        ("Alice has 5 points, Bob has 6 points.", "Bob has 6 points, Alice has 5 points."),
        ("Order A1 shipped to Berlin on May 24.", "On May 24 order A1 shipped to Berlin."),
    ],
)
def test_other_words_are_no_fault(expected: str, actual: str):
    assert judged(expected, actual).findings == ()


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("Alice pays Bob $20.", "Bob pays Alice $20."),
        ("Alice has 5 points, Bob has 6 points.", "Alice has 6 points, Bob has 5 points."),
        ("The red one costs $5 and the blue one $7.", "The red one costs $7 and the blue one $5."),
        ("Ihre Bestellung wurde storniert.", "Ihre Bestellung wurde nicht storniert."),
        ("Your refund was approved.", "Your refund request was not approved."),
        ("Die Summe beträgt 20 Euro.", "Die Summe beträgt 30 Euro."),
    ],
)
def test_things_that_changed_places_and_denials_are(expected: str, actual: str):
    found = judged(expected, actual)

    assert [finding.reason for finding in found.findings] == ["inconsistent_response"]


@pytest.mark.parametrize(
    ("query", "expected", "actual"),
    [
        ("Who wrote Elmer Gantry?", "Sinclair Lewis", "It was written by Sinclair Lewis in 1927."),
        ("Which is the capital of France?", "Paris", "The capital of France is the city of Paris."),
        ("Where was he born?", "NYC/New York City", "He was born in New York City, in 1948."),
    ],
)
def test_a_bare_answer_may_stand_within_a_sentence(query: str, expected: str, actual: str):
    found = judged(expected, actual, query)

    assert (found.findings, found.why) == ((), None)


def test_another_answer_is_no_better_for_a_question():
    found = judged("Paris", "The capital of France is Lyon.", "Which is the capital of France?")

    assert found.findings or found.why is not None


def test_a_statement_is_no_bare_answer():
    found = judged("Your refund is 20 dollars", "Your refund is 30 dollars", "How much is it?")

    assert [finding.reason for finding in found.findings] == ["inconsistent_response"]
