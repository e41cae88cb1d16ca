"""The monitor's pass rate mended by labels of people, by hand-worked tables."""

from __future__ import annotations

import numpy as np
import pytest

from monitor.releases.people import Pairs, corrected_by_people


def test_a_monitor_that_agrees_with_people_lends_them_all_its_turns():
    found = corrected_by_people(9_000, 10_000, Pairs(90, 0, 0, 10))
    assert found is not None
    assert found.estimate == pytest.approx(0.9, abs=0.001)
    assert found.upper - found.lower < 0.03


def test_a_monitor_that_knows_nothing_is_given_no_weight():
    found = corrected_by_people(5_000, 10_000, Pairs(45, 45, 5, 5))
    assert found is not None
    assert found.estimate == pytest.approx(0.5, abs=0.001)
    lenient = corrected_by_people(9_000, 10_000, Pairs(25, 25, 25, 25))
    assert lenient is not None
    assert lenient.estimate == pytest.approx(0.5)


def test_a_lenient_monitor_is_taken_down_to_what_people_say():
    """It passes 90 of 100, people 80 of them and no others."""
    found = corrected_by_people(900_000, 1_000_000, Pairs(80, 10, 0, 10))
    assert found is not None
    assert found.estimate == pytest.approx(0.8, abs=0.001)


def test_few_labels_say_nothing_and_equal_ones_still_leave_a_doubt():
    assert corrected_by_people(9, 10, Pairs(29, 0, 0, 0)) is None
    assert corrected_by_people(0, 0, Pairs(100, 0, 0, 0)) is None
    found = corrected_by_people(1_000, 1_000, Pairs(100, 0, 0, 0))
    assert found is not None
    assert found.estimate == 1.0
    assert found.lower == pytest.approx(0.963, abs=0.001)


def test_the_interval_holds_the_truth_as_often_as_it_says():
    chance, hits, runs = np.random.default_rng(5), 0, 600
    for _ in range(runs):
        people = chance.random(4_000) < 0.9
        monitor = np.where(chance.random(4_000) < 0.9, people, ~people)
        labelled = slice(0, 400)
        one, other = people[labelled], monitor[labelled]
        pairs = Pairs(
            int((one & other).sum()),
            int((~one & other).sum()),
            int((one & ~other).sum()),
            int((~one & ~other).sum()),
        )
        found = corrected_by_people(int(monitor.sum()), 4_000, pairs)
        assert found is not None
        hits += found.lower <= 0.9 <= found.upper
    assert 0.92 <= hits / runs <= 0.98
