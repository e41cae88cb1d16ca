"""Reports and labels files read and brought together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from monitor.agreement.coefficients import Agreement, agreements
from monitor.agreement.human import parse_human_label
from monitor.agreement.pairs import Judged, Pair, judged, pair
from monitor.errors import InvalidInput
from monitor.roles.files import lines
from monitor.roles.labelled_sets import reports_in
from monitor.verdict import HumanLabel

SHOWN_FAULTS: Final = 20


@dataclass(slots=True)
class Compared:
    """What came of the labels."""

    agreements: list[Agreement]
    refused: int = 0
    faults: list[str] = field(default_factory=list)
    """What is wrong with the first refused lines."""
    unmatched: int = 0
    unscored: int = 0


def compared(
    reports: Path,
    labels: Sequence[Path],
    more: Sequence[HumanLabel] = (),
    rename: Callable[[str], str] = str,
) -> Compared:
    """The labels beside the last report of each conversation, those of files and `more`.

    Conversations may stand in reports under redacted names, which `rename` gives.
    A label that comes again counts once, with its last opinion. A line that cannot be read costs
    itself only. Raises InvalidInput for files that cannot be read and lines that are no report.
    """
    found = Compared([])
    told: dict[str, HumanLabel] = {label.label_id: label for label in more}
    for path in labels:
        for number, line in lines(path):
            try:
                label = parse_human_label(line, f"{path}, line {number}")
            except InvalidInput as error:
                found.refused += 1
                if found.refused <= SHOWN_FAULTS:
                    found.faults.append(str(error))
                continue
            told[label.label_id] = label
    found.agreements = agreements(_pairs(_index(reports), told, found, rename))
    return found


def _index(reports: Path) -> dict[str, Judged]:
    """By conversation id; and by trace id for labels that name no conversation."""
    by_name: dict[str, Judged] = {}
    for report in reports_in(reports):
        by_name[report.conversation_id] = judged(report)
    by_trace = {
        f"trace {turn.trace_id}": each
        for each in by_name.values()
        for turn in each.turns
        if turn.trace_id
    }
    return by_trace | by_name


def _pairs(
    index: dict[str, Judged],
    labels: dict[str, HumanLabel],
    found: Compared,
    rename: Callable[[str], str],
) -> list[Pair]:
    pairs = []
    missing: dict[bool, int] = defaultdict(int)
    for label in labels.values():
        name = label.conversation_id
        if name is None:
            against = index.get(f"trace {label.trace_id}")
        else:
            against = index.get(name) or index.get(rename(name))
        made = None if against is None else pair(label, against)
        if made is None:
            missing[against is not None] += 1
        else:
            pairs.append(made)
    found.unmatched, found.unscored = missing[False], missing[True]
    return pairs
