"""What the detectors say now, for pages and metrics."""

from __future__ import annotations

from typing import Literal

import msgspec

from monitor.releases.arms import FAILURES
from monitor.releases.mixture import Baseline, half_width
from monitor.releases.pairs import Pair, Rules, cell_names
from monitor.releases.records import Record


class Standing(msgspec.Struct, frozen=True):
    """One comparison of a release with its baseline."""

    release: str
    baseline: str
    mode: Literal["canary", "swap"]
    """Against a concurrent control, or against history."""
    turns_needed: int
    """Until there is enough to weigh; 0 when there is."""
    evidence: dict[str, float] = {}
    """log10 of the highest e-value since it was cleared, by signal."""
    effect: tuple[float, float, float] | None = None
    """Drop in correctness at equal mix of strata: estimate, lower and upper bound."""
    selected: tuple[tuple[str, str], ...] = ()
    """Reasons and chains that fail more, by e-BH."""
    left_out: float = 0.0
    """Share of the release's turns in strata that the baseline does not know."""


class Quality(msgspec.Struct, frozen=True):
    """What is known of a release by itself."""

    release: str
    correctness: tuple[float, float, float] | None = None
    """Estimate, and bounds that hold at all times at once."""
    drift: float = 0.0
    """log10 of the drift detector's highest value since it was cleared."""


class Shown(msgspec.Struct, frozen=True):
    """Everything the detectors have to say."""

    standings: tuple[Standing, ...] = ()
    qualities: tuple[Quality, ...] = ()
    thresholds: dict[str, float] = {}
    """log10 of the evidence at which a rule should act, by signal."""
    evaluators_replaced: int = 0
    """Times that verdicts changed their meaning and all comparisons began anew."""


def standing_of(pair: Pair, record: Record, base: Record, at: int, rules: Rules) -> Standing:
    """How a comparison stands."""
    arms = pair.arms(record, base, at)
    found = Baseline(arms.baseline[FAILURES]).rise(arms.candidate[FAILURES])
    effect = None
    if found.turns and found.variance > 0:
        half = half_width(found.variance)
        effect = (found.rise, max(found.rise - half, -1.0), min(found.rise + half, 1.0))
    return Standing(
        release=pair.candidate,
        baseline=pair.baseline,
        mode="canary" if arms.is_canary else "swap",
        turns_needed=pair.missing(record, base, at, rules),
        evidence=dict(pair.latched),
        effect=effect,
        selected=tuple(cell_names(cell) for cell in pair.selected),
        left_out=found.left_out / max(found.left_out + found.turns, 1),
    )


def quality_of(record: Record) -> Quality:
    """What a release's own sums say."""
    _, failures, turns, xx, xy, yy = (float(each) for each in record.total[FAILURES].sum(axis=0))
    if not turns:
        return Quality(record.name, None, record.drift_latched)
    rate = failures / turns
    spread = xx - 2.0 * rate * xy + rate * rate * yy
    # One failure more and one fewer than seen, so that 0 of n is no certainty.
    smoothed = (failures + 1.0) / (turns + 2.0)
    variance = max(spread, smoothed * (1.0 - smoothed) * turns) / (turns * turns)
    half = half_width(variance)
    bounds = (max(1.0 - rate - half, 0.0), min(1.0 - rate + half, 1.0))
    return Quality(record.name, (1.0 - rate, *bounds), record.drift_latched)
