"""Which exchange and conversation a run belongs to, and what a conversation knows of itself."""

from __future__ import annotations

import random

import msgspec
from assembly_builders import (
    S,
    Trace,
    asked,
    call,
    conversations,
    exchange,
    only,
    said,
    story,
    told,
    user,
)

from monitor.model import (
    AgentSpan,
    Message,
    ResponseTurn,
    ToolDefinition,
    Usage,
)

PACKED = '{"status":"packed"}'


def test_any_order_of_arrival_gives_the_same_conversation():
    spans = exchange("a") + exchange("b", start_s=60, query="And order 8?")
    expected = only(spans)
    for seed in range(20):
        shuffled = spans * 2
        random.Random(seed).shuffle(shuffled)
        assert only(shuffled) == expected


def test_a_call_id_that_every_exchange_uses_again_stays_within_its_exchange():
    first, second = exchange("a"), exchange("b", start_s=60)
    assert len(only(first + second).turns) == 4


def test_a_whole_history_in_every_call_makes_no_turns_of_its_own():
    made = call("get_order", "call_1", order_id=7)
    before = [user("Hi"), said("Hello."), user("Where?"), asked(made), told("x", "call_1")]
    first = Trace("a").model("m", before[:1], [said("Hello.")]).agent()
    second = Trace("b", start_s=60).model("m", before[:3], [asked(made)]).tool("t", made, "x")
    second.model("n", before, [said("Here.")]).agent()
    conversation = only(first.spans + second.spans)
    assert conversation.queries == ("Hi", "Where?")
    assert story(conversation) == ['0 "Hello."', '1 get_order {"order_id":7} -> "x"', '1 "Here."']


def test_a_history_that_was_summarised_makes_no_turns_of_its_own():
    given = [Message("user", "Summary of before", compacted=True), said("Noted."), user("Next?")]
    conversation = only(Trace("a").model("m", given, [said("Done.")]).agent().spans)
    assert conversation.queries == ("Next?",)
    assert story(conversation) == ['0 "Done."']


def test_the_same_words_in_two_traces_are_two_exchanges():
    spans = exchange("a", query="yes") + exchange("b", start_s=60, query="yes")
    assert only(spans).queries == ("yes", "yes")


def test_messages_of_the_user_in_a_row_are_one_query():
    trace = Trace("a").model("m", [user("Hi"), user("Where is it?")], [said("Here.")]).agent()
    assert only(trace.spans).queries == ("Hi\nWhere is it?",)


def test_tool_results_under_the_users_role_are_no_query():
    made = call("f", "1")
    trace = Trace("a").model("m", [user("Go")], [asked(made)]).tool("t", made, "x")
    trace.model("n", [user("Go"), asked(made), told("x", "1", role="user")], [said("ok")])
    assert only(trace.agent().spans).queries == ("Go",)


def test_context_that_a_framework_puts_before_the_words_is_not_the_users():
    text = "<system-reminder>be kind</system-reminder>\n Where is it?"
    only_context = user("<system-reminder>be kind</system-reminder>")
    trace = Trace("a").model("m", [user(text), only_context], [said("Here.")]).agent()
    assert only(trace.spans).queries == ("Where is it?",)


def test_words_that_the_agent_span_has_bare_go_before_their_retrieved_context():
    given = [user("Context: 12 pages\n\nWhere is it?")]
    trace = Trace("a").model("m", given, [said("Here.")])
    trace.agent(messages_in=(user("Where is it?"),))
    assert only(trace.spans).queries == ("Where is it?",)


def test_bare_model_calls_in_traces_of_their_own_are_joined_by_their_history():
    made = call("get_order", "call_1", order_id=7)
    first, rest = [user("Where?")], [asked(made), told("packed", "call_1")]
    spans = [
        *Trace("a").model("m", first, [asked(made)], parent=None).spans,
        *Trace("b", start_s=5).model("m", [*first, *rest], [said("Packed.")], parent=None).spans,
        *Trace("c", start_s=60)
        .model("m", [*first, *rest, said("Packed."), user("Thanks")], [said("Bye.")], parent=None)
        .spans,
    ]
    conversation = only(spans)
    assert conversation.queries == ("Where?", "Thanks")
    assert story(conversation) == [
        '0 get_order {"order_id":7} -> "packed"',
        '0 "Packed."',
        '1 "Bye."',
    ]
    assert conversation.turns[1].end_ns - conversation.turns[1].start_ns == 5 * S + S // 2


def test_bare_model_calls_in_one_trace_are_cut_where_the_user_speaks():
    made = call("f", "1")
    given = [user("One"), asked(made), told("x", "1"), said("A."), user("Two")]
    trace = Trace("a").model("m", given[:1], [asked(made)], parent=None)
    trace.model("n", given[:3], [said("A.")], parent=None).model("o", given, [said("B.")], None)
    conversation = only(trace.spans)
    assert conversation.queries == ("One", "Two")
    assert story(conversation) == ['0 f {} -> "x"', '0 "A."', '1 "B."']


def test_a_call_whose_trace_never_came_is_told_by_the_next_calls_history():
    made = call("f", "1", x=1)
    given = [user("Go"), asked(made), told("x", "1")]
    conversation = only(Trace("b").model("m", given, [said("ok")], parent=None).spans)
    assert conversation.queries == ("Go",)
    assert story(conversation) == ['0 f {"x":1} -> "x"', '0 "ok"']


def test_a_call_is_one_turn_where_its_tool_ran_and_the_span_that_asked_is_missing():
    made = call("f", "1", x=1)
    given = [user("Go"), asked(made), told("x", "1")]
    trace = Trace("b").agent().tool("t", made, "x").model("m", given, [said("ok")])
    assert story(only(trace.spans)) == ['0 f {"x":1} -> "x"', '0 "ok"']
    # What the history tells beyond that is a call of its own.
    given[1:1] = [asked(call("f", "0", x=0)), told("w", "0")]
    trace = Trace("b").agent().tool("t", made, "x").model("m", given, [said("ok")])
    assert story(only(trace.spans))[:2] == ['0 f {"x":0} -> "w"', '0 f {"x":1} -> "x"']


def test_an_interrupted_run_goes_on_in_the_trace_that_resumes_it():
    made = call("ask_human", "1")
    first = Trace("a").model("m", [user("Book it")], [asked(made)]).agent()
    given = [user("Book it"), asked(made), told("yes", "1")]
    second = Trace("b", start_s=60).model("m", given, [said("Booked.")]).agent()
    conversation = only(first.spans + second.spans)
    assert conversation.queries == ("Book it",)
    assert story(conversation) == ['0 ask_human {} -> "yes"', '0 "Booked."']


def test_content_that_was_not_captured_is_one_reply_of_unknown_words():
    trace = Trace("a").model("m", None, None).model("n", None, None).agent()
    conversation = only(trace.spans)
    assert conversation.queries == (None,)
    (reply,) = conversation.turns
    assert (reply.text, reply.span_ids) == (None, ("a-n", "a-agent"))


def test_only_calls_at_the_bottom_are_counted_in_tokens():
    trace = Trace("a").model("m", [user("Hi")], [said("x")], usage=Usage(100, 1))
    trace.model("n", [], [said("y")], usage=Usage(200, None)).agent(usage=Usage(300, 1))
    assert only(trace.spans).usage == Usage(300, 1)


def test_a_sum_of_tokens_that_no_store_holds_stops_at_the_most_that_it_does():
    trace = Trace("t").agent()
    for name in ("a", "b", "c"):
        trace.model(name, [user(f"{name}?")], [said(name)], usage=Usage(2**63 - 1, 1))
    assert only(trace.spans).usage == Usage(2**63 - 1, 3)


def test_a_conversations_release_is_the_declared_one_with_the_model_that_answered_first():
    first = Trace("a").model("m", [user("Hi")], [said("x")], model="gpt-1", release="1.2").agent()
    second = Trace("b", start_s=9).model("m", [user("Yo")], [said("y")], model="gpt-2").agent()
    conversation = only(second.spans + first.spans)
    assert (conversation.release, conversation.model) == ("1.2@gpt-1", "gpt-1")


def test_references_that_traces_carry_are_joined_in_order_and_repeats_count_once():
    def carried(*values: object) -> object:
        spans = []
        for number, value in enumerate(values):
            run = exchange(f"t{number}", start_s=60 * number)
            spans += [*run[:3], msgspec.structs.replace(run[3], expected=value)]
        return only(spans[::-1]).expected

    assert carried([1], "[2, 3]", [1]) == [1, 2, 3]
    assert carried({"a": [1], "b": "x"}, {"a": [2]}) == {"a": [1, 2], "b": "x"}
    assert carried("no JSON", None) == "no JSON"


def test_tools_and_system_prompt_are_told_once():
    tools = (ToolDefinition("f"), ToolDefinition("g"))
    trace = Trace("a").model("m", [Message("system", "Be kind."), user("Hi")], [said("x")])
    trace.spans = [msgspec.structs.replace(s, tool_definitions=tools) for s in trace.spans]
    conversation = only(trace.agent(tool_definitions=tools).spans)
    assert (conversation.tools, conversation.system) == (tools, "Be kind.")


def test_histories_outrank_clocks_between_runs():
    given = [user("One"), said("A."), user("Two"), said("B."), user("Three")]
    spans = [
        *Trace("a", start_s=500).model("m", given[:1], [said("A.")]).agent().spans,
        *Trace("b", start_s=90).model("m", given[:3], [said("B.")]).agent().spans,
        *Trace("c", start_s=200).model("m", given, [said("C.")]).agent().spans,
    ]
    conversation = only(spans)
    assert conversation.queries == ("One", "Two", "Three")
    assert all(turn.end_ns >= turn.start_ns for turn in conversation.turns)


def test_a_detail_fills_what_its_span_does_not_know():
    bare = Trace("a").model("m", None, None, parent=None, model="gpt-1").spans
    details = [
        AgentSpan("a", "a-m", "model", messages_in=(user("Hi"),), detail=True, start_ns=1),
        AgentSpan("a", "a-m", "model", messages_out=(said("Hello."),), detail=True, start_ns=2),
    ]
    expected = only(bare + details)
    assert (expected.queries, story(expected)) == (("Hi",), ['0 "Hello."'])
    assert only([*details[::-1], *bare, *details]) == expected


def test_several_conversations_in_one_trace_stay_apart():
    both = exchange("a", "c1") + exchange("b", "c2", start_s=9)
    spans = [msgspec.structs.replace(span, trace_id="a") for span in both]
    found = conversations(spans)
    assert {name: len(c.turns) for name, c in found.items()} == {"c1": 2, "c2": 2}


def test_a_span_without_an_id_takes_its_nearest_ancestors():
    trace = Trace("a", None).add("root", "other").agent("one", "root", conversation_id="c1")
    trace.agent("two", "root", conversation_id="c2")
    trace.model("m1", [user("Hi")], [said("x")], "one").model(
        "m2", [user("Yo")], [said("y")], "two"
    )
    found = conversations(trace.spans)
    assert {name: story(c) for name, c in found.items()} == {"c1": ['0 "x"'], "c2": ['0 "y"']}


def test_an_id_that_a_library_sets_inside_an_agent_splits_nothing():
    trace = Trace("a", "app").agent()
    trace.model("m", [user("Hi")], [said("x")], conversation_id="library-uuid")
    assert list(conversations(trace.spans)) == ["app"]


def test_a_trace_without_any_id_stands_for_itself():
    conversation = only(exchange("a", None))
    assert (conversation.conversation_id, conversation.synthetic_id) == ("a", True)


def test_an_id_on_one_span_names_the_whole_trace():
    spans = exchange("a", None)
    spans[1] = msgspec.structs.replace(spans[1], conversation_id="c9")
    assert only(spans).conversation_id == "c9"


def test_a_handoff_between_agents_under_one_root_stays_one_exchange():
    transfer = call("transfer", "1")
    trace = Trace("a").add("root", "other").agent("triage", "root", agent="triage")
    trace.model("m", [user("Refund")], [asked(transfer)], "triage").tool(
        "t", transfer, "ok", "triage"
    )
    trace.agent("refunds", "root", agent="refunds")
    trace.model("n", [user("Refund"), asked(transfer), told("ok", "1")], [said("Done.")], "refunds")
    conversation = only(trace.spans)
    assert conversation.queries == ("Refund",)
    assert story(conversation) == ['0 transfer {} -> "ok"', '0 "Done."']
    assert isinstance(conversation.turns[1], ResponseTurn)
    assert conversation.turns[1].agent == "refunds"
