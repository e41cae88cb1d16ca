"""Attempts of one call under one id: each keeps its own outcome."""

from __future__ import annotations

import pytest
from monitored import (
    ORDER,
    QUERY,
    REPLY,
    agent,
    asks,
    chat,
    gives,
    message,
    monitored,
    said,
    sent,
    tool,
    user,
)


@pytest.mark.parametrize("asked_twice", [False, True])
def test_a_failed_attempt_keeps_no_result_of_the_one_that_worked(asked_twice: bool) -> None:
    asked = said(asks("find_order", ORDER, "c1"))
    told = message("tool", gives({"state": "packed"}, "c1"))
    spans = [
        agent(expected=None),
        chat(2, [user(QUERY)], asked),
        tool(3, "find_order", ORDER, None, call_id="c1", failed=True),
        tool(5, "find_order", ORDER, {"state": "packed"}, call_id="c1"),
        chat(6, [user(QUERY), asked, told], said(REPLY)),
    ]
    if asked_twice:
        spans.append(chat(4, [user(QUERY)], asked))
    actions = monitored(sent(*spans)).actions
    assert [(turn.has_result, turn.result) for turn in actions] == [
        (False, None),
        (True, {"state": "packed"}),
    ]
    assert actions[0].error_type is not None
    assert [turn.attempt for turn in actions] == [1, 2]


def test_a_failure_that_only_the_history_tells_is_still_the_calls_result() -> None:
    asked = said(asks("find_order", ORDER, "c1"))
    told = message("tool", gives("no such order", "c1"))
    spans = [
        agent(expected=None),
        chat(2, [user(QUERY)], asked),
        tool(3, "find_order", ORDER, None, call_id="c1", failed=True),
        chat(6, [user(QUERY), asked, told], said(REPLY)),
    ]
    (action,) = monitored(sent(*spans)).actions
    assert (action.has_result, action.result) == (True, "no such order")
