"""Runs that wait for a person and go on in another trace, and other trees of single dialects."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from assembly_builders import Trace, asked, call, only, said, story, told, user

from monitor.assembly.calls import matched
from monitor.model import ActionTurn, ToolCall

PAY = call("pay", "call_1", amount=5)


def waiting(**run: Any) -> Trace:
    """A run that asked a person before it paid."""
    first = Trace("t1").agent(messages_in=(user("Pay 5"),))
    first.model("m1", [user("Pay 5")], [asked(PAY)])
    return first.tool("t1", PAY, has_result=False, **run)


def resumed(made: ToolCall = PAY) -> Trace:
    """The person agreed: the tool runs from its start, and the model goes on."""
    second = Trace("t2", start_s=60).agent()
    second.tool("t1", made, {"paid": True})
    history = [user("Pay 5"), asked(PAY), told({"paid": True}, "call_1")]
    return second.model("m1", history, [said("Paid.")])


@pytest.mark.parametrize("made", [PAY, ToolCall("pay", {"amount": 5})])
def test_a_run_that_waited_for_a_person_is_one_turn(made: ToolCall) -> None:
    spans = [*waiting().spans, *resumed(made).spans]
    for order in (spans, spans[::-1]):
        conversation = only(order)
        assert conversation.queries == ("Pay 5",)
        assert story(conversation) == ['0 pay {"amount":5} -> {"paid":true}', '0 "Paid."']


def test_a_call_that_failed_and_is_made_again_stays_two() -> None:
    spans = [*waiting(error_type="TimeoutError").spans, *resumed().spans]
    actions = [turn for turn in only(spans).turns if isinstance(turn, ActionTurn)]
    assert [(turn.error_type, turn.attempt) for turn in actions] == [("TimeoutError", 1), (None, 2)]


def test_a_call_with_other_arguments_is_another_call() -> None:
    spans = [*waiting().spans, *resumed(call("pay", amount=6)).spans]
    assert [line[:18] for line in story(only(spans))] == [
        '0 pay {"amount":5}',
        '0 pay {"amount":6}',
        '0 "Paid."',
    ]


def test_the_same_call_in_a_new_exchange_is_a_new_call() -> None:
    again = Trace("t2", start_s=60).agent(messages_in=(user("Pay 5"),))
    again.model("m1", [user("Pay 5")], [asked(PAY)]).tool("t1", PAY, {"paid": True})
    assert len(only([*waiting().spans, *again.spans]).turns) == 2


def test_an_id_that_is_the_tools_name_tells_no_calls_apart() -> None:
    class Made:
        def __init__(self, city: str) -> None:
            self.call = ToolCall("look", {"city": city}, "look")

    one, two = Made("Paris"), Made("London")
    for done in itertools.permutations([Made("Paris"), Made("London")]):
        pairs = matched([one, two], done)
        assert {(a.call.arguments["city"], b.call.arguments["city"]) for a, b in pairs} == {
            ("Paris", "Paris"),
            ("London", "London"),
        }


def test_an_agent_below_a_model_span_is_heard_though_that_span_spoke_for_its_call() -> None:
    """A kit may start the next agent while the span of the model's call is still open."""
    trace = Trace("t1").agent("flow", messages_in=(user("6 times 7?"),))
    hand = call("hand_over", "c0", to="maths")
    trace.model("m1", [user("6 times 7?")], [asked(hand)], parent="flow")
    trace.model("inner", None, None, parent="m1")
    trace.tool("t1", hand, None, parent="m1")
    trace.agent("maths", parent="m1")
    made = call("multiply", "c1", a=6, b=7)
    trace.model("m2", [user("6 times 7?")], [asked(made)], parent="maths")
    trace.tool("t2", made, 42, parent="maths")
    assert [line.lstrip("0 >") for line in story(only(trace.spans))] == [
        'hand_over {"to":"maths"} -> null',
        'multiply {"a":6,"b":7} -> 42',
    ]
