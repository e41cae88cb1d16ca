"""What the wheel holds, and that the container's lock still fits the project."""

from __future__ import annotations

import configparser
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PIN = re.compile(r"^([\w.-]+)==(\S+) \\$")


@pytest.fixture(scope="module")
def declared(project) -> dict[str, Any]:
    """The project table of pyproject.toml."""
    return tomllib.loads((project / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def wheel(project, tmp_path_factory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, project],
        capture_output=True,
        timeout=120,
        check=True,
    )
    (path,) = folder.iterdir()
    return zipfile.ZipFile(path)


def read(wheel: zipfile.ZipFile, ending: str) -> str:
    (name,) = [name for name in wheel.namelist() if name.endswith(ending)]
    return wheel.read(name).decode()


def test_the_wheel_holds_both_packages_whole_and_nothing_else(wheel, project):
    carried = {name for name in wheel.namelist() if ".dist-info/" not in name}
    ours = {
        str(path.relative_to(project))
        for package in ("monitor", "adapters")
        for path in (project / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert carried == ours


def test_the_wheel_names_the_command_and_the_adapters(wheel, declared):
    entries = configparser.ConfigParser()
    entries.optionxform = str  # type: ignore[assignment,method-assign]
    entries.read_string(read(wheel, "entry_points.txt"))
    assert dict(entries["console_scripts"]) == {"agent-monitor": "monitor.cli:main"}
    assert dict(entries["monitor.adapters"]) == declared["entry-points"]["monitor.adapters"]


def test_every_entry_point_leads_to_a_module_of_the_wheel(wheel, declared):
    values = [*declared["entry-points"]["monitor.adapters"].values(), *declared["scripts"].values()]
    modules = {value.partition(":")[0].replace(".", "/") + ".py" for value in values}
    assert modules <= set(wheel.namelist())


def test_the_wheel_carries_the_licence_whole(wheel, project):
    licence = read(wheel, "licenses/LICENSE")
    assert licence == (project / "LICENSE").read_text()
    assert "Apache License" in licence
    assert "END OF TERMS AND CONDITIONS" in licence


def test_the_installed_version_is_the_declared_one(declared):
    assert version("agent-turn-monitor") == declared["version"]


def pins(path: Path) -> dict[str, str]:
    """Name to version, as the lock file has it."""
    found = [PIN.match(line) for line in path.read_text().splitlines()]
    return {str(canonicalize_name(pin[1])): pin[2] for pin in found if pin}


def test_the_lock_pins_every_dependency_within_its_declared_range(project, declared):
    locked = pins(project / "deploy" / "requirements.txt")
    for text in declared["dependencies"]:
        wanted = Requirement(text)
        assert wanted.specifier.contains(locked[canonicalize_name(wanted.name)]), text


def test_the_build_lock_pins_the_build_backend_within_its_range(project):
    table = tomllib.loads((project / "pyproject.toml").read_text())["build-system"]
    locked = pins(project / "deploy" / "requirements-build.txt")
    for text in table["requires"]:
        wanted = Requirement(text)
        assert wanted.specifier.contains(locked[canonicalize_name(wanted.name)]), text


@pytest.mark.parametrize("lock", ["requirements.txt", "requirements-build.txt"])
def test_a_lock_holds_pins_with_hashes_and_names_no_place(project, lock):
    lines = (project / "deploy" / lock).read_text().splitlines()
    for line in lines:
        assert PIN.match(line) or re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}( \\)?", line), line
    for above, below in pairwise(lines):
        assert above.endswith("\\") == below.startswith("    "), below
