"""Which release another one is held against, and what an upgrade of the rules leaves of it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from released import NEW, NEXT, OLD, closed, fed, traffic

from monitor.releases.arms import Closed
from monitor.releases.standing import Standing
from monitor.releases.watch import Watch

PAGES = math.log10(200)


def beside_control(
    release: str, count: int, one_in: int, control: int = 3, evaluator: str = "rules-1"
) -> Iterator[Closed]:
    """Of ten conversations, `control` of the old release, whose twentieths have a root."""
    old = traffic(OLD, count, 20, evaluator=evaluator)
    other = traffic(release, count, one_in, evaluator=evaluator)
    for number in range(count):
        yield next(old if number % 10 < control else other)


def standing(watch: Watch, release: str) -> Standing:
    return next(s for s in watch.shown().standings if s.release == release)


def test_a_control_is_found_anew_when_the_one_before_fell_silent_too_early() -> None:
    # The good release has more conversations than the control when the broken one takes its place.
    watch = fed(Watch(), beside_control(NEW, 1500, 20), beside_control(NEXT, 3000, 4))

    found = standing(watch, NEXT)
    assert (found.baseline, found.mode, found.turns_needed) == (OLD, "canary", 0)
    assert found.evidence["total"] > PAGES


def test_after_an_upgrade_the_control_that_goes_on_is_the_baseline() -> None:
    watch = fed(Watch(), traffic(OLD, 3000, 20), beside_control(NEW, 1000, 20, control=1))
    fed(watch, beside_control(NEW, 1500, 20, control=1, evaluator="rules-2"))
    fed(watch, beside_control(NEXT, 5000, 4, control=1, evaluator="rules-2"))

    found = standing(watch, NEXT)
    assert (found.baseline, found.mode) == (OLD, "canary")
    assert found.evidence["total"] > PAGES


def test_a_release_that_was_found_worse_is_no_baseline_beside_a_sound_control() -> None:
    # 2,100 conversations of the release that was found worse: a long history, as bad as what comes.
    watch = fed(Watch(), beside_control(NEW, 3000, 4))
    before = standing(watch, NEW).evidence["total"]

    fed(watch, beside_control(NEXT, 3000, 4))

    assert before > PAGES
    assert standing(watch, NEXT).baseline == OLD
    assert standing(watch, NEXT).evidence["total"] > PAGES


def test_the_choice_of_a_baseline_survives_a_restart() -> None:
    watch = fed(Watch(), beside_control(NEW, 1500, 20))
    kept: dict[str, bytes] = {}
    for each in itertools.islice(beside_control(NEXT, 3000, 4), 2000):
        watch.observe(each)
        for key, data in watch.changes().items():
            if data is None:
                kept.pop(key, None)
            else:
                kept[key] = data

    assert standing(Watch(kept=kept), NEXT) == standing(watch, NEXT)
    assert standing(watch, NEXT).baseline == OLD


def test_drift_that_was_found_stays_so_when_the_evaluator_changes() -> None:
    watch = fed(Watch(), traffic(OLD, 2000, 20), traffic(OLD, 1000, 5))
    before = watch.shown().qualities[0].drift

    fed(watch, traffic(OLD, 100, 20, evaluator="rules-2"))

    assert before > math.log10(6e6)
    assert watch.shown().qualities[0].drift == before
    assert watch.clear(OLD)
    assert watch.shown().qualities[0].drift == 0


def test_what_pages_nobody_stays_found_too_when_the_evaluator_changes() -> None:
    spreading = (
        closed(NEW, int(number % 10 == 0), inherited=3 * int(number % 10 == 0))
        for number in range(1500)
    )
    watch = fed(Watch(), traffic(OLD, 3000, 10), spreading)
    before = standing(watch, NEW)

    fed(watch, traffic(NEW, 1, 10, evaluator="rules-2"))

    after = standing(watch, NEW)
    assert before.evidence["total"] < PAGES < before.evidence["cascade"]
    assert after.evidence == {"cascade": before.evidence["cascade"]}
    assert after.selected == before.selected
