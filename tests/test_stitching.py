"""Traces that name no conversation are joined where one continues another's history."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from assembly_builders import Trace, asked, call, said, story, told, user
from stitching_run import ENDED, FLIGHT, OPENING, ORDER, SECOND, Run, bare, conversation_of

from adapters.otlp.decoder import OtlpDecoder
from adapters.otlp.logs import OtlpLogDecoder
from monitor.model import AgentSpan, Message

PROTOBUF = "application/x-protobuf"


def test_a_history_that_goes_on_is_one_conversation():
    run = Run()
    run.feed(bare("a", 0, SECOND[:1], said("It is packed.")))
    run.feed(bare("b", 60, SECOND, said("On Monday.")))
    run.feed(bare("c", 90, [*ENDED, user("Thanks!")], said("Welcome.")))
    assert run.traces() == {"a": ["a", "b", "c"]}
    assert run.found["a"].synthetic_id
    assert run.found["a"].queries == (ORDER, "And when will it come?", "Thanks!")
    assert run.counts["stitched"] == 2


def test_the_results_of_tools_go_on_with_the_call_that_asked_for_them():
    made = call("get_order", "call_1", order_id=7)
    first = bare("a", 0, OPENING[:1], asked(made))
    second = bare("b", 1, [*OPENING[:1], asked(made), told("packed", "call_1")], OPENING[1])
    third = bare("c", 9, SECOND, said("On Monday."))
    run = Run().feed(first, second, third)
    assert story(run.found["a"]) == [
        '0 get_order {"order_id":7} -> "packed"',
        '0 "It is packed."',
        '1 "On Monday."',
    ]


def test_an_earlier_part_that_comes_last_takes_the_later_ones_over():
    run = Run()
    run.feed(bare("b", 60, SECOND, said("On Monday.")))
    run.feed(bare("c", 90, [*ENDED, user("Thanks!")], said("Welcome.")))
    assert run.traces() == {"b": ["b", "c"]}
    run.feed(bare("a", 0, SECOND[:1], said("It is packed.")))
    assert run.traces() == {"a": ["a", "b", "c"]}
    assert run.counts["stitched_anew"] == 2


def test_a_turn_keeps_its_identity_when_its_trace_moves():
    run = Run().feed(bare("b", 60, SECOND, said("On Monday.")))
    before = run.found["b"].turns[0].turn_id
    run.feed(bare("a", 0, SECOND[:1], said("It is packed.")))
    assert [turn.turn_id for turn in run.found["a"].turns][1:] == [before]


def test_greetings_that_thousands_share_join_nothing():
    run = Run()
    for number in range(2_000):
        hi = [user("hi"), said("Hello! How can I help you today?")]
        more = [*hi, user(f"Where is order {number}?")]
        run.feed(
            bare(f"a{number}", 9.0 * number, hi[:1], hi[1], system="Be kind."),
            bare(f"b{number}", 9.0 * number + 4, more, said("Here."), system="Be kind."),
            wait=0.0,
        )
    run.feed(wait=40.0)
    assert {len(traces) for traces in run.traces().values()} == {1}
    assert len(run.traces()) == 4_000


def test_equal_openings_side_by_side_stay_apart():
    assert conversation_of(
        bare("a1", 0, OPENING[:1], OPENING[1]),
        bare("a2", 1, OPENING[:1], OPENING[1]),
        bare("b1", 10, SECOND, said("On Monday.")),
        bare("b2", 11, SECOND, said("On Monday.")),
        bare("c2", 20, [*ENDED, user("Thanks!")], said("Welcome.")),
    ) == {"a1": ["a1"], "a2": ["a2"], "b1": ["b1"], "b2": ["b2"], "c2": ["c2"]}


def test_after_an_equal_opening_what_differs_is_joined():
    gift = [*OPENING, user("It is a gift for my aunt in Bergen.")]
    assert conversation_of(
        bare("a1", 0, OPENING[:1], OPENING[1]),
        bare("a2", 1, OPENING[:1], OPENING[1]),
        bare("b1", 10, gift, said("How nice.")),
        bare("c1", 20, [*gift, said("How nice."), user("Wrap it.")], said("Done.")),
    ) == {"a1": ["a1"], "a2": ["a2"], "b1": ["b1", "c1"]}


def test_the_same_words_one_conversation_after_the_other_are_two_conversations():
    assert conversation_of(
        bare("a1", 0, OPENING[:1], OPENING[1]),
        bare("b1", 10, SECOND, said("On Monday.")),
        bare("a2", 20, OPENING[:1], OPENING[1]),
        bare("b2", 30, SECOND, said("On Monday.")),
    ) == {"a1": ["a1", "b1"], "a2": ["a2", "b2"]}


def test_call_ids_tell_equal_words_apart():
    made = {name: call("get_order", f"call_{name}", order_id=7) for name in ("a1", "a2")}
    loop = {name: [*OPENING[:1], asked(m), told("x", m.call_id)] for name, m in made.items()}
    assert conversation_of(
        bare("a1", 0, OPENING[:1], asked(made["a1"])),
        bare("a2", 1, OPENING[:1], asked(made["a2"])),
        bare("b2", 2, loop["a2"], OPENING[1]),
        bare("b1", 3, loop["a1"], OPENING[1]),
    ) == {"a1": ["a1", "b1"], "a2": ["a2", "b2"]}


def test_a_reply_that_is_kept_in_other_words_than_it_was_said_parts_nothing():
    kept = [*SECOND, said("On Monday, 24 November [1]."), user("Thanks!")]
    assert conversation_of(
        bare("a", 0, OPENING[:1], OPENING[1]),
        bare("b", 10, SECOND, said("On Monday.")),
        bare("c", 20, kept, said("Welcome.")),
    ) == {"a": ["a", "b", "c"]}


@pytest.mark.parametrize(
    ("first", "answer", "joined"),
    [
        ("hi", said("Hello!"), False),
        ("hi", asked(call("look", "call_1")), False),
        ("hi", asked(call("look", "call_9RZ8yPqvTnw2")), True),
        ("hi", asked(call("look", "7d0c1c4e-9a3b-4f0e-8d53-1f2a3b4c5d6e")), True),
        ("hi", asked(call("lookAtAllOrders", "lookAtAllOrders1")), False),
        ("Where?", said("Your parcel 7 left Oslo on Monday."), True),
        ("ok", said("Right."), False),
    ],
)
def test_little_said_joins_only_what_repeats_an_id_or_words_of_its_own(first, answer, joined):
    given = [user(first)]
    call_id = answer.calls[0].call_id if answer.calls else None
    more = [told("x", call_id)] if answer.calls else [user("And now?")]
    one, two = bare("a", 0, given, answer), bare("b", 9, [*given, answer, *more], said("So."))
    assert conversation_of(one, two) == ({"a": ["a", "b"]} if joined else {"a": ["a"], "b": ["b"]})
    one, two = (
        bare("a", 0, given, answer, user_id="u1"),
        bare("b", 9, [*given, answer, *more], said("So."), user_id="u1"),
    )
    assert conversation_of(one, two) == {"a": ["a", "b"]}


def test_a_window_with_an_id_that_nobody_gives_twice_goes_on():
    made = call("get_order", "call_9RZ8yPqvTnw2", order_id=7)
    loop = [*SECOND, asked(made), told("x", made.call_id)]
    kept = [*loop[2:], said("On Monday."), user("Thanks!")]
    assert conversation_of(
        bare("a", 0, OPENING[:1], OPENING[1]),
        bare("b", 10, SECOND, loop[-2]),
        bare("c", 12, loop, said("On Monday.")),
        bare("d", 20, kept, said("Welcome.")),
    ) == {"a": ["a", "b", "c", "d"]}


def test_a_call_that_is_tried_again_is_of_the_same_conversation():
    assert conversation_of(
        bare("a", 0, OPENING[:1], OPENING[1]),
        bare("b1", 10, SECOND, error_type="timeout"),
        bare("b2", 12, SECOND, said("On Monday.")),
        bare("c", 20, [*ENDED, user("Thanks!")], said("Welcome.")),
    ) == {"a": ["a", "b2", "c"]}


def test_a_continuation_that_began_before_is_none():
    assert conversation_of(
        bare("a", 50, OPENING[:1], OPENING[1]), bare("b", 10, SECOND, said("On Monday."))
    ) == {"a": ["a"], "b": ["b"]}


def test_a_missing_part_is_bridged_by_the_history():
    assert conversation_of(
        bare("a", 0, OPENING[:1], OPENING[1]),
        bare("c", 90, [*ENDED, user("Thanks!")], said("Welcome.")),
    ) == {"a": ["a", "c"]}


def test_a_system_prompt_that_tells_the_time_parts_nothing():
    def at(hour: int) -> list[Message]:
        return [Message("system", f"It is {hour} o'clock.")]

    assert conversation_of(
        bare("a", 0, [*at(9), *OPENING[:1]], OPENING[1]),
        bare("b", 60, [*at(10), *SECOND], said("On Monday.")),
    ) == {"a": ["a", "b"]}


def test_how_a_source_cuts_and_spaces_its_messages_parts_nothing():
    made, more = call("get_order", "1", order_id=7), call("get_stock", "2")
    split = [said("One  moment."), asked(made), asked(more), told("a", "1"), told("b", "2")]
    assert conversation_of(
        bare("a", 0, OPENING[:1], asked(made, more, text=" One\nmoment.")),
        bare("b", 2, [*OPENING[:1], *split], said("Packed.")),
    ) == {"a": ["a", "b"]}


def test_runs_that_keep_only_what_was_said_are_joined():
    made = call("get_order", "1", order_id=7)
    first = Trace("a", None).model("m1", OPENING[:1], [asked(made)]).tool("t", made, "packed")
    first.model("m2", [*OPENING[:1], asked(made), told("packed", "1")], [OPENING[1]]).agent()
    second = Trace("b", None, 60).model("m1", SECOND, [said("On Monday.")]).agent()
    assert conversation_of(first, second) == {"a": ["a", "b"]}


def test_a_window_over_the_history_goes_on_if_it_holds_enough():
    long = [*ENDED, user("Please send it to Storgata 5 in Oslo."), said("I have changed it.")]
    question = user("Thanks!")
    traces = [
        bare("a", 0, OPENING[:1], OPENING[1]),
        bare("b", 10, SECOND, ENDED[-1]),
        bare("c", 20, long[:-1], long[-1]),
    ]
    whole = bare("d", 30, [*long[2:], question], said("Welcome."))
    scrap = bare("e", 30, [*long[4:], question], said("Welcome."))
    assert conversation_of(*traces, whole) == {"a": ["a", "b", "c", "d"]}
    assert conversation_of(*traces, scrap) == {"a": ["a", "b", "c"], "e": ["e"]}


def test_a_history_that_was_summed_up_goes_on_by_what_was_kept():
    long = [*ENDED, user("Please send it to Storgata 5 in Oslo."), said("I have changed it.")]
    summary = Message("user", "They ask for order 7.", compacted=True)
    traces = [bare("a", 0, OPENING[:1], OPENING[1]), bare("c", 20, long[:-1], long[-1])]
    kept = bare("d", 30, [summary, *long[2:], user("Thanks!")], said("Welcome."))
    lost = bare("e", 30, [summary, user("Thanks!")], said("Welcome."))
    assert conversation_of(*traces, kept) == {"a": ["a", "c", "d"]}
    assert conversation_of(*traces, lost) == {"a": ["a", "c"], "e": ["e"]}


def test_a_conversation_that_is_over_is_not_continued():
    run = Run()
    run.feed(bare("a", 0, OPENING[:1], OPENING[1]), wait=700.0)
    run.feed(wait=700.0)
    run.feed(bare("b", 1_310, SECOND, said("On Monday.")))
    assert run.traces() == {"a": ["a"], "b": ["b"]}


def test_an_id_that_comes_late_takes_its_trace_out_and_the_rest_stays_together():
    run = Run()
    run.feed(bare("a", 0, OPENING[:1], OPENING[1]))
    run.feed(bare("b", 10, SECOND, said("On Monday.")))
    run.feed(bare("c", 20, [*ENDED, user("Thanks!")], said("Welcome.")))
    late = Trace("a", "c9", -1).add("root", "other")
    run.feed(late)
    assert run.traces() == {"b": ["b", "c"], "c9": ["a"]}


def test_a_restart_finds_every_trace_where_it_was():
    run = Run()
    run.feed(bare("a", 0, OPENING[:1], OPENING[1]))
    run.feed(bare("b", 10, SECOND, said("On Monday."))).restart()
    run.feed(bare("c", 20, [*ENDED, user("Thanks!")], said("Welcome.")))
    assert run.traces() == {"a": ["a", "b", "c"]}
    run.restart().feed(wait=90_000.0)
    run.feed(wait=90_000.0).restart()
    assert run.store == {}


def test_the_index_is_bounded():
    run = Run(stitched_traces=1)
    run.feed(bare("a", 0, OPENING[:1], OPENING[1]))
    run.feed(bare("x", 5, [user(FLIGHT)], said("At noon.")))
    run.feed(bare("b", 10, SECOND, said("On Monday.")))
    assert run.counts["unstitched"] == 2
    assert run.traces() == {"a": ["a"], "b": ["b"], "x": ["x"]}


def test_a_trace_that_names_a_conversation_is_neither_joined_nor_continued():
    run = Run()
    named = Trace("a", "c1").model("m", OPENING[:1], [OPENING[1]], None)
    run.feed(named, bare("b", 10, SECOND, said("On Monday.")))
    assert run.traces() == {"b": ["b"], "c1": ["a"]}
    assert not any(key.endswith("a") for key in run.restart().store if key.startswith("i:"))


CAPTURES = {
    "openinference/captured_oi_openai_0.1.66.req1.pb": 5,
    "openllmetry/captured_openllmetry_openai_0.40.14_indexed.req1.pb": 5,
    "otel_genai_logs/captured_otel_openai_v2_2.1b0.req1.pb": 5,
    "openai_agents/captured_oi_openai_agents_2.6.0.req1.pb": 3,
}


@pytest.mark.parametrize("name", CAPTURES)
def test_bare_clients_that_real_sdks_traced_are_one_conversation(shared_data: Path, name: str):
    path = shared_data / "traces" / name
    spans = OtlpDecoder().decode(path.read_bytes(), PROTOBUF).spans
    for logs in path.parent.glob("*.logs1.pb"):
        spans += OtlpLogDecoder().decode(logs.read_bytes(), PROTOBUF).spans
    run = Run().feed(_all_of(spans))
    (conversation,) = [found for found in run.found.values() if found.turns]
    assert conversation.synthetic_id
    assert conversation.queries == (
        "What is the weather in Paris and London?",
        "Convert Paris to Fahrenheit please",
        "Thanks!",
    )
    assert len(run.traces()[conversation.conversation_id]) == CAPTURES[name]


def test_whole_histories_are_rebuilt_exactly(shared_data: Path):
    folder = shared_data / "trajectories" / "tau1_airline_gpt4o"
    wanted: dict[str, list[str]] = {}
    spans: list[AgentSpan] = []
    with gzip.open(folder / "traces_full_history_sample.jsonl.gz") as lines:
        for line in lines:
            calls = _as_bare_calls(OtlpDecoder().decode(line, "application/json").spans)
            wanted[calls[0].trace_id] = sorted(span.trace_id for span in calls)
            spans += calls
    run = Run().feed(_all_of(sorted(spans, key=lambda span: (span.start_ns, span.span_id))))
    assert {name: sorted(traces) for name, traces in run.traces().items()} == wanted
    assert len(wanted) == 20


def _as_bare_calls(spans: Sequence[AgentSpan]) -> list[AgentSpan]:
    calls = sorted((span for span in spans if span.kind == "model"), key=lambda span: span.start_ns)
    return [
        msgspec.structs.replace(
            span, trace_id=f"t{span.span_id}", parent_id=None, conversation_id=None
        )
        for span in calls
    ]


def _all_of(spans: Sequence[AgentSpan]) -> Trace:
    trace = Trace("", None)
    trace.spans = [msgspec.structs.replace(span, conversation_id=None) for span in spans]
    return trace
