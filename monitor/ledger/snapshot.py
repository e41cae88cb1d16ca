"""The totals as exposition reads them: one committed moment, no writes."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from monitor.ledger.counters import BY_RELEASE, SEPARATOR, Labels
from monitor.ledger.database import Reader
from monitor.ledger.labels import OTHER
from monitor.ledger.slots import OTHER_SLOT
from monitor.ledger.statistics import Sums
from monitor.verdict import CHAINS, Chain


class Release(NamedTuple):
    """A release that has series of its own."""

    name: str
    model: str
    first_seen_s: float | None
    """Start of its first conversation by the trace's clock."""


class Stratum(NamedTuple):
    """The statistics of one release, evaluator version, chain length and intent."""

    release: str
    evaluator: str
    chain: Chain
    sums: Sums
    intent: int = -1
    """-1: not known."""


class Totals(msgspec.Struct, frozen=True):
    """Everything counted so far."""

    counters: dict[str, dict[Labels, int]]
    """By family and label values; retired releases included."""
    releases: tuple[Release, ...]
    """Live ones in the order of first use; `other` last, once it is used."""
    strata: tuple[Stratum, ...]
    gauges: dict[str, int]
    """What was open with the same commit, by name; empty when the host never told."""
    spool_rows: int
    spool_bytes: int
    sinks: dict[str, int]
    """Reports that wait, by sink."""

    def family(self, name: str) -> dict[Labels, int]:
        """One family's counters; empty when nothing was counted."""
        return self.counters.get(name, {})

    def counted(self, name: str) -> int:
        """One span or payload outcome, such as `accepted`."""
        return self.family("counts").get((name,), 0)

    def counted_under(self, kind: str) -> dict[str, int]:
        """The outcomes `kind:<why>` by their why."""
        prefix = f"{kind}:"
        return {
            name[len(prefix) :]: value
            for (name,), value in sorted(self.family("counts").items())
            if name.startswith(prefix)
        }


def read_totals(reader: Reader) -> Totals:
    """Read everything inside one read transaction. Raises LedgerError or StateError."""
    with reader.snapshot() as view:
        slots = view.rows(
            "SELECT slot, name, model, first_seen_s, live FROM releases ORDER BY slot"
        )
        names = {slot: name for slot, name, _, _, _ in slots}
        names[OTHER_SLOT] = OTHER
        counters = _counters(view, {str(slot): name for slot, name in names.items()})
        releases = [Release(name, model, first) for _, name, model, first, live in slots if live]
        if any(labels[0] == OTHER for labels in counters.get("turns", {})):
            releases.append(Release(OTHER, OTHER, None))
        spool_rows, spool_bytes = view.rows("SELECT count(*), coalesce(sum(size), 0) FROM spool")[0]
        return Totals(
            counters=counters,
            releases=tuple(releases),
            strata=_strata(view, names),
            gauges=dict(view.rows("SELECT name, value FROM gauges")),
            spool_rows=spool_rows,
            spool_bytes=spool_bytes,
            sinks=_sinks(view),
        )


def read_detectors(reader: Reader) -> dict[str, bytes]:
    """What the detectors kept, by key, in their own encoding. Raises LedgerError or StateError."""
    return dict(reader.rows("SELECT key, value FROM detectors"))


def _counters(view: Reader, names: dict[str, str]) -> dict[str, dict[Labels, int]]:
    counters: dict[str, dict[Labels, int]] = {}
    for family, joined, value in view.rows("SELECT family, labels, value FROM counters"):
        labels = tuple(joined.split(SEPARATOR))
        if family in BY_RELEASE:
            labels = (names.get(labels[0], OTHER), *labels[1:])
        counters.setdefault(family, {})[labels] = value
    return counters


def _strata(view: Reader, names: dict[int, str]) -> tuple[Stratum, ...]:
    rows = view.rows(
        f"SELECT slot, evaluator, chain, intent, {', '.join(Sums._fields)} FROM strata"  # noqa: S608  our own names
        " ORDER BY slot, evaluator, chain, intent"
    )
    return tuple(
        Stratum(names.get(slot, OTHER), evaluator, CHAINS[chain], Sums(*sums), intent)
        for slot, evaluator, chain, intent, *sums in rows
    )


def _sinks(view: Reader) -> dict[str, int]:
    rows = view.rows(
        "SELECT name, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'outbox'), 0)"
        " - delivered FROM sinks ORDER BY name"
    )
    return dict(rows)
