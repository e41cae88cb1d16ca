"""How far stated chances hold: accuracy, share decided, and a table of chance against truth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from monitor.agreement.intervals import wilson

STEPS: Final = 10
"""Rows of the table."""


class Outcome(NamedTuple):
    """What was said of a pair, and what people say."""

    says: bool | None
    same: bool


def told(outcomes: Sequence[Outcome]) -> str:
    """Pairs, share decided, and share right of the decided with its 95 % interval (Wilson)."""
    decided = [one for one in outcomes if one.says is not None]
    if not decided:
        return f"{len(outcomes):6} pairs, none decided"
    right = sum(one.says == one.same for one in decided)
    share = f"{len(decided) / len(outcomes):.3f} decided, {right / len(decided):.3f} of those right"
    likely = wilson(right, len(decided))
    within = f" ({likely.low:.3f} to {likely.high:.3f})" if likely is not None else ""
    return f"{len(outcomes):6} pairs, {share}{within}"


def table(chances: Sequence[float], same: Sequence[bool]) -> Iterator[str]:
    """For each tenth of the chances: pairs, the mean chance stated, the share that is the same."""
    yield "chance       pairs  stated  the same"
    for step in range(STEPS):
        low, high = step / STEPS, (step + 1) / STEPS
        last = step == STEPS - 1
        inside = [
            (p, label)
            for p, label in zip(chances, same, strict=True)
            if low <= p and (p < high or last)
        ]
        if inside:
            stated = sum(p for p, _ in inside) / len(inside)
            true = sum(label for _, label in inside) / len(inside)
            yield f"{low:.1f} to {high:.1f} {len(inside):7} {stated:7.3f} {true:9.3f}"
    gap = calibration_gap(chances, same)
    yield f"mean distance of stated from true: {gap:.3f}"


def calibration_gap(chances: Sequence[float], same: Sequence[bool]) -> float:
    """Mean over the tenths, by pairs, of the distance between stated and true share."""
    total = 0.0
    for step in range(STEPS):
        inside = [
            (p, label)
            for p, label in zip(chances, same, strict=True)
            if min(int(p * STEPS), STEPS - 1) == step
        ]
        total += abs(sum(p for p, _ in inside) - sum(label for _, label in inside))
    return total / max(len(chances), 1)
