"""`agent-monitor check` on a `[judge]`: what cannot work is said before anything runs."""

from __future__ import annotations

import json

import pytest

from monitor.cli import main

KEY = "sk-not-to-be-told"
GOOD = {"backend": "openai", "model": "grader-1", "url": "https://models.example.com/v1"}


def check(folder, **settings: object) -> int:
    path = folder / "monitor.toml"
    lines = (f"{name} = {_toml(value)}" for name, value in (GOOD | settings).items() if value)
    ledger = folder / "ledger.sqlite3"
    path.write_text("\n".join(["[judge]", *lines, "[ledger]", f"path = {json.dumps(str(ledger))}"]))
    return main(["check", str(path)])


def _toml(value: object) -> str:
    if not isinstance(value, dict):
        return json.dumps(value)
    return "{" + ", ".join(f"{key} = {json.dumps(each)}" for key, each in value.items()) + "}"


def test_a_judge_that_can_be_asked_is_told(tmp_path, capsys):
    assert check(tmp_path) == 0
    assert "judge       grader-1 at https://models.example.com/v1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"model": None}, "judge.model"),
        ({"url": None}, "judge.url"),
        ({"backend": "bedrock", "model": None, "url": None}, "judge.model"),
        ({"url": "ftp://models.example.com/v1"}, "http(s)://host/path"),
        ({"url": f"https://{KEY}@models.example.com/v1"}, "without credentials"),
        ({"url": "http://models.example.com/v1"}, "unencrypted"),
        ({"url": "https://169.254.169.254/v1"}, "never a model's"),
        ({"url": "https://[::ffff:169.254.169.254]/v1"}, "never a model's"),
        ({"body": {"stream": True}}, "must not set stream"),
        ({"body": {"n": 5, "model": "other"}}, "must not set model, n"),
    ],
)
def test_a_judge_that_cannot_be_asked_is_refused(tmp_path, capsys, settings, said):
    assert check(tmp_path, **settings) == 2
    told = capsys.readouterr().err
    assert said in told
    assert KEY not in told
