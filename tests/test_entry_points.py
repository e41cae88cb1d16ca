"""Adapters are found by entry point, and an intruder under our package's name is named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from monitor.entry_points import adapter_names, load_adapter
from monitor.errors import ConfigurationError

LOAD = """
import sys
from monitor.entry_points import load_adapter
from monitor.errors import ConfigurationError
try:
    print("loaded", load_adapter(sys.argv[1]))
except ConfigurationError as error:
    print("refused", error)
"""


def loaded_with(folder: Path, name: str) -> str:
    """What loading an adapter says in an interpreter that looks into `folder` first."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(folder)!r})\n{LOAD}", name],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.strip()


def install(folder: Path, name: str, version: str, files: dict[str, str]) -> None:
    """Lay a distribution into `folder` as an installer would."""
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    laid = {**files, f"{info}/METADATA": metadata}
    laid[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*laid, f"{info}/RECORD"])
    for path, text in laid.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def test_our_adapters_are_known_by_name():
    assert "otlp.traces" in adapter_names()


def test_an_unknown_adapter_is_refused_with_the_known_ones():
    with pytest.raises(ConfigurationError, match=r"'carrier_pigeon' is not known.*otlp"):
        load_adapter("carrier_pigeon")


def test_another_distributions_adapters_package_is_named_with_its_file(tmp_path):
    install(tmp_path, "adapters", "1.2.0", {"adapters/__init__.py": "raise SystemExit(3)\n"})

    said = loaded_with(tmp_path, "otlp.traces")

    assert said == (
        "refused adapter 'otlp.traces': the import package 'adapters' is "
        f"{tmp_path / 'adapters' / '__init__.py'}, which belongs to the distribution 'adapters' "
        "1.2.0 and not to agent-turn-monitor; uninstall it, or install agent-turn-monitor into a "
        "virtual environment of its own"
    )


def test_a_stray_folder_of_our_name_is_named_too(tmp_path):
    (tmp_path / "adapters").mkdir()
    (tmp_path / "adapters" / "__init__.py").write_text("")

    said = loaded_with(tmp_path, "otlp.traces")

    assert said.startswith("refused")
    assert f"{tmp_path / 'adapters' / '__init__.py'}" in said
    assert "belongs to no installed distribution" in said


def test_an_intruder_installed_over_our_own_files_is_named(tmp_path, project):
    (tmp_path / "monitor").mkdir()
    for module in ("__init__", "errors", "entry_points"):
        text = (project / "monitor" / f"{module}.py").read_text()
        (tmp_path / "monitor" / f"{module}.py").write_text(text)
    install(tmp_path, "adapters", "1.2.0", {"adapters/__init__.py": "ADAPTERS = 1\n"})

    said = loaded_with(tmp_path, "otlp.traces")

    assert said.startswith("refused")
    assert "the distribution 'adapters' 1.2.0 and not to agent-turn-monitor" in said


def test_a_third_partys_adapter_of_its_own_package_is_loaded(tmp_path):
    install(
        tmp_path,
        "acme-traces",
        "0.3",
        {
            "acme_traces.py": "class Decoder: ...\n",
            "acme_traces-0.3.dist-info/entry_points.txt": (
                "[monitor.adapters]\nacme = acme_traces:Decoder\n"
            ),
        },
    )

    assert loaded_with(tmp_path, "acme") == "loaded <class 'acme_traces.Decoder'>"


def test_an_adapter_claimed_by_two_distributions_is_refused(tmp_path):
    claim = "[monitor.adapters]\notlp.traces = acme_traces:Decoder\n"
    install(tmp_path, "acme-traces", "0.3", {"acme_traces-0.3.dist-info/entry_points.txt": claim})

    said = loaded_with(tmp_path, "otlp.traces")

    assert said.startswith("refused adapter 'otlp.traces' is claimed more than once")
    assert "distribution 'acme-traces'" in said
    assert "distribution 'agent-turn-monitor'" in said


def test_an_adapter_whose_module_is_missing_says_what_to_do(tmp_path):
    install(
        tmp_path,
        "acme-traces",
        "0.3",
        {
            "acme_traces-0.3.dist-info/entry_points.txt": (
                "[monitor.adapters]\nacme = acme_traces_absent:Decoder\n"
            ),
        },
    )

    said = loaded_with(tmp_path, "acme")

    assert said.startswith("refused adapter 'acme': cannot load 'acme_traces_absent:Decoder'")
    assert "install what it names" in said
