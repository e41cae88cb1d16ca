"""AEM as an evaluator of the Strands evaluation SDK, in the SDK's own environment."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from monitor.errors import ConfigurationError

ROOT = Path(__file__).resolve().parents[1]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
PYTHON = CACHE / "agent-turn-monitor" / "peers" / "strands_evals" / "bin" / "python"


def test_it_runs_beside_the_sdks_own_evaluators():
    if not PYTHON.is_file():
        message = "no environment for strands_evals; FOLDER=peers .ci/sdk-environments makes it"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    ours = Path(msgspec.__file__).parents[1]

    done = subprocess.run(
        [PYTHON, ROOT / "tests" / "peers" / "run_as_evaluator.py", ROOT, ours],
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["evaluators"] == ["Equals", "correctness"]
    assert told["rows"] == [
        [
            *("wrong", 0.0, False, "correctness"),
            "turn 1: inconsistent_parameter_values (order_id); "
            "turn 2: prior_action_failed (order_id) from turn 1",
        ],
        ["aligned", 1.0, True, "correctness", "every scored turn passes"],
        ["empty", 0.0, False, "not_applicable", "no turn has anything to be held against"],
        [
            *("bare", 0.0, False, "not_applicable"),
            "case bare: no `dialog` in its metadata, and no trajectories of turns",
        ],
    ]


def test_without_the_sdk_the_operator_is_told_what_to_install():
    if "strands_evals" in sys.modules or importlib.util.find_spec("strands_evals"):
        pytest.skip("the SDK is installed here")

    with pytest.raises(ConfigurationError, match="extra `strands`"):
        importlib.import_module("monitor.strands")
