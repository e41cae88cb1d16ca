"""The roles over TLS with a password, and what is said when either is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from certificates import Authority, Pair
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient
from kafka_broker import Broker, SecuredBroker, free_port
from kafka_fleet import KEY, Fleet, Role, toml
from running import final_lines
from waiting import until

from monitor.cli import main
from monitor.roles.demo.traffic import BEFORE, traffic


class Secured(NamedTuple):
    """A broker, and what its clients need."""

    broker: SecuredBroker
    authority: Authority
    other: Authority
    shown: Pair

    def login(self, **changes: Any) -> dict[str, Any]:
        """Settings that work, but for the changes."""
        return {
            "bootstrap": [f"127.0.0.1:{self.broker.tls_port}"],
            "protocol": "SASL_SSL",
            "mechanism": "PLAIN",
            "username": "monitor",
            "ca_file": str(self.authority.file),
            "source_partitions": 1,
            "partitions": 2,
            **changes,
        }


@pytest.fixture(scope="module")
def secured(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("secured")
    authority, other = Authority(folder, "authority"), Authority(folder, "other")
    found = SecuredBroker(broker.libs, folder, authority)
    found.start()
    yield Secured(found, authority, other, authority.issue("client"))
    found.stop()


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_MONITOR_KAFKA__PASSWORD", "right")


def config(folder: Path, given: Mapping[str, Any]) -> str:
    path = folder / "monitor.toml"
    path.write_text(toml({"kafka": given, "metrics": {"listen": "127.0.0.1:0"}}))
    return str(path)


def test_what_comes_over_tls_with_a_password_is_scored(secured: Secured, tmp_path: Path) -> None:
    with Fleet(secured.broker, tmp_path, "safe", {"kafka": secured.login()}) as fleet:
        fleet.worker()
        fleet.export()
        fleet.feed([json.dumps(each.request).encode() for each in traffic(BEFORE, 2, 5)])
        fleet.flush()
        until(lambda: fleet.reports().exists() and len(final_lines(fleet.reports())) == 2)
        fleet.run("topics", "--check")


def test_what_is_wrong_with_a_connection_is_said_in_one_line(
    secured: Secured, tmp_path: Path
) -> None:
    address, mutual = f"127.0.0.1:{secured.broker.tls_port}", secured.broker.mutual_port
    expected = {
        "password": f"{address}: it refuses kafka.username 'monitor' with AGENT_MONITOR_KAFKA__",
        "authority": f"{address}: kafka.ca_file does not vouch for its certificate",
        "name": "its certificate is not of this name (kafka.bootstrap)",
        "certificate": "it may ask for a client certificate (kafka.cert_file, kafka.key_file)",
        "mechanism": "it does not offer kafka.mechanism SCRAM-SHA-256",
        "port": "Connection refused (kafka.bootstrap)",
    }
    wrong = {
        "password": secured.login(),
        "authority": secured.login(ca_file=str(secured.other.file)),
        "name": secured.login(bootstrap=[f"localhost:{secured.broker.tls_port}"]),
        "certificate": secured.login(protocol="SSL", bootstrap=[f"127.0.0.1:{mutual}"]),
        "mechanism": secured.login(mechanism="SCRAM-SHA-256"),
        "port": secured.login(bootstrap=[f"127.0.0.1:{free_port()}"]),
    }
    begun = {}
    for name, given in wrong.items():
        folder = tmp_path / name
        folder.mkdir()
        command = "export" if name == "authority" else "topics"
        more = {"AGENT_MONITOR_KAFKA__PASSWORD": "wrong"} if name == "password" else {}
        begun[name] = Role([command, "--config", config(folder, given)], folder, name, KEY | more)
    codes = {name: role.process.wait(40) for name, role in begun.items()}
    for name, role in begun.items():
        said = role.log.read_text()
        assert codes[name] == 3, said
        assert said.splitlines()[-1].startswith("agent-monitor: no broker can be used at "), said
        assert expected[name] in said.splitlines()[-1]
        assert "Traceback" not in said


def test_a_client_with_its_certificate_is_let_in(secured: Secured, tmp_path: Path) -> None:
    shown = {"cert_file": str(secured.shown.certificate), "key_file": str(secured.shown.key)}
    mutual = [f"127.0.0.1:{secured.broker.mutual_port}"]
    given = secured.login(protocol="SSL", bootstrap=mutual, prefix="mutual", **shown)
    assert main(["topics", "--config", config(tmp_path, given)]) == 0


def test_check_reads_what_the_kafka_section_names(tmp_path: Path, capsys: Any) -> None:
    authority = Authority(tmp_path, "authority")
    pair, garbage = authority.issue("client"), tmp_path / "garbage.pem"
    garbage.write_text("no certificate")
    good = {"bootstrap": ["kafka:9093"], "protocol": "SSL", "ca_file": str(authority.file)}

    def said(**changes: Any) -> tuple[int, str]:
        code = main(["check", config(tmp_path, {**good, **changes})])
        shown = capsys.readouterr()
        return code, shown.out + shown.err

    code, text = said(cert_file=str(pair.certificate), key_file=str(pair.key))
    assert (code, "kafka       SSL to kafka:9093" in text) == (0, True)
    gone = str(tmp_path / "gone.pem")
    for setting, value, words in (
        ("ca_file", gone, f"kafka.ca_file {gone}: cannot be read: No such file"),
        ("ca_file", "ca.pem", "kafka.ca_file ca.pem: must be an absolute path"),
        ("ca_file", str(garbage), f"kafka.ca_file {garbage}: is not what the setting needs"),
        ("cert_file", str(garbage), f"kafka.cert_file {garbage}: is not what"),
        ("key_file", str(pair.key), "kafka.key_file is set without kafka.cert_file"),
    ):
        code, text = said(**{setting: value})
        assert (code, words in text) == (2, True), text


def test_check_wants_a_password_where_the_protocol_does(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AGENT_MONITOR_KAFKA__PASSWORD")
    given = {"protocol": "SASL_SSL", "username": "monitor"}
    for command in (["check"], ["export", "--config"]):
        assert main([*command, config(tmp_path, given)]) == 2
        assert "needs kafka.username and AGENT_MONITOR_KAFKA__PASSWORD" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("ending", "name", "value"),
    [
        ("reports", "retention.ms", "1000"),
        ("reports", "cleanup.policy", "compact"),
        ("traces", "max.message.bytes", "1000"),
        ("judge-cases", "compression.type", "gzip"),
        ("traces-state", "min.compaction.lag.ms", "0"),
    ],
)
def test_topics_that_keep_too_little_are_refused(
    broker: Broker, tmp_path: Path, capsys: Any, ending: str, name: str, value: str
) -> None:
    prefix = f"kept-{ending}-{name}"
    given = {"bootstrap": [broker.address], "prefix": prefix, "source": f"{prefix}.source"}
    asked = ["topics", "--config", config(tmp_path, given | {"partitions": 1})]
    assert main(asked) == 0
    assert main([*asked, "--check"]) == 0
    admin = KafkaAdminClient(bootstrap_servers=broker.address)
    topic = f"{prefix}.{ending}"
    admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, {name: value})])
    admin.close()
    assert main([*asked, "--check"]) == 2
    assert f"topic {topic} has {name} = {value}, and needs" in capsys.readouterr().err
