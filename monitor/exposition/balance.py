"""The two ledger equations: every span and every turn ends in exactly one place."""

from __future__ import annotations

from typing import NamedTuple

from monitor.exposition.live import Live, settled
from monitor.ledger.snapshot import Totals


class Balance(NamedTuple):
    """One equation: the whole, and the terms that must add up to it."""

    whole_name: str
    whole: int
    terms: tuple[tuple[str, int], ...]

    @property
    def difference(self) -> int:
        """The whole less its terms; 0 when nothing was lost or counted twice."""
        return self.whole - sum(value for _, value in self.terms)

    @property
    def holds(self) -> bool:
        """Whether the equation is satisfied."""
        return self.difference == 0


def span_balance(totals: Totals, live: Live) -> Balance:
    """Accepted = attached + duplicate + late + dropped{why} + dead-lettered + open."""
    dropped = totals.counted_under("dropped")
    if plain := totals.counted("dropped"):
        dropped["unnamed"] = plain
    return Balance(
        "Spans accepted",
        totals.counted("accepted"),
        (
            ("attached", totals.counted("attached")),
            ("duplicate", totals.counted("duplicate")),
            ("late", totals.counted("late")),
            *((f"dropped: {why}", count) for why, count in dropped.items()),
            ("dead-lettered", totals.counted("dead_lettered")),
            ("open", settled(live, totals).open_spans),
        ),
    )


def turn_balance(totals: Totals, live: Live) -> Balance:
    """Assembled = pass + fail + unscored{why} + open; retired releases included.

    What was assembled is the ledger's own count of turns and the open ones; the terms come from
    the tables of at-risk turns, failures and coverage, which are written apart from it.
    """
    turns = totals.family("turns")
    still_open = settled(live, totals).open_turns
    passed = sum(value for labels, value in turns.items() if labels[3] == "pass")
    why: dict[str, int] = {}
    for (_, reason), value in totals.family("unscored").items():
        why[reason] = why.get(reason, 0) + value
    return Balance(
        "Turns assembled",
        sum(turns.values()) + still_open,
        (
            ("pass", passed),
            ("fail", sum(totals.family("failures").values())),
            *((f"unscored: {name}", count) for name, count in sorted(why.items())),
            ("open", still_open),
        ),
    )
