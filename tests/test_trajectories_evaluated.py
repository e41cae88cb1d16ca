"""What the evaluator finds in labelled conversations of many agents."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from monitor.comparison.ladder import Ladder
from monitor.evaluator import Evaluator
from monitor.model import Conversation, ToolDefinition
from monitor.references.by_id import parse_reference
from monitor.references.contracts import ToolContracts
from monitor.references.dialogs import parse_dialog
from monitor.verdict import Reference, Report


class Latest:
    """A reference source that is set before each conversation."""

    def __init__(self) -> None:
        self.answer: Reference | None = None

    def reference(self, conversation: Conversation) -> Reference | None:
        return self.answer


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt") as file:
        yield from map(json.loads, file)


def reports(folder: Path, *, by_reference: bool) -> Iterator[tuple[Report, dict[str, Any]]]:
    """Each conversation's report with its label; aligned by us, or by the dialog's own pairs."""
    described = json.loads((folder / "tools.json").read_text())["tools"]
    contracts = ToolContracts(
        ToolDefinition(t["name"], t["tool_id"], t["action"], t["parameters"], writes=t["writes"])
        for t in described
    )
    source = Latest()
    evaluator = Evaluator([source], contracts, Ladder())
    listed = {
        entry["conversation_id"]: parse_reference(entry, "references")
        for entry in lines(folder / "references.jsonl.gz")
    }
    labels = {label["dialog_id"]: label for label in lines(folder / "labels.jsonl.gz")}
    for entry in lines(folder / "dialogs.jsonl.gz"):
        dialog = parse_dialog(entry, "dialogs")
        reference = listed[dialog.conversation.conversation_id]
        source.answer = reference if by_reference else dialog.reference
        report = evaluator.evaluate(dialog.conversation, closed=True, revision=1)
        yield report, labels[entry["dialog_id"]]


def counted(pairs: Iterator[tuple[Report, dict[str, Any]]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for report, label in pairs:
        clean = label["first_failure_turn"] is None
        found["clean"] += clean
        found["left alone"] += clean and report.first_failure_turn is None
        found["located"] += not clean
        found["reason right"] += not clean and report.root_cause == label["root_cause"]
        verdicts = {verdict.turn_no: verdict for verdict in report.turns}
        for turn in label["turn_labels"]:
            verdict = verdicts.get(turn["turn_no"])
            failed = verdict is not None and verdict.verdict == "fail"
            found[f"{turn['verdict']} called {'fail' if failed else 'other'}"] += 1
            if turn.get("role") in ("root", "cascade") and verdict is not None and failed:
                found[f"{turn['role']} called {'cascade' if verdict.is_inherited else 'root'}"] += 1
    return found


@pytest.mark.parametrize("by_reference", [False, True])
def test_constructed_faults_are_found_named_and_attributed(shared_data: Path, by_reference: bool):
    folder = shared_data / "trajectories" / "bfcl_mt_corrupt"

    found = counted(reports(folder, by_reference=by_reference))

    # Without an encoder some free texts stay open; with one the recall is above 0.99.
    assert found["left alone"] == found["clean"] == 216
    assert found["reason right"] >= 0.9 * found["located"]
    assert found["pass called fail"] <= 0.01 * found["pass called other"]
    assert found["fail called fail"] >= 0.9 * (
        found["fail called fail"] + found["fail called other"]
    )
    assert found["root called cascade"] <= 0.01 * found["cascade called cascade"]
    assert found["cascade called cascade"] >= 0.95 * (
        found["cascade called cascade"] + found["cascade called root"]
    )


@pytest.mark.parametrize("name", ["tau1_airline_gpt4o", "agentrx_tau_retail_gpt4o"])
def test_wrong_omitted_and_uninvited_writes_are_found(shared_data: Path, name: str):
    found = counted(reports(shared_data / "trajectories" / name, by_reference=True))

    # The labels name the call that was not made; where a reply had refused it, that is the root.
    # They also fail two writes that replace a thing by itself, which the environment accepted.
    assert found["left alone"] == found["clean"]
    assert found["reason right"] >= 0.4 * found["located"]
    assert found["fail called fail"] >= 0.85 * (
        found["fail called fail"] + found["fail called other"]
    )
    assert found["pass called fail"] <= 1


def test_roots_are_where_people_found_them_or_with_the_user(shared_data: Path):
    folder = shared_data / "trajectories" / "agentrx_tau_retail_gpt4o"
    found: Counter[str] = Counter()
    for report, label in reports(folder, by_reference=True):
        human = label.get("human")
        if human is None:
            continue
        named, roots = report.first_failure_turn, human["root_cause_turn_nos"]
        if roots:
            found["agent"] += 1
            found["exact"] += named in roots
            found["near"] += named is not None and min(abs(named - root) for root in roots) <= 1
        elif human["failed_agent"] == "User":
            found["user"] += 1
            found["no turn"] += named is None

    assert (found["agent"], found["user"]) == (12, 3)
    assert (found["exact"] >= 6, found["near"] >= 8, found["no turn"] >= 2) == (True, True, True)


def test_reports_are_the_same_bytes_each_time(shared_data: Path):
    folder = shared_data / "trajectories" / "tau1_airline_gpt4o"

    def encoded() -> list[bytes]:
        return [msgspec.json.encode(report) for report, _ in reports(folder, by_reference=True)]

    assert encoded() == encoded()
