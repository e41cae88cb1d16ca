"""Releases watched from conversation to conversation."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from released import NEW, NEXT, OLD, alternating, closed, fed, swapped, traffic

from monitor.releases.arms import Revised, stratum
from monitor.releases.pairs import Rules
from monitor.releases.standing import Standing
from monitor.releases.watch import PAIRS_LIMIT, STRAGGLERS, Watch

PAGES = math.log10(200)


def standing(watch: Watch, release: str = NEW) -> Standing:
    return next(s for s in watch.shown().standings if s.release == release)


def standings(watch: Watch) -> list[tuple[str, str]]:
    return [(s.release, s.baseline) for s in watch.shown().standings]


def test_the_first_release_is_compared_with_nothing() -> None:
    assert standings(fed(Watch(), traffic(OLD, 3000, 20))) == []


def test_a_new_release_is_compared_with_the_one_before_from_50_conversations_on() -> None:
    watch = fed(Watch(), traffic(OLD, 2000, 20), traffic(NEW, 49, 1))
    before = standing(watch)
    fed(watch, traffic(NEW, 1, 1))
    after = standing(watch)

    assert (before.baseline, before.evidence) == (OLD, {})
    assert before.turns_needed == 5  # one conversation of five turns
    assert (after.turns_needed, after.mode) == (0, "swap")
    assert after.evidence["total"] > 0


def test_without_a_long_baseline_there_is_not_enough_data() -> None:
    watch = fed(Watch(), traffic(OLD, 1999, 20), traffic(NEW, 400, 4))

    assert standing(watch).evidence == {}
    assert standing(watch).turns_needed == 5


def test_a_history_of_too_few_turns_is_no_baseline_whatever_the_settings_say() -> None:
    rules = Rules(baseline_conversations=60)
    short = fed(Watch(rules), traffic(OLD, 80, 5), traffic(NEW, 400, 1))
    passed_by = fed(Watch(rules), traffic(OLD, 120, 5), traffic(NEXT, 80, 5), traffic(NEW, 400, 1))

    # 80 conversations of five turns are 400; 501 is the least.
    assert (standing(short).evidence, standing(short).turns_needed) == ({}, 101)
    assert standing(passed_by).baseline == OLD
    assert standing(passed_by).evidence["total"] > PAGES


def test_without_root_failures_the_turns_needed_follow_from_the_baseline() -> None:
    watch = fed(Watch(), traffic(OLD, 2000, 20), traffic(NEW, 60, 10**9, at_risk=5))

    # 60 conversations of five turns are as good as 3 roots; 22 more at .01 a turn take 2,200.
    assert standing(watch).turns_needed == 2200


def test_a_release_without_a_root_failure_is_weighed_in_the_end() -> None:
    watch = fed(Watch(), traffic(OLD, 2000, 20), (closed(NEW) for _ in range(500)))

    assert standing(watch).turns_needed == 0
    assert standing(watch).evidence["total"] == 0


def test_a_release_that_fails_five_times_as_often_pages() -> None:
    found = standing(swapped())

    assert found.evidence["total"] >= PAGES
    assert found.evidence["certified"] >= PAGES
    assert found.evidence["missing_parameters"] > 0
    assert found.evidence["chain_1"] >= PAGES
    assert ("missing_parameters", "1") in found.selected
    assert found.effect is not None
    # One of 20 turns failed in place of one in 100.
    assert found.effect[0] == pytest.approx(0.05 - 0.01)
    assert found.effect[1] < 0.04 < found.effect[2]


def test_a_release_that_fails_as_often_stays_silent() -> None:
    found = standing(fed(Watch(), traffic(OLD, 2000, 20), traffic(NEW, 3000, 20)))

    assert max(found.evidence.values()) < 1
    assert found.selected == ()


def test_a_release_that_fails_less_stays_silent() -> None:
    watch = fed(Watch(), traffic(OLD, 2000, 20), traffic(NEW, 1000, 100))

    assert standing(watch).evidence["total"] == 0


def test_harder_requests_are_no_regression() -> None:
    def mixed(release: str, easy: int, hard: int) -> Any:
        return itertools.chain(
            traffic(release, easy, 50, intent=0), traffic(release, hard, 4, intent=5)
        )

    watch = fed(Watch(), mixed(OLD, 1800, 400), mixed(NEW, 100, 1000))

    assert standing(watch).evidence["total"] < 1


def test_requests_that_the_baseline_does_not_know_are_left_out() -> None:
    watch = fed(Watch(), traffic(OLD, 2000, 20), traffic(NEW, 600, 20))
    fed(watch, traffic(NEW, 1800, 1, intent=7))

    assert standing(watch).left_out == pytest.approx(0.75)
    assert standing(watch).evidence["total"] < 1


def test_after_a_month_history_is_no_baseline_any_more() -> None:
    watch = fed(Watch(), traffic(OLD, 2000, 20))
    for day in range(1, 32):
        fed(watch, traffic(NEW, 100, 20, day=day))
    calm = standing(watch).evidence["total"]
    fed(watch, traffic(NEW, 2000, 3, day=31))

    assert standing(watch).evidence["total"] == calm


def test_evidence_is_latched() -> None:
    watch = swapped()
    highest = standing(watch).evidence["total"]
    fed(watch, traffic(NEW, 3000, 50))

    assert standing(watch).evidence["total"] == highest


def test_two_live_releases_are_compared_over_the_same_time() -> None:
    """The old release got worse together with the new one, so the new one is not to blame."""
    both = alternating(traffic(OLD, 1500, 4), traffic(NEW, 1500, 4))
    watch = fed(Watch(), traffic(OLD, 2000, 20), both)

    assert standing(watch).mode == "canary"
    # Nothing is weighed against history before the control has 500 turns of its own.
    assert standing(watch).effect is not None
    assert abs(standing(watch).effect[0]) < 0.005  # type: ignore[index]


def test_a_worse_canary_pages_without_a_long_history() -> None:
    both = alternating(traffic(OLD, 1500, 20), traffic(NEW, 1500, 4))
    watch = fed(Watch(), traffic(OLD, 100, 20), both)

    assert standing(watch).mode == "canary"
    assert standing(watch).evidence["total"] >= PAGES


def test_a_late_revision_changes_later_statistics_and_no_past_evidence() -> None:
    watch = swapped()
    row = stratum(1, 0)
    before = standing(watch)
    for _ in range(50):
        watch.revise(Revised(NEW, (row, 1, 5, 0), NEW, (row, 0, 5, 0), "rules-1"))
    after = standing(watch)

    assert after.evidence == before.evidence
    assert after.effect is not None
    assert before.effect is not None
    assert after.effect[0] == pytest.approx(before.effect[0] - 50 / 2000)


def test_a_revision_may_move_a_conversation_to_another_release() -> None:
    watch = swapped()
    row = stratum(1, 0)
    watch.revise(Revised(NEW, (row, 1, 5, 0), OLD, (row, 1, 5, 0), "rules-1"))

    qualities = {q.release: q.correctness for q in watch.shown().qualities}
    shown = qualities[NEW]
    assert shown is not None
    assert shown[0] == pytest.approx(1 - 99 / 1995)


def test_the_operator_clears_and_evidence_begins_anew() -> None:
    watch = swapped()

    assert watch.clear(NEW)
    assert standing(watch).evidence == {}
    assert standing(watch).turns_needed > 0

    fed(watch, traffic(NEW, 400, 4))
    assert standing(watch).evidence["total"] >= PAGES


def test_an_accepted_release_is_compared_no_more() -> None:
    watch = swapped()

    assert watch.accept(NEW)
    fed(watch, traffic(NEW, 400, 2))
    assert standings(watch) == []

    assert watch.clear(NEW)
    fed(watch, traffic(NEW, 400, 4))
    assert standing(watch).evidence["total"] >= PAGES


def test_an_unknown_release_cannot_be_cleared_or_accepted() -> None:
    watch = swapped()

    assert not watch.clear("nobody")
    assert not watch.accept("nobody")


def test_a_release_that_is_taken_back_takes_its_evidence_with_it() -> None:
    watch = fed(swapped(), traffic(OLD, 201, 20))

    assert standings(watch) == []


def test_a_release_that_comes_back_is_compared_anew() -> None:
    watch = fed(swapped(), traffic(OLD, 400, 20), traffic(NEW, 49, 4))

    assert standings(watch) == [(NEW, OLD)]
    assert standing(watch).evidence.get("total", 0) < 1
    fed(watch, alternating(traffic(OLD, 900, 20), traffic(NEW, 900, 4)))
    assert standing(watch).mode == "canary"
    assert standing(watch).evidence["total"] >= PAGES


def test_a_stray_conversation_long_before_is_not_where_the_comparison_begins() -> None:
    """The old release had bad days between the stray and the canary."""
    watch = fed(Watch(), traffic(OLD, 2000, 20), traffic(NEW, 1, 20), traffic(OLD, 5000, 2))
    fed(watch, alternating(traffic(OLD, 600, 20), traffic(NEW, 600, 20)))

    assert standing(watch).mode == "canary"
    assert standing(watch).effect is not None
    assert abs(standing(watch).effect[0]) < 0.005  # type: ignore[index]


def test_the_newest_releases_are_the_ones_that_are_compared() -> None:
    names = [f"release-{number}" for number in range(6)]
    watch = fed(Watch(), traffic(OLD, 2000, 20))
    fed(watch, alternating(*(traffic(name, 60, 20) for name in names)))

    assert {name for name, _ in standings(watch)} == set(names[-PAIRS_LIMIT:])


def test_a_release_that_is_rolled_back_to_is_not_compared_with_the_one_it_replaces() -> None:
    watch = fed(swapped(), traffic(NEW, 2000, 4), traffic(OLD, 500, 20))

    assert standings(watch) == []


def test_a_canary_of_one_in_a_hundred_is_not_taken_for_gone() -> None:
    watch = fed(Watch(), traffic(OLD, 2000, 20))
    for _ in range(60):
        fed(watch, traffic(NEW, 1, 20), traffic(OLD, 99, 20))

    assert standing(watch).mode == "canary"
    assert standing(watch).turns_needed == 0


def test_a_release_that_was_found_worse_is_no_baseline_for_its_repair() -> None:
    watch = fed(swapped(), traffic(NEW, 2000, 4), traffic(NEXT, 600, 20))

    assert standings(watch) == [(NEXT, OLD)]
    assert standing(watch, NEXT).evidence["total"] < 1


def test_the_newest_release_with_a_long_history_is_the_baseline() -> None:
    watch = fed(Watch(), traffic(OLD, 2000, 20), traffic(NEW, 2000, 20), traffic(NEXT, 60, 20))

    assert (NEXT, NEW) in standings(watch)


def test_verdicts_of_another_evaluator_are_never_compared() -> None:
    # The new evaluator is five times as strict; nobody is paged for that, and nothing looks well.
    watch = fed(swapped(20), traffic(NEW, 3000, 4, evaluator="rules-2"))

    found = standing(watch)
    assert "total" not in found.evidence
    assert found.turns_needed == 10_000  # 2,000 conversations of the old release, of five turns
    assert found.effect is None
    assert watch.shown().qualities[0].drift == 0
    assert watch.shown().evaluators_replaced == 1


def test_what_was_found_worse_stays_so_when_the_evaluator_changes() -> None:
    watch = swapped()
    before = standing(watch).evidence["total"]

    fed(watch, traffic(NEW, 100, 20, evaluator="rules-2"))

    assert before > math.log10(200)
    assert standing(watch).evidence["total"] == before
    assert watch.clear(NEW)
    assert standing(watch).evidence == {}


def test_a_canary_goes_on_under_the_new_evaluator() -> None:
    watch = fed(Watch(), traffic(OLD, 2000, 20), traffic(NEW, 100, 20))

    fed(
        watch,
        alternating(
            traffic(OLD, 700, 20, evaluator="rules-2"), traffic(NEW, 700, 4, evaluator="rules-2")
        ),
    )

    found = standing(watch)
    assert (found.mode, found.turns_needed) == ("canary", 0)
    assert found.evidence["total"] > math.log10(200)


@pytest.mark.parametrize("evaluator", ["rules-1", None], ids=["before", "across"])
def test_a_revision_of_what_was_counted_before_the_upgrade_changes_nothing(
    evaluator: str | None,
) -> None:
    watch = fed(swapped(20), traffic(NEW, 100, 20, evaluator="rules-2"))
    row = stratum(1, 0)
    watch.changes()

    watch.revise(Revised(NEW, (row, 1, 5, 0), NEW, (row, 0, 5, 0), evaluator))

    assert watch.changes() == {}


def test_workers_that_are_upgraded_one_by_one_do_not_begin_anew_each_time() -> None:
    both = [
        alternating(traffic(name, 700, 20), traffic(name, 700, 20, evaluator="rules-2"))
        for name in (OLD, NEW)
    ]
    watch = fed(Watch(), traffic(OLD, 2000, 20), alternating(*both))

    assert watch.shown().evaluators_replaced == 1
    # Of each release's conversations, those under the new evaluator count.
    assert watch.evidence(OLD, NEW).conversations == (700, 700)


def test_an_evaluator_that_is_put_back_begins_anew_once_nothing_else_comes() -> None:
    watch = fed(Watch(), traffic(OLD, 2000, 20), traffic(OLD, 50, 20, evaluator="rules-2"))

    fed(watch, traffic(OLD, STRAGGLERS - 1, 20))
    before = watch.shown().evaluators_replaced
    fed(watch, traffic(OLD, 1, 20))

    assert (before, watch.shown().evaluators_replaced) == (1, 2)
    assert watch.evidence(OLD, OLD).conversations == (1, 1)


def test_a_release_that_drifts_without_a_swap_is_noticed() -> None:
    steady = fed(Watch(), traffic(OLD, 6000, 20)).shown().qualities[0]
    drifted = fed(Watch(), traffic(OLD, 2000, 20), traffic(OLD, 1000, 5)).shown().qualities[0]

    assert steady.drift < 3
    assert drifted.drift > math.log10(6e6)


def test_clearing_a_release_forgets_its_drift() -> None:
    watch = fed(Watch(), traffic(OLD, 2000, 20), traffic(OLD, 1000, 5))
    watch.clear(OLD)

    assert watch.shown().qualities[0].drift == 0


def test_thresholds_are_told_with_the_evidence() -> None:
    rules = Rules(page_evidence=1000.0, drift_evidence=1e5)

    assert Watch(rules).shown().thresholds == {"total": pytest.approx(3), "drift": pytest.approx(5)}


def test_unscored_conversations_are_no_evidence() -> None:
    watch = fed(swapped(), traffic(NEW, 2000, 10**9, at_risk=0))

    assert standing(watch) == standing(swapped())
