"""The project's verbs: what `make` offers, and the script that runs before a change lands."""

from __future__ import annotations

import re
import subprocess


def test_make_help_lists_every_verb(project, require_tool):
    done = subprocess.run(
        [require_tool("make"), "--no-print-directory", "-C", project, "help"],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )

    verbs = re.findall(r"^  make (\w+)", done.stdout, re.M)
    assert verbs == ["help", "setup", "demo", "test", "proof", "check", "fix", "lock"]


def test_an_old_or_missing_python_is_named(project, require_tool, tmp_path):
    done = subprocess.run(
        [
            *(require_tool("make"), "--no-print-directory", "-C", project, "setup"),
            *(f"VENV={tmp_path / 'venv'}", "PYTHON=python-that-is-not-there"),
        ],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert done.returncode == 2
    assert "python-that-is-not-there is missing or older than Python 3.11" in done.stderr
    assert not (tmp_path / "venv").exists()


def test_the_ci_script_parses_and_is_strict(project, require_tool):
    script = project / ".ci" / "run"
    done = subprocess.run(
        [require_tool("bash"), "-n", script],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "set -euo pipefail" in script.read_text()


def test_the_tests_are_the_last_thing_that_ci_runs(project):
    lines = (project / ".ci" / "run").read_text().splitlines()

    assert lines[-1] == "make test"
    assert "make check" in lines
