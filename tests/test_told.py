"""Typed answers within a reply: another date, time or sum is another answer."""

from __future__ import annotations

import pytest

from monitor.comparison import Ladder
from monitor.comparison.told import tells_answer
from monitor.ports import Hint


@pytest.mark.parametrize(
    ("answer", "reply", "told"),
    [
        ("March 31, 1889", "It was completed on 31 March 1898.", False),
        ("May 12 at 8:15 AM", "The flight is on May 12 at 8:15 PM.", False),
        ("23:40", "The last train leaves at 22:40.", False),
        ("25 euros", "It costs 25 dollars.", False),
        ("8,849 metres", "It is 8,849 feet high.", False),
        ("142 minutes", "It lasts 2 hours and 42 minutes.", False),
        ("March 31, 1889", "It was begun on 6 May 1887 and completed on March 31 of 1889.", True),
        ("May 12 at 8:15 AM", "The flight leaves on 12 May at 08:15.", True),
        ("23:40", "The last train leaves at 11:40 pm.", True),
        ("8,849 metres", "It is 29,032 feet (8,849 metres) high.", True),
        ("142 minutes", "It lasts 2 hours and 22 minutes.", True),
        ("two weeks", "It takes fourteen days.", True),
        ("18 January 1788", "It arrived on 18-20 January 1788.", None),
        ("July 2016", "It was on July 5, 2016.", None),
        ("$25", "It is free for members.", None),
        ("5 kg", "It took 3 days.", None),
        ("Jane Austen", "It was finished on 28 January 1813.", None),
    ],
)
def test_a_typed_answer_is_looked_for_among_the_values_of_its_type(answer, reply, told):
    assert tells_answer([answer], reply) is told
    if told is not None:
        found = Ladder().compare(answer, reply, Hint(query="what is it"))
        assert found.score == (1.0 if told else 0.0)


def test_one_of_several_accepted_values_is_enough():
    assert tells_answer(["May 1, 2018", "April 10, 2018"], "It aired on April 10, 2018.")


def test_a_value_that_is_denied_is_not_told():
    found = Ladder().compare("23:40", "It does not leave at 23:40.", Hint(query="when is it"))
    assert found.score is None or found.score < 0.5
