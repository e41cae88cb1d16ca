"""What was known: values in one spelling, and where they stood."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.scoring.known import Known, as_number, is_sum_of, values_of


def knowing(*texts: str) -> Known:
    known = Known()
    for text in texts:
        known.learn(text)
    return known


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("It costs $1,095.50.", ["1095.5"]),
        ("On May 24, 2024 at 3 pm", ["05-24", "15:00"]),
        ("From 10 AM – or 11:30 am – to 3 pm", ["10:00", "11:30", "15:00"]),
        ("Zimmer ٣ – no ASCII digit", ["٣"]),
        ("24th of May, 15:00:00", ["05-24", "15:00"]),
        ("2024-05-24T06:05:00", ["05-24", "6:05"]),
        ("order #W2702727, card credit_card_7334.", ["#w2702727", "credit_card_7334"]),
        ("no values at all", []),
    ],
)
def test_a_value_has_one_spelling(text: str, values: list[str]):
    assert list(values_of(text)) == values


def test_a_number_is_known_in_any_spelling():
    known = knowing('{"total": 625.60}')

    assert known.holds("625.6")
    assert not known.holds("625.61")


def test_sums_differences_and_multiples_follow_from_what_is_known():
    known = knowing("12.50 and 30.25")

    assert [known.derives(value) for value in ("42.75", "17.75", "37.5", "99")] == [
        True,
        True,
        True,
        False,
    ]


def test_a_field_is_told_from_a_value_within_prose():
    prose = "A league was founded in 1901 and grew. " * 8
    known = knowing(f'{{"year": 1871, "text": "{prose}"}}')

    assert (known.has_field("1871"), known.has_field("1901")) == (True, False)
    assert known.holds("1901")


def test_what_is_learnt_later_is_known_later():
    known = knowing("first 111111")
    assert not known.has_run("222222")
    known.learn("then 222222")

    assert known.has_run("222222")
    assert known.has_word("then")


def test_what_does_not_fit_is_said_to_be_cut_and_redaction_to_veil():
    assert knowing("x" * 70_000).cut
    assert knowing("I am <EMAIL:19a3d4>").veiled
    assert not knowing("I am here").veiled


def test_instructions_count_as_said():
    known = Known()
    known.learn_instructions("Fees are $25 before May 3.")

    assert [known.holds(value) for value in ("25", "05-03", "26")] == [True, True, False]


TEXTS = st.text(max_size=200).filter(lambda text: not text.startswith(("{", "[")))


@given(TEXTS, TEXTS)
def test_every_value_of_a_text_is_known_once_it_is_learnt(first: str, second: str):
    known = knowing(first, second)

    assert all(known.holds(value) for text in (first, second) for value in values_of(text))


MARKS = st.lists(
    st.sampled_from(["1", "20", "a", "b" * 40, "_", "#", "-", ":", ".", " ", '"', ",", "]", "é"]),
    max_size=30,
).map("".join)


@given(MARKS)
def test_a_result_holds_its_words_with_a_digit_and_no_others(text: str):
    result = "[" + text
    found = re.findall(r"(?<![\w#])#?[^\W\d]{0,40}\d[\w#@./:+-]*", result)

    held = {word for word in re.findall(r"[^\s\"',\[\]]+", result) if knowing(result).holds(word)}

    assert all(knowing(result).holds(value) for raw in found for value in values_of(raw))
    assert held <= {value for raw in found for value in (raw, *values_of(raw))}


@given(MARKS, st.lists(st.sampled_from(["a", "1", "20", "#a", "a-1", "20:1", "b"]), min_size=30))
def test_a_word_is_known_however_many_are_asked_for(text: str, words: list[str]):
    known = knowing(text, "[" + text)

    assert [known.has_word(word) for word in words] == [
        knowing(text, "[" + text).has_word(word) for word in words
    ]


@given(st.lists(st.integers(0, 10_000).map(lambda cents: cents / 100), max_size=6))
def test_the_sum_of_all_is_among_the_sums(numbers: list[float]):
    total = 0.0
    for number in numbers:
        total = round(number + total, 2)

    assert is_sum_of(total, numbers)
    assert is_sum_of(0.0, numbers)
    assert not is_sum_of(total + 0.01, numbers)


def test_what_is_no_number_has_none():
    assert [as_number(value) for value in ("#1", "1-2", "12.5", "")] == [None, None, 12.5, None]
