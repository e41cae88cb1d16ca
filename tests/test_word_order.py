"""Equal words that say the reverse, and other words that say the same."""

from __future__ import annotations

import pytest

from monitor.comparison import Ladder
from monitor.comparison.lexical import Lexical
from monitor.comparison.rung import Pair
from monitor.ports import Hint


def score(expected, actual, field=None):
    return Ladder().compare(expected, actual, Hint(field)).score


@pytest.mark.parametrize(
    ("expected", "actual", "why"),
    [
        ("Sales rose by 12% in Europe and fell by 3% in Asia.",
         "Sales rose by 12% in Asia and fell by 3% in Europe.", "order"),
        ("In total 12: 8 for the fare and 4 in taxes.",
         "In total 12: 4 for the fare and 8 in taxes.", "order"),
        ("Ann Lee defeated Bob Ray", "Ann Lee was defeated by Bob Ray", "order"),
        ("lambda x: x + 1", "lambda x: x - 1", "sign"),
        ("Meeting moved to Thursday", "Meeting moved to Tuesday", "date"),
        ("turn off the kitchen lights", "turn on the kitchen lights", "direction"),
        ("The lake is larger than the sea.", "The lake is smaller than the sea.", "direction"),
        ("I have added two bags.", "I have removed two bags.", "direction"),
    ],
)  # fmt: skip
def test_a_statement_turned_round_is_kept_apart(expected, actual, why):
    found = Ladder().compare(expected, actual, Hint())
    assert (found.score, found.why) == (0.1, why)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("Bob Ray was defeated by Ann Lee", "Ann Lee defeated Bob Ray"),
        (
            "We moved the funds from savings to checking",
            "Funds were moved from savings to checking",
        ),
        ("The lake is larger than the sea.", "The sea is smaller than the lake."),
    ],
)
def test_no_guard_of_order_speaks_where_the_voice_or_the_standpoint_changed(expected, actual):
    assert Lexical().compare(Pair(expected, actual, "free", Hint())) is None


def test_clauses_may_stand_in_any_order():
    assert score("It rose by 12% in Rome and fell by 3% in Oslo.",
                 "It fell by 3% in Oslo and rose by 12% in Rome.") != 0.1  # fmt: skip


def test_a_switch_of_a_command_is_no_sign_between_its_words():
    pair = Pair("run /f /im tool.exe", "run /im /f tool.exe", "free", Hint("command"))
    found = Lexical().compare(pair)
    assert found is None or found.why != "sign"
