"""Labelled sets of conversations: found in folders, run through the product, measured.

A set is a folder with `labels.jsonl` and any of `dialogs.jsonl`, `traces.jsonl`,
`references.jsonl` (plain or gzip) and `tools.json`. The product sees dialogs, traces, references
and tools; labels are read here only, after it has spoken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

import msgspec

from monitor.agreement.labelled import Label, parse_label
from monitor.agreement.measures import Figure, figures
from monitor.agreement.tallies import Tally, tally
from monitor.errors import ConfigurationError, InvalidInput
from monitor.roles.files import lines
from monitor.verdict import Report

Way: TypeAlias = Literal["dialogs", "references", "traces"]
WAYS: Final[tuple[Way, ...]] = get_args(Way)
"""`dialogs`: turns paired with gold by the source. `references`: traces, held against references
by id that the product aligns itself. `traces`: traces alone, with the tools' contracts only."""
NEEDS: Final[Mapping[Way, tuple[str, ...]]] = {
    "dialogs": ("dialogs",),
    "references": ("traces", "references"),
    "traces": ("traces",),
}
_REPORT: Final = msgspec.json.Decoder(Report)


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """The files of one set; a missing one is None."""

    name: str
    labels: Path
    dialogs: Path | None
    traces: Path | None
    references: Path | None
    tools: Path | None

    def offers(self, way: Way) -> bool:
        """Whether the set has what this way needs."""
        return all(getattr(self, need) is not None for need in NEEDS[way])


@dataclass(frozen=True, slots=True)
class Measured:
    """One set, or several together, run one way."""

    name: str
    way: Way
    tallies: list[Tally]

    @property
    def figures(self) -> list[Figure]:
        """All measures, those without a case included."""
        return figures([each for each in self.tallies if not each["missing"]])

    @property
    def missing(self) -> int:
        """Labelled conversations that the product made no report of."""
        return sum(each["missing"] for each in self.tallies)


Run: TypeAlias = Callable[[LabelledSet, Way], Mapping[str, Report]]
"""Runs a set through the product one way: final reports by dialog id."""


def found_sets(folders: Sequence[Path]) -> list[LabelledSet]:
    """The sets in the folders: each is one itself, or holds some. In the order of their names.

    Raises ConfigurationError for a folder in which there is none.
    """
    sets: list[LabelledSet] = []
    for folder in folders:
        at = [_set_in(folder)] if folder.is_dir() else []
        if at == [None]:
            at = [_set_in(inner) for inner in sorted(folder.iterdir()) if inner.is_dir()]
        inside = [each for each in at if each is not None]
        if not inside:
            raise ConfigurationError(f"{folder}: no labels.jsonl here, nor in a folder of it")
        sets += inside
    return sets


def measured(labelled: LabelledSet, way: Way, run: Run) -> Measured:
    """One set one way. Raises InvalidInput for labels that break their format."""
    reports = run(labelled, way)
    labels = [*labels_of(labelled.labels)]
    agents = _agents(labelled.dialogs) if any(each.human for each in labels) else {}
    tallies = [
        tally(label, reports.get(label.dialog_id), agents.get(label.dialog_id)) for label in labels
    ]
    return Measured(labelled.name, way, tallies)


def pooled(parts: Sequence[Measured]) -> list[Measured]:
    """All sets together, way by way, where there are several."""
    found = []
    for way in WAYS:
        same = [part for part in parts if part.way == way]
        if len(same) > 1:
            joined = [tally for part in same for tally in part.tallies]
            found.append(Measured(f"all {len(same)} sets", way, joined))
    return found


def reports_in(path: Path) -> Iterator[Report]:
    """The reports of a file of report lines. Raises InvalidInput."""
    for number, line in lines(path):
        try:
            yield _REPORT.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise InvalidInput(f"{path}, line {number}: is no report: {error}") from None


def by_dialog(reports: Iterator[Report]) -> dict[str, Report]:
    """The last report of each conversation, by its dialog's id where it has one."""
    return {report.dialog_id or report.conversation_id: report for report in reports}


def _set_in(folder: Path) -> LabelledSet | None:
    labels = _file(folder, "labels.jsonl")
    if labels is None:
        return None
    return LabelledSet(
        folder.name,
        labels,
        _file(folder, "dialogs.jsonl"),
        _file(folder, "traces.jsonl"),
        _file(folder, "references.jsonl"),
        _file(folder, "tools.json"),
    )


def _file(folder: Path, name: str) -> Path | None:
    found = (folder / name, folder / f"{name}.gz")
    return next((path for path in found if path.is_file()), None)


def labels_of(path: Path) -> Iterator[Label]:
    """The labels of a file. Raises InvalidInput."""
    for number, line in lines(path):
        yield parse_label(line, f"{path}, line {number}")


class _DialogTurn(msgspec.Struct):
    turn_no: int
    agent: str | None = None


class _DialogAgents(msgspec.Struct):
    dialog_id: str
    turns: tuple[_DialogTurn, ...] = ()


def _agents(path: Path | None) -> dict[str, dict[int, str]]:
    """Each turn's agent by the source's own log."""
    found: dict[str, dict[int, str]] = {}
    for number, line in lines(path) if path else ():
        try:
            dialog = msgspec.json.decode(line, type=_DialogAgents)
        except msgspec.MsgspecError as error:
            raise InvalidInput(f"{path}, line {number}: is no dialog: {error}") from None
        found[dialog.dialog_id] = {turn.turn_no: turn.agent for turn in dialog.turns if turn.agent}
    return found
