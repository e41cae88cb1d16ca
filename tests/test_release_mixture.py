"""The evidence that pages: its formula, by hand and against the bench's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.releases.arms import (
    FAILURES,
    INHERITED,
    ROOTS,
    damped,
    groups,
    merging,
    share,
    stratum,
)
from monitor.releases.mixture import (
    SCALES,
    Baseline,
    design_effect,
    half_width,
    log_evidence,
    moments,
)
from monitor.roles.bench.detectors.ours import log_evidence_path, mixture_path


def arm(*rows: tuple[float, ...]) -> np.ndarray:
    return np.array(rows, dtype=np.float64)


def test_a_conversation_adds_to_three_rates() -> None:
    # Two roots count as 1.5 of 4 turns at risk; 3 failed of 5 turns; 1 inherited of 3 failed.
    found = share(roots=2, at_risk=4, inherited=1)

    assert found[ROOTS].tolist() == [1, 1.5, 4, 2.25, 6, 16]
    assert found[FAILURES].tolist() == [1, 3, 5, 9, 15, 25]
    assert found[INHERITED].tolist() == [1, 1, 3, 1, 3, 9]


def test_without_a_turn_at_risk_nothing_is_added() -> None:
    assert not share(0, 0, 0).any()


@pytest.mark.parametrize(("roots", "counted"), [(0, 0.0), (1, 1.0), (2, 1.5), (5, 3.0)])
def test_further_roots_of_a_conversation_count_by_half(roots: int, counted: float) -> None:
    assert damped(roots) == counted


def test_every_chain_and_intent_has_a_row_of_its_own() -> None:
    rows = {stratum(chain, intent) for chain in range(4) for intent in range(-1, 8)}

    assert rows == set(range(36))
    assert stratum(2, 99) == stratum(2, -1)


def test_the_rise_and_its_variance_are_those_worked_out_by_hand() -> None:
    # One stratum: 1 of 10 in the baseline, 3 of 10 in the candidate, one conversation each turn.
    a = arm((1000, 100, 1000, 100, 100, 1000))
    b = arm((10, 3, 10, 3, 3, 10))

    rise, variance = moments(a, b)

    # The design effect is 1: squared departures of 90 where 90 are expected.
    pooled = 103 / 1010
    assert float(rise) == pytest.approx(0.2)
    assert float(variance) == pytest.approx(pooled * (1 - pooled) * (1 / 1000 + 1 / 10))


def test_turns_that_fail_together_widen_the_variance() -> None:
    # 100 conversations of 10 turns; ten of them fail in every turn.
    together = arm((100, 100, 1000, 1000, 1000, 10_000))

    # 1000 - 2 * .1 * 1000 + .01 * 10000 = 900 in place of 90.
    assert float(design_effect(together)) == pytest.approx(10.0)


def test_a_shift_to_harder_requests_is_no_rise() -> None:
    easy, hard = (900, 90, 9000, 90, 900, 90_000), (100, 50, 1000, 50, 500, 10_000)
    a = arm(easy, hard)
    b = arm((10, 1, 100, 1, 10, 1000), (90, 45, 900, 45, 450, 9000))

    assert Baseline(a).rise(b).rise == pytest.approx(0.0)


def test_a_stratum_without_a_baseline_is_left_out_and_told() -> None:
    a = arm((1000, 50, 5000, 50, 250, 25_000), (10, 9, 50, 9, 45, 250))
    b = arm((60, 6, 300, 6, 30, 1500), (40, 40, 100, 40, 100, 250))

    found = Baseline(a).rise(b)

    assert (found.turns, found.left_out, found.events, found.conversations) == (300, 100, 6, 60)
    assert found.rise == pytest.approx(6 / 300 - 0.01)


def test_common_strata_stand_alone_and_rare_ones_of_a_chain_together() -> None:
    turns = np.zeros(36)
    turns[[0, 1]] = 500, 100  # chains 0 and 1
    turns[[4, 8]] = 60, 50  # chain 0, rare
    turns[[2, 6]] = 60, 30  # chain 2, rare and too few together
    turns[3] = 20  # chain 3, rare; 110 with those of chain 2

    found = groups(turns)

    assert found[[0, 1]].tolist() == [0, 1]
    assert found[4] == found[8] == 2
    assert found[2] == found[6] == found[3] == 3
    assert (found < 0).sum() == 36 - 7


def test_rare_strata_that_are_too_few_even_together_are_unknown() -> None:
    turns = np.zeros(36)
    turns[[0, 5]] = 60, 39

    assert (groups(turns) < 0).all()
    assert merging(groups(turns)).shape == (0, 36)


@given(st.lists(st.integers(0, 300), min_size=36, max_size=36))
def test_groups_hold_enough_turns_and_only_unseen_or_few_rows_are_left(turns: list[int]) -> None:
    found = groups(np.array(turns, dtype=np.float64))
    sums = merging(found) @ np.array(turns)

    assert (sums >= 100).all()
    assert sum(turns[row] for row in range(36) if found[row] < 0) < 100
    assert sorted(set(found.tolist()) - {-1}) == list(range(len(sums)))


SUMS = st.integers(0, 40).flatmap(
    lambda n: st.lists(st.tuples(st.integers(0, 3), st.integers(3, 9)), min_size=n, max_size=n)
)


def totals(conversations: list[tuple[int, int]]) -> np.ndarray:
    rows = [share(x, y, 0)[ROOTS] for x, y in conversations]
    return np.sum(rows, axis=0) if rows else np.zeros(6)


@given(st.lists(SUMS, min_size=1, max_size=4), st.lists(SUMS, min_size=4, max_size=4))
def test_the_prepared_baseline_says_what_the_plain_formula_says(
    before: list[list[tuple[int, int]]], after: list[list[tuple[int, int]]]
) -> None:
    a = np.stack([totals([*conversations, *[(1, 9)] * 20]) for conversations in before])
    b = np.stack([totals(conversations) for conversations in after[: len(before)]])

    rise, variance = moments(a, b)
    found = Baseline(a).rise(b)

    assert found.rise == pytest.approx(float(rise), abs=1e-12)
    assert found.variance == pytest.approx(float(variance), abs=1e-12)


def test_the_evidence_is_that_of_a_half_normal_prior() -> None:
    # Integrated numerically: the prior's density times the likelihood ratio of normal(d; rise, V).
    distance, variance, scale = 0.02, 0.00003, SCALES[0]
    step = 1e-6
    rises = np.arange(0.0, 0.2, step)
    prior = 2 * np.exp(-(rises**2) / (2 * scale**2)) / (scale * math.sqrt(2 * math.pi))
    ratio = np.exp((2 * distance * rises - rises**2) / (2 * variance))

    assert log_evidence(distance, variance) == pytest.approx(
        math.log(float((prior * ratio).sum() * step)), abs=1e-4
    )


@given(st.floats(-1.0, 1.0), st.floats(1e-9, 1.0))
def test_the_evidence_is_finite_and_the_bench_says_the_same(
    distance: float, variance: float
) -> None:
    found = log_evidence(distance, variance)

    assert math.isfinite(found)
    paths = log_evidence_path(np.array([distance]), np.array([variance]))
    assert float(paths[0]) == pytest.approx(found, abs=1e-3)


@given(st.floats(-0.5, 0.5), st.floats(0.0, 0.3), st.floats(1e-7, 1e-2))
def test_a_larger_rise_is_never_weaker_evidence(base: float, more: float, variance: float) -> None:
    assert log_evidence(base + more, variance) >= log_evidence(base, variance) - 1e-9


def test_the_interval_that_holds_always_is_wider_than_the_plain_one() -> None:
    variance = 0.0001

    assert 1.96 * 0.01 < half_width(variance) < 5 * 0.01


def test_the_bench_waits_for_as_much_as_the_product() -> None:
    a = arm((1000, 50, 5000, 50, 250, 25_000))
    one = share(1, 5, 0)[ROOTS]
    b = np.cumsum(np.repeat(one[None, None], 60, axis=0), axis=0)

    path = mixture_path(a, b)

    looks = [Baseline(a).rise(look) for look in b]
    assert [bool(np.isfinite(e)) for e in path] == [look.is_weighable for look in looks]
    assert int(np.argmax(np.isfinite(path))) == 49
