"""Which result in a later message belongs to which call, where only some of them have ids."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from monitored import asks, chat, gives, message, monitored, said, sent, user

from monitor.assembly.calls import answered
from monitor.model import ToolCall, ToolResult


class Asked(NamedTuple):
    """A call that waits for its result."""

    call: ToolCall


def asked(name: str, call_id: str | None = None) -> Asked:
    return Asked(ToolCall(name, {}, call_id))


def told(asked_: list[Asked], *results: ToolResult) -> dict[str, object]:
    return {call.call.name: result.result for call, result in answered(asked_, results)}


@pytest.mark.parametrize("order", [1, -1])
def test_a_result_goes_to_the_call_with_its_id_before_one_without_an_id(order: int) -> None:
    calls = [asked("find"), asked("save", "c9")][::order]
    assert told(calls, ToolResult("saved", "c9")) == {"save": "saved"}


def test_an_id_that_is_no_calls_goes_to_a_call_without_one() -> None:
    calls = [asked("save", "c9"), asked("find")]
    assert told(calls, ToolResult("found", "toolu_1")) == {"find": "found"}


def test_results_without_ids_go_by_name_and_then_by_order() -> None:
    calls = [asked("find", "c1"), asked("save", "c2"), asked("send")]
    by_name = told(calls, ToolResult("saved", None, "save"), ToolResult("found", None, "find"))
    assert by_name == {"save": "saved", "find": "found"}
    by_order = told(calls, ToolResult("1"), ToolResult("2"), ToolResult("3"), ToolResult("4"))
    assert by_order == {"find": "1", "save": "2", "send": "3"}


def test_results_of_one_id_go_to_its_calls_in_order_and_no_further() -> None:
    calls = [asked("a", "x"), asked("b", "x"), asked("c")]
    results = [ToolResult(number, "x") for number in (1, 2, 3)]
    assert told(calls, *results) == {"a": 1, "b": 2}


def test_a_result_whose_call_is_not_looked_at_is_nobody_elses() -> None:
    older, newer = asked("save", "c9"), asked("find")
    assert answered([newer], [ToolResult("saved", "c9")], among=[older, newer]) == []


def test_a_result_that_a_history_repeats_is_not_given_to_a_call_of_another_id() -> None:
    asked_ = said(asks("save", {"a": 1}, "c9"), asks("find", {"a": 2}, None))
    given = [user("Both, please."), asked_, message("tool", gives("saved", "c9"))]
    traces = [
        [chat(1, [user("Both, please.")], asked_, trace=1, parent=None)],
        [chat(2, given, said("Saved."), trace=2, parent=None)],
        [chat(3, given, said("Saved it."), trace=3, parent=None)],
    ]
    outcome = monitored(*(sent(*spans) for spans in traces))
    told_ = [(turn.call.name, turn.has_result, turn.result) for turn in outcome.actions]
    assert told_ == [("save", True, "saved"), ("find", False, None)]
