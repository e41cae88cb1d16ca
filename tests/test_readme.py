"""The README's examples run as they stand there.

The word behind a fence says what becomes of a block: `console` is run and its output compared,
`python` is run, `toml` must satisfy `agent-monitor check`, and any block with `file=NAME` is
written for the later ones. `sh`, `promql` and plain blocks are for reading.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from monitor.exposition import catalogue

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```(\w*)(?: file=([\w.-]+))?\n(.*?)^```$", re.M | re.S)
READ_ONLY = {"", "sh", "promql"}
RUN = {"console", "python", "toml"}
LIMIT_S = 60


class Block(NamedTuple):
    """One fenced block."""

    language: str
    file: str | None
    text: str


README = [Block(*found.groups()) for found in FENCE.finditer((ROOT / "README.md").read_text())]


def steps(console: str) -> list[tuple[str, str]]:
    """Commands with the output shown below each; a command may go on after a backslash."""
    found: list[tuple[str, str]] = []
    for command, output in re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", console, re.M):
        found.append((command, output))
    return found


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "80"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with the files that the README shows."""
    place = tmp_path_factory.mktemp("readme")
    for block in README:
        if block.file:
            (place / block.file).write_text(block.text)
    return place


def test_every_fence_is_of_a_kind_that_is_run_written_or_only_read():
    unknown = {block.language for block in README if not block.file} - READ_ONLY - RUN
    assert unknown == set()


def faults(block: Block, folder: Path) -> list[str]:
    """What does not hold of a block that is to be run."""
    if block.language == "console":
        shown = steps(block.text)
        told = [(shell(command, folder), command, output) for command, output in shown]
        return [
            f"{command}: exit code {done.returncode}, printed {done.stdout!r}"
            for done, command, output in told
            if (done.stdout, done.returncode) != (output, 0)
        ] or ([] if shown else ["no line begins with a dollar sign"])
    name, command = {
        "python": ("example.py", "python -W error example.py"),
        "toml": ("settings.toml", "agent-monitor check settings.toml"),
    }[block.language]
    (folder / name).write_text(block.text)
    done = shell(command, folder)
    return [f"{block.text}{done.stdout}"] if done.returncode else []


def test_the_examples_hold_one_after_the_other(folder):
    found = [faults(block, folder) for block in README if block.language in RUN and not block.file]
    assert found
    assert [fault for each in found for fault in each] == []


@pytest.mark.parametrize("command", ["run", "demo", "score", "replay", "check", "bench"])
def test_each_command_of_the_table_exists(command, folder):
    assert f"| `agent-monitor {command}` |" in (ROOT / "README.md").read_text()
    done = shell(f"agent-monitor {command} --help", folder)
    assert done.returncode == 0, done.stdout


def test_each_verb_that_the_readme_names_is_one_of_makes():
    named = set(re.findall(r"\bmake ([a-z]+)", "\n".join(b.text for b in README)))
    verbs = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
    assert named <= verbs


def test_each_query_of_the_readme_is_valid(folder, require_tool):
    rules = [
        {"record": f"readme:query:number{number}", "expr": block.text}
        for number, block in enumerate(b for b in README if b.language == "promql")
    ]
    (folder / "rules.json").write_text(json.dumps({"groups": [{"name": "readme", "rules": rules}]}))
    done = shell(f"{require_tool('promtool')} check rules rules.json", folder)
    assert rules
    assert done.returncode == 0, done.stdout


def test_each_metric_of_the_readme_is_in_the_catalogue_with_its_labels():
    known = {
        metric.name + ("_total" if metric.kind == "counter" else ""): metric.labels
        for metric in vars(catalogue).values()
        if isinstance(metric, catalogue.Metric)
    }
    text = (ROOT / "README.md").read_text()
    rows = re.findall(r"^\| `(agent_monitor_\w+)` \| ([^|]*) \|", text, re.M)
    told = {name: tuple(re.findall(r"`(\w+)`", labels)) for name, labels in rows}
    assert told
    assert told.items() <= known.items()


def test_each_file_that_the_readme_names_is_there():
    text = (ROOT / "README.md").read_text()
    named = set(re.findall(r"`((?:deploy|monitor|adapters)/[\w./-]*\w)`", text))
    assert {name for name in named if not (ROOT / name).exists()} == set()
