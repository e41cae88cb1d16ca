"""The command: its words, exit codes and errors without tracebacks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from monitor.cli import main
from monitor.roles.demo.traffic import AFTER, TOOLS, traffic

SALES = [
    ("FilterData", {"metric": "revenue"}, {"metric": "profit"}),
    ("Aggregate", {"metric": "revenue"}, {"metric": "profit"}),
]


def dialog(dialog_id: str) -> str:
    turns = [
        {
            "turn_no": number,
            "turn": "Tool",
            "gold_turn": {"tool_id": "reports", "action": action, "args": gold},
            "predict_turn": {"tool_id": "reports", "action": action, "args": actual},
        }
        for number, (action, gold, actual) in enumerate(SALES, 1)
    ]
    return json.dumps({"dialog_id": dialog_id, "turns": turns})


def test_score_writes_one_report_line_per_dialog_that_fits_the_published_schema(tmp_path, project):
    dialogs, out = tmp_path / "dialogs.jsonl", tmp_path / "reports.jsonl"
    dialogs.write_text(dialog("a") + "\n" + dialog("b") + "\n")
    assert main(["score", str(dialogs), "--out", str(out)]) == 0
    reports = [json.loads(line) for line in out.read_text().splitlines()]
    schema = json.loads((project / "monitor" / "report.schema.json").read_text())
    for report in reports:
        jsonschema.validate(report, schema)
    assert [report["dialog_id"] for report in reports] == ["a", "b"]
    assert [turn["failure_reason"] for turn in reports[0]["turns"]] == [
        "inconsistent_parameter_values",
        "prior_action_failed",
    ]


def test_a_bad_line_costs_itself_only_and_makes_the_exit_code_1(tmp_path, capsys):
    dialogs, out = tmp_path / "dialogs.jsonl", tmp_path / "reports.jsonl"
    dialogs.write_text(dialog("a") + "\n{broken\n" + dialog("c") + "\n")
    assert main(["score", str(dialogs), "--out", str(out)]) == 1
    assert len(out.read_text().splitlines()) == 2
    printed = capsys.readouterr()
    assert "dialogs.jsonl, line 2" in printed.err
    assert "refused: 1 lines" in printed.out


def test_an_error_tells_its_place_once(tmp_path, capsys):
    dialogs = tmp_path / "case.jsonl"
    dialogs.write_text('{"dialog_id": "a", "turns": 5}\n{broken\n')
    assert main(["score", str(dialogs), "--out", str(tmp_path / "out.jsonl")]) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first == (
        f"agent-monitor: {dialogs}, line 1: dialog a: turns: must be a list, is a number"
    )
    assert second.startswith(f"agent-monitor: {dialogs}, line 2: not valid JSON")


def test_a_document_over_many_lines_is_refused_once_with_a_hint(tmp_path, capsys):
    dialogs = tmp_path / "pretty.jsonl"
    dialogs.write_text(json.dumps([json.loads(dialog("a"))], indent=2))
    assert main(["score", str(dialogs), "--out", str(tmp_path / "out.jsonl")]) == 1
    (told,) = capsys.readouterr().err.splitlines()
    assert "write one dialog per line" in told


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path):
    dialogs, out = tmp_path / "dialogs.jsonl", tmp_path / "out.jsonl"
    dialogs.write_text(dialog("a"), encoding="utf-8-sig")
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps({"tools": TOOLS}), encoding="utf-8-sig")
    assert main(["score", str(dialogs), "--tools", str(tools), "--out", str(out)]) == 0
    assert json.loads(out.read_text())["dialog_id"] == "a"


def replay_files(folder: Path) -> tuple[Path, list[str]]:
    played = list(traffic(AFTER, 6, seed=5))
    traces = folder / "traces.jsonl"
    traces.write_text("".join(json.dumps(item.request) + "\n" for item in played))
    references = folder / "references.jsonl"
    references.write_text(
        "".join(json.dumps(item.reference) + "\n" for item in played if item.reference)
    )
    tools = folder / "tools.json"
    tools.write_text(json.dumps({"tools": TOOLS}))
    return traces, ["--references", str(references), "--tools", str(tools)]


def test_replay_writes_reports_in_order_of_id_and_a_metrics_page(tmp_path):
    traces, options = replay_files(tmp_path)
    out, metrics = tmp_path / "reports.jsonl", tmp_path / "metrics.txt"
    arguments = ["replay", str(traces), *options, "--out", str(out), "--metrics", str(metrics)]
    assert main(arguments) == 0
    ids = [json.loads(line)["conversation_id"] for line in out.read_text().splitlines()]
    assert ids == sorted(ids)
    assert len(ids) == 6
    page = metrics.read_text()
    counted = [line for line in page.splitlines() if line.startswith("agent_monitor_conversations")]
    assert sum(float(line.rpartition(" ")[2]) for line in counted) == 6.0


def test_replaying_twice_gives_the_same_bytes(tmp_path):
    traces, options = replay_files(tmp_path)
    outs = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for out in outs:
        assert main(["replay", str(traces), *options, "--out", str(out)]) == 0
    assert outs[0].read_bytes() == outs[1].read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "no.jsonl", "--out", "o.jsonl"], "no.jsonl: cannot be opened"),
        (["check", "no.toml"], "no.toml: cannot be read"),
        (["run", "--otlp", "0.0.0.0:0", "--metrics", "127.0.0.1:0"], "0.0.0.0"),
        (["run", "--otlp", "127.0.0.1:0", "--metrics", "0.0.0.0:0"], "not a loopback address"),
        (["replay", "no.jsonl", "--tools", "no.json", "--out", "o"], "no.json: cannot be opened"),
    ],
)
def test_what_an_operator_got_wrong_is_exit_code_2_and_one_line(tmp_path, arguments, message):
    done = subprocess.run(
        [sys.executable, "-m", "monitor.cli", *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_check_names_every_part_and_refuses_a_broken_reference_file(tmp_path, capsys):
    config = tmp_path / "settings.toml"
    config.write_text('[references]\nby_id = ["refs.jsonl"]\n')
    (tmp_path / "refs.jsonl").write_text('{"expected_actions": []}\n')
    assert main(["check", str(config)]) == 2
    assert "refs.jsonl, line 1: no conversation_id" in capsys.readouterr().err
    (tmp_path / "refs.jsonl").write_text('{"conversation_id": "a", "expected_actions": []}\n')
    assert main(["check", str(config)]) == 0
    assert "references  1 files by id" in capsys.readouterr().out


def test_bench_tells_both_ratios_as_json(tmp_path, capsys):
    assert main(["bench", "--quick", "--json", "--folder", str(tmp_path)]) == 0
    figures = json.loads(capsys.readouterr().out)
    ratios = {"normalise_over_walk", "whole_path_over_walk", "redacted_path_over_walk"}
    assert set(figures["ratios"]) == ratios
    assert figures["spans"] == 400


def test_replaying_a_file_of_another_kind_says_so(tmp_path, capsys):
    dialogs = tmp_path / "dialogs.jsonl"
    dialogs.write_text(dialog("a") + "\n")
    assert main(["replay", str(dialogs), "--out", str(tmp_path / "out.jsonl")]) == 1
    assert "no conversation was found" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[otlp]\nlisten = "0.0.0.0:4318"\n', "0.0.0.0 is reachable from other machines"),
        ('[metrics]\nlisten = "0.0.0.0:9464"\n', "not a loopback address"),
        ('[sinks]\njsonl = "/nonexist/reports.jsonl"\n', "there is no folder /nonexist"),
        ('[ledger]\npath = "/nonexist/ledger.sqlite3"\n', "there is no folder /nonexist"),
        ('[ledger]\npath = "."\n', "is a folder"),
        ("[conversation]\nidle_s = inf\n", "`conversation.idle_s`"),
        ('[otlp]\ntoken = " "\n', "`token`: a token is"),
        ('[otlp]\ntoken = ""\n', "`token`: a token is"),
        ('[forward]\nurl = "https://x.example.com"\nheaders = {a = "b\\n"}\n', "cannot be sent"),
        ('[forward]\nurl = "https://x.example.com"\nca_file = "no.pem"\n', "`forward.ca_file`"),
        ('[redaction]\nkey_file = "/nonexist/a.key"\n', "cannot be created"),
    ],
)
def test_check_refuses_what_run_would_refuse(tmp_path, capsys, text, message):
    config = tmp_path / "settings.toml"
    config.write_text(text)
    assert main(["check", str(config)]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[redaction.patterns]\nORDER = "(a+)+$"\n', "ORDER"),
        ('[langfuse]\npoll = true\nurl = "ftp://langfuse.example.com"\n', "Langfuse address"),
        ('[langfuse]\nblob_bucket = "exports"\n', "blob_project"),
    ],
)
def test_check_builds_what_run_would_build(tmp_path, capsys, monkeypatch, text, message):
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk-lf-test")
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", "sk-lf-test")
    config = tmp_path / "settings.toml"
    config.write_text(text)
    assert main(["check", str(config)]) == 2
    assert message in capsys.readouterr().err


def test_check_refuses_a_redaction_key_that_is_too_short(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("AGENT_MONITOR_REDACTION_KEY", "7 bytes")
    config = tmp_path / "settings.toml"
    config.write_text("")
    assert main(["check", str(config)]) == 2
    assert "AGENT_MONITOR_REDACTION_KEY: the redaction key has 7 bytes" in capsys.readouterr().err


def test_replay_reads_log_events_beside_their_spans(tmp_path, shared_data):
    folder = shared_data / "traces" / "otel_genai_logs"
    names = ("captured_otel_openai_v2_2.1b0", "captured_otel_openai_v2_2.1b0.logs1")
    files = [str(folder / f"{name}.otlp.json") for name in names]
    out = tmp_path / "reports.jsonl"
    assert main(["replay", *files, "--out", str(out)]) == 0
    (report,) = [json.loads(line) for line in out.read_text().splitlines()]
    assert [turn["turn_type"] for turn in report["turns"]] == [
        *("action", "action", "response"),
        *("action", "response"),
        "response",
    ]
