"""The commands that read recorded payloads: `replay --format` and `inspect`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from framework_documents import (
    ADK_SESSION,
    AGENT_TRACE,
    AGENTCORE,
    BEDROCK,
    GENERIC,
    LANGCHAIN,
    LANGGRAPH,
    SPANS,
    STRANDS,
)

from monitor.cli import main
from monitor.commands.options import DONE, REFUSED, USAGE

DOCUMENTS = {
    "langgraph": LANGGRAPH,
    "langchain": LANGCHAIN,
    "strands": STRANDS,
    "agentcore": AGENTCORE,
    "bedrock": BEDROCK,
    "agent_trace": AGENT_TRACE,
    "adk_session": ADK_SESSION,
    "generic": GENERIC,
    "spans": SPANS,
}


def write(path: Path, *documents: Any, indent: int | None = None) -> Path:
    lines = [json.dumps(document, indent=indent) for document in documents]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def reports(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_payload_is_replayed_by_the_name_of_its_format(name: str, tmp_path: Path) -> None:
    file = write(tmp_path / "runs.json", DOCUMENTS[name], indent=2)
    out = tmp_path / "reports.jsonl"
    assert main(["replay", str(file), "--format", name, "--out", str(out)]) == DONE
    [report] = reports(out)
    assert report["conversation_id"] == "s-1"
    assert [turn["turn_type"] for turn in report["turns"]] == ["action", "response"]
    assert report["chain_length"] == "1"


def test_a_call_is_held_against_a_contract_whatever_the_format(tmp_path: Path) -> None:
    file = write(tmp_path / "runs.json", STRANDS)
    tools = write(
        tmp_path / "tools.json",
        [
            {
                "name": "find_order",
                "parameters": {
                    "type": "object",
                    "properties": {"order_id": {"type": "integer"}},
                    "required": ["order_id"],
                },
            }
        ],
    )
    out = tmp_path / "reports.jsonl"
    command = ["replay", str(file), "--format", "strands", "--out", str(out)]
    assert main([*command, "--tools", str(tools)]) == DONE
    [report] = reports(out)
    assert report["turns"][0]["failure_reason"] == "inconsistent_parameter_values"


def test_a_record_that_is_refused_is_named_and_costs_itself_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "runs.jsonl", STRANDS, {"unrelated": 1})
    out = tmp_path / "reports.jsonl"
    assert main(["replay", str(file), "--format", "strands", "--out", str(out)]) == REFUSED
    assert len(reports(out)) == 1
    error = capsys.readouterr().err
    assert "runs.jsonl, line 2: unreadable_document: " in error


def test_a_mapping_is_read_from_a_file(tmp_path: Path) -> None:
    document = {"chat": "c-7", "log": [{"by": "user", "text": "Hi"}, {"by": "bot", "text": "Yes?"}]}
    file = write(tmp_path / "own.json", document)
    mapping = tmp_path / "mapping.toml"
    mapping.write_text(
        'session_id = "chat"\n[messages]\npath = "log[*]"\n'
        'role_field = "by"\ncontent_field = "text"\n'
    )
    out = tmp_path / "reports.jsonl"
    command = ["replay", str(file), "--format", "generic", "--mapping", str(mapping)]
    assert main([*command, "--out", str(out)]) == DONE
    [report] = reports(out)
    assert report["conversation_id"] == "c-7"
    assert len(report["turns"]) == 1


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["--format", "no_such"], "no_such"),
        (["--format", "redaction"], "no format of recorded payloads"),
        (["--format", "otlp.http"], "no format of recorded payloads"),
        (["--format", "strands", "--mapping", "{mapping}"], "a mapping belongs to"),
        (["--mapping", "{mapping}"], "a mapping belongs to"),
        (["--format", "generic", "--mapping", "{mapping}"], "mapping.toml"),
        (["--format", "generic", "--mapping", "{file}"], "own.json"),
    ],
)
@pytest.mark.parametrize("command", ["replay", "inspect"])
def test_a_wrong_choice_is_the_operators_to_mend(
    command: str,
    given: list[str],
    named: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = write(tmp_path / "own.json", [1])
    mapping = tmp_path / "mapping.toml"
    mapping.write_text("messages = [")
    places = {"{mapping}": str(mapping), "{file}": str(file)}
    more = ["--out", str(tmp_path / "out.jsonl")] if command == "replay" else []
    chosen = [places.get(word, word) for word in given]
    assert main([command, str(file), *chosen, *more]) == USAGE
    assert named in capsys.readouterr().err


def test_inspect_prints_what_it_understood(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "runs.json", LANGGRAPH)
    assert main(["inspect", str(file), "--format", "langgraph"]) == DONE
    page = capsys.readouterr().out
    assert "conversation s-1\n" in page
    assert 'call find_order {"order_id":"SO-10012"} -> {"state":"sent","day":"Monday"}' in page
    assert page.endswith("1 conversations, 2 turns, 1 unscored, 0 refusals\n")


def test_inspect_speaks_to_machines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "runs.jsonl", LANGGRAPH, {"unrelated": 1})
    assert main(["inspect", str(file), "--format", "langgraph", "--json"]) == REFUSED
    page = json.loads(capsys.readouterr().out)
    assert [found["conversation_id"] for found in page["conversations"]] == ["s-1"]
    assert len(page["refused"]) == 1


def test_inspect_reads_span_records_without_being_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "spans.json", SPANS, indent=1)
    assert main(["inspect", str(file)]) == DONE
    assert "conversation s-1" in capsys.readouterr().out


def test_inspect_says_how_other_files_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "runs.json", STRANDS)
    assert main(["inspect", str(file)]) in (DONE, REFUSED)
    assert "--format NAME" in capsys.readouterr().err


def test_inspect_reads_captures_without_being_told(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = project / "tests" / "data" / "pydantic_ai_fmt5.pb"
    assert main(["inspect", str(file)]) == DONE
    assert "get_weather" in capsys.readouterr().out
