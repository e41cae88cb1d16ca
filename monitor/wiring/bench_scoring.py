"""`agent-monitor bench scoring`: the product's evaluator, and others beside it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from monitor import chosen
from monitor.agreement.labelled import Label
from monitor.config import Settings
from monitor.errors import ConfigurationError
from monitor.references.dialogs import Dialog, parse_dialog
from monitor.roles.bench.dialogs import shop_dialogs
from monitor.roles.bench.peers import (
    agreement,
    failed_turns,
    measured_peers,
    peer_failed,
    turn_lines,
)
from monitor.roles.bench.scoring import Evaluate, measure
from monitor.roles.files import lines
from monitor.roles.labelled_sets import LabelledSet, found_sets, labels_of

SHOP_DIALOGS, QUICK_DIALOGS = 2_000, 60
FORGETFUL = 1


def scoring_figures(
    labelled: Path | None, peers: Path | None, *, quick: bool, tell: Callable[[str], None]
) -> dict[str, Any]:
    """Turns a second over a labelled set's dialogs, or over the demo's shop without one.

    With `peers`, a folder of scripts, the same turns go through other libraries in the same run.
    """
    chosen_set = _set(labelled) if labelled else None
    documents = [*_documents(chosen_set, quick=quick)]
    dialogs = [parse_dialog(document, "bench") for document in documents]
    settings = Settings()
    if chosen_set and chosen_set.tools:
        settings = Settings.model_validate({"tools": {"files": [chosen_set.tools]}})
    rounds = 2 if quick else 5
    figures = measure(
        dialogs, lambda: _evaluate(settings, FORGETFUL), lambda: _evaluate(settings), rounds, tell
    )
    labels = [*labels_of(chosen_set.labels)] if chosen_set else []
    if labels:
        figures["agreement"] = agreement(labels, _own_failed(settings, dialogs))
    if peers:
        figures["peers"] = _beside(peers, documents, labels, figures, 1 if quick else 3, tell)
    return figures


def _set(folder: Path) -> LabelledSet:
    found = [each for each in found_sets([folder]) if each.dialogs]
    if len(found) != 1:
        raise ConfigurationError(f"{folder}: is not one labelled set with dialogs")
    return found[0]


def _documents(chosen_set: LabelledSet | None, *, quick: bool) -> Iterable[dict[str, Any]]:
    if chosen_set is None or chosen_set.dialogs is None:
        return shop_dialogs(QUICK_DIALOGS if quick else SHOP_DIALOGS)
    return [json.loads(line) for _, line in lines(chosen_set.dialogs)]


def _evaluate(settings: Settings, remembered_turns: int | None = None) -> Evaluate:
    if remembered_turns is not None:
        limits = settings.limits.model_copy(update={"remembered_turns": remembered_turns})
        settings = settings.model_copy(update={"limits": limits})
    found = chosen.evaluation(settings)
    if found.encoder is not None:
        # Reading the model's file is a cost of the start, and not of the first turn.
        found.encoder.encode(["ready"])
    return chosen.over_dialogs(found.evaluator)


def _own_failed(settings: Settings, dialogs: list[Dialog]) -> frozenset[tuple[str, int]]:
    evaluate = _evaluate(settings)
    return failed_turns({dialog.reference.reference_id: evaluate(dialog) for dialog in dialogs})


def _beside(
    folder: Path,
    documents: list[dict[str, Any]],
    labels: list[Label],
    own: dict[str, Any],
    rounds: int,
    tell: Callable[[str], None],
) -> dict[str, Any]:
    if not folder.is_dir():
        raise ConfigurationError(f"{folder}: is no folder of peers")
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="agent-monitor-peers-") as place:
        turns = Path(place) / "turns.jsonl"
        turns.write_text("".join(f"{line}\n" for line in turn_lines(documents)), encoding="utf-8")
        for name, told in measured_peers(folder, turns, rounds):
            tell(f"{name}: {told.get('missing') or told['version']}")
            if "missing" not in told:
                entries = told["entries"].items()
                told["entries"] = {key: _entry(each, labels, own) for key, each in entries}
            found[name] = told
    return found


def _entry(told: dict[str, Any], labels: list[Label], own: dict[str, Any]) -> dict[str, Any]:
    """One entry of a peer with the product's own speed over it."""
    rate = told["turns_per_second"]
    return {
        "turns_per_second": rate,
        **{f"{name}_over_it": round(mine / rate, 1) for name, mine in _rates(own)},
        **({"agreement": agreement(labels, peer_failed(told))} if labels else {}),
    }


def _rates(own: dict[str, Any]) -> Iterable[tuple[str, float]]:
    rates: dict[str, float] = own["turns_per_second"]
    return rates.items()
