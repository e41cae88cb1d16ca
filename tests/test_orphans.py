"""Tool runs whose parent span never came are their caller's, and count once."""

from __future__ import annotations

import msgspec
import pytest
from assembly_builders import Trace, asked, call, conversations, only, said, story, told, user

MADE = call("find", "call_7x3k9q2m", order_id=7)
QUERY = [user("Where is order 7?")]
BACK = [*QUERY, asked(MADE), told({"ok": 1}, "call_7x3k9q2m")]


def run(**tool: object) -> Trace:
    trace = Trace("t").agent().model("m1", QUERY, [asked(MADE)])
    trace.tool("tool", MADE, {"ok": 1}, "lost", **tool)
    return trace.model("m2", BACK, [said("It is packed.")])


STORY = ['0 find {"order_id":7} -> {"ok":1}', '0 "It is packed."']


def test_a_run_below_a_span_that_never_came_is_the_callers():
    conversation = only(run().spans)
    assert story(conversation) == STORY
    assert conversation.turns[0].span_ids == ("t-tool",)


def test_a_run_below_a_span_that_came_stays_there():
    trace = run()
    trace.add("lost", "other", "agent")
    assert story(only(trace.spans)) == STORY


def test_a_call_inside_another_model_span_is_its_agents():
    trace = Trace("t").agent().model("outer", QUERY, [asked(MADE)])
    trace.model("inner", QUERY, [asked(MADE)], "outer").tool("tool", MADE, {"ok": 1}, "lost")
    trace.model("m2", BACK, [said("It is packed.")])
    assert story(only(trace.spans)) == STORY


@pytest.mark.parametrize("name", ["look", "find"])
def test_a_run_that_no_call_or_several_agents_calls_may_be_stays_alone(name: str):
    trace = Trace("t").agent("one").agent("two")
    trace.model("m1", QUERY, [asked(MADE)], "one").model("m2", QUERY, [asked(MADE)], "two")
    trace.tool("tool", msgspec.structs.replace(MADE, name=name), {"ok": 1}, "lost")
    (found,) = conversations(trace.spans).values()
    assert sum("t-tool" in turn.span_ids for turn in found.turns) == 1
    assert len(found.turns) == 3
