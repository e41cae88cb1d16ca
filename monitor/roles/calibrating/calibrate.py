"""`agent-monitor calibrate`: a calibration from a team's own labelled pairs, and how good it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

import msgspec
import numpy as np

from monitor.comparison.calibration import Band, Calibration, Fitted
from monitor.comparison.ladder import Ladder
from monitor.comparison.lexical import Lexical
from monitor.comparison.residual import Residual
from monitor.comparison.typed import Typed
from monitor.errors import InvalidInput
from monitor.ports import Encoder
from monitor.roles.calibrating.fitting import (
    Array,
    Reached,
    chances,
    cosines_of,
    fitted_band,
    fitted_scale,
    fitted_trees,
    fresh_odds,
    odds_of,
    reached,
    scaled_odds,
    sources_of,
)
from monitor.roles.calibrating.pairs import LabelledPair, by_kind
from monitor.roles.calibrating.reliability import Outcome, table, told

LEAST_LABELS: Final = 100
"""Labels that a scale and a band rest on, counted where the rules leave a pair open."""
LEAST_OF_EACH: Final = 20
"""Of them, of either label."""
LEAST_TO_REFIT: Final = 500
"""Labels that trees of one's own rest on."""


class Wanted(NamedTuple):
    """What a team asks for."""

    target: float
    """Share of decided pairs that is to be right, on either side of the band."""
    refit: bool = False
    """Fit trees anew, and not only the scale of those that are there."""
    bands: Mapping[str, Band] = MappingProxyType({})
    """Bands that are set and not fitted, by kind."""


class Calibrated(NamedTuple):
    """The calibration, and what is to be said of it."""

    calibration: Calibration
    lines: list[str]


def calibrate(
    pairs: Sequence[LabelledPair],
    base: Calibration | None,
    encoder: Encoder | None,
    name: str,
    wanted: Wanted,
) -> Calibrated:
    """Fit what the pairs allow on top of `base`; the rest stays as it is, and is named.

    Without a base, which only a refit may do, both kinds have to be fitted. Every figure comes
    from models that never saw the pair's group. Raises InvalidInput where neither kind has labels
    enough.
    """
    kinds: dict[str, Fitted] = {}
    if base is not None:
        kinds = {"fields": base.fields, "answers": base.answers}
    lines: list[str] = []
    changed = False
    for kind, some in by_kind(list(pairs)):
        data = reached(some, encoder)
        lines += [f"{kind}: {len(some)} pairs, {len(data.same)} of them left open by the rules"]
        lack = _lack(data, LEAST_TO_REFIT if wanted.refit else LEAST_LABELS)
        if lack:
            lines += [f"  not fitted: {lack}", ""]
            continue
        if wanted.refit:
            fitted, fresh = _refitted(kind, data, wanted, encoded=encoder is not None)
        else:
            fitted, fresh = _scaled(kind, data, kinds[kind], wanted)
        kinds[kind] = fitted
        changed = True
        lines += [*_summary(some, data, fitted, fresh, wanted.target), ""]
    if not changed or len(kinds) < 2:
        raise InvalidInput("\n".join(["too few labels to calibrate on", *lines]).rstrip())
    version = encoder.version if encoder is not None else None
    family = base.encoder if base is not None else None
    found = Calibration(name, family or version, kinds["fields"], kinds["answers"])
    return Calibrated(found, lines)


def _lack(data: Reached, least: int) -> str | None:
    same = int(data.same.sum())
    other = len(data.same) - same
    if len(data.same) >= least and min(same, other) >= LEAST_OF_EACH:
        return None
    return (
        f"{same} pairs labelled the same and {other} labelled different are left open by the "
        f"rules; {least} are needed, {LEAST_OF_EACH} of either"
    )


def _scaled(kind: str, data: Reached, base: Fitted, wanted: Wanted) -> tuple[Fitted, Array]:
    """The trees as they are, with a scale and a band of the team's own."""
    fresh = chances(scaled_odds(data, base.trees))
    scale = fitted_scale(odds_of(data, base.trees), cosines_of(data), data.same)
    band = wanted.bands.get(kind) or fitted_band(fresh, data.same, wanted.target)
    fitted = msgspec.structs.replace(base, scale=scale, band=band, scaled_on=sources_of(data))
    return fitted, fresh


def _refitted(kind: str, data: Reached, wanted: Wanted, *, encoded: bool) -> tuple[Fitted, Array]:
    """Trees of the team's own; their scale rests on what they say of pairs not seen."""
    answers = kind == "answers"
    odds = fresh_odds(data, answers=answers, encoded=encoded)
    scale = fitted_scale(odds, np.zeros(len(odds)), data.same)
    fresh = chances(scale.shift + scale.slope * odds)
    band = wanted.bands.get(kind) or fitted_band(fresh, data.same, wanted.target)
    trees = fitted_trees(data, answers=answers, encoded=encoded)
    return Fitted(trees, band, scale, sources_of(data)), fresh


def _summary(
    pairs: Sequence[LabelledPair], data: Reached, fitted: Fitted, fresh: Array, target: float
) -> Iterator[str]:
    low, high = fitted.band
    ruled = _ruled(pairs, len(pairs) - len(data.same))
    weighed = [
        Outcome(None if low < p < high else p >= 0.5, bool(same))
        for p, same in zip(fresh.tolist(), data.same, strict=True)
    ]
    yield f"  unsure between {low:.3f} and {high:.3f}, for {target:.2f} right on either side"
    yield f"  by rules     {told(ruled)}"
    yield f"  weighed      {told(weighed)}"
    yield f"  together     {told([*ruled, *weighed])}"
    yield from (f"  {line}" for line in table(fresh.tolist(), data.same.tolist()))


def _ruled(pairs: Sequence[LabelledPair], of: int) -> list[Outcome]:
    """What the surer rungs say of the pairs that are not weighed, lists and objects included."""
    ladder = Ladder([Typed(), Lexical(), Residual(None)])
    found = []
    for pair in pairs:
        score = ladder.compare(pair.expected, pair.actual, pair.hint).score
        if score is not None:
            found.append(Outcome(score >= 0.5, pair.same))
    return found + [Outcome(None, same=False)] * (of - len(found))
