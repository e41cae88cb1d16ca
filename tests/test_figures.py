"""Figures in units of several words, and digits that may be a code."""

from __future__ import annotations

import pytest

from monitor.comparison import Ladder
from monitor.ports import Hint


@pytest.mark.parametrize(
    ("expected", "actual", "score"),
    [
        ("750 ml", "75 cl", 1.0),
        ("750 ml", "7 dl", 0.0),
        ("20 C", "20 degrees Celsius", 1.0),
        ("68 degrees Fahrenheit", "20 degrees Celsius", 1.0),
        ("90 km/h", "90 kilometers per hour", 1.0),
        ("90 km/h", "90 miles per hour", 0.0),
        ("0421", "421", None),
        ("0421", "4210", 0.0),
    ],
)
def test_a_figure_is_read_with_its_unit_and_a_padded_one_may_be_a_code(expected, actual, score):
    assert Ladder().compare(expected, actual, Hint("value")).score == score
