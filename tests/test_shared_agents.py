"""Several ids on the calls of one agent: its conversations', or a library's for each call."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from assembly_builders import (
    Trace,
    asked,
    call,
    conversations,
    exchange,
    fake_evaluate,
    said,
    story,
    told,
    user,
)
from hypothesis import given
from hypothesis import strategies as st

from monitor.assembly.segments import segments_of
from monitor.model import Message
from monitor.pipeline import Pipeline

ORDER, FLIGHT = "Where is order 7?", "Cancel my flight 9 please."
PACKED, GONE = "It is packed and ready.", "The flight is cancelled."


def server(name: str | None = None, **more: Any) -> Trace:
    trace = Trace("t", name)
    return trace.agent("root", conversation_id=name, **more)


def answer(trace: Trace, at: str, name: str, *words: str, **more: Any) -> Trace:
    """A call with everything said so far, and the reply as the last of the words."""
    roles = (Message("user", ""), Message("assistant", ""))
    history = [Message(roles[n % 2].role, text) for n, text in enumerate(words)]
    return trace.model(at, history[:-1], history[-1:], "root", conversation_id=name, **more)


def told_of(trace: Trace) -> dict[str, list[str]]:
    return {name: story(found) for name, found in sorted(conversations(trace.spans).items())}


def queries_of(trace: Trace) -> dict[str, tuple[str | None, ...]]:
    return {name: found.queries for name, found in sorted(conversations(trace.spans).items())}


def two_users(trace: Trace) -> Trace:
    answer(trace, "a1", "A", ORDER, PACKED)
    answer(trace, "b1", "B", FLIGHT, GONE)
    answer(trace, "a2", "A", ORDER, PACKED, "Thanks.", "Any time.")
    return answer(trace, "b2", "B", FLIGHT, GONE, "Good.", "Yes.")


def test_each_user_of_one_long_run_keeps_a_conversation():
    trace = two_users(server(messages_in=(user("Start serving now."),)))
    assert queries_of(trace) == {"A": (ORDER, "Thanks."), "B": (FLIGHT, "Good.")}
    assert told_of(trace)["A"] == [f'0 "{PACKED}"', '1 "Any time."']


def test_users_who_came_once_are_kept_apart():
    trace = answer(answer(server(), "a", "A", ORDER, PACKED), "b", "B", FLIGHT, GONE)
    assert queries_of(trace) == {"A": (ORDER,), "B": (FLIGHT,)}


def test_equal_openings_do_not_join_two_users():
    trace = answer(answer(server(), "a", "A", "Hi", "Hello!"), "b", "B", "Hi", "Hello!")
    answer(trace, "a2", "A", "Hi", "Hello!", ORDER, PACKED)
    answer(trace, "b2", "B", "Hi", "Hello!", FLIGHT, GONE)
    assert queries_of(trace) == {"A": ("Hi", ORDER), "B": ("Hi", FLIGHT)}


def tool_loop(trace: Trace, ids: tuple[str, str], at: str = "", *, whole: bool) -> Trace:
    made = call("get_order", f"call_9f{at}3k2h1", order_id=7)
    query, back = user(f"{at}{ORDER}"), told({"status": "packed"}, made.call_id)
    trace.model(f"m1{at}", [query], [asked(made)], "root", conversation_id=ids[0])
    trace.tool(f"tool{at}", made, {"status": "packed"}, "root", conversation_id=None)
    given = [query, asked(made), back] if whole else [back]
    return trace.model(f"m2{at}", given, [said(PACKED)], "root", conversation_id=ids[1])


@pytest.mark.parametrize("whole", [True, False])
def test_calls_that_go_on_with_one_another_are_one_run_and_their_ids_name_nothing(whole: bool):
    trace = tool_loop(server(), ("x1", "x2"), whole=whole)
    (part,) = segments_of("t", trace.spans)
    assert (part.conversation_id, part.refused, part.kept_apart) == ("t", ("per_call",), False)
    assert told_of(trace)["t"][-1] == f'0 "{PACKED}"'


def test_calls_that_are_asked_what_their_agent_was_are_one_run():
    trace = server(messages_in=(user(ORDER),))
    answer(trace, "plan", "x1", f"Plan for: {ORDER}", "Look it up.")
    answer(trace, "write", "x2", ORDER, PACKED)
    assert list(told_of(trace)) == ["t"]


def test_a_call_that_failed_and_its_repetition_are_one_run():
    trace = server()
    query = [user("Where is my order number 7?")]
    trace.model("m1", query, None, "root", conversation_id="x1", error_type="timeout")
    trace.model("m2", query, [said(PACKED)], "root", conversation_id="x2")
    assert list(told_of(trace)) == ["t"]


def test_runs_of_a_server_whose_library_names_each_call_are_named_by_their_first():
    trace = tool_loop(server(), ("x1", "x2"), "a", whole=True)
    tool_loop(trace, ("x3", "x4"), "b", whole=True)
    assert queries_of(trace) == {"x1": (f"a{ORDER}",), "x3": (f"b{ORDER}",)}
    assert [len(found.turns) for found in conversations(trace.spans).values()] == [2, 2]


def test_a_tools_run_goes_to_the_call_that_asked_for_it():
    trace = server()
    one, two = call("get_order", "call_1", order_id=7), call("get_order", "call_1", order_id=8)
    trace.model("a1", [user(ORDER)], [asked(one)], "root", conversation_id="A")
    trace.model("b1", [user(FLIGHT)], [asked(two)], "root", conversation_id="B")
    trace.tool("t2", two, "eight", "root", conversation_id=None)
    trace.tool("t1", one, "seven", "root", conversation_id=None)
    assert told_of(trace) == {
        "A": ['0 get_order {"order_id":7} -> "seven"'],
        "B": ['0 get_order {"order_id":8} -> "eight"'],
    }


def test_beside_bare_calls_of_several_conversations_a_run_goes_to_its_asker_too():
    trace = Trace("t", None).add("worker", "other")
    for at, name, words in (("a", "A", ORDER), ("b", "B", FLIGHT)):
        made = call("look", at, words=words)
        told_so = [user(words), asked(made), told("found", at)]
        more = {"parent": "worker", "conversation_id": name}
        trace.model(f"{at}1", [user(words)], [asked(made)], **more)
        trace.tool(f"run{at}", made, "found", "worker")
        trace.model(f"{at}2", told_so, [said(PACKED)], **more)
    assert told_of(trace) == {
        "A": [f'0 look {{"words":"{ORDER}"}} -> "found"', f'0 "{PACKED}"'],
        "B": [f'0 look {{"words":"{FLIGHT}"}} -> "found"', f'0 "{PACKED}"'],
    }


def test_a_tools_run_that_several_may_have_asked_for_is_nobodys():
    trace = answer(answer(server(), "a", "A", ORDER, PACKED), "b", "B", FLIGHT, GONE)
    trace.tool("odd", call("look"), "x", "root", conversation_id=None)
    answer(trace, "a2", "A", ORDER, PACKED, "Thanks.", "Any time.")
    assert told_of(trace)["t"] == ['0 look {} -> "x"']
    assert all("look" not in line for name in "AB" for line in told_of(trace)[name])


def test_without_content_an_id_that_comes_back_is_a_conversations():
    trace = server()
    for at, name in enumerate(("A", "B", "A")):
        trace.model(f"m{at}", None, None, "root", conversation_id=name)
    assert [part.conversation_id for part in segments_of("t", trace.spans)] == ["A", "B"]


def test_the_applications_id_stands_back_where_those_inside_are_several_users():
    trace = server("app")
    answer(trace, "a", "A", ORDER, PACKED, user_id="ann")
    answer(trace, "b", "B", FLIGHT, GONE, user_id="bob")
    assert queries_of(trace) == {"A": (ORDER,), "B": (FLIGHT,)}
    assert list(told_of(two_users(server("app")))) == ["app"]


@pytest.mark.parametrize("kind", ["other", "agent"])
def test_what_stands_around_such_an_agent_changes_nothing(kind: str):
    trace = Trace("t", None).add("outer", kind)
    two_users(trace.agent("root", "outer", conversation_id=None))
    assert queries_of(trace) == {"A": (ORDER, "Thanks."), "B": (FLIGHT, "Good.")}


def test_an_id_on_the_step_around_a_call_counts_as_the_calls():
    trace = server()
    for at, (name, query) in enumerate((("A", ORDER), ("B", FLIGHT))):
        trace.add(f"s{at}", "other", "root", conversation_id=name)
        trace.model(f"m{at}", [user(query)], [said("Done.")], f"s{at}", conversation_id=None)
    assert queries_of(trace) == {"A": (ORDER,), "B": (FLIGHT,)}


def test_a_trace_whose_ids_were_told_apart_is_counted_once():
    pipeline = Pipeline(fake_evaluate, {})
    pipeline.observe([*two_users(server()).spans, *exchange("u", "c9")], 0.0)
    assert pipeline.flush(9.0).counts["kept_apart"] == 1


@st.composite
def servers(draw: st.DrawFn) -> tuple[Trace, dict[str, list[str]]]:
    """One run with some users' exchanges in any succession; what each of them asked."""
    trace, said_by = server(), dict[str, list[str]]()
    names = st.lists(st.sampled_from("ABC"), min_size=2, max_size=9)
    for at, name in enumerate(draw(names.filter(lambda found: len(set(found)) > 1))):
        words = said_by.setdefault(name, [])
        words += [f"{name} asks question {at} of hers", f"{name} is told answer {at}"]
        answer(trace, f"m{at}", name, *words)
    return trace, {name: words[::2] for name, words in said_by.items()}


@given(servers(), st.randoms(use_true_random=False))
def test_no_users_words_are_lost_or_mixed_in_any_order_of_arrival(found, random):
    trace, expected = found
    random.shuffle(trace.spans)
    trace.spans = [msgspec.structs.replace(span) for span in trace.spans]
    assert {name: list(queries) for name, queries in queries_of(trace).items()} == expected
