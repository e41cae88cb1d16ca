"""Messages that were read before are looked up, and nobody can tell."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.shapes import content, mixed, payload
from adapters.shapes.listed import read_listed
from adapters.shapes.remembered import ENTRY_COST, Remembered
from adapters.vocabularies import indexed
from adapters.vocabularies.messages import read_messages
from adapters.vocabularies.numbered import Numbered
from monitor.errors import PayloadTooLarge

ROLES = st.sampled_from(["user", "assistant", "system", "tool", "Human", "ai", "critic", ""])
TEXTS = st.sampled_from(["", "hello", "[1]", '{"a": 1}', "__REDACTED__", "12.50"])
CALLS = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.sampled_from(["c1", "", None, 7]),
            "type": st.just("function"),
            "function": st.fixed_dictionaries(
                {
                    "name": st.sampled_from(["f", "", None]),
                    "arguments": st.sampled_from(['{"a": 1}', "", None, "x", {"a": [1]}]),
                }
            ),
        }
    ),
    max_size=2,
)
MESSAGES = st.fixed_dictionaries(
    {"role": ROLES},
    optional={
        "content": TEXTS | st.none() | st.just([{"type": "text", "text": "block"}]),
        "tool_calls": CALLS,
        "tool_call_id": st.sampled_from(["c1", "", None]),
        "name": st.just("n"),
        "type": st.sampled_from(["message", "function_call", "remove", "text"]),
    },
)


@given(items=st.lists(MESSAGES | st.just("text") | st.just([]), min_size=1, max_size=4))
def test_a_list_read_one_by_one_is_the_list_read_as_a_whole(items):
    text = json.dumps(items)
    for _ in range(2):
        listed = read_listed(text, "user")
        whole = mixed.read_messages(msgspec.json.decode(text), "user")
        assert listed is None or listed == whole


def test_a_repeated_message_is_read_once():
    one = json.dumps([{"role": "user", "content": "where is my parcel, number 5512?"}])
    first, second = read_listed(one, "user"), read_listed(one, "user")
    assert first is not None
    assert second is not None
    assert first[0] is second[0]


def test_what_was_read_under_a_wide_limit_is_refused_under_a_narrow_one():
    text = json.dumps([{"role": "user", "content": [[[[["deep"]]]]]}])
    assert payload.read_given(text).messages is not None
    with content.nesting_limit(3), pytest.raises(PayloadTooLarge):
        payload.read_given(text)


def test_numbers_that_equal_a_text_or_each_other_are_told_apart():
    def read(value):
        told = Numbered({"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": value})
        return indexed.read_content({}, (), told).given

    assert [read(value)[0].text for value in ("1", "1")] == ["1", "1"]
    assert read(1) == read(1.0) == read(True) == (mixed.read_message({"role": "user"}, "user"),)


def test_the_order_in_which_attributes_come_changes_nothing():
    names = {"role": "tool", "content": "found", "tool_call_id": "c1"}
    found = [
        indexed.read_content(
            {}, (), Numbered({f"gen_ai.prompt.0.{name}": names[name] for name in order})
        ).given
        for order in (sorted(names), sorted(names, reverse=True))
    ]
    assert found[0] == found[1]
    assert found[0] is not None
    assert found[0][0].results[0].call_id == "c1"


def test_of_two_names_for_one_number_the_same_counts_in_any_order():
    pairs = [("gen_ai.prompt.1.content", "one"), ("gen_ai.prompt.01.content", "also one")]
    rows = [Numbered(dict(order)).row("gen_ai.prompt.") for order in (pairs, pairs[::-1])]
    assert rows[0] == rows[1]


def test_memory_is_bounded_and_drops_what_is_not_asked_for_again():
    remembered: Remembered[str] = Remembered(characters=20 * (ENTRY_COST + 10))
    for number in range(100):
        remembered.keep(number, "value", 10)
        remembered.known(0)
    assert remembered.known(0) == "value"
    assert remembered.known(50) is None
    assert remembered.known(99) == "value"
    remembered.keep("huge", "value", 10_000)
    assert remembered.known("huge") is None


def history(count: int, *more: Any) -> str:
    told = [
        {"role": "user", "parts": [{"type": "text", "content": f"Question {n}"}]}
        for n in range(count)
    ]
    return json.dumps([*told, *more])


def test_a_long_history_reads_as_its_messages_do_one_by_one():
    words = [f"Question {n}" for n in range(9)]
    for _ in range(2):
        messages, cut = read_messages(history(9), "user")
        assert ([message.text for message in messages or ()], cut) == (words, False)


def test_one_message_that_deviates_has_a_long_history_read_patiently():
    odd = {"role": "assistant", "parts": [{"text": "No type."}]}
    messages, _ = read_messages(history(9, odd), "user")
    assert messages is not None
    assert (len(messages), messages[-1].text) == (10, "No type.")


def test_a_long_history_that_was_cut_is_told():
    assert read_messages(history(9)[:-20], "user") == (None, True)
