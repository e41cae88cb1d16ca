"""`deploy/compose.yaml` parses, agrees with what it mounts, and keeps its security promises.

No container engine runs it here: these checks are of its text.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.config import load

PINNED = re.compile(r"^[\w./-]+:v?\d+\.\d+\.\d+$")
KNOWN_KEYS = {
    *("image", "build", "user", "command", "environment", "depends_on", "ports", "volumes"),
    *("restart", "read_only", "cap_drop", "security_opt", "tmpfs", "pids_limit", "mem_limit"),
    "stop_grace_period",
}
DATA = {
    "monitor": "/var/lib/agent-turn-monitor",
    "prometheus": "/prometheus",
    "alertmanager": "/alertmanager",
    "grafana": "/var/lib/grafana",
}
"""The one folder of each image that is written to."""


@pytest.fixture(scope="module")
def folder(project) -> Path:
    return project / "deploy"


@pytest.fixture(scope="module")
def compose(folder) -> dict[str, Any]:
    return yaml.safe_load((folder / "compose.yaml").read_text())


@pytest.fixture(scope="module")
def services(compose) -> dict[str, dict[str, Any]]:
    return compose["services"]


def mounts(service: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Source, target and mode of each volume."""
    return [tuple([*each.split(":"), ""][:3]) for each in service["volumes"]]


def test_there_are_the_monitor_and_the_three_that_watch_it(services):
    assert list(services) == ["monitor", "prometheus", "alertmanager", "grafana"]
    assert all(set(service) <= KNOWN_KEYS for service in services.values())


def test_every_image_is_pinned_and_ours_is_built_at_its_version(services, folder, project):
    assert all(PINNED.match(service["image"]) for service in services.values())
    version = re.search(r'^version = "(.+)"$', (project / "pyproject.toml").read_text(), re.M)
    assert version is not None
    monitor = services["monitor"]
    assert monitor["image"] == f"agent-turn-monitor:{version[1]}"
    context = (folder / monitor["build"]["context"]).resolve()
    assert context == project
    assert (context / monitor["build"]["dockerfile"]).is_file()


def test_every_service_is_confined(services):
    for name, service in services.items():
        user, _ = service["user"].split(":")
        assert int(user) > 0, name
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["mem_limit"]
        assert service["pids_limit"]


def test_every_port_is_bound_to_loopback(services):
    for service in services.values():
        for port in service["ports"]:
            address, outside, inside = port.split(":")
            assert address == "127.0.0.1"
            assert outside == inside


def test_files_are_mounted_to_be_read_and_data_goes_to_named_volumes(services, compose, folder):
    named = set()
    for name, service in services.items():
        written = []
        for source, target, mode in mounts(service):
            if source.startswith("."):
                assert (folder / source).exists(), source
                assert mode == "ro", source
            else:
                named.add(source)
                written.append(target)
        assert written == [DATA[name]]
    assert named == set(compose["volumes"])


def test_the_monitors_settings_are_known_and_match_its_ports(services):
    monitor = services["monitor"]
    settings = load(None, monitor["environment"])
    listening = [settings.otlp.listen, settings.metrics.listen]
    assert all(address.startswith("0.0.0.0:") for address in listening)
    inside = [port.rpartition(":")[2] for port in monitor["ports"]]
    assert [address.rpartition(":")[2] for address in listening] == inside


def test_prometheus_is_configured_as_beside_a_monitor_but_for_the_addresses(folder, services):
    usual = yaml.safe_load((folder / "prometheus.yaml").read_text())
    ours = yaml.safe_load((folder / "compose" / "prometheus.yaml").read_text())
    targets = ours["scrape_configs"][0]["static_configs"][0]["targets"]
    managers = ours["alerting"]["alertmanagers"][0]["static_configs"][0]["targets"]
    for address in targets + managers:
        name, port = address.split(":")
        assert f"127.0.0.1:{port}:{port}" in services[name]["ports"]
    usual["scrape_configs"][0]["static_configs"][0]["targets"] = targets
    usual["alerting"]["alertmanagers"][0]["static_configs"][0]["targets"] = managers
    assert ours == usual


def test_promtool_takes_the_configuration_where_it_is_mounted(
    folder, services, tmp_path, require_tool
):
    root = Path("/etc/prometheus")
    for source, target, _ in mounts(services["prometheus"]):
        if source.startswith("."):
            place = tmp_path / Path(target).relative_to(root)
            copy = shutil.copytree if (folder / source).is_dir() else shutil.copy
            copy(folder / source, place)
    (named,) = [
        word.partition("=")[2]
        for word in services["prometheus"]["command"]
        if word.startswith("--config.file=")
    ]
    configuration = tmp_path / Path(named).relative_to(root)
    words = [require_tool("promtool"), "check", "config", configuration]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list((tmp_path / "rules").glob("*.yaml"))) == done.stdout.count("rules found")


def test_alertmanagers_configuration_is_the_mounted_one(services):
    targets = [target for _, target, _ in mounts(services["alertmanager"])]
    command = services["alertmanager"]["command"]
    assert f"--config.file={targets[0]}" in command
    assert "--cluster.listen-address=" in command


def test_grafana_is_provisioned_with_the_source_and_the_pages(services, project):
    grafana = services["grafana"]
    provisioning = project / "grafana" / "provisioning"
    (source,) = yaml.safe_load((provisioning / "datasources/prometheus.yaml").read_text())[
        "datasources"
    ]
    needed = set(re.findall(r"(?<!\$)\$([A-Z_]+)", source["url"]))
    (trace,) = source["jsonData"]["exemplarTraceIdDestinations"]
    needed |= set(re.findall(r"(?<!\$)\$([A-Z_]+)", trace["url"]))
    assert needed == {"PROMETHEUS_ADDRESS", "TRACES_URL"} <= set(grafana["environment"])
    assert trace["name"] == "trace_id"
    assert trace["url"].endswith("/$${__value.raw}"), "a single $ would be an environment variable"
    name, port = grafana["environment"]["PROMETHEUS_ADDRESS"].split(":")
    assert f"127.0.0.1:{port}:{port}" in services[name]["ports"]

    (provider,) = yaml.safe_load((provisioning / "dashboards/agent-monitor.yaml").read_text())[
        "providers"
    ]
    mounted = {target: source for source, target, _ in mounts(grafana)}
    pages = mounted[provider["options"]["path"]]
    assert list((project / "deploy" / pages).glob("*.json"))
    home = Path(grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"])
    assert (project / "deploy" / pages / home.name).is_file()
    assert str(home.parent) == provider["options"]["path"]


def test_nothing_secret_has_a_default(services):
    password = services["grafana"]["environment"]["GF_SECURITY_ADMIN_PASSWORD"]
    assert password.startswith("${GRAFANA_PASSWORD:?")


def test_grafana_scrapes_as_often_as_its_source_says(folder, project):
    ours = yaml.safe_load((folder / "compose" / "prometheus.yaml").read_text())
    source = yaml.safe_load(
        (project / "grafana/provisioning/datasources/prometheus.yaml").read_text()
    )
    told = source["datasources"][0]["jsonData"]["timeInterval"]
    assert told == ours["global"]["scrape_interval"]
