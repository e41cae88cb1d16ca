"""The key of a deployment: where it comes from, and that nothing tells it."""

from __future__ import annotations

import pytest

from monitor.errors import ConfigurationError
from monitor.roles.redaction_key import VARIABLE, replay_key, service_key


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


def test_a_replay_gives_the_same_each_time():
    assert replay_key({}) == replay_key({})
    assert replay_key({VARIABLE: "a key from the environment"}) == b"a key from the environment"
