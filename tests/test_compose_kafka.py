"""`deploy/compose.kafka.yaml` parses, its parts fit each other, and it keeps its promises.

No container engine runs it here: these checks are of its text.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from test_collector import collector

from monitor.cli import main
from monitor.config import Settings, load
from monitor.roles.kafka.security import require_safe

__all__ = ["collector"]

PINNED = re.compile(r"^[\w./-]+:v?\d+\.\d+\.\d+$")
KNOWN_KEYS = {
    *("image", "build", "user", "command", "environment", "depends_on", "ports", "volumes"),
    *("restart", "read_only", "cap_drop", "security_opt", "tmpfs", "pids_limit", "mem_limit"),
    *("stop_grace_period", "healthcheck", "profiles"),
}
ROLES = ("worker-1", "worker-2", "export", "judge")
SETTINGS = "/etc/agent-turn-monitor/kafka.toml"


@pytest.fixture(scope="module")
def folder(project) -> Path:
    return project / "deploy"


@pytest.fixture(scope="module")
def compose(folder) -> dict[str, Any]:
    return yaml.safe_load((folder / "compose.kafka.yaml").read_text())


@pytest.fixture(scope="module")
def services(compose) -> dict[str, dict[str, Any]]:
    return compose["services"]


def settings_of(service: dict[str, Any], folder: Path) -> Settings:
    """As the container reads them, with what its operator must give."""
    given = {
        name: re.sub(r"\$\{\w+:?[-?]([^}]*)\}", r"\1", value)
        for name, value in service["environment"].items()
    }
    return load(folder / "compose" / "kafka.toml", given)


def test_there_are_kafka_a_collector_and_every_role(services):
    assert list(services) == ["kafka", "topics", "collector", *ROLES]
    assert all(set(service) <= KNOWN_KEYS for service in services.values())
    assert services["judge"]["profiles"] == ["judge"]


def test_every_image_is_pinned_and_ours_is_built_at_its_version(services, folder, project):
    assert all(PINNED.match(service["image"]) for service in services.values())
    version = re.search(r'^version = "(.+)"$', (project / "pyproject.toml").read_text(), re.M)
    assert version is not None
    for name in ("topics", *ROLES):
        assert services[name]["image"] == f"agent-turn-monitor:{version[1]}"
    context = (folder / services["topics"]["build"]["context"]).resolve()
    assert (context / services["topics"]["build"]["dockerfile"]).is_file()


def test_broker_and_collector_are_those_that_the_tests_run(services, project):
    pom = (project / ".ci" / "broker" / "pom.xml").read_text()
    _, _, broker = services["kafka"]["image"].partition(":")
    assert f"<version>{broker}</version>" in pom
    _, _, version = services["collector"]["image"].partition(":")
    modules = (project / ".ci" / "collector" / "go.mod").read_text()
    assert f"exporter/kafkaexporter v{version}\n" in modules


def test_every_service_is_confined(services):
    for name, service in services.items():
        assert int(service["user"].split(":")[0]) > 0, name
        assert service["read_only"] if name != "kafka" else "read_only" not in service
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["mem_limit"]
        assert service["pids_limit"]


def test_every_port_is_bound_to_loopback_and_the_broker_has_none(services):
    ports = {name: service.get("ports", []) for name, service in services.items()}
    assert ports == {
        **{name: [] for name in services},
        "collector": ["127.0.0.1:4317:4317", "127.0.0.1:4318:4318"],
        "export": ["127.0.0.1:9464:9464"],
    }


def test_what_is_mounted_is_there_and_read_only_but_for_the_data(services, compose, folder):
    named = set()
    for service in services.values():
        for source, _, *mode in (each.split(":") for each in service["volumes"]):
            if source.startswith("."):
                assert (folder / source).is_file(), source
                assert mode == ["ro"], source
            else:
                named.add(source)
    assert named == set(compose["volumes"])


def test_the_roles_commands_are_ours_and_read_the_same_settings(services):
    commands = {name: services[name]["command"] for name in ("topics", *ROLES)}
    words = {name: name.partition("-")[0] for name in commands}
    assert commands == {name: [words[name], "--config", SETTINGS] for name in commands}
    for name in commands:
        assert f"./compose/kafka.toml:{SETTINGS}:ro" in services[name]["volumes"]
        with pytest.raises(SystemExit) as ended:
            main([commands[name][0], "--help"])
        assert ended.value.code == 0


def test_the_settings_are_known_and_two_workers_differ_by_name_only(services, folder, compose):
    found = [settings_of(services[name], folder) for name in ("worker-1", "worker-2")]
    assert [each.kafka.instance for each in found] == ["worker-1", "worker-2"]
    one, other = (
        each.model_copy(update={"kafka": each.kafka.model_copy(update={"instance": None})})
        for each in found
    )
    assert one == other
    assert one.kafka.source_partitions >= 2
    require_safe(one.kafka)
    settings = settings_of(services["export"], folder)
    assert services["export"]["ports"][0].endswith(settings.metrics.listen.rpartition(":")[2])


def test_all_roles_redact_with_one_key_that_has_no_default(services):
    keys = {services[name]["environment"]["AGENT_MONITOR_REDACTION_KEY"] for name in ROLES}
    (key,) = keys
    assert key.startswith("${AGENT_MONITOR_REDACTION_KEY:?")


def test_stopping_waits_longer_than_a_drain(services, folder):
    settings = settings_of(services["worker-1"], folder)
    for name in ROLES:
        assert int(services[name]["stop_grace_period"].removesuffix("s")) > settings.kafka.drain_s


def test_the_images_own_health_check_finds_a_workers_page(services, folder):
    text = (folder / "Containerfile").read_text()
    address = settings_of(services["worker-1"], folder).kafka.worker_listen
    assert f"http://{address}/healthz" in text


def test_collector_broker_and_workers_mean_the_same_topic(services, folder):
    writes = yaml.safe_load((folder / "compose" / "collector.yaml").read_text())
    exporter = writes["exporters"]["kafka"]
    settings = settings_of(services["worker-1"], folder)
    assert exporter["traces"] == {"topic": settings.kafka.source, "encoding": "otlp_proto"}
    assert tuple(exporter["brokers"]) == settings.kafka.bootstrap
    broker = services["kafka"]["environment"]
    assert broker["KAFKA_ADVERTISED_LISTENERS"] == f"PLAINTEXT://{settings.kafka.bootstrap[0]}"
    (pipeline,) = writes["service"]["pipelines"].values()
    assert set(pipeline["exporters"]) == set(writes["exporters"])
    assert set(pipeline["processors"]) == set(writes["processors"])


def test_a_collector_takes_the_configuration(folder, collector: Path, tmp_path):
    writes = yaml.safe_load((folder / "compose" / "collector.yaml").read_text())
    # The tests' own Collector is a small one, and has no memory limiter.
    del writes["processors"]["memory_limiter"]
    writes["service"]["pipelines"]["traces"]["processors"].remove("memory_limiter")
    place = tmp_path / "collector.yaml"
    place.write_text(yaml.safe_dump(writes))
    command = [str(collector), "validate", "--config", f"file:{place}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_the_file_of_settings_names_nothing_secret(folder):
    found = tomllib.loads((folder / "compose" / "kafka.toml").read_text())
    assert "password" not in found["kafka"]
