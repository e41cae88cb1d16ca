"""From turn verdicts to the one number of a conversation, by a rule that can be exchanged."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, Protocol, get_args

import msgspec

from monitor.errors import ConfigurationError
from monitor.model import JsonValue
from monitor.verdict import Composition, SubMetric, Verdict

_BARS: Final[Mapping[SubMetric, float]] = {
    "structural": 1.0,
    "completeness": 0.9,
    "truthfulness": 0.9,
}


class CompositionRule(Protocol):
    """Verdicts to one number. Unscored turns enter neither numerator nor denominator."""

    def compose(
        self, verdicts: Sequence[Verdict], sub_metrics: Mapping[SubMetric, float | None]
    ) -> Composition:
        """The number, with the rule's name and parameters; None when nothing was scored."""
        ...


class UnweightedMean(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Passed turns over scored turns; passes when every scored turn passes."""

    def compose(
        self, verdicts: Sequence[Verdict], sub_metrics: Mapping[SubMetric, float | None]
    ) -> Composition:
        """All turns count alike."""
        scored = [verdict for verdict in verdicts if verdict.verdict != "unscored"]
        passed = sum(verdict.verdict == "pass" for verdict in scored)
        score = passed / len(scored) if scored else None
        return Composition("unweighted_mean", score, _all_pass(scored))


class WeightedMean(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Weight of the passed turns over weight of the scored turns."""

    turn_types: Mapping[Literal["action", "response"], float] = {}
    """Factor on the weight of every turn of a type, for conversations without a reference."""

    def compose(
        self, verdicts: Sequence[Verdict], sub_metrics: Mapping[SubMetric, float | None]
    ) -> Composition:
        """A turn counts by its reference's weight. With no weight at all there is no score."""
        scored = [verdict for verdict in verdicts if verdict.verdict != "unscored"]
        score = _weighted(scored, self.turn_types)
        parameters: dict[str, JsonValue] = {}
        if self.turn_types:
            parameters["turn_types"] = dict(self.turn_types)
        return Composition("weighted_mean", score, _all_pass(scored), parameters)


class Gating(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The weighted mean, capped as soon as one critical turn fails."""

    ceiling: float = 0.0
    """Highest score with a failed critical turn, in [0, 1]."""

    def compose(
        self, verdicts: Sequence[Verdict], sub_metrics: Mapping[SubMetric, float | None]
    ) -> Composition:
        """Weights count as in the weighted mean."""
        scored = [verdict for verdict in verdicts if verdict.verdict != "unscored"]
        score = _weighted(scored, {})
        if score is not None and any(v.critical and v.verdict == "fail" for v in scored):
            score = min(score, self.ceiling)
        return Composition("gating", score, _all_pass(scored), {"ceiling": self.ceiling})


class SubMetricBars(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Each sub-metric's mean must reach its own bar; the score is the share of bars reached."""

    bars: Mapping[SubMetric, float] = msgspec.field(default_factory=lambda: dict(_BARS))

    def compose(
        self, verdicts: Sequence[Verdict], sub_metrics: Mapping[SubMetric, float | None]
    ) -> Composition:
        """A sub-metric that no turn was looked at for has no bar to reach."""
        known = {name: mean for name in self.bars if (mean := sub_metrics.get(name)) is not None}
        parameters: dict[str, JsonValue] = {"bars": dict(self.bars)}
        if not known:
            return Composition("sub_metric_thresholds", None, None, parameters)
        reached = sum(mean >= self.bars[name] for name, mean in known.items())
        score = reached / len(known)
        return Composition("sub_metric_thresholds", score, reached == len(known), parameters)


RULES: Final[Mapping[str, Callable[..., CompositionRule]]] = {
    "unweighted_mean": UnweightedMean,
    "weighted_mean": WeightedMean,
    "gating": Gating,
    "sub_metric_thresholds": SubMetricBars,
}
"""The rules by the name that reports and the configuration use."""


def composition_rule(name: str, parameters: Mapping[str, JsonValue]) -> CompositionRule:
    """The rule of that name. Raises ConfigurationError for a name or parameter it does not know."""
    rule = RULES.get(name)
    if rule is None:
        raise ConfigurationError(f"composition rule {name!r}: choose one of {', '.join(RULES)}")
    try:
        made: CompositionRule = msgspec.convert(dict(parameters), rule)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"composition rule {name!r}: {error}") from error
    _check_unit(name, parameters)
    return made


def _check_unit(name: str, parameters: Mapping[str, JsonValue]) -> None:
    bars = parameters.get("bars") or {}
    ceiling = parameters.get("ceiling")
    numbers = [*bars.values(), *([] if ceiling is None else [ceiling])]
    factors = (parameters.get("turn_types") or {}).values()
    if not all(0 <= number < math.inf for number in factors):
        raise ConfigurationError(f"composition rule {name!r}: weights are finite and not below 0")
    if not all(0 <= number <= 1 for number in numbers):
        raise ConfigurationError(f"composition rule {name!r}: ceiling and bars lie in 0 to 1")
    unknown = set(bars) - set(get_args(SubMetric))
    if unknown:
        raise ConfigurationError(f"composition rule {name!r}: no sub-metric {min(unknown)!r}")


def _weighted(
    scored: Sequence[Verdict], factors: Mapping[Literal["action", "response"], float]
) -> float | None:
    passed = total = 0.0
    for verdict in scored:
        weight = verdict.weight * factors.get(verdict.turn_type, 1.0)
        total += weight
        passed += weight if verdict.verdict == "pass" else 0.0
    return passed / total if total > 0 else None


def _all_pass(scored: Sequence[Verdict]) -> bool | None:
    return all(verdict.verdict == "pass" for verdict in scored) if scored else None
