"""An agent's span around a whole dialogue, and replies of agents that were handed the task."""

from __future__ import annotations

from typing import Any

from assembly_builders import Trace, asked, call, conversations, said, story, told, user

PERU, CHILE = ("Capital of Peru?", "Lima"), ("And of Chile?", "Santiago")


def dialogue(second: str, **root: Any) -> Trace:
    """A span around two model calls, the second with the first's query and reply before it."""
    trace = Trace("t").agent(**root)
    trace.model("m1", [user(PERU[0])], [said(PERU[1])])
    history = [user(PERU[0]), said(PERU[1]), user(second)]
    return trace.model("m2", history, [said(CHILE[1])])


def test_each_question_within_one_agents_span_is_an_exchange():
    found = conversations(dialogue(CHILE[0]).spans)["c1"]
    assert found.queries == (PERU[0], CHILE[0])
    assert story(found) == ['0 "Lima"', '1 "Santiago"']


def test_an_agents_own_query_is_the_only_one_below_it():
    found = conversations(dialogue("Think again.", messages_in=(user(PERU[0]),)).spans)["c1"]
    assert found.queries == (PERU[0],)


def test_what_an_agent_below_said_is_no_question_of_the_user():
    found = conversations(dialogue(PERU[1]).spans)["c1"]
    assert found.queries == (PERU[0],)


def test_a_history_without_the_reply_given_just_before_begins_no_exchange():
    trace = Trace("t").agent()
    trace.model("m1", [user(PERU[0])], [said(PERU[1])])
    trace.model("m2", [user(CHILE[0])], [said(CHILE[1])])
    assert len(conversations(trace.spans)["c1"].queries) == 1


def handed_over(**root: Any) -> Trace:
    """The first agent asks for a hand-over and says no more; the inner one answers."""
    transfer = call("transfer_to_agent", "h", agent_name="teller")
    trace = Trace("t").agent(**root)
    trace.model("m1", [user("What is my balance?")], [asked(transfer)])
    trace.tool("hand", transfer, None)
    trace.agent("teller", "agent")
    given = [user("What is my balance?"), asked(transfer), told(None, "h")]
    return trace.model("m2", given, [said("Your balance is 12 EUR.")], "teller")


def test_the_last_words_of_an_agent_that_was_handed_the_task_are_the_reply():
    assert story(conversations(handed_over().spans)["c1"])[-1] == '0 "Your balance is 12 EUR."'


def test_the_outermost_agents_own_reply_outranks_those_below():
    found = conversations(handed_over(messages_out=(said("12 EUR."),)).spans)["c1"]
    assert story(found)[-1] == '0 "12 EUR."'
    assert sum("EUR" in line for line in story(found)) == 1
