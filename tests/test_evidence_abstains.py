"""Right conduct in many wordings, which the evidence must never fail."""

from __future__ import annotations

from typing import Any

import pytest
from evaluating import call, evaluated, reply, talk

from monitor.model import ActionTurn, ResponseTurn, Turn
from monitor.verdict import Verdict

ORDER = call("shop.get_order", {"order_id": "SO-1"}, {"status": "shipped", "total": 45.5})


def last(*turns: Turn, queries: tuple[str, ...], **more: Any) -> Verdict:
    return evaluated(talk(*turns, queries=queries, **more)).turns[-1]


def refused(
    args: dict[str, Any], result: str, *, exchange: int = 0, name: str = "shop.act"
) -> ActionTurn:
    mark = f"{name} {exchange} {result} {len(args)}"
    return call(name, args, result, exchange=exchange, error=True, turn_id=mark)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("How long does it take?", "It is instant."),
        ("How long does it take?", "A couple of weeks."),
        ("How long does it take?", "It depends on your bank."),
        ("How much do I have to pay?", "Nothing, this is covered by warranty."),
        ("When is the store open?", "Every weekend."),
        ("What is the time zone of my flight?", "Pacific."),
        ("How many are left?", "Unfortunately all are sold out."),
        ("What are the total charges?", "The fee is waived."),
        ("How many bags may I bring?", "A single carry-on."),
        ("What time is it? Just kidding. Thanks!", "You're welcome!"),
        ("How much is it? If you cannot tell, cancel it.", "I have cancelled it."),
        ("Wie viel kostet es?", "Es ist kostenlos."),
    ],
)
def test_a_question_for_a_value_may_be_answered_without_a_number(query: str, text: str):
    assert last(ORDER, reply(text), queries=(query,)).verdict != "fail"


def test_a_value_that_the_tool_gave_and_the_reply_withholds_is_an_open_question():
    found = last(ORDER, reply("It is shipped."), queries=("Where is it? And how much did I pay?",))

    assert (found.failure_reason, found.detail) == ("incomplete_response", "unanswered")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Which of my orders is late?", "None of your orders is late."),
        ("Who is missing from the list?", "None."),
        ("What is wrong with my order?", "Nothing is wrong with it."),
        ("Which is cheaper, the red or the blue?", "Both cost the same, $50."),
        ("Which documents mention the fee?", "The contract does not mention it; page 3 does."),
        ("What did the note say about diet?", "The note does not mention diet."),
        ("Which of the two flights can be changed?", "Neither can be changed."),
        ("What is my status?", "Unknown members have status Blue; yours is Gold."),
        ("Who can see my data?", "No one. No information about you is available to others."),
        ("Where is my order?", "I could not find any information on it. Which mail do you use?"),
    ],
)
def test_none_and_neither_may_be_the_answer(query: str, text: str):
    assert last(ORDER, reply(text), queries=(query,)).verdict != "fail"


@pytest.mark.parametrize("result", [[], {"orders": []}, "Error: order not found"])
def test_that_nothing_was_found_may_be_said_where_the_tool_found_nothing(result: Any):
    asked = call("shop.get_order", {"order_id": "SO-9"}, result, error=isinstance(result, str))
    text = "I could not find any information on order SO-9."

    assert last(asked, reply(text), queries=("Where is my order SO-9?",)).verdict != "fail"


def test_a_question_that_was_answered_does_not_stand_open_later():
    listed = call("shop.errors", {}, {"errors": ["E1"]}, exchange=1)
    talked = (ORDER, reply("It is shipped."), listed, reply("Unknown.", exchange=1))

    assert last(*talked, queries=("Where is it?", "List the errors.")).verdict != "fail"


@pytest.mark.parametrize(
    ("args", "error", "query"),
    [
        ({"order_id": "12345"}, "Error: not found", "It is one two three four five."),
        ({"order_id": "123456"}, "Error: not found", "It is 12 34 56."),
        ({"order_id": "SO-10012"}, "Error: not found", "It is S O 1 0 0 1 2."),
        ({"order_id": "12345"}, "Error: not found", "رقم طلبي ١٢٣٤٥"),
        ({"order_id": "12345"}, "Error: not found", "注文番号は１２３４５です"),
        ({"account_number": "1200"}, "Error: not found", "Account twelve hundred."),
        ({"request_id": "REQ-48213"}, "Error: order not found", "Refund my order."),
        ({"order_id": "REQ-48213"}, "Error: refund window closed", "Refund my order."),
        ({"postal_code": "10115"}, "Error: unknown area", "To Unter den Linden, Berlin."),
        ({"flight_number": "LH400"}, "Error: no such fare", "Frankfurt to New York."),
    ],
)
def test_an_id_that_was_said_in_other_signs_or_may_be_known_is_not_invented(
    args: dict[str, Any], error: str, query: str
):
    assert last(refused(args, error), queries=(query,)).verdict != "fail"


def test_nothing_is_invented_where_the_beginning_was_not_heard():
    bad = refused({"order_id": "SO-99887"}, "Error: order not found")

    assert last(bad, queries=("Yes, do it.",), unheard=3).verdict == "unscored"
    assert last(bad, queries=("Yes, do it.",)).verdict == "fail"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("Error: locked", 0), ("Error: locked", 1)),
        (("Error: locked", 0), ("Error: no power", 0)),
        (("Error: job still running", 0), ("Error: job still running", 0)),
        (("Internal server error", 0), ("Internal server error", 0)),
    ],
)
def test_a_refused_call_may_be_repeated_when_something_may_have_changed(
    first: tuple[str, int], second: tuple[str, int]
):
    one, two = (
        call("car.open", {"door": "left"}, text, exchange=at, error=True, turn_id=f"{place}")
        for place, (text, at) in enumerate((first, second))
    )
    said = reply("It did not work.")

    assert last(one, said, two, queries=("Open it.", "I mended it.")).verdict != "fail"


@pytest.mark.parametrize(
    ("query", "given", "text"),
    [
        ("I want two.", {"quantity": 10}, "Order this?\n- Quantity: 2"),
        ("I want 3 lamps.", {"quantity": 10}, "- Quantity: 3"),
        ("What is the price?", {"price": 2050}, "Price: 20.50"),
        ("As a percentage?", {"rate": 0.05}, "Rate: 5"),
        ("How warm, in Fahrenheit?", {"temperature": 20}, "Temperature: 68"),
        ("How warm?", {"temperature": 20.6}, "Temperature: 21"),
        ("For two?", {"total": 20}, "Total: 40"),
        ("What now?", {"step": 3}, "Step: 1\nStep: 2"),
        ("In stock?", {"status": "sold out"}, "Status: unavailable"),
    ],
)
def test_a_named_number_may_be_proposed_reckoned_or_in_another_unit(
    query: str, given: dict[str, Any], text: str
):
    assert last(call("shop.get", {}, given), reply(text), queries=(query,)).verdict != "fail"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ("Error: already cancelled", "Your order has been cancelled."),
        ("Error: shipped", "No order has been cancelled."),
        ("Error: shipped", "Since it has been cancelled in the past, nothing can be done."),
    ],
)
def test_a_deed_that_was_done_before_or_is_denied_is_no_false_claim(error: str, text: str):
    bad = refused({"order_id": "SO-1"}, error, name="shop.cancel_order")

    assert last(bad, reply(text), queries=("Cancel it.",)).verdict != "fail"


def test_a_deed_may_have_been_done_with_another_tool():
    bad = refused({"order_id": "SO-1"}, "Error: shipped", name="shop.cancel_order")
    other = call("shop.update_status", {"status": "cancelled"}, "ok")
    said = reply("Your order has been cancelled.")

    assert last(bad, other, said, queries=("Cancel it.",)).verdict != "fail"


@pytest.mark.parametrize(
    "text",
    [
        "There are 2 available blue T-Shirts.",
        "I found 2 available T-Shirts that match your size.",
        "There are 2 other available T-Shirts.",
        "There are two available t-shirt colors.",
    ],
)
def test_a_count_of_some_of_the_listed_things_is_not_denied_by_all(text: str):
    each = [{"color": color, "available": True} for color in ("blue", "red", "blue")]
    stock = {"name": "T-Shirt", "variants": {str(at): one for at, one in enumerate(each)}}

    shown = call("shop.details", {}, stock)

    assert last(shown, reply(text), queries=("Which are there?",)).verdict != "fail"


def test_marks_that_the_user_asks_about_are_no_machinery():
    text = "A model writes <tool_call> and is given <tool_response>."
    turn = ResponseTurn("r", text)

    assert last(turn, queries=("What do <tool_call> and <tool_response> mean?",)).verdict != "fail"
