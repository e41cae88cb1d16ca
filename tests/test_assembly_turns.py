"""Which turns one run of an agent has, in which order, and what stands in them."""

from __future__ import annotations

import msgspec
from assembly_builders import (
    T0,
    S,
    Trace,
    asked,
    call,
    exchange,
    only,
    said,
    story,
    told,
    user,
)

from monitor.model import (
    ActionTurn,
    AgentSpan,
    Message,
    ToolCall,
    ToolResult,
    Usage,
    turn_id,
)

PACKED = '{"status":"packed"}'


def test_an_exchange_is_a_query_its_calls_and_its_reply():
    conversation = only(exchange("a"))
    assert conversation.queries == ("Where is order 7?",)
    assert story(conversation) == [
        f'0 get_order {{"order_id":7}} -> {PACKED}',
        '0 "It is packed."',
    ]
    action, reply = conversation.turns
    assert action.turn_id == turn_id("c1", "a-t1")
    assert action.model == "gpt-1"
    assert action.span_ids == ("a-t1",)
    assert reply.span_ids == ("a-m2", "a-agent")
    assert (reply.end_ns - reply.start_ns) == 4 * S + S // 2
    assert conversation.release == "gpt-1"


def test_parallel_calls_stand_in_the_order_of_the_message_whatever_ended_first():
    one, two = call("weather", "1", city="Paris"), call("weather", "2", city="London")
    trace = Trace("a").model("m", [user("Weather?")], [asked(one, two)])
    trace.tool("t2", two, "rain").tool("t1", one, "sun")
    trace.model("n", [told("rain", "2"), told("sun", "1")], [said("Sun and rain.")])
    assert story(only(trace.agent().spans)) == [
        '0 weather {"city":"Paris"} -> "sun"',
        '0 weather {"city":"London"} -> "rain"',
        '0 "Sun and rain."',
    ]


def test_a_call_that_only_a_message_shows_is_a_turn_and_takes_its_result_from_later_messages():
    made = call("get_order", "call_1", order_id=7)
    trace = Trace("a").model("m", [user("Where?")], [asked(made)])
    trace.model("n", [user("Where?"), asked(made), told("packed", "call_1")], [said("Packed.")])
    conversation = only(trace.agent().spans)
    assert story(conversation) == ['0 get_order {"order_id":7} -> "packed"', '0 "Packed."']
    assert conversation.turns[0].span_ids == ("a-m",)


def test_a_tool_span_without_an_id_is_matched_by_arguments_then_by_order():
    one, two = call("f", "1", x=1), call("f", "2", x=2)
    trace = Trace("a").model("m", [user("?")], [asked(one, two)])
    trace.tool("t2", ToolCall("f", {"x": 2}), "two")
    trace.tool("t?", ToolCall("f", arguments_state="absent"), "one")
    conversation = only(trace.agent().spans)
    assert story(conversation) == ['0 f {"x":1} -> "one"', '0 f {"x":2} -> "two"']
    assert conversation.turns[0].call == one


def test_a_call_id_that_one_exchange_uses_again_gets_its_results_in_order():
    def given(*messages: Message) -> tuple[Message, ...]:
        return (user("?"), *messages)

    one, two = call("f", "call_0", x=1), call("f", "call_0", x=2)
    history = [asked(one), told("r1", "call_0"), asked(two), told("r2", "call_0")]
    whole = Trace("a").model("m", given(), [asked(one)])
    whole.model("n", given(*history[:2]), [asked(two)]).model("o", given(*history), [said("ok")])
    new = Trace("a").model("m", given(), [asked(one)])
    new.model("n", history[1:2], [asked(two)]).model("o", history[3:], [said("ok")])
    expected = ['0 f {"x":1} -> "r1"', '0 f {"x":2} -> "r2"', '0 "ok"']
    assert story(only(whole.agent().spans)) == expected
    assert story(only(new.agent().spans)) == expected


def test_one_model_call_under_two_instrumentations_counts_once():
    out, used = [said("ok")], Usage(100, 10)
    trace = Trace("a").model("outer", [user("Hi")], out, usage=used)
    trace.model("inner", [user("Hi")], out, parent="outer", usage=used).agent()
    conversation = only(trace.spans)
    assert story(conversation) == ['0 "ok"']
    assert conversation.turns[0].span_ids == ("a-inner", "a-agent")
    assert conversation.usage == Usage(100, 10)


def test_an_outer_model_span_speaks_where_the_inner_one_has_no_content():
    trace = Trace("a").model("outer", [user("Hi")], [said("ok")])
    trace.model("inner", None, None, parent="outer", usage=Usage(7, None)).agent()
    conversation = only(trace.spans)
    assert (story(conversation), conversation.usage) == (['0 "ok"'], Usage(7, None))


def test_an_outer_model_span_over_several_steps_is_no_step():
    made = call("f", "1")
    trace = Trace("a").model("all", [user("Go")], [said("ok")], parent=None)
    trace.model("s1", [user("Go")], [asked(made)], parent="all").tool("t", made, "x", parent="all")
    trace.model("s2", [user("Go"), asked(made), told("x", "1")], [said("ok")], parent="all")
    assert story(only(trace.spans)) == ['0 f {} -> "x"', '0 "ok"']


def test_a_tool_run_under_two_instrumentations_counts_once():
    made = call("f", "1", x=1)
    trace = Trace("a").model("m", [user("Go")], [asked(made)])
    trace.tool("t", made, has_result=False).tool("http", ToolCall("f", {"x": 1}), "x", parent="t")
    conversation = only(trace.agent().spans)
    assert story(conversation) == ['0 f {"x":1} -> "x"']
    assert conversation.turns[0].span_ids == ("a-t", "a-http")


def test_a_sub_agents_calls_hang_below_the_call_that_started_it_and_its_words_are_no_reply():
    outer, inner = call("research", "1", topic="x"), call("search", "2", q="x")
    trace = Trace("a").model("m", [user("Tell me")], [asked(outer)])
    trace.tool("t", outer, "found").agent("sub", parent="t", agent="researcher")
    trace.model("s1", [user("Research x")], [asked(inner)], parent="sub")
    trace.tool("t2", inner, "hit", parent="sub").model("s2", [], [said("found")], parent="sub")
    trace.model("n", [told("found", "1")], [said("It is x.")])
    conversation = only(trace.agent(agent="boss").spans)
    assert conversation.queries == ("Tell me",)
    assert story(conversation) == [
        '0 research {"topic":"x"} -> "found"',
        '0 >search {"q":"x"} -> "hit"',
        '0 "It is x."',
    ]
    assert [turn.agent for turn in conversation.turns] == ["boss", "researcher", "boss"]


def test_parallel_sub_agents_keep_their_calls_with_the_call_that_started_them():
    one, two, deep = call("sub", "1", n=1), call("sub", "2", n=2), call("look", "9")
    trace = Trace("a").model("m", [user("Go")], [asked(one, two)]).tool("t1", one, "a")
    trace.tool("t2", two, "b").agent("s1", parent="t1").agent("s2", parent="t2")
    trace.model("x2", [], [asked(deep)], parent="s2").tool("d2", deep, "two", parent="s2")
    trace.model("x1", [], [asked(deep)], parent="s1").tool("d1", deep, "one", parent="s1")
    assert story(only(trace.agent().spans)) == [
        '0 sub {"n":1} -> "a"',
        '0 >look {} -> "one"',
        '0 sub {"n":2} -> "b"',
        '0 >look {} -> "two"',
    ]


def test_an_agent_that_only_wraps_agents_is_not_the_outermost_one():
    trace = Trace("a").agent("workflow").agent("inner", parent="workflow", agent="shop")
    trace.model("m", [user("Hi")], [said("Hello.")], parent="inner")
    conversation = only(trace.spans)
    assert conversation.queries == ("Hi",)
    assert story(conversation) == ['0 "Hello."']


def test_each_message_of_a_team_is_a_turn_with_its_speaker():
    trace = Trace("a").model("m1", [user("Task")], [said("Plan.")], agent="lead")
    trace.model("m2", [], [said("Found.")], agent="surfer")
    trace.model("m3", [], [said("Done.")], agent="lead")
    conversation = only(trace.agent(messages_out=(said("Done."),)).spans)
    assert story(conversation) == ['0 "Plan."', '0 "Found."', '0 "Done."']
    assert [turn.agent for turn in conversation.turns] == ["lead", "surfer", "lead"]
    assert conversation.turns[2].span_ids == ("a-m3", "a-agent")


def test_the_times_of_several_replies_share_out_what_the_user_waited():
    trace = Trace("a").model("m1", [user("Task")], [said("One.")]).model("m2", [], [said("Two.")])
    trace.agent(start_ns=T0, end_ns=T0 + 10 * S)
    waited = [turn.end_ns - turn.start_ns for turn in only(trace.spans).turns]
    assert waited == [S + S // 2, 8 * S + S // 2]


def test_words_beside_a_call_are_a_reply_before_the_call():
    made = call("f", "1")
    trace = Trace("a").model("m", [user("Go")], [asked(made, text="I will look.")])
    trace.tool("t", made, "x").model("n", [told("x", "1")], [said("Here.")])
    assert story(only(trace.agent().spans)) == ['0 "I will look."', '0 f {} -> "x"', '0 "Here."']


def test_the_agents_own_output_replaces_what_a_guard_rewrote():
    trace = Trace("a").model("m", [user("Hi")], [said("Rude.")])
    conversation = only(trace.agent(messages_out=(said("Polite."),)).spans)
    assert story(conversation) == ['0 "Polite."']
    assert conversation.turns[0].span_ids == ("a-m", "a-agent")


def test_the_agents_output_is_the_reply_where_its_last_model_call_only_called_a_tool():
    made = call("final", "1")
    trace = Trace("a").model("m", [user("Hi")], [asked(made)]).tool("t", made, "x")
    conversation = only(trace.agent(messages_out=(said("Answer."),)).spans)
    assert story(conversation) == ['0 final {} -> "x"', '0 "Answer."']


def test_a_run_that_broke_off_has_no_reply():
    made = call("f", "1")
    trace = Trace("a").model("m", [user("Go")], [asked(made)])
    trace.tool("t", made, has_result=False, error_type="Timeout").agent(error_type="Cancelled")
    (action,) = only(trace.spans).turns
    assert (action.call, action.error_type, action.has_result) == (made, "Timeout", False)


def test_a_reply_that_was_heard_and_is_empty_is_a_reply():
    trace = Trace("a").model("m", [user("Hi")], [Message("assistant")]).agent()
    assert story(only(trace.spans)) == ['0 ""']


def test_a_reply_that_is_no_text_says_what_it_is():
    out = [Message("assistant", media=("image:png:ab:12",))]
    (reply,) = only(Trace("a").model("m", [user("Draw")], out).agent().spans).turns
    assert (reply.text, reply.media) == (None, ("image:png:ab:12",))


def test_the_same_call_after_an_error_is_its_second_attempt():
    made = call("f", "1", x=1)
    trace = Trace("a").model("m", [user("Go")], [asked(made)])
    trace.tool("t1", made, has_result=False, error_type="Timeout")
    trace.model("n", [told("timeout", "1", error=True)], [asked(call("f", "2", x=1))])
    trace.tool("t2", call("f", "2", x=1), "ok").agent()
    conversation = only(trace.spans)
    assert [turn.attempt for turn in conversation.turns] == [1, 2]


def test_the_first_of_parallel_calls_alone_traced_leaves_the_other_without_a_result():
    one, two = call("f", "1", x=1), call("f", "2", x=2)
    trace = Trace("a").model("m", [user("Go")], [asked(one, two)]).tool("t", one, "x").agent()
    conversation = only(trace.spans)
    assert story(conversation) == ['0 f {"x":1} -> "x"', '0 f {"x":2}']
    assert conversation.turns[1].error_type is None


def test_arguments_that_the_tool_span_lacks_come_from_the_call():
    made = call("f", "1", x=1)
    trace = Trace("a").model("m", [user("Go")], [asked(made)])
    trace.tool("t", ToolCall("f", None, "1", "absent"), "x").agent()
    assert only(trace.spans).turns[0].call == made


def test_a_missing_parent_makes_a_local_root():
    spans = [span for span in exchange("a") if span.kind != "agent"]
    assert [line[:12] for line in story(only(spans))] == ["0 get_order ", '0 "It is pac']


def test_parents_that_form_a_loop_cost_nothing_but_their_place():
    looped = [
        msgspec.structs.replace(span, parent_id="a-m1") if span.kind == "agent" else span
        for span in exchange("a")
    ]
    assert len(only(looped).turns) == 2


def test_a_chain_of_any_depth_is_walked():
    spans = [
        AgentSpan("a", f"{n}", "other", parent_id=f"{n - 1}" if n else None, start_ns=T0 + n)
        for n in range(5_000)
    ]
    leaf = Trace("a").model("m", [user("Hi")], [said("x")]).spans[0]
    spans.append(msgspec.structs.replace(leaf, parent_id="4999"))
    assert story(only(spans)) == ['0 "x"']


def test_a_span_that_ends_before_it_starts_took_no_time():
    trace = Trace("a").model("m", [user("Hi")], [said("x")], parent=None, end_ns=T0)
    (reply,) = only(trace.spans).turns
    assert reply.end_ns == reply.start_ns


def test_a_span_with_a_wild_clock_changes_no_time_but_its_own():
    made = call("f", "1")
    trace = Trace("a").model("m", [user("Go")], [asked(made)])
    trace.tool("t", made, "x", start_ns=5, end_ns=T0 + 10**18)
    trace.model("n", [told("x", "1")], [said("Here.")])
    trace.agent(start_ns=T0, end_ns=T0 + 4 * S)
    action, reply = only(trace.spans).turns
    assert (reply.start_ns, reply.end_ns) == (T0, T0 + 4 * S)
    assert action.end_ns >= action.start_ns


def test_histories_outrank_clocks_within_a_run():
    made = call("f", "1")
    given = [user("Go"), asked(made), told("x", "1")]
    trace = Trace("a").model("n", given, [said("Here.")]).model("m", given[:1], [asked(made)])
    assert story(only(trace.tool("t", made, "x").agent().spans)) == ['0 f {} -> "x"', '0 "Here."']


def test_spans_without_times_are_ordered_by_their_histories():
    made = call("f", "1")
    given = [user("Go"), asked(made), told("x", "1")]
    spans = Trace("a").model("a", given, [said("Here.")]).model("b", given[:1], [asked(made)]).spans
    timeless = [msgspec.structs.replace(span, start_ns=0, end_ns=0) for span in spans]
    assert story(only(timeless)) == ['0 f {} -> "x"', '0 "Here."']


def test_results_without_ids_are_taken_in_order():
    one, two = ToolCall("f", {"x": 1}), ToolCall("f", {"x": 2})
    results = Message("tool", results=(ToolResult("r1"), ToolResult("r2")))
    trace = Trace("a").model("m", [user("Go")], [asked(one, two)])
    trace.model("n", [results], [said("ok")]).agent()
    turns = [turn for turn in only(trace.spans).turns if isinstance(turn, ActionTurn)]
    assert [turn.result for turn in turns] == ["r1", "r2"]


def test_the_outermost_agent_tells_what_the_user_said():
    trace = Trace("a")
    inner = [user("inner question")], [said("inner answer")]
    trace.model("m1", *inner, parent="inner")
    trace.agent("inner", "agent", messages_in=tuple(inner[0]), messages_out=tuple(inner[1]))
    trace.agent(
        start_ns=T0, messages_in=(user("outer question"),), messages_out=(said("outer answer"),)
    )
    conversation = only(trace.spans)
    assert conversation.queries == ("outer question",)
    assert story(conversation)[-1] == '0 "outer answer"'
