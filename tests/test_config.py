"""Settings: one file, overlaid by the environment, unknown keys refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.config import Settings, load
from monitor.errors import ConfigurationError


def written(folder: Path, text: str) -> Path:
    path = folder / "settings.toml"
    path.write_text(text)
    return path


def test_no_file_and_no_environment_give_the_defaults():
    assert load(None, {}) == Settings()


def test_the_environment_overrides_the_file(tmp_path):
    path = written(tmp_path, '[otlp]\nlisten = "127.0.0.1:1"\n[conversation]\nidle_s = 5\n')
    settings = load(path, {"AGENT_MONITOR_OTLP__LISTEN": "127.0.0.1:2"})
    assert (settings.otlp.listen, settings.conversation.idle_s) == ("127.0.0.1:2", 5.0)


def test_a_token_of_digits_in_the_environment_stays_text():
    token = load(None, {"AGENT_MONITOR_OTLP__TOKEN": "1e5"}).otlp.token
    assert token is not None
    assert token.get_secret_value() == "1e5"


def test_secrets_are_not_shown_with_the_settings():
    settings = load(
        None,
        {
            "AGENT_MONITOR_OTLP__TOKEN": "canary-1",
            "AGENT_MONITOR_FORWARD__HEADERS": '{Authorization = "canary-2"}',
        },
    )
    shown = f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump_json()}"
    assert "canary-" not in shown
    assert settings.forward.headers["Authorization"].get_secret_value() == "canary-2"


def test_lists_and_numbers_in_the_environment_are_toml():
    settings = load(
        None,
        {
            "AGENT_MONITOR_TOOLS__WRITES": '["refund", "book"]',
            "AGENT_MONITOR_LIMITS__RELEASES": "3",
        },
    )
    assert (settings.tools.writes, settings.limits.releases) == (("refund", "book"), 3)


def test_paths_in_a_file_are_relative_to_the_file(tmp_path):
    path = written(
        tmp_path,
        '[references]\nby_id = ["refs.jsonl"]\n[sinks]\njsonl = "out.jsonl"\n'
        '[otlp]\ntoken_file = "tokens"\ngrpc_listen = "127.0.0.1:0"\n'
        '[forward]\nurl = "http://127.0.0.1:1"\nca_file = "ca.crt"\n',
    )
    settings = load(path, {})
    assert settings.otlp.token_file == tmp_path / "tokens"
    assert settings.otlp.grpc_listen == "127.0.0.1:0"
    assert settings.forward.url == "http://127.0.0.1:1"
    assert settings.forward.ca_file == tmp_path / "ca.crt"
    assert settings.references.by_id == (tmp_path / "refs.jsonl",)
    assert settings.sinks.jsonl == tmp_path / "out.jsonl"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[otlp]\nlisen = 1\n", "`otlp.lisen` is not a known setting"),
        ("[nonsense]\n", "`nonsense` is not a known setting"),
        ("[limits]\nreleases = 0\n", "`limits.releases` input should be greater"),
        ('[otlp]\nlisten = "4318"\n', "`otlp.listen` string should match"),
        ("[otlp\n", "is not valid TOML"),
    ],
)
def test_a_faulty_file_is_refused_by_name_and_key(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(ConfigurationError) as refused:
        load(path, {})
    assert str(refused.value).startswith(f"{path}: ")
    assert message in str(refused.value)


def test_a_misspelt_variable_is_refused():
    with pytest.raises(ConfigurationError, match="no section `otpl`"):
        load(None, {"AGENT_MONITOR_OTPL__LISTEN": "127.0.0.1:1"})
    with pytest.raises(ConfigurationError, match=r"`otlp\.lisen` is not a known setting"):
        load(None, {"AGENT_MONITOR_OTLP__LISEN": "127.0.0.1:1"})


def test_an_error_never_repeats_the_value_which_may_be_a_secret():
    with pytest.raises(ConfigurationError) as refused:
        load(None, {"AGENT_MONITOR_OTLP__LISTEN": "hunter2 secret"})
    assert "hunter2" not in str(refused.value)


def test_a_missing_file_is_named():
    with pytest.raises(ConfigurationError, match=r"no\.toml: cannot be read"):
        load(Path("no.toml"), {})
