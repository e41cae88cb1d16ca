"""From what a framework recorded to spans: identity, order, times, sub-agents, answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from document_decoder_conformance import conversations_of
from framework_documents import BEDROCK

from adapters.frameworks.bedrock import BedrockDecoder
from adapters.frameworks.synthesis import spans_of
from adapters.frameworks.times import duration_ns, time_ns
from adapters.frameworks.transcript import Step, Transcript, exchanges_of, with_one_voice
from monitor.codec import decode_spans, encode_spans
from monitor.model import ActionTurn, Message, ResponseTurn, ToolCall, ToolResult, Usage

S = 1_000_000_000
T0 = 1_772_359_200 * S


def user(text: str, at_s: int | None = None) -> Step:
    return _step(Message("user", text), at_s)


def said(text: str, at_s: int | None = None, agent: str | None = None) -> Step:
    return _step(Message("assistant", text), at_s, agent)


def asked(*calls: ToolCall, at_s: int | None = None, agent: str | None = None) -> Step:
    return _step(Message("assistant", None, calls), at_s, agent)


def answered(*results: ToolResult, at_s: int | None = None) -> Step:
    return _step(Message("tool", None, (), results), at_s)


def _step(message: Message, at_s: int | None, agent: str | None = None) -> Step:
    at_ns = 0 if at_s is None else T0 + at_s * S
    return Step(message=message, agent=agent, start_ns=at_ns, end_ns=at_ns)


def transcript(*steps: Step, **more: Any) -> Transcript:
    return Transcript(**{"source": "test", "key": "k", "steps": steps, **more})


def story(*steps: Step, **more: Any) -> list[tuple[Any, ...]]:
    """The turns of the one conversation: exchange, depth, what, answer."""
    spans = spans_of(transcript(*steps, **{"conversation_id": "c", **more}))
    [conversation] = conversations_of(spans[::-1])
    return [
        (turn.exchange, turn.depth, turn.call.name, turn.result)
        if isinstance(turn, ActionTurn)
        else (turn.exchange, turn.text)
        for turn in conversation.turns
    ]


def test_each_user_turn_is_a_trace_of_its_own() -> None:
    spans = spans_of(transcript(user("a"), said("b"), user("a"), said("b"), conversation_id="c"))
    assert len({span.trace_id for span in spans}) == 2
    assert [span.kind for span in spans] == ["agent", "model"] * 2
    assert story(user("a"), said("b"), user("a"), said("b")) == [(0, "b"), (1, "b")]


def test_the_same_record_has_the_same_ids_and_another_has_others() -> None:
    steps = (user("a"), said("b"))
    spans = spans_of(transcript(*steps, conversation_id="c"))
    assert spans_of(transcript(*steps, conversation_id="c")) == spans
    for other in ({"conversation_id": "d"}, {"key": "l"}, {"position": 1}):
        found = spans_of(transcript(*steps, **{"conversation_id": "c", **other}))
        assert not {s.trace_id for s in found} & {s.trace_id for s in spans}, other


def test_a_record_that_grew_tells_its_first_turns_again() -> None:
    first = spans_of(transcript(user("a"), said("b"), conversation_id="c"))
    grown = spans_of(transcript(user("a"), said("b"), user("d"), said("e"), conversation_id="c"))
    assert grown[: len(first)] == first


def test_turns_without_a_conversation_are_tied_by_their_record() -> None:
    spans = spans_of(transcript(user("a"), said("b"), user("c"), said("d")))
    [conversation] = conversations_of(spans)
    assert conversation.conversation_id.startswith("record:")
    assert conversation.queries == ("a", "c")


def test_a_single_turn_without_a_conversation_says_so() -> None:
    [conversation] = conversations_of(spans_of(transcript(user("a"), said("b"))))
    assert conversation.synthetic_id


def test_words_of_the_user_in_a_row_are_one_query() -> None:
    spans = spans_of(transcript(user("a"), user("b"), said("c"), conversation_id="c"))
    [conversation] = conversations_of(spans)
    assert conversation.queries == ("a\nb",)
    assert len(conversation.turns) == 1


def test_an_unanswered_user_is_no_reply() -> None:
    assert story(user("a"), said("b"), user("c")) == [(0, "b")]


def test_a_greeting_before_the_user_is_a_turn_of_its_own() -> None:
    assert story(said("Hello!"), user("a"), said("b")) == [(0, "Hello!"), (1, "b")]


def test_answers_find_their_calls_by_id_then_name_then_order() -> None:
    one, two = ToolCall("f", {}, "1"), ToolCall("f", {}, "2")
    swapped = answered(ToolResult("b", "2"), ToolResult("a", "1"))
    assert story(user("q"), asked(one, two), swapped, said("r"))[:2] == [
        (0, 0, "f", "a"),
        (0, 0, "f", "b"),
    ]
    named = answered(ToolResult("b", None, "g"), ToolResult("a", None, "f"))
    calls = asked(ToolCall("f", {}), ToolCall("g", {}))
    assert story(user("q"), calls, named, said("r"))[:2] == [(0, 0, "f", "a"), (0, 0, "g", "b")]
    bare = answered(ToolResult("a"), ToolResult("b"))
    assert story(user("q"), calls, bare, said("r"))[:2] == [(0, 0, "f", "a"), (0, 0, "g", "b")]


def test_an_id_that_is_used_again_belongs_to_the_latest_open_call() -> None:
    call = ToolCall("f", {}, "same")
    rounds = [asked(call), answered(ToolResult(1, "same")), asked(call)]
    assert story(user("q"), *rounds, answered(ToolResult(2, "same")), said("r"))[:2] == [
        (0, 0, "f", 1),
        (0, 0, "f", 2),
    ]


def test_an_answer_without_its_call_is_a_call_with_unknown_arguments() -> None:
    spans = spans_of(transcript(user("q"), answered(ToolResult(1, "x", "f")), said("r")))
    [tool] = [span for span in spans if span.kind == "tool"]
    assert tool.call == ToolCall("f", None, "x", "absent")
    assert (tool.result, tool.has_result) == (1, True)


def test_a_call_that_nothing_answers_has_no_result() -> None:
    spans = spans_of(transcript(user("q"), asked(ToolCall("f", {}, "1"))))
    [tool] = [span for span in spans if span.kind == "tool"]
    assert not tool.has_result
    assert tool.error_type is None


def test_a_null_answer_is_an_answer() -> None:
    spans = spans_of(
        transcript(user("q"), asked(ToolCall("f", {}, "1")), answered(ToolResult(None, "1")))
    )
    [tool] = [span for span in spans if span.kind == "tool"]
    assert (tool.result, tool.has_result) == (None, True)


def test_times_that_are_given_are_kept() -> None:
    call, result = ToolCall("f", {}, "1"), ToolResult("x", "1")
    steps = (user("q", 0), asked(call, at_s=1), answered(result, at_s=3), said("r", 4))
    [conversation] = conversations_of(spans_of(transcript(*steps, conversation_id="c")))
    action, response = conversation.turns
    assert (action.start_ns - T0, action.end_ns - T0) == (1 * S, 3 * S)
    assert (response.start_ns - T0, response.end_ns - T0) == (0, 4 * S)


def test_times_that_contradict_the_order_are_dropped_for_the_order() -> None:
    steps = (user("q", 5), said("one", 9), said("two", 7))
    spans = spans_of(transcript(*steps, conversation_id="c"))
    assert {span.start_ns for span in spans} == {0}
    assert story(*steps) == [(0, "one"), (0, "two")]


def test_tokens_of_the_whole_record_count_once() -> None:
    spans = spans_of(transcript(user("a"), said("b"), user("c"), said("d"), usage=Usage(5, 2)))
    assert conversations_of(spans)[0].usage == Usage(5, 2)
    own = Step(message=Message("assistant", "b"), usage=Usage(3, 1))
    spans = spans_of(transcript(user("a"), own, usage=Usage(5, 2)))
    assert conversations_of(spans)[0].usage == Usage(3, 1)


def test_only_one_agent_speaks_to_the_user() -> None:
    steps = (
        user("q"),
        asked(ToolCall("hand_over", {}, "h"), agent="boss"),
        said("I will look.", agent="worker"),
        asked(ToolCall("find", {}, "f"), agent="worker"),
        answered(ToolResult("sent", "f")),
        said("It was sent.", agent="worker"),
        said("All is well.", agent="boss"),
    )
    assert story(*with_one_voice(steps)) == [
        (0, 0, "hand_over", None),
        (0, 1, "find", "sent"),
        (0, "All is well."),
    ]


def test_an_agent_that_was_handed_over_to_is_the_one_that_speaks() -> None:
    steps = (
        user("q"),
        asked(ToolCall("transfer", {}, "t"), agent="triage"),
        answered(ToolResult("ok", "t")),
        said("Your refund is on its way.", agent="billing"),
    )
    assert story(*with_one_voice(steps)) == [
        (0, 1, "transfer", "ok"),
        (0, "Your refund is on its way."),
    ]


def test_one_agent_alone_is_left_as_it_is() -> None:
    steps = (user("q"), said("r", agent="a"))
    assert with_one_voice(steps) == steps


def test_messages_that_only_hand_results_back_open_no_exchange() -> None:
    back = Step(message=Message("user", None, (), (ToolResult("x", "1"),)))
    steps = [user("q"), asked(ToolCall("f", {}, "1")), back, said("r")]
    assert list(exchanges_of(steps)) == [steps]


def test_a_reply_of_nothing_is_an_empty_reply() -> None:
    [conversation] = conversations_of(spans_of(transcript(user("q"), said(""))))
    [turn] = conversation.turns
    assert isinstance(turn, ResponseTurn)
    assert turn.text == ""


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ("2026-03-01T10:00:00Z", 0),
        ("2026-03-01T10:00:00", 0),
        ("2026-03-01T11:00:00+01:00", 0),
        ("2026-03-01 10:00:01", 1),
        (1_772_359_200, 0),
        (1_772_359_200.5, 0.5),
        (1_772_359_200_000, 0),
        (1_772_359_200_000_000, 0),
        (1_772_359_200_000_000_000, 0),
        ("1772359200000000000", 0),
    ],
)
def test_a_time_is_read_in_every_unit(given: Any, seconds: float) -> None:
    assert abs(time_ns(given) - T0 - seconds * S) < 500


@pytest.mark.parametrize(
    "given", [None, True, "soon", "", -1, 0, float("inf"), [], "9999999999999999999999"]
)
def test_what_is_no_time_is_zero(given: Any) -> None:
    assert time_ns(given) == 0


def test_what_is_no_duration_is_none() -> None:
    assert [duration_ns(value) for value in (1.5, 0, None, True, -1, "1", float("nan"))] == [
        1_500_000_000,
        0,
        *[None] * 5,
    ]


def test_very_many_calls_and_answers_are_matched_in_a_moment() -> None:
    calls = [ToolCall(f"f{number}", {}) for number in range(20_000)]
    results = [ToolResult(number, None, f"g{number}") for number in range(20_000)]
    spans = spans_of(transcript(user("q"), asked(*calls), answered(*results)))
    assert len(spans) == 2 + 40_000


def test_a_sum_of_absurd_counts_of_tokens_leaves_the_spans_storable() -> None:
    text = json.dumps(BEDROCK).replace('"inputTokens": 20', f'"inputTokens": {2**63 - 1}')
    document = json.loads(text)
    document["event_stream"][1:1] = [document["event_stream"][1]] * 3
    spans = BedrockDecoder().decode(json.dumps(document).encode(), "application/json").spans
    assert decode_spans(encode_spans(spans)) == spans
    assert [one.usage for one in spans if one.usage] == [Usage(2**63 - 1, 28)]
