"""Replies that say the same in other words or another language are never failed for it."""

from __future__ import annotations

import pytest

from monitor.comparison.ladder import Ladder
from monitor.scoring.judged import Judged
from monitor.scoring.replies import ReplyJudge
from monitor.scoring.thresholds import Thresholds
from monitor.verdict import ExpectedResponse

JUDGE = ReplyJudge(Ladder(), Thresholds())


def judged(expected: str, actual: str) -> Judged:
    return JUDGE.judge(ExpectedResponse(expected), actual)


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
