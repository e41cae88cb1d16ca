"""What a judged sample tells of all turns, against hand-worked sums and short simulations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.releases.estimate import Sampled, Sums, anytime, estimate, has_dropped, opening
from monitor.roles.bench.estimates import found, saved


def of(conversations: list[Sampled]) -> Sums:
    sums = Sums()
    for one in conversations:
        sums = sums.plus(one)
    return sums


def judged(turns: int, correct: int, predicted: float) -> Sampled:
    return Sampled(turns, predicted, 1.0, turns, float(correct), predicted)


def test_with_everything_judged_the_cheap_score_does_not_matter():
    ninety = [judged(2, 2, 0.3)] * 36 + [judged(2, 0, 1.9)] * 4
    value = estimate(of(ninety))
    assert value is not None
    assert value.value == pytest.approx(72 / 80)


def test_nothing_is_said_before_thirty_conversations_were_judged():
    assert estimate(of([judged(2, 2, 1.8)] * 29)) is None
    assert estimate(of([judged(2, 2, 1.8)] * 29 + [Sampled(2, 1.8)] * 500)) is None


def test_an_unjudged_half_is_filled_in_by_the_cheap_score():
    """Judged with probability 1/2; the score is right, so the rest is known without a judge."""
    right, wrong = Sampled(1, 1.0, 0.5, 1, 1.0, 1.0), Sampled(1, 0.0, 0.5, 1, 0.0, 0.0)
    traffic = [right] * 45 + [Sampled(1, 1.0)] * 45 + [wrong] * 5 + [Sampled(1, 0.0)] * 5
    value = estimate(of(traffic))
    assert value is not None
    assert value.value == pytest.approx(0.9)
    assert value.weights[0] == pytest.approx(1.0)


def test_anytime_bounds_are_wider_than_those_of_one_look():
    sums = of([judged(1, i % 10 != 0, 0.9) for i in range(400)])
    value, scale = estimate(sums), opening(sums)
    assert value is not None
    assert scale is not None
    one, always = value.interval(), anytime(value, sums, scale)
    assert always[0] < one[0] < value.value < one[1] < always[1]


def test_a_plain_drop_is_found_and_none_is_found_where_there_is_none():
    calm = of([judged(1, i % 10 != 0, 0.9) for i in range(400)])
    poor = of([judged(1, i % 4 != 0, 0.9) for i in range(400)])
    scale = opening(calm)
    assert scale is not None
    assert not has_dropped(calm, 0.9, scale)
    assert has_dropped(poor, 0.9, scale)


@given(
    st.lists(
        st.builds(judged, st.just(3), st.integers(0, 3), st.floats(0, 3)), min_size=2, max_size=40
    ),
    st.integers(0, 40),
)
def test_sums_may_be_added_up_in_parts(conversations: list[Sampled], cut: int):
    apart = of(conversations[:cut]).together(of(conversations[cut:]))
    assert apart == pytest.approx(of(conversations))


def test_the_simulated_intervals_hold_the_truth_and_spare_the_judge():
    worth = saved(0.85, runs=120, seed=3)
    assert worth.coverage > 0.89
    assert worth.calls_saved > 0.55


def test_the_simulated_drop_is_found_with_few_judged_turns():
    drop = found(0.85, runs=4, seed=5, conversations=3_000)
    assert drop.found == 1.0
    assert drop.mean_judged < 900
