"""Measures in parts, fractions and words, versions, and signs that compare."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.comparison.ladder import Ladder
from monitor.comparison.measures import measure_of
from monitor.ports import Hint

LADDER = Ladder()


def score(expected: str, actual: str, field: str) -> float | None:
    return LADDER.compare(expected, actual, Hint(field)).score


@pytest.mark.parametrize(
    ("expected", "actual", "field"),
    [
        ("1h 30m", "90 minutes", "duration"),
        ("1 hour and 30 minutes", "90 min", "duration"),
        ("PT1H30M", "1.5 hours", "duration"),
        ("P1DT12H", "36 hours", "duration"),
        ("half an hour", "30 minutes", "duration"),
        ("an hour and a half", "90 minutes", "duration"),
        ("1/2 cup", "0.5 cup", "amount"),
        ("1 1/2 cups", "1.5 cups", "amount"),
        ("5 ft 10 in", "70 inches", "height"),
        ("20 °C", "68 °F", "temperature"),
        ("v1.2", "1.2", "version"),
    ],
)
def test_one_measure_has_many_spellings(expected: str, actual: str, field: str):
    assert score(expected, actual, field) == 1.0
    assert score(actual, expected, field) == 1.0


@pytest.mark.parametrize(
    ("expected", "actual", "field"),
    [
        ("1h 30m", "80 minutes", "duration"),
        ("PT1H30M", "PT1H20M", "duration"),
        ("half an hour", "1 hour", "duration"),
        ("1/2 cup", "1/4 cup", "amount"),
        ("20 °C", "20 °F", "temperature"),
        ("1.10", "1.1", "version"),
        ("> 5", "< 5", "filter"),
        (">= 5", "<= 5", "filter"),
        ("a == 5", "a != 5", "filter"),
    ],
)
def test_other_measures_and_other_signs_differ(expected: str, actual: str, field: str):
    found = score(expected, actual, field)

    assert found is not None
    assert found < 0.5


def test_what_may_be_rounded_or_shortened_is_left_open():
    assert score("21 °C", "70 °F", "temperature") is None
    assert score("2.0", "2", "version") is None


def test_markup_is_no_comparison():
    assert score("<b>new</b> price", "new price", "note") != 0.1


@given(st.text(alphabet="0123456789 /phmtands.:", max_size=70))
def test_any_text_is_a_measure_or_none(text: str):
    assert measure_of(text) is None or measure_of(text) == measure_of(text)
