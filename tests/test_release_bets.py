"""Evidence by bets, silent drift, and which reasons stand out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.releases.arms import EARLY_TURNS, share
from monitor.releases.betting import (
    BETS,
    cell_stakes,
    drift_threshold,
    log_mean,
    selected,
    settle_drift,
    stakes,
    upper_bounds,
)
from monitor.roles.bench.detectors.ours import betting_path, drift_path


def view(*rows: tuple[float, ...]) -> np.ndarray:
    return np.array(rows, dtype=np.float64)


def test_the_upper_bound_lies_some_standard_errors_above_the_hazard() -> None:
    # 1,000 conversations of 10 turns, 500 of which fail once: spread 500 - 500 + 250 = 250.
    bound = upper_bounds(view((1000, 500, 10_000, 500, 5000, 100_000)))

    assert float(bound[0]) == pytest.approx(0.05 + 2.81 * math.sqrt(500) / 10_000, abs=4e-4)


def test_a_baseline_without_a_failure_is_no_certainty() -> None:
    bound = float(upper_bounds(view((100, 0, 1000, 0, 0, 10_000)))[0])

    # Wilson's bound: z^2 / (n + z^2).
    assert bound == pytest.approx(2.81**2 / (1000 + 2.81**2))


def test_too_few_turns_give_no_bound() -> None:
    assert np.isnan(upper_bounds(view((9, 1, 99, 1, 11, 1089)))[0])


@given(st.floats(0.0, 1.0), st.integers(0, 50), st.integers(0, 50))
def test_no_conversation_can_cost_all_of_the_capital(
    bound: float, roots: int, at_risk: int
) -> None:
    at_risk = min(at_risk, EARLY_TURNS)
    gain = min(roots, at_risk) - bound * at_risk

    assert (1.0 + stakes(np.array([bound])) * gain > 0.19).all()
    assert (1.0 + cell_stakes(np.array([bound])) * gain > 0.19).all()


def test_the_mean_of_capitals_survives_huge_ones() -> None:
    assert float(log_mean(np.array([900.0, 900.0, -900.0, -900.0]))) == pytest.approx(
        900.0 + math.log(0.5)
    )


def test_a_drift_detector_starts_a_bet_with_each_conversation() -> None:
    detector, stake = np.zeros(2), np.array([0.5, 1.0])

    settle_drift(detector, stake, 1.0)  # (0 + 1) * 1.5 and * 2
    settle_drift(detector, stake, -0.5)  # (1.5 + 1) * .75 and (2 + 1) * .5

    assert detector.tolist() == [1.875, 1.5]


def test_the_drift_threshold_is_a_months_traffic_over_the_alarms_that_are_borne() -> None:
    assert drift_threshold(60_000, 0.01) == 6e6


@given(st.lists(st.floats(-0.6, 2.0), min_size=1, max_size=60))
def test_the_bench_bets_as_the_product_does(gains: list[float]) -> None:
    bets = stakes(np.array([0.05]))
    capital, detector = np.zeros(BETS), np.zeros(BETS)
    for gain in gains:
        capital += np.log1p(bets * gain)
        settle_drift(detector, bets, gain)

    path = np.array(gains)
    assert float(betting_path(path, bets)[-1]) == pytest.approx(float(log_mean(capital)))
    assert float(drift_path(path, bets)[-1]) == pytest.approx(math.log(float(detector.mean())))


def test_few_strong_cells_are_selected_and_weak_ones_are_not() -> None:
    # Four cells at 5 %: one must reach 80, two 40 each, three 26.7 each.
    def cells(*values: float) -> np.ndarray:
        return np.log(np.array(values)).reshape(2, 2)

    assert selected(cells(79.0, 1.0, 1.0, 1.0)) == []
    assert selected(cells(1.0, 81.0, 1.0, 1.0)) == [1]
    assert selected(cells(41.0, 1.0, 1.0, 41.0)) == [0, 3]
    assert selected(cells(41.0, 27.0, 27.0, 1.0)) == [0, 1, 2]


def test_a_share_holds_only_multiples_of_a_quarter() -> None:
    for roots in range(6):
        assert (share(roots, 9, 3) * 4 % 1 == 0).all()
