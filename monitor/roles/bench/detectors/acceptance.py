"""The acceptance table: false alarms a month and mean delays, ours beside rules in common use."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from monitor.releases.arms import X, Y
from monitor.releases.betting import drift_threshold, stakes, upper_bounds
from monitor.roles.bench.detectors import others
from monitor.roles.bench.detectors.months import Month, canary, mix_shift, swap
from monitor.roles.bench.detectors.ours import (
    Flags,
    betting_path,
    drift_path,
    first,
    mixture_path,
)
from monitor.roles.bench.detectors.streams import (
    A_DAY,
    HAZARDS,
    MONTH_DAYS,
    Kinds,
    divergence,
    kinds,
)

PAGE: Final = math.log(200.0)
DRIFT: Final = math.log(drift_threshold(60_000, 0.01))
BOUND: Final = math.log(100.0)
ADWIN_MONTHS: Final = 40
LONGEST: Final = {10: 2_000, 5: 5_000, 2: 30_000, 1: 60_000}
"""Conversations until a delay run gives up, by points."""
DAY_DEVIATIONS: Final = (0.05, 0.1, 0.2)

Rule = Callable[[Month], Flags]
Draw = Callable[[np.random.Generator], Month]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is simulated."""

    months: int = 1600
    """Of each cell; rules side by side get half of them."""
    delays: int = 2000
    slow_delays: int = 200
    """For one point, which takes most of a month."""
    days: int = 400
    """Months and delays for each strength of day effects."""


QUICK: Final = Effort(months=40, delays=40, slow_delays=4, days=10)


def ours(month: Month) -> Flags:
    """What pages: the mixture, with the measured variance between days."""
    path = mixture_path(month.baseline, month.candidate, 0.0, month.day_variance)
    return _flags(path >= PAGE)


def fixed_tolerance(tolerance: float) -> Rule:
    """The mixture with a fixed tolerance and nothing for the days."""

    def rule(month: Month) -> Flags:
        return _flags(mixture_path(month.baseline, month.candidate, tolerance) >= PAGE)

    return rule


def certified(month: Month) -> Flags:
    """The betting e-process."""
    gains, bets = _bets(month)
    return _flags(betting_path(gains, bets) >= PAGE)


def drifted(month: Month) -> Flags:
    """The e-detector, which needs no swap marker."""
    gains, bets = _bets(month)
    return _flags(drift_path(gains, bets) >= DRIFT)


RULES: Final[dict[str, Rule]] = {
    "mixture (pages)": ours,
    "betting (certified)": certified,
    "e-detector (drift)": drifted,
    "UAEF 5 %, trailing hour": others.relative_hour,
    "UAEF 5 %, since the swap": others.relative_all,
    "z-test, peeked": others.peeked_z,
    "CUSUM of turns": others.cusum,
}


def acceptance(seed: int, effort: Effort, tell: Callable[[str], None]) -> dict[str, Any]:
    """The whole table. Equal seeds and efforts give equal tables."""
    plain, hard = kinds(), kinds(correlation=0.25, inherits=0.8)
    whole = A_DAY * MONTH_DAYS
    tell("false pages: plain, clustered, mix shift, canary with day effects")
    cells: dict[str, Draw] = {
        "plain": lambda rng: swap(rng, plain, 0, MONTH_DAYS),
        "clustered": lambda rng: swap(rng, hard, 0, MONTH_DAYS),
        "mix shift": lambda rng: mix_shift(rng, plain, 0, whole),
        "canary with day effects": lambda rng: canary(rng, plain, 0, MONTH_DAYS, 0.2),
    }
    false_pages = {
        name: _false_alarms(draw, {"": ours}, effort.months, [seed, at])[""]
        for at, (name, draw) in enumerate(cells.items())
    }
    tell("rules side by side: false alarms")
    alarms = _false_alarms(
        lambda rng: swap(rng, plain, 0, MONTH_DAYS), RULES, effort.months // 2, [seed, 0]
    )
    tell("rules side by side: delays")
    delays = _swap_delays(plain, effort, seed)
    tell("ADWIN")
    adwin = _adwin(plain, min(effort.months, ADWIN_MONTHS), [seed, 30])
    tell("canary: delays; hard swaps with day effects: the operating curve")
    return {
        "seed": seed,
        "false_pages_a_month": false_pages,
        "bound_turns": {
            points: round(BOUND / divergence(plain, HAZARDS[points], HAZARDS[0]))
            for points in delays
        },
        "rules": {
            name: {
                "false_alarms": alarms[name],
                "delays": {points: found[name] for points, found in delays.items()},
            }
            for name in RULES
        }
        | adwin,
        "canary_10_percent": _canary(plain, effort, seed),
        "hard_swap_with_day_effects": _day_curve(plain, effort, seed),
    }


def interval(hits: int, trials: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    z = 1.96
    share, scale = hits / trials, 1.0 + z * z / trials
    middle = (share + z * z / (2 * trials)) / scale
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / scale
    return max(0.0, middle - half), min(1.0, middle + half)


def _false_alarms(
    draw: Draw, rules: dict[str, Rule], months: int, seed: list[int]
) -> dict[str, Any]:
    hits = dict.fromkeys(rules, 0)
    for number in range(months):
        month = draw(np.random.default_rng([*seed, number]))
        for name, rule in rules.items():
            hits[name] += bool(rule(month).any())
    return {name: _share(count, months) for name, count in hits.items()}


def _swap_delays(plain: Kinds, effort: Effort, seed: int) -> dict[int, dict[str, Any]]:
    """Of every rule after a hard swap, by points."""

    def draw(rng: np.random.Generator, points: int) -> Month:
        longest = LONGEST[points]
        return swap(rng, plain, points, longest // A_DAY + 1, conversations=longest)

    return {
        points: _delays(
            plain,
            points,
            partial(draw, points=points),
            RULES,
            effort.slow_delays if points == 1 else effort.delays,
            [seed, 10 + points],
        )
        for points in (1, 2, 5, 10)
    }


def _delays(
    plain: Kinds, points: int, draw: Draw, rules: dict[str, Rule], runs: int, seed: list[int]
) -> dict[str, Any]:
    waits: dict[str, list[int]] = {name: [] for name in rules}
    found = dict.fromkeys(rules, 0)
    for number in range(runs):
        month = draw(np.random.default_rng([*seed, number]))
        for name, rule in rules.items():
            at = first(rule(month))
            found[name] += at is not None
            waits[name].append(int(month.turns[-1 if at is None else at]))
    bound = BOUND / divergence(plain, HAZARDS[points], HAZARDS[0])
    return {name: _wait(waits[name], found[name], bound) for name in rules}


def _adwin(plain: Kinds, months: int, seed: list[int]) -> dict[str, Any]:
    """Turn by turn it is slow, so it gets fewer months."""
    rows: dict[str, Any] = {}
    runs = {
        "ADWIN of turns": others.adwin_turns,
        "ADWIN of conversations": others.adwin_conversations,
    }
    for name, alarm_at in runs.items():
        hits, delays = 0, {}
        for points, days in ((0, MONTH_DAYS), (5, 5)):
            waits = []
            caught = 0
            for number in range(months):
                rng = np.random.default_rng([*seed, points, number])
                before, after = swap(rng, plain, 0, 2), swap(rng, plain, points, days)
                at = alarm_at(before, after)
                caught += at is not None
                waits.append(int(after.turns[-1 if at is None else at]))
            if points:
                bound = BOUND / divergence(plain, HAZARDS[points], HAZARDS[0])
                delays[points] = _wait(waits, caught, bound)
            else:
                hits = caught
        rows[name] = {"false_alarms": _share(hits, months), "delays": delays}
    return rows


def _canary(plain: Kinds, effort: Effort, seed: int) -> dict[str, Any]:
    found = {}
    for deviation in (0.0, *DAY_DEVIATIONS):
        found[str(deviation)] = _delays(
            plain,
            5,
            lambda rng, deviation=deviation: canary(rng, plain, 5, 10, deviation),  # type: ignore[misc]
            {"5": ours},
            effort.days,
            [seed, 40, int(100 * deviation)],
        )["5"]
    return found


def _day_curve(plain: Kinds, effort: Effort, seed: int) -> dict[str, Any]:
    rules: dict[str, Rule] = {
        "shipped: measured variance": ours,
        "tolerance 0": fixed_tolerance(0.0),
        "tolerance .005": fixed_tolerance(0.005),
        "tolerance .010": fixed_tolerance(0.010),
        "tolerance .020": fixed_tolerance(0.020),
    }
    curve: dict[str, Any] = {}
    for deviation in DAY_DEVIATIONS:
        mark = [seed, 50, int(100 * deviation)]

        def draw(
            rng: np.random.Generator, points: int = 0, days: int = MONTH_DAYS, sd: float = deviation
        ) -> Month:
            return swap(rng, plain, points, days, sd)

        alarms = _false_alarms(draw, rules, effort.days, [*mark, 0])
        waits = {
            points: _delays(
                plain,
                points,
                lambda rng, points=points, draw=draw: draw(rng, points, 15),  # type: ignore[misc]
                rules,
                effort.days // 2,
                [*mark, points],
            )
            for points in (5, 10)
        }
        curve[str(deviation)] = {
            name: {
                "false_alarms": alarms[name],
                "delays": {points: found[name] for points, found in waits.items()},
            }
            for name in rules
        }
    return curve


def _bets(month: Month) -> tuple[Any, Any]:
    bound = upper_bounds(month.baseline)
    one = np.diff(month.candidate[:, 0, :], axis=0, prepend=0.0)
    return one[:, X] - float(bound[0]) * one[:, Y], stakes(bound)


def _flags(hits: Any) -> Flags:
    found: Flags = hits
    return found


def _share(hits: int, trials: int) -> dict[str, Any]:
    low, high = interval(hits, trials)
    return {
        "months": trials,
        "alarms": hits,
        "share": round(hits / trials, 5),
        "interval": (round(low, 5), round(high, 5)),
    }


def _wait(waits: Iterable[int], found: int, bound: float) -> dict[str, Any]:
    turns = np.array(list(waits), dtype=np.float64)
    error = float(turns.std()) / math.sqrt(len(turns))
    return {
        "runs": len(turns),
        "found": round(found / len(turns), 4),
        "median_turns": round(float(np.median(turns))),
        "mean_turns": round(float(turns.mean())),
        "times_bound": round(float(turns.mean()) / bound, 3),
        "standard_error": round(error / bound, 3),
    }
