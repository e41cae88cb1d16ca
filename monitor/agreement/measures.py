"""The measures of a labelled set: shares of its counts, each with an interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from monitor.agreement.intervals import Interval, Matrix, clustered, wilson
from monitor.agreement.tallies import Tally

Unit: TypeAlias = Literal["conversation", "turn"]
AGREEING: Final = ("outcome_pass_alone", "outcome_fail_fails")
CONTRADICTING: Final = ("outcome_pass_fails", "outcome_fail_alone")


class Share(NamedTuple):
    """What a measure counts: the sum of some counts over the sum of some."""

    name: str
    unit: Unit
    of: tuple[str, ...]
    over: tuple[str, ...]
    says: str


class Figure(NamedTuple):
    """A measure as found."""

    name: str
    unit: Unit
    value: float | None
    """None when there is nothing to divide by."""
    of: int
    over: int
    interval: Interval | None
    """At 95 per cent: Wilson's for shares of conversations, a bootstrap of whole conversations for
    shares of turns."""


SHARES: Final = (
    Share(
        "located_exact",
        "conversation",
        ("located_exact",),
        ("located",),
        "the first failing turn is a labelled root",
    ),
    Share(
        "located_within1",
        "conversation",
        ("located_near",),
        ("located",),
        "the same, or the turn before or behind it",
    ),
    Share(
        "abstain",
        "conversation",
        ("located_none",),
        ("located",),
        "no turn is named although one is labelled",
    ),
    Share(
        "root_reason_acc",
        "conversation",
        ("caused_right",),
        ("caused",),
        "the root's reason is the labelled one",
    ),
    Share(
        "clean_specificity",
        "conversation",
        ("clean_alone",),
        ("clean",),
        "a passing conversation is left alone",
    ),
    Share(
        "turn_precision",
        "turn",
        ("fail_fail",),
        ("fail_fail", "pass_fail"),
        "of labelled turns that are called fail: they do",
    ),
    Share(
        "turn_recall",
        "turn",
        ("fail_fail",),
        ("fail_fail", "fail_pass", "fail_unscored"),
        "of turns that fail: they are called so",
    ),
    Share(
        "reason_acc_on_caught",
        "turn",
        ("reasoned_right",),
        ("reasoned",),
        "of failing turns that are called so: the reason is right",
    ),
    Share(
        "cascade_precision",
        "turn",
        ("cascade_as_cascade",),
        ("cascade_as_cascade", "root_as_cascade"),
        "of failures called inherited: they are",
    ),
    Share(
        "cascade_recall",
        "turn",
        ("cascade_as_cascade",),
        ("cascade_as_cascade", "cascade_as_root"),
        "of inherited failures that are called fail: they are called inherited",
    ),
    Share(
        "cascade_recall_all",
        "turn",
        ("cascade_as_cascade",),
        ("cascades",),
        "of all inherited failures: they are called inherited",
    ),
    Share(
        "located_exact_human",
        "conversation",
        ("human_exact",),
        ("human",),
        "located_exact where a person named the root",
    ),
    Share(
        "not_agent_fault_no_turn",
        "conversation",
        ("nobodys_alone",),
        ("nobodys",),
        "no turn is named where a person blames no agent",
    ),
    Share(
        "located_exact_agent_fault",
        "conversation",
        ("agents_exact",),
        ("agents",),
        "located_exact where a person blames an agent's turn",
    ),
    Share(
        "located_within1_agent_fault",
        "conversation",
        ("agents_near",),
        ("agents",),
        "located_within1 there",
    ),
    Share("abstain_agent_fault", "conversation", ("agents_none",), ("agents",), "abstain there"),
    Share(
        "first_error_acc",
        "conversation",
        ("stepped_right",),
        ("stepped",),
        "the first failing turn, or that there is none, where each step is labelled",
    ),
    Share(
        "agent_acc",
        "conversation",
        ("blamed_right",),
        ("blamed",),
        "the agent of the first failing turn is the one that a person blames",
    ),
    Share(
        "fails_confirmed",
        "conversation",
        ("outcome_fail_fails",),
        ("outcome_fail_fails", "outcome_pass_fails"),
        "of conversations with a failing turn: their outcome is a failure",
    ),
    Share(
        "outcome_agreement",
        "conversation",
        AGREEING,
        AGREEING + CONTRADICTING,
        "`some turn fails` and the outcome say the same",
    ),
    Share(
        "turns_decided", "turn", ("turns_scored",), ("turns",), "turns that have a verdict at all"
    ),
)
KAPPA: Final = "outcome_kappa"
KAPPA_SAYS: Final = "the same, beyond chance"


def figures(tallies: Sequence[Tally]) -> list[Figure]:
    """Every measure over the conversations, in a fixed order; those without a case included."""
    found = [_figure(share, tallies) for share in SHARES]
    at = next(n for n, share in enumerate(SHARES) if share.name == "outcome_agreement")
    found.insert(at + 1, _kappa_figure(tallies))
    return found


def kappa(table: Matrix) -> npt.NDArray[np.float64]:
    """Cohen's kappa of rows of n11, n10, n01, n00; NaN where one side never varies."""
    both, first, second, neither = np.moveaxis(table, -1, 0)
    total = both + first + second + neither
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = (both + neither) / total
        expected = (
            (both + first) * (both + second) + (neither + first) * (neither + second)
        ) / total**2
        varies = (both + first) * (neither + second) * (both + second) * (neither + first) > 0
        found: npt.NDArray[np.float64] = np.where(
            varies, (observed - expected) / (1 - expected), np.nan
        )
    return found


def _figure(share: Share, tallies: Sequence[Tally]) -> Figure:
    parts = [
        (sum(tally[name] for name in share.of), sum(tally[name] for name in share.over))
        for tally in tallies
    ]
    of, over = (sum(column) for column in zip(*parts, strict=True)) if parts else (0, 0)
    value = of / over if over else None
    if share.name == "agent_acc" and _agents_unknown(tallies):
        value = None
    interval = None if value is None else _interval(share.unit, of, over, parts)
    return Figure(share.name, share.unit, value, of, over, interval)


def _interval(unit: Unit, of: int, over: int, parts: Sequence[tuple[int, int]]) -> Interval | None:
    asked = [part for part in parts if part[1]]
    if unit == "turn" and 0 < of < over:
        return clustered(asked, _ratio)
    # No resample leaves 0 or 1, so there each conversation counts as one independent trial.
    trials = over if unit == "conversation" else len(asked)
    return wilson(trials * of / over, trials)


def _ratio(totals: Matrix) -> npt.NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        found: npt.NDArray[np.float64] = totals[..., 0] / totals[..., 1]
    return found


def _agents_unknown(tallies: Sequence[Tally]) -> bool:
    """Whether turns are named and the agent of none of them is known: then it cannot be said."""
    counts: Tally = Counter()
    for tally in tallies:
        counts.update({name: tally[name] for name in ("blamed_turn", "blamed_known")})
    return counts["blamed_turn"] > 0 and not counts["blamed_known"]


def _kappa_figure(tallies: Sequence[Tally]) -> Figure:
    cells = ("outcome_fail_fails", "outcome_fail_alone", "outcome_pass_fails", "outcome_pass_alone")
    rows = [[float(tally[name]) for name in cells] for tally in tallies]
    asked = [row for row in rows if sum(row)]
    table = np.sum(np.asarray(asked or [[0.0] * 4]), axis=0)
    value = float(kappa(table))
    agreeing = int(table[0] + table[3])
    if not np.isfinite(value):
        return Figure(KAPPA, "conversation", None, agreeing, len(asked), None)
    return Figure(KAPPA, "conversation", value, agreeing, len(asked), clustered(asked, kappa))
