"""Real SDKs, each in an environment of its own, driven by a scripted model into the service.

What the monitor understood is held against a golden dialog of the script: every call, argument
and reply must be there, in order, and nothing else.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from running import Running

FOLDER = Path(__file__).parent / "sdk"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
ENVIRONMENTS = CACHE / "agent-turn-monitor" / "sdk"
DRIVEN = sorted(path.stem.removeprefix("drive_") for path in FOLDER.glob("drive_*.py"))
DRIVE_S = 120


def scripted() -> ModuleType:
    """The scripted model, which lives beside the drivers."""
    spec = importlib.util.spec_from_file_location("scripted_model", FOLDER / "scripted_model.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


SCRIPT = scripted()


def golden() -> dict[str, Any]:
    """The script as a dialog of expected turns."""
    turns: list[dict[str, Any]] = []
    for query in SCRIPT.QUERIES:
        expected = [
            {"turn": "Tool", "gold_turn": {"action": name, "args": arguments}}
            for name, arguments in SCRIPT.CALLS[query]
        ]
        expected.append({"turn": "Agent", "gold_turn": {"response": SCRIPT.REPLIES[query]}})
        expected[0]["user"] = query
        turns += expected
    numbered = [{"turn_no": number, **turn} for number, turn in enumerate(turns, 1)]
    return {"dialog_id": "script", "turns": numbered}


@pytest.fixture
def python_of(request) -> Path:
    """The SDK's interpreter; in continuous integration it must be there."""
    python = ENVIRONMENTS / request.param / "bin" / "python"
    if not (python.parent.parent / ".complete").exists():
        message = f"{request.param} is not installed; run .ci/sdk-environments"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return python


def drive(python: Path, name: str, otlp: str, model: str) -> None:
    """Run one driver to its end."""
    done = subprocess.run(
        [python, FOLDER / f"drive_{name}.py"],
        env={
            "PATH": os.environ["PATH"],
            "HOME": os.environ.get("HOME", "/tmp"),
            "PYTHONPATH": str(FOLDER),
            "OPENAI_BASE_URL": model,
            "OPENAI_API_KEY": "none",
            "OTEL_EXPORTER_OTLP_ENDPOINT": otlp,
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            "OTEL_SERVICE_NAME": "weather",
            "NO_PROXY": "127.0.0.1",
        },
        capture_output=True,
        text=True,
        timeout=DRIVE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize(
    ("python_of", "name"), [(name, name) for name in DRIVEN], indirect=["python_of"], ids=DRIVEN
)
def test_what_an_sdk_exports_is_understood_as_the_script_says(tmp_path, python_of, name):
    dialogs, reports = tmp_path / "golden.jsonl", tmp_path / "reports.jsonl"
    dialogs.write_text(json.dumps(golden()) + "\n")
    options = ["--golden", str(dialogs), "--reports", str(reports), "--flush-on-exit"]
    with Running(tmp_path, *options) as service, SCRIPT.ScriptedModel() as model:
        drive(python_of, name, service.otlp, model.url)
        assert model.requests
        assert service.stop() == 0
    found = [json.loads(line) for line in reports.read_text().splitlines()]
    told = [
        [(turn["turn_type"], turn["verdict"], turn["basis"]) for turn in report["turns"]]
        for report in found
    ]
    action, response = ("action", "pass", "gold"), ("response", "pass", "gold")
    assert told == [[action, action, response, action, response, response]]
    assert found[0]["reference_match"] == "query"
    assert found[0]["model"] in (SCRIPT.MODEL, SCRIPT.ANSWERING_MODEL)
