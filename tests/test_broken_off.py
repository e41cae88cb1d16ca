"""Replies that broke off, stopped early or never came: never wrong, even against gold."""

from __future__ import annotations

from typing import Any

import pytest
from monitored import (
    EXPECTED,
    QUERY,
    REPLY,
    Outcome,
    agent,
    chat,
    exchange,
    monitored,
    said,
    sent,
    user,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

PART, WRONG = "It was pa", "It was packed on Friday."


def unended(span: Span) -> Span:
    span.end_time_unix_nano = 0
    return span


def answering(text: str, *, finish: str | None = None, **fields: Any) -> Span:
    """The model call that replies."""
    more = {} if finish is None else {"gen_ai.response.finish_reasons": [finish]}
    return chat(4, [user(QUERY)], said(text), more=more, **fields)


def told(root: Span, *last: Span) -> Outcome:
    """The usual run with the order looked up, another root and another end."""
    return monitored(sent(root, *exchange()[1:3], *last))


@pytest.mark.parametrize("finish", ["length", "content_filter", "max_tokens"])
@pytest.mark.parametrize("repeated", [PART, None])
def test_a_reply_that_stopped_early_is_unscored_though_all_ended_well(
    finish: str, repeated: str | None
) -> None:
    outcome = told(agent(reply=repeated), answering(PART, finish=finish))
    assert (outcome.replies, outcome.verdicts) == ([PART], ["pass", "truncated"])


def test_a_whole_reply_above_a_model_that_stopped_early_is_judged() -> None:
    outcome = told(agent(reply=REPLY), answering(PART, finish="length"))
    assert (outcome.replies, outcome.verdicts) == ([REPLY], ["pass", "pass"])


def test_a_reply_that_stopped_by_itself_is_judged() -> None:
    for finish in ("stop", "end_turn", "tool_calls", None):
        assert told(agent(), answering(REPLY, finish=finish)).verdicts == ["pass", "pass"]
    wrong = told(agent(reply=WRONG), answering(WRONG, finish="stop"))
    assert wrong.verdicts == ["pass", "inconsistent_response"]


@pytest.mark.parametrize("reply", [None, PART, REPLY])
def test_a_run_that_failed_or_never_ended_leaves_its_reply_unscored(reply: str | None) -> None:
    for root in (agent(reply=reply, failed=True), unended(agent(reply=reply))):
        for last in (answering(PART), answering(PART, failed=True), unended(answering(PART))):
            outcome = told(root, last)
            assert outcome.verdicts == ["pass", "truncated"]


def test_a_reply_that_only_a_broken_run_tells_is_unscored() -> None:
    for root in (agent(reply=PART, failed=True), unended(agent(reply=PART))):
        assert told(root).verdicts == ["pass", "truncated"]


def test_an_agent_that_tells_itself_that_it_stopped_early_is_unscored() -> None:
    more = {"gen_ai.response.finish_reasons": ["length"]}
    assert told(agent(reply=PART, more=more)).verdicts == ["pass", "truncated"]
    assert told(agent(reply=PART, more=more), answering(PART)).verdicts == ["pass", "truncated"]


def test_a_reply_that_never_came_fails_only_where_the_run_closed_properly() -> None:
    assert told(agent(reply=None)).verdicts == ["pass", "incomplete_response"]
    for root in (agent(reply=None, failed=True), unended(agent(reply=None))):
        outcome = told(root)
        assert outcome.verdicts == ["pass", "truncated"]
        assert outcome.reports[0].test_pass is True


def test_a_call_that_a_broken_run_never_came_to_is_unscored() -> None:
    silent = [chat(2, [user(QUERY)], said("One moment."))]
    for root in (agent(reply=None, failed=True), unended(agent(reply=None))):
        assert monitored(sent(root, *silent)).verdicts == ["truncated", "truncated"]
    closed = monitored(sent(agent(reply="One moment."), *silent))
    assert closed.verdicts == ["action_mismatch", "unsure"]


def test_a_bare_client_whose_last_call_broke_off_owes_nothing() -> None:
    expected = {"agent_monitor.expected": EXPECTED}
    asked, ran = exchange()[1:3]
    for last in (
        chat(4, [user(QUERY)], None, parent=None, failed=True, more=expected),
        unended(chat(4, [user(QUERY)], None, parent=None, more=expected)),
    ):
        asked.parent_span_id = ran.parent_span_id = b""
        outcome = monitored(sent(asked, ran, last))
        assert set(outcome.verdicts) <= {"pass", "truncated", "content_missing"}


def test_one_broken_run_excuses_no_other() -> None:
    again = [
        agent("And SO-8?", None, None, 1, trace=2, failed=True),
        chat(2, [user("And SO-8?")], None, trace=2, failed=True),
    ]
    outcome = monitored(sent(agent(reply=WRONG), *exchange()[1:3], answering(WRONG)), sent(*again))
    assert outcome.verdicts == ["pass", "inconsistent_response"]
