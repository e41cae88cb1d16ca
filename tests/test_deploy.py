"""The files of `deploy/` parse, agree with each other, and keep their security promises."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from monitor.config import Settings, load

STATE = "/var/lib/agent-turn-monitor"
GRPC_PORT, OTLP_PORT, PAGES_PORT = 4317, 4318, 9464
PINNED = re.compile(r"^[\w./-]+:\d+\.\d+\.\d+[\w.-]*$")


@pytest.fixture(scope="module")
def deploy(project) -> Path:
    return project / "deploy"


def container_steps(path: Path) -> list[tuple[str, str]]:
    """Instructions of a Containerfile with their arguments, continuation lines joined."""
    lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [
        (step[0], step[1]) for line in joined.splitlines() if len(step := line.split(None, 1)) == 2
    ]


@pytest.fixture(scope="module")
def stages(deploy) -> list[list[tuple[str, str]]]:
    """The steps of each stage, each beginning with its FROM."""
    found: list[list[tuple[str, str]]] = []
    for name, arguments in container_steps(deploy / "Containerfile"):
        if name == "FROM":
            found.append([])
        if found:
            found[-1].append((name, arguments))
    return found


def only(stage: list[tuple[str, str]], name: str) -> str:
    (arguments,) = [given for step, given in stage if step == name]
    return arguments


def test_every_container_instruction_is_known(deploy):
    known = {
        *("ARG", "FROM", "ENV", "WORKDIR", "COPY", "RUN", "LABEL", "USER", "VOLUME", "EXPOSE"),
        *("STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT", "CMD"),
    }
    assert {name for name, _ in container_steps(deploy / "Containerfile")} == known


def test_the_containers_base_is_pinned_and_the_same_in_each_stage(deploy, stages):
    (argument,) = [
        given for name, given in container_steps(deploy / "Containerfile") if name == "ARG"
    ]
    base = argument.removeprefix("PYTHON=")
    assert PINNED.match(base)
    assert [only(stage, "FROM") for stage in stages] == ["${PYTHON} AS build", "${PYTHON}"]


def test_the_container_needs_no_shell(stages):
    for stage in stages:
        for name, arguments in stage:
            if name in {"RUN", "ENTRYPOINT", "CMD", "VOLUME"}:
                assert json.loads(arguments), arguments
    assert json.loads(only(stages[-1], "HEALTHCHECK").partition("CMD ")[2])[0] == "python"


def test_everything_that_the_container_installs_is_locked_by_hash(stages):
    installs = [
        json.loads(given) for name, given in stages[0] if name == "RUN" and "install" in given
    ]
    from_outside = [words for words in installs if "-r" in words]
    assert [words[-1] for words in from_outside] == [
        "deploy/requirements-build.txt",
        "deploy/requirements.txt",
    ]
    assert all("--require-hashes" in words for words in from_outside)
    ours = next(words for words in installs if words[-1] == "agent-turn-monitor")
    assert {"--no-index", "--no-deps"} <= set(ours)


def test_the_container_speaks_grpc_and_kafka_and_reads_exports_from_s3(deploy, project):
    locked = dict(
        re.findall(r"^([a-z0-9-]+)==(\S+)", (deploy / "requirements.txt").read_text(), re.M)
    )
    extras = tomllib.loads((project / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for extra in ("aws", "grpc", "kafka"):
        for wanted in map(Requirement, extras[extra]):
            assert wanted.specifier.contains(locked[wanted.name]), wanted
            assert f"--extra {extra}" in (project / "Makefile").read_text()


def test_the_container_copies_only_what_its_ignore_file_lets_through(deploy, stages, project):
    ignore = (deploy / "Containerfile.dockerignore").read_text().splitlines()
    assert ignore[0] == "*"
    allowed = [line.removeprefix("!") for line in ignore if line.startswith("!")]
    for name, arguments in stages[0]:
        if name == "COPY":
            for source in arguments.split()[:-1]:
                assert (project / source).exists()
                assert any(Path(source.rstrip("/")).match(pattern) for pattern in allowed), source


def test_the_container_runs_as_a_numeric_user_who_owns_only_the_state(stages):
    last = stages[-1]
    assert only(last, "USER") == "10001:10001"
    assert json.loads(only(last, "VOLUME")) == [STATE]
    owned = [given for name, given in last if name == "COPY" and "--chown" in given]
    assert owned == [f"--from=build --chown=10001:10001 /state {STATE}"]


def test_the_containers_ports_and_paths_are_those_of_the_settings(stages):
    last, defaults = stages[-1], Settings()
    assert only(last, "EXPOSE").split() == [
        str(port) for port in (GRPC_PORT, OTLP_PORT, PAGES_PORT)
    ]
    assert defaults.otlp.listen == f"127.0.0.1:{OTLP_PORT}"
    assert defaults.metrics.listen == f"127.0.0.1:{PAGES_PORT}"
    assert f"http://{defaults.metrics.listen}/healthz" in only(last, "HEALTHCHECK")
    environment = dict(pair.split("=", 1) for pair in only(last, "ENV").split())
    assert load(None, environment).ledger.path == Path(STATE) / "ledger.sqlite3"
    assert environment["HOME"] == STATE, "a user without a passwd entry has no home of its own"
    assert only(last, "ENTRYPOINT") == '["agent-monitor"]'


def test_the_health_check_is_a_program_that_compiles(stages):
    words = json.loads(only(stages[-1], "HEALTHCHECK").partition("CMD ")[2])
    compile(words[2], "healthcheck", "exec")


@pytest.fixture(scope="module")
def manifest(deploy) -> dict[str, Any]:
    """The sidecar's objects by kind."""
    text = (deploy / "kubernetes" / "sidecar.yaml").read_text()
    return {each["kind"]: each for each in yaml.safe_load_all(text)}


@pytest.fixture(scope="module")
def pod(manifest) -> dict[str, Any]:
    return manifest["Deployment"]["spec"]["template"]


@pytest.fixture(scope="module")
def sidecar(pod) -> dict[str, Any]:
    (container,) = pod["spec"]["initContainers"]
    return container


@pytest.fixture(scope="module")
def sidecar_settings(manifest, tmp_path_factory) -> Settings:
    path = tmp_path_factory.mktemp("sidecar") / "config.toml"
    path.write_text(manifest["ConfigMap"]["data"]["config.toml"])
    return load(path, {})


def test_the_sidecar_is_confined(sidecar, pod):
    assert sidecar["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 10001,
        "runAsGroup": 10001,
        "privileged": False,
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert sidecar["resources"]["limits"] == {"memory": "512Mi"}
    assert pod["spec"]["automountServiceAccountToken"] is False
    assert pod["spec"]["securityContext"]["fsGroup"] == 10001


def test_the_sidecar_outlives_the_agent_and_never_decides_over_it(sidecar, pod):
    assert sidecar["restartPolicy"] == "Always"
    assert "readinessProbe" not in sidecar
    assert "startupProbe" not in sidecar
    assert sidecar["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "metrics"}
    assert pod["spec"]["terminationGracePeriodSeconds"] > 30


def test_every_image_of_the_manifest_is_pinned(pod, sidecar, project):
    version = re.search(r'^version = "(.+)"$', (project / "pyproject.toml").read_text(), re.M)
    assert version is not None
    assert sidecar["image"] == f"agent-turn-monitor:{version[1]}"
    for container in pod["spec"]["initContainers"] + pod["spec"]["containers"]:
        assert PINNED.match(container["image"])


def test_the_sidecars_settings_ports_and_scrape_annotations_agree(pod, sidecar, sidecar_settings):
    ports = {port["name"]: port["containerPort"] for port in sidecar["ports"]}
    assert ports == {"otlp-http": OTLP_PORT, "metrics": PAGES_PORT}
    assert sidecar_settings.otlp.listen == f"127.0.0.1:{OTLP_PORT}"
    assert sidecar_settings.metrics.listen == f"0.0.0.0:{PAGES_PORT}"
    assert sidecar_settings.metrics.insecure
    assert not sidecar_settings.otlp.insecure
    assert pod["metadata"]["annotations"] == {
        "prometheus.io/scrape": "true",
        "prometheus.io/port": str(PAGES_PORT),
        "prometheus.io/path": "/metrics",
    }


def test_the_agent_sends_to_the_sidecar(pod, sidecar_settings):
    (agent,) = pod["spec"]["containers"]
    environment = {each["name"]: each["value"] for each in agent["env"]}
    endpoint = environment["OTEL_EXPORTER_OTLP_ENDPOINT"]
    assert endpoint == f"http://{sidecar_settings.otlp.listen}"
    assert environment["OTEL_EXPORTER_OTLP_PROTOCOL"] == "http/protobuf"


def test_the_sidecar_writes_only_into_its_volumes(pod, sidecar, sidecar_settings, manifest):
    mounts = {mount["name"]: mount for mount in sidecar["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
    assert mounts.keys() == volumes.keys()
    assert str(sidecar_settings.ledger.path.parent) == mounts["ledger"]["mountPath"] == STATE
    assert mounts["config"]["readOnly"] is True
    assert sidecar["args"] == ["run", "--config", mounts["config"]["mountPath"] + "/config.toml"]
    claim = volumes["ledger"]["persistentVolumeClaim"]["claimName"]
    assert claim == manifest["PersistentVolumeClaim"]["metadata"]["name"]
    assert volumes["config"]["configMap"]["name"] == manifest["ConfigMap"]["metadata"]["name"]


def test_one_pod_owns_the_ledger(manifest, pod):
    spec = manifest["Deployment"]["spec"]
    assert spec["replicas"] == 1
    assert spec["strategy"] == {"type": "Recreate"}
    assert spec["selector"]["matchLabels"] == pod["metadata"]["labels"]


def unit_settings(path: Path) -> dict[str, list[str]]:
    """Every directive of a unit file with its values, in order."""
    found: dict[str, list[str]] = {}
    for line in path.read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


def test_the_unit_is_hardened_and_bounded(deploy):
    unit = unit_settings(deploy / "systemd" / "agent-turn-monitor.service")
    promised = {
        "DynamicUser": "yes",
        "NoNewPrivileges": "yes",
        "ProtectSystem": "strict",
        "CapabilityBoundingSet": "",
        "MemoryMax": "512M",
        "Restart": "on-failure",
        "TimeoutStopSec": "30",
        "StateDirectory": STATE.rpartition("/")[2],
    }
    assert {name: unit[name] for name in promised} == {name: [promised[name]] for name in promised}


def test_the_unit_runs_the_example_settings(deploy):
    unit = unit_settings(deploy / "systemd" / "agent-turn-monitor.service")
    program, command, flag, path = unit["ExecStart"][0].split()
    assert program.endswith("/bin/agent-monitor")
    assert (command, flag) == ("run", "--config")
    assert unit["ExecStartPre"] == [f"{program} check {path}"]
    assert path in (deploy / "config.example.toml").read_text()
    assert load(deploy / "config.example.toml", {}).ledger.path.parent == Path(STATE)


def test_systemd_finds_no_fault_with_the_unit(deploy, tmp_path, require_tool):
    analyse = require_tool("systemd-analyze")
    text = (deploy / "systemd" / "agent-turn-monitor.service").read_text()
    present = text.replace("/opt/agent-turn-monitor/bin/agent-monitor", shutil.which("true") or "")
    unit = tmp_path / "agent-turn-monitor.service"
    unit.write_text(present)

    done = subprocess.run([analyse, "verify", unit], capture_output=True, text=True, timeout=60)

    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_example_settings_are_the_defaults_save_the_ledgers_path(deploy):
    example = load(deploy / "config.example.toml", {})
    defaults = Settings().model_dump()
    defaults["ledger"]["path"] = Path(STATE) / "ledger.sqlite3"
    assert example.model_dump() == defaults


def test_each_setting_shown_as_a_comment_is_accepted(deploy, tmp_path):
    text = (deploy / "config.example.toml").read_text()
    path = tmp_path / "config.toml"
    path.write_text(re.sub(r"^# (\w+ = )", r"\1", text, flags=re.M))

    shown = load(path, {})

    assert shown.tools.writes == ("book_flight",)
    assert shown.references.by_id == (tmp_path / "references.jsonl",)
