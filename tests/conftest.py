"""Fixtures shared by every test file."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from kafka_broker import Broker

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
IN_CI = os.environ.get("CI") == "true"

# A busy machine is no reason to fail, and in CI a change must fail for what it changed only.
settings.register_profile(
    "house", deadline=None, derandomize=IN_CI, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("house")


@pytest.fixture(scope="session", autouse=True)
def own_state_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What commands keep for their user, they keep here and not in the tester's home."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real traces and labelled trajectories, beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip("shared/data not present")
    return SHARED


@pytest.fixture(scope="session")
def project() -> Path:
    """The checkout's top folder."""
    return ROOT


@pytest.fixture(scope="session")
def require_tool() -> Callable[[str], str]:
    """Finds a program that no Python package brings, such as `require_tool("promtool")`.

    Where it is missing the test is skipped with the reason; in continuous integration, which
    installs what the tests need, it fails instead, so that a lost service cannot pass for green.
    """

    def require(tool: str) -> str:
        path = shutil.which(tool)
        if path is None:
            message = f"{tool} is not installed"
            if IN_CI:
                pytest.fail(f"{message}; .ci/run must install it")
            pytest.skip(message)
        return path

    return require


@pytest.fixture(scope="session")
def broker(
    project: Path, require_tool: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Broker]:
    """A real Kafka broker on loopback, for the whole session."""
    for tool in ("java", "mvn"):
        require_tool(tool)
    done = subprocess.run(
        [project / ".ci" / "build-broker"], capture_output=True, text=True, timeout=600
    )
    if done.returncode:
        message = f"the broker could not be brought: {done.stderr[-2_000:]}"
        if IN_CI:
            pytest.fail(message)
        pytest.skip(message)
    found = Broker(Path(done.stdout.strip()), tmp_path_factory.mktemp("broker"))
    found.start()
    yield found
    found.stop()
