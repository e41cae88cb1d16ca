"""From turn verdicts to one number."""

from __future__ import annotations

import pytest

from monitor.errors import ConfigurationError
from monitor.scoring.composition import (
    RULES,
    CompositionRule,
    Gating,
    SubMetricBars,
    UnweightedMean,
    WeightedMean,
    composition_rule,
)
from monitor.verdict import Composition, Outcome, Verdict


def turn(outcome: Outcome, *, weight: float = 1.0, critical: bool = False) -> Verdict:
    return Verdict(1, "t", "action", outcome, weight=weight, critical=critical)


TURNS = [
    turn("pass", weight=1.0),
    turn("pass", weight=2.0),
    turn("fail", weight=5.0),
    turn("unscored", weight=90.0),
]


def composed(rule: CompositionRule, turns: list[Verdict], **means: float | None) -> Composition:
    return rule.compose(turns, means)  # type: ignore[arg-type]


def test_the_unweighted_mean_counts_scored_turns_alike():
    assert composed(UnweightedMean(), TURNS) == Composition("unweighted_mean", 2 / 3, False, {})


def test_the_weighted_mean_counts_what_an_error_costs():
    assert composed(WeightedMean(), TURNS).score == 3 / 8
    dear = WeightedMean(turn_types={"response": 4.0})
    turns = [turn("fail"), Verdict(2, "r", "response", "pass")]
    assert composed(dear, turns) == Composition(
        "weighted_mean", 4 / 5, False, {"turn_types": {"response": 4.0}}
    )


def test_weights_that_are_all_zero_give_no_score():
    assert composed(WeightedMean(), [turn("pass", weight=0.0)]).score is None


def test_a_failed_critical_turn_caps_the_score():
    fine = [turn("pass"), turn("fail"), turn("pass", critical=True)]
    bad = [turn("pass"), turn("pass"), turn("fail", critical=True)]

    assert composed(Gating(0.25), fine).score == 2 / 3
    assert composed(Gating(0.25), bad) == Composition("gating", 0.25, False, {"ceiling": 0.25})
    assert composed(Gating(), bad).score == 0.0


def test_each_sub_metric_must_reach_its_own_bar():
    rule = SubMetricBars(bars={"completeness": 0.8, "truthfulness": 0.9, "structural": 0.5})

    passed = composed(rule, TURNS, completeness=0.8, truthfulness=0.95, structural=None)
    failed = composed(rule, TURNS, completeness=0.79, truthfulness=0.95, structural=None)

    assert (passed.score, passed.passed) == (1.0, True)
    assert (failed.score, failed.passed) == (0.5, False)


@pytest.mark.parametrize("name", list(RULES))
def test_with_nothing_scored_there_is_no_score(name: str):
    found = composed(composition_rule(name, {}), [turn("unscored")])

    assert (found.rule, found.score, found.passed) == (name, None, None)


@pytest.mark.parametrize("name", list(RULES))
def test_all_passed_is_one(name: str):
    found = composed(
        composition_rule(name, {}),
        [turn("pass"), turn("pass", critical=True)],
        structural=1.0,
        completeness=1.0,
        truthfulness=1.0,
    )

    assert (found.score, found.passed) == (1.0, True)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("median", {}, "choose one of unweighted_mean"),
        ("gating", {"ceiling": 1.5}, "0 to 1"),
        ("gating", {"ceiling": "low"}, "ceiling"),
        ("gating", {"floor": 0.5}, "floor"),
        ("weighted_mean", {"turn_types": {"action": -1.0}}, "not below 0"),
        ("weighted_mean", {"turn_types": {"span": 1.0}}, "span"),
        ("sub_metric_thresholds", {"bars": {"completeness": 2.0}}, "0 to 1"),
        ("sub_metric_thresholds", {"bars": {"speed": 0.5}}, "speed"),
    ],
)
def test_a_rule_or_parameter_that_cannot_be_is_refused(
    name: str, parameters: dict[str, object], message: str
):
    with pytest.raises(ConfigurationError, match=message):
        composition_rule(name, parameters)


def test_a_rule_is_made_with_its_parameters():
    assert composition_rule("gating", {"ceiling": 0.5}) == Gating(0.5)
