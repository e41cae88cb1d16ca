"""`bench scoring` says what it measures, alone and beside other libraries."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from monitor import cli
from monitor.agreement.labelled import parse_label
from monitor.references.dialogs import parse_dialog
from monitor.roles.bench.dialogs import shop_dialogs
from monitor.roles.bench.peers import agreement, turn_lines

PEERS = Path(__file__).parent / "peers"
NAMES = sorted(path.stem for path in PEERS.glob("*.txt"))
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
ENVIRONMENTS = CACHE / "agent-turn-monitor" / "peers"
CALL = {"tool_id": "shop", "action": "find", "args": {"id": 1}}


def test_the_shops_dialogs_are_the_same_each_time_and_some_are_wrong():
    dialogs = [*shop_dialogs(30)]

    turns = [turn for dialog in dialogs for turn in dialog["turns"]]
    wrong = sum(turn["gold_turn"] != turn["predict_turn"] for turn in turns)
    assert dialogs == [*shop_dialogs(30)]
    assert 0 < wrong < len(turns) / 2
    assert all(parse_dialog(dialog, "shop").reference.pairs for dialog in dialogs)


def test_the_figures_of_three_passes_are_told(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["bench", "scoring", "--quick", "--json"]) == 0

    figures = json.loads(capsys.readouterr().out)
    assert set(figures["turns_per_second"]) == {"uncached", "warm", "cached"}
    assert min(figures["turns_per_second"].values()) > 0
    assert figures["conversations"] == 60


def test_a_peer_that_is_missing_is_told_and_the_rest_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "nobody.txt").write_text("nobody==1\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    assert cli.main(["bench", "scoring", "--quick", "--json", "--peers", str(tmp_path)]) == 0

    peers = json.loads(capsys.readouterr().out)["peers"]
    assert "no environment" in peers["nobody"]["missing"]


def test_peers_get_one_line_a_turn_with_what_the_user_said_last():
    turns = [
        {"turn_no": 1, "user": "Find 1.", "gold_turn": CALL, "predict_turn": None},
        {"turn_no": 2, "gold_turn": {"response": "Yes."}, "predict_turn": {"response": "No."}},
    ]

    lines = [json.loads(line) for line in turn_lines([{"dialog_id": "d", "turns": turns}])]

    assert lines == [
        ["d", 1, "Find 1.", {"tool": "shop.find", "args": {"id": 1}}, None],
        ["d", 2, "Find 1.", {"response": "Yes."}, {"response": "No."}],
    ]


def test_agreement_counts_labelled_turns_and_rewritten_arguments():
    def line(name: str, corruption: str, *verdicts: str) -> bytes:
        turns = [{"turn_no": at, "verdict": each} for at, each in enumerate(verdicts, 1)]
        return json.dumps(
            {"dialog_id": name, "corruption": corruption, "turn_labels": turns}
        ).encode()

    labels = [
        parse_label(line("a", "wrong_value", "fail", "fail", "pass"), "a"),
        parse_label(line("b", "ctl_int_as_float", "pass", "pass"), "b"),
        parse_label(line("c", "ctl_default_added", "pass"), "c"),
        parse_label(line("d", "ctl_resp_reordered", "pass"), "d"),
    ]

    found = agreement(labels, frozenset({("a", 1), ("a", 3), ("b", 2)}))

    assert found == {
        "precision": 0.333,
        "recall": 0.5,
        "f1": 0.4,
        "rewritten_arguments_passed": 0.5,
    }


@pytest.mark.parametrize("name", NAMES)
def test_each_peer_judges_the_shops_turns(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    if not (ENVIRONMENTS / name / "bin" / "python").is_file():
        message = f"no environment for {name}; FOLDER=peers .ci/sdk-environments makes it"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    for path in (PEERS / f"{name}.txt", PEERS / f"drive_{name}.py", PEERS / "turns.py"):
        (tmp_path / path.name).write_text(path.read_text())

    assert cli.main(["bench", "scoring", "--quick", "--json", "--peers", str(tmp_path)]) == 0

    told = json.loads(capsys.readouterr().out)["peers"][name]
    assert told["version"] == (PEERS / f"{name}.txt").read_text().split("==")[1].strip()
    assert set(told["entries"]) == {"normal", "bare"}
    assert all(entry["turns_per_second"] > 0 for entry in told["entries"].values())
