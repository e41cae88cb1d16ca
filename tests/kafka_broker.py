"""A real Apache Kafka broker (KRaft, one node) for tests: started, stopped and started again."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

from certificates import Authority

START_S = 60
STOP_S = 30
CLUSTER = "5L6g3nShT-eMCtK--X86sw"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Broker:
    """One process on loopback. What it keeps outlives a stop."""

    def __init__(self, libs: Path, folder: Path) -> None:
        self.libs, self.folder = libs, folder
        self.port, self._controller = free_port(), free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        self._properties = folder / "server.properties"
        self._properties.write_text(self._settings())
        self._java("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", str(self._properties))

    def start(self) -> None:
        """Return once it takes connections."""
        with self.log.open("ab") as said:
            self.process = subprocess.Popen(
                self._command("kafka.Kafka", str(self._properties)),
                cwd=self.folder,
                stdout=said,
                stderr=said,
                env={**os.environ, "LC_ALL": "C"},
            )
        last = time.monotonic() + START_S
        while time.monotonic() < last:
            assert self.process.poll() is None, self.log.read_text()[-3_000:]
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", self.port), 1),
            ):
                return
            time.sleep(0.1)
        raise AssertionError(f"the broker does not listen: {self.log.read_text()[-3_000:]}")

    def stop(self, *, hard: bool = False) -> None:
        """End this process, gently unless told otherwise."""
        process, self.process = self.process, None
        if process is None or process.poll() is not None:
            return
        process.send_signal(signal.SIGKILL if hard else signal.SIGTERM)
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(STOP_S)

    def restart(self) -> None:
        """Stop and start again, at the same address."""
        self.stop()
        self.start()

    @property
    def log(self) -> Path:
        return self.folder / "broker.log"

    def cpu_s(self) -> float:
        """CPU time of the process so far."""
        assert self.process is not None
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _java(self, *arguments: str) -> None:
        done = subprocess.run(
            self._command(*arguments), cwd=self.folder, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr[-2_000:] + done.stdout[-2_000:]

    def _command(self, *arguments: str) -> list[str]:
        options = ("-Xmx384m", "-Xms128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
        return ["java", *options, "-cp", f"{self.libs}/*", *arguments]

    def _settings(self) -> str:
        lines = self._lines()
        return "".join(f"{name}={value}\n" for name, value in lines.items())

    def _lines(self) -> dict[str, str]:
        return {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@127.0.0.1:{self._controller}",
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{self._controller}",
            "advertised.listeners": f"PLAINTEXT://{self.address}",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": str(self.folder / "log"),
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "4",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "group.initial.rebalance.delay.ms": "0",
            "group.min.session.timeout.ms": "1000",
            "auto.create.topics.enable": "false",
            "log.cleaner.dedupe.buffer.size": "2097152",
            "num.network.threads": "2",
            "num.io.threads": "4",
        }


class SecuredBroker(Broker):
    """One that also asks for a password over TLS, and elsewhere for a client's certificate."""

    def __init__(self, libs: Path, folder: Path, authority: Authority) -> None:
        self.tls_port, self.mutual_port = free_port(), free_port()
        pair = authority.issue("broker")
        self._store = folder / "broker.pem"
        self._store.write_text(pair.key.read_text() + pair.certificate.read_text())
        self._trusted = authority.file
        super().__init__(libs, folder)

    def _lines(self) -> dict[str, str]:
        lines = super()._lines()
        tls = f"TLS://127.0.0.1:{self.tls_port},MUTUAL://127.0.0.1:{self.mutual_port}"
        plain = "org.apache.kafka.common.security.plain.PlainLoginModule"
        return lines | {
            "listeners": f"{lines['listeners']},{tls}",
            "advertised.listeners": f"{lines['advertised.listeners']},{tls}",
            "listener.security.protocol.map": (
                "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,TLS:SASL_SSL,MUTUAL:SSL"
            ),
            "inter.broker.listener.name": "PLAINTEXT",
            "listener.name.tls.sasl.enabled.mechanisms": "PLAIN",
            "listener.name.tls.plain.sasl.jaas.config": (f'{plain} required user_monitor="right";'),
            "listener.name.mutual.ssl.client.auth": "required",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self._store),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self._trusted),
        }
