"""Evidence on the page of metrics, and how latency goes with success."""

from __future__ import annotations

import numpy as np
import pytest
from exposed_shop import A, B, shop
from hypothesis import given
from hypothesis import strategies as st

from monitor.exposition.release_families import comparison_families, stratified_correlation
from monitor.releases.standing import Quality, Shown, Standing

SHOWN = Shown(
    (
        Standing(
            B,
            A,
            "canary",
            0,
            {"total": 2.5, "cascade": 0.0},
            (0.1, 0.05, 0.15),
            (("tool_mismatch", "1"),),
            0.25,
        ),
        Standing("retired", A, "swap", 9, {"total": 7.0}),
    ),
    (Quality(A, (0.9, 0.85, 0.95), 0.5), Quality(B), Quality("retired", (1.0, 0.9, 1.0), 9.0)),
    {"total": 2.3},
)


def values(shown: Shown = SHOWN) -> dict[tuple[str, ...], float]:
    prefix = "agent_monitor_"
    return {
        (sample.name.removeprefix(prefix), *sample.labels.values()): sample.value
        for family in comparison_families(shown, shop()[0])
        for sample in family.samples
    }


def test_live_releases_are_shown_and_retired_ones_are_not() -> None:
    assert values() == {
        ("regression_log10_evidence", B, A, "total"): 2.5,
        ("regression_log10_evidence", B, A, "cascade"): 0.0,
        ("regression_log10_evidence", A, A, "drift"): 0.5,
        ("regression_log10_evidence", B, B, "drift"): 0.0,
        ("regression_log10_threshold", "total"): 2.3,
        ("regression_effect_ratio", B, A, "estimate"): 0.1,
        ("regression_effect_ratio", B, A, "lower"): 0.05,
        ("regression_effect_ratio", B, A, "upper"): 0.15,
        ("regression_needed_turns", B, A): 0,
        ("regression_left_out_ratio", B, A): 0.25,
        ("regression_selected_reason", B, A, "tool_mismatch", "1"): 1,
        ("regression_comparison_info", B, A, "canary"): 1,
        ("correctness_ratio", A, "estimate"): 0.9,
        ("correctness_ratio", A, "lower"): 0.85,
        ("correctness_ratio", A, "upper"): 0.95,
    }


def test_before_the_first_comparison_there_is_nothing_to_say() -> None:
    assert values(Shown()) == {}


TABLE = st.tuples(
    st.lists(st.integers(0, 9), min_size=4, max_size=4),
    st.lists(st.integers(0, 9), min_size=4, max_size=4),
)


def plain_spearman(passed: list[int], failed: list[int]) -> float | None:
    """By ranking every conversation and correlating the ranks."""
    buckets = np.repeat([*range(4), *range(4)], [*passed, *failed])
    success = np.repeat([1, 0], [sum(passed), sum(failed)])
    ranks = np.array([(buckets < b).sum() + ((buckets == b).sum() + 1) / 2 for b in buckets])
    if len(set(success.tolist())) < 2 or len(set(buckets.tolist())) < 2:
        return None
    return float(np.corrcoef(ranks, success)[0, 1])


@given(TABLE)
def test_the_correlation_of_one_chain_is_spearmans(table: tuple[list[int], list[int]]) -> None:
    expected = plain_spearman(*table)
    found = stratified_correlation([table])

    assert found == (None if expected is None else pytest.approx(expected, abs=1e-9))


def test_longer_chains_that_are_slower_and_worse_are_no_correlation() -> None:
    """Within each chain, time says nothing of success; pooled it would."""
    short, long = ([50, 50, 0, 0], [5, 5, 0, 0]), ([0, 0, 20, 20], [0, 0, 20, 20])

    assert stratified_correlation([short, long]) == pytest.approx(0.0)
    pooled = plain_spearman([50, 50, 20, 20], [5, 5, 20, 20])
    assert pooled is not None
    assert pooled < -0.25


def test_chains_weigh_as_much_as_they_have_conversations() -> None:
    sure, unsure = ([10, 0], [0, 10]), ([15, 15], [15, 15])

    assert stratified_correlation([sure, unsure]) == pytest.approx(-20 / 80)
    assert stratified_correlation([([3, 0], [0, 0])]) is None
