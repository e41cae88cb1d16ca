"""The acceptance figures as lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

TARGETS = {2: 1.40, 5: 1.25}
"""Mean delay in units of log(100) / KL, by points."""
FALSE_PAGES = 0.01
ENOUGH = 800
"""Months or runs from which on the figure itself is held against its target; with fewer, chance may
still explain it."""


def table(figures: dict[str, Any]) -> Iterator[str]:
    """One line after another."""
    yield "False pages a month, looked at after every conversation (target: at most 1 %)"
    for name, found in figures["false_pages_a_month"].items():
        low, high = found["interval"]
        mark = _mark(found["months"], (low, found["share"], high), FALSE_PAGES)
        yield f"  {name:<28}{_alarms(found)}  {mark}"
    yield ""
    yield "Rules on the same streams: false alarms a month; mean delay in turns (times the bound)"
    for name, row in figures["rules"].items():
        waits = "  ".join(f"{p} pt {_wait(w)}" for p, w in row["delays"].items())
        yield f"  {name:<28}{_alarms(row['false_alarms'])}  {waits}"
    bounds = ", ".join(f"{p} pt {turns}" for p, turns in figures["bound_turns"].items())
    yield f"  log(100)/KL in turns: {bounds}"
    pages = figures["rules"]["mixture (pages)"]["delays"]
    for points, target in TARGETS.items():
        found = pages[points]
        reached, error = found["times_bound"], 2 * found["standard_error"]
        mark = _mark(found["runs"], (reached - error, reached, reached + error), target)
        yield f"  target at {points} points: {target:.2f}, reached {reached:.3f}  {mark}"
    yield ""
    yield "Canary of 10 %, 5 points, by standard deviation of the days: mean delay of its own turns"
    for deviation, found in figures["canary_10_percent"].items():
        yield f"  {deviation:<28}{_wait(found)}"
    yield ""
    yield "Hard swap with day effects, the operating curve: false alarms a month; mean delay"
    for deviation, rows in figures["hard_swap_with_day_effects"].items():
        for name, row in rows.items():
            waits = "  ".join(f"{p} pt {_wait(w)}" for p, w in row["delays"].items())
            yield f"  sd {deviation:<5}{name:<28}{_alarms(row['false_alarms'])}  {waits}"
    if "cost" in figures:
        spent = figures["cost"]["microseconds_per_conversation"]
        yield ""
        yield f"Cost per conversation, state persisted: {spent} microseconds (target: at most 150)"


def _mark(number: int, figure: tuple[float, float, float], target: float) -> str:
    """What a figure, with what it might be at least and at most, says of its target."""
    low, found, high = figure
    if number >= ENOUGH:
        low = high = found
    if high <= target:
        return "met"
    return "MISSED" if low > target else "too few to tell"


def _alarms(found: dict[str, Any]) -> str:
    low, high = (100 * bound for bound in found["interval"])
    share = 100 * found["share"]
    return f"{share:6.2f} % of {found['months']} ({low:.2f}-{high:.2f})"


def _wait(found: dict[str, Any]) -> str:
    missed = "" if found["found"] == 1 else f", {100 * (1 - found['found']):.1f} % not found"
    return f"{found['mean_turns']} ({found['times_bound']:.2f}{missed})"
