"""The simulation behind the acceptance table, and a short form of the table."""

from __future__ import annotations

import math

import numpy as np
import pytest
from released import NEW, OLD, closed

from monitor.releases.days import Day, day_variance
from monitor.releases.watch import Watch
from monitor.roles.bench.detectors.acceptance import Effort, acceptance, interval
from monitor.roles.bench.detectors.months import canary, mix_shift, swap
from monitor.roles.bench.detectors.others import Adwin, cusum, peeked_z, relative_all
from monitor.roles.bench.detectors.ours import mixture_path
from monitor.roles.bench.detectors.streams import (
    HAZARDS,
    day_factors,
    divergence,
    drawn,
    kinds,
)
from monitor.roles.bench.detectors.table import table

SHORT = Effort(months=30, delays=60, slow_delays=2, days=4)


@pytest.fixture(scope="module")
def short() -> dict:
    return acceptance(7, SHORT, lambda _: None)


def test_the_stream_is_the_one_of_the_specification() -> None:
    stream = kinds()

    shares = {points: stream.probabilities(h) for points, h in HAZARDS.items()}
    correct = {
        points: float((p * (stream.at_risk - stream.roots)).sum() / (p * stream.turns).sum())
        for points, p in shares.items()
    }
    assert correct == pytest.approx({0: 0.90, 1: 0.89, 2: 0.88, 5: 0.85, 10: 0.80}, abs=6e-4)
    # log(100) / KL: 22,916, 5,395, 927 and 258 turns.
    for points, bound in ((1, 22_916), (2, 5_395), (5, 927), (10, 258)):
        assert math.log(100) / divergence(stream, HAZARDS[points], 0.05) == pytest.approx(
            bound, rel=0.015
        )


def test_probabilities_add_up_and_lengths_average_five() -> None:
    for stream in (kinds(), kinds(0.0, 0.0), kinds(0.25, 0.8)):
        p = stream.probabilities(0.07)
        assert float(p.sum()) == pytest.approx(1)
        assert float((p * stream.turns).sum()) == pytest.approx(5)
        assert (stream.roots <= stream.at_risk).all()
        assert (stream.at_risk <= stream.turns).all()


def test_without_inheritance_and_correlation_turns_are_independent() -> None:
    stream = kinds(0.0, 0.0)
    p = stream.probabilities(0.1)

    assert (stream.at_risk == stream.turns)[p > 0].all()
    one = (stream.turns == 2) & (stream.roots == 1) & (stream.at_risk == 2)
    two_turns = float(p[stream.turns == 2].sum())
    assert float(p[one].sum()) / two_turns == pytest.approx(2 * 0.1 * 0.9)


def test_kinds_are_drawn_as_often_as_they_should_be() -> None:
    stream = kinds()
    p = stream.probabilities(0.05)
    counts = np.bincount(drawn(np.random.default_rng(1), p, 200_000), minlength=len(p))

    expected = p * 200_000
    often = expected > 50
    assert (np.abs(counts - expected)[often] < 5 * np.sqrt(expected[often])).all()


def test_days_differ_by_a_factor_of_mean_one() -> None:
    factors = day_factors(np.random.default_rng(1), 20_000, 0.2)

    assert float(factors.mean()) == pytest.approx(1, abs=0.01)
    assert float(np.log(factors).std()) == pytest.approx(0.2, abs=0.01)
    assert (day_factors(np.random.default_rng(1), 3, 0.0) == 1).all()


def test_a_month_has_its_turns_and_a_tenth_of_a_canarys() -> None:
    rng = np.random.default_rng(3)
    stream = kinds()

    assert len(swap(rng, stream, 0, 30).turns) == 60_000
    assert len(canary(rng, stream, 0, 30, 0.2).turns) == pytest.approx(6_000, rel=0.05)
    shifted = mix_shift(rng, stream, 0, 5_000)
    assert shifted.candidate.shape == (5_000, 4, 6)
    # Harder requests: more failures than in the baseline, none of them a regression.
    passed = float(shifted.passed.sum()) / float(shifted.turns[-1])
    assert passed < shifted.baseline_rate - 0.03


def test_adwin_is_quiet_without_a_change_and_sees_one() -> None:
    rng = np.random.default_rng(5)
    window = Adwin()

    assert not any(window.add(float(v)) for v in rng.random(20_000) < 0.9)
    assert any(window.add(float(v)) for v in rng.random(20_000) < 0.8)


def test_adwin_forgets_what_is_old() -> None:
    window = Adwin()
    for value in [1.0] * 5_000 + [0.0] * 5_000:
        window.add(value)

    assert window._size < 6_000
    assert window._total < 1_000


def test_the_rules_in_common_use_see_a_large_drop_at_once() -> None:
    month = swap(np.random.default_rng(1), kinds(), 10, 2)

    for rule in (relative_all, peeked_z, cusum):
        assert int(np.argmax(rule(month))) < 2_000
        assert rule(month).any()


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"), [(0, 800, 0.0, 0.0048), (6, 800, 0.0034, 0.0163)]
)
def test_the_interval_of_a_share(hits: int, trials: int, low: float, high: float) -> None:
    assert interval(hits, trials) == pytest.approx((low, high), abs=1e-4)


def test_few_of_the_months_page_falsely(short: dict) -> None:
    # At 1 % a month, more than two of thirty would be one case in 300.
    assert {
        name: found["alarms"]
        for name, found in short["false_pages_a_month"].items()
        if found["alarms"] > 2
    } == {}


def test_a_drop_is_found_in_about_the_time_that_it_takes(short: dict) -> None:
    ours = short["rules"]["mixture (pages)"]["delays"]

    # Targets 1.40 and 1.25; the standard error of so few runs is a tenth.
    assert ours[2]["times_bound"] < 1.40 + 3 * ours[2]["standard_error"]
    assert ours[5]["times_bound"] < 1.25 + 3 * ours[5]["standard_error"]
    assert ours[5]["found"] == ours[10]["found"] == 1


def test_rules_that_ignore_clustering_or_looking_alarm_falsely(short: dict) -> None:
    alarms = {name: row["false_alarms"]["share"] for name, row in short["rules"].items()}

    assert alarms["UAEF 5 %, trailing hour"] == 1
    assert alarms["CUSUM of turns"] > 0.8
    assert alarms["z-test, peeked"] > 0.6
    assert alarms["ADWIN of turns"] > 0.8
    assert alarms["betting (certified)"] == alarms["e-detector (drift)"] == 0


def test_the_table_says_all_of_it(short: dict) -> None:
    said = "\n".join(table(short))

    for words in ("mix shift", "canary with day effects", "UAEF", "operating curve", "sd 0.2"):
        assert words in said


@pytest.mark.parametrize(
    ("alarms", "months", "mark"),
    [(1, 40, "too few to tell"), (8, 800, "met"), (9, 800, "MISSED"), (20, 40, "MISSED")],
)
def test_a_target_is_missed_only_where_chance_cannot_explain_it(
    short: dict, alarms: int, months: int, mark: str
) -> None:
    share = alarms / months
    found = {"share": share, "months": months, "interval": interval(alarms, months)}

    said = list(table({**short, "false_pages_a_month": {"plain": found}}))

    assert said[1].endswith(f"  {mark}")


@pytest.mark.parametrize("deviation", [0.0, 0.4])
def test_the_product_finds_what_the_simulation_says_it_finds(deviation: float) -> None:
    """The same conversations through the watch and through the whole-stream formulas."""
    rng = np.random.default_rng(11)
    stream = kinds()
    factors = day_factors(rng, 8, deviation)
    old = [drawn(rng, stream.probabilities(0.05 * factor), 400) for factor in factors[:7]]
    new = drawn(rng, stream.probabilities(0.12), 900)
    watch = Watch()
    for day, chosen in enumerate([*old, new[:400], new[400:]]):
        for kind in chosen:
            roots, at_risk = int(stream.roots[kind]), int(stream.at_risk[kind])
            watch.observe(closed(OLD if day < 7 else NEW, roots, at_risk, day=day))

    rows = np.array([stream.sums[chosen].sum(axis=0) for chosen in old])
    candidate = np.cumsum(stream.sums[new], axis=0)
    days = [Day(x, int(y), xx, xy, int(yy)) for _, x, y, xx, xy, yy in rows]
    between = day_variance(days)
    assert between is not None
    assert bool(between) == bool(deviation)
    turns = candidate[:, 2]
    first = np.minimum(turns, turns[399])
    shares = (first**2 + (turns - first) ** 2) / turns**2
    before = float((rows[:, 2] ** 2).sum() / rows[:, 2].sum() ** 2)
    path = mixture_path(
        rows.sum(axis=0)[None], candidate[:, None, :], 0.0, between * (before + shares)
    )
    (found,) = watch.shown().standings
    assert found.evidence["total"] == pytest.approx(float(path.max()) / math.log(10), abs=1e-5)
