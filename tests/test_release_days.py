"""How much days differ, beyond chance."""

from __future__ import annotations

import pytest

from monitor.releases.days import Day, day_variance


def days(*failing: int, conversations: int = 200, turns: int = 5) -> list[Day]:
    """Days of equal traffic in which so many conversations have one root."""
    made = []
    for count in failing:
        day = Day()
        for number in range(conversations):
            day.add(1.0 if number < count else 0.0, turns)
        made.append(day)
    return made


def test_few_days_tell_nothing() -> None:
    assert day_variance(days(50, 50, 50, 50)) is None


def test_days_without_a_failure_tell_nothing() -> None:
    assert day_variance(days(0, 0, 0, 0, 0, 0)) is None


def test_days_that_differ_as_chance_would_have_it_do_not_differ() -> None:
    # A hazard of .05 in 1,000 turns: chance alone moves the count by 6 or 7.
    assert day_variance(days(50, 57, 44, 49, 52, 46, 53)) == 0.0


def test_days_that_differ_for_certain_are_taken_at_the_upper_quartile() -> None:
    # Hazards .03 and .07: sd .02 about .05, of which chance explains .0069.
    found = day_variance(days(30, 70, 30, 70, 30, 70, 30, 70))

    assert found is not None
    between = 8 / 7 * 0.02**2 - 0.05 * 0.95 / 1000
    assert between < found < 2.5 * between


def test_a_doubtful_difference_is_taken_at_its_estimate() -> None:
    # 16.5 where 5 degrees of freedom exceed 15.1 by chance in 1 %, and 20.5 in .1 %.
    doubtful = days(64, 36, 50, 64, 36, 50)

    found = day_variance(doubtful)

    spread = 4 * 0.014**2 * 1000 / (0.05 * 0.95)
    assert 15.09 < spread < 20.52
    assert found == pytest.approx((spread - 5) * 0.05 * 0.95 / 5000, rel=0.08)


def test_the_days_of_two_releases_are_each_held_against_their_own_mean() -> None:
    # Days of .05 and days of .10: no day differs from its release's others.
    assert day_variance(days(50, 50, 50), days(100, 100, 100)) == 0.0
    assert day_variance(days(50, 50, 50, 100, 100, 100)) != 0.0


def test_the_days_of_both_count_towards_what_must_be_known() -> None:
    assert day_variance(days(50, 50, 50), days(50, 50)) is None
    assert day_variance(days(50, 50, 50), days(50, 50, 50)) == 0.0
    assert day_variance(days(50, 50, 50, 50), days(50)) is None
