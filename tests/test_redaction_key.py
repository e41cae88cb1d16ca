"""The key of a deployment: where it comes from, and that nothing tells it."""

from __future__ import annotations

import pytest

from monitor.errors import ConfigurationError
from monitor.roles.redaction_key import REPEATABLE, VARIABLE, service_key, shown_key, tried_key


def test_the_environment_goes_before_the_file(tmp_path):
    path = tmp_path / "ledger.key"
    assert service_key({VARIABLE: "a key from the environment"}, path) == (
        b"a key from the environment"
    )
    assert not path.exists()


def test_a_file_is_made_once_and_only_its_owner_reads_it(tmp_path):
    path = tmp_path / "ledger.key"
    first = service_key({}, path)
    assert len(first) == 64
    assert path.stat().st_mode & 0o777 == 0o600
    assert service_key({}, path) == first
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_others_may_read_is_refused_without_telling_the_key(tmp_path):
    path = tmp_path / "ledger.key"
    key = service_key({}, path)
    path.chmod(0o644)
    with pytest.raises(ConfigurationError, match="others may read") as refused:
        service_key({}, path)
    assert key.decode() not in str(refused.value)


def test_a_file_that_cannot_be_made_names_the_variable(tmp_path):
    with pytest.raises(ConfigurationError, match=f"set {VARIABLE}"):
        service_key({}, tmp_path / "missing" / "ledger.key")


def test_one_users_commands_share_the_key_of_the_state_folder(tmp_path):
    environment = {"XDG_STATE_HOME": str(tmp_path)}
    key = service_key(environment)
    assert service_key(environment, None, tmp_path / "ledger.key") == key
    kept = tmp_path / "agent-turn-monitor" / "redaction.key"
    assert (kept.read_bytes(), kept.stat().st_mode & 0o777) == (key, 0o600)
    assert not (tmp_path / "ledger.key").exists()


def test_without_a_state_folder_the_key_lies_beside_the_ledger_or_is_no_secret(tmp_path):
    (tmp_path / "file").write_text("no folder")
    environment = {"XDG_STATE_HOME": str(tmp_path / "file")}
    beside = tmp_path / "ledger.key"
    assert service_key(environment, None, beside) == beside.read_bytes()
    assert service_key(environment) == REPEATABLE


def test_what_is_only_shown_is_the_same_each_time():
    assert shown_key({}) == shown_key({})
    assert shown_key({VARIABLE: "a key from the environment"}) == b"a key from the environment"


@pytest.mark.parametrize("key_of", [service_key, tried_key, shown_key])
def test_a_key_that_is_too_short_is_refused_wherever_it_is_used(key_of):
    with pytest.raises(ConfigurationError, match=f"{VARIABLE}: the redaction key has 7 bytes"):
        key_of({VARIABLE: "7 bytes"})


def test_a_short_key_in_a_file_is_named_with_the_file(tmp_path):
    path = tmp_path / "own.key"
    path.write_text("7 bytes\n")
    path.chmod(0o600)
    for key_of in (service_key, tried_key):
        with pytest.raises(ConfigurationError, match=r"own\.key: the redaction key has 7 bytes"):
            key_of({}, path)


def test_trying_makes_neither_file_nor_folder(tmp_path):
    environment = {"XDG_STATE_HOME": str(tmp_path / "state")}
    assert tried_key(environment, None, tmp_path / "ledger.key") == REPEATABLE
    assert tried_key(environment, tmp_path / "own.key") == REPEATABLE
    assert not list(tmp_path.iterdir())
    with pytest.raises(ConfigurationError, match="cannot be created"):
        tried_key(environment, tmp_path / "missing" / "own.key")


def test_trying_reads_the_key_that_the_service_made(tmp_path):
    environment = {"XDG_STATE_HOME": str(tmp_path)}
    assert tried_key(environment) == REPEATABLE
    assert service_key(environment) == tried_key(environment) != REPEATABLE
