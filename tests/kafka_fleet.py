"""The roles apart as real processes over a real broker, started, killed and asked by tests."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaProducer
from kafka import KafkaConsumer, TopicPartition
from kafka_broker import Broker
from running import request
from waiting import until

from monitor.roles.kafka.dead_letters import DeadLetter, letter_of
from monitor.roles.kafka.names import Names

START_S = 60
STOP_S = 60
KEY = {"AGENT_MONITOR_REDACTION_KEY": "0123456789abcdef0123456789abcdef"}
WAITS = {"settle_s": 0.3, "quiet_s": 2.0, "idle_s": 600.0}


class Role:
    """One process of a role."""

    def __init__(self, command: list[str], folder: Path, name: str, more: Mapping[str, str]):
        self.log = folder / f"{name}.log"
        with self.log.open("ab") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "monitor.cli", *command],
                cwd=folder,
                env={**os.environ, **KEY, **more},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )

    def said(self, pattern: str) -> re.Match[str] | None:
        return re.search(pattern, self.log.read_text())

    def await_words(self, pattern: str) -> str:
        """The first group of the words, once they are said."""

        def reached() -> bool:
            assert self.process.poll() is None, self.log.read_text()[-3_000:]
            return self.said(pattern) is not None

        until(reached, START_S)
        found = self.said(pattern)
        assert found is not None
        return found[1] if found.groups() else found[0]

    @property
    def pages(self) -> str:
        return self.await_words(r"metrics on (http://[^/\s]+)/metrics")

    def page(self, path: str = "/metrics") -> str:
        status, text = request(self.pages, "GET", path, None, "text/plain")
        assert status == 200, text
        return text

    def samples(self) -> dict[str, float]:
        """The metrics page: values by name with labels."""
        lines = [line for line in self.page().splitlines() if line and not line.startswith("#")]
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}

    def kill(self) -> None:
        """As the kernel would: no farewell."""
        self.process.kill()
        self.process.wait(STOP_S)

    def stop(self) -> int:
        """Ask it to stop; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP_S)


class Fleet:
    """Roles with topics of their own on one broker."""

    def __init__(
        self, broker: Broker, folder: Path, prefix: str, settings: Mapping[str, Any] | None = None
    ) -> None:
        """`settings` are sections over those that tests need."""
        self.broker, self.folder = broker, folder
        self.names = Names(f"{prefix}.otlp_spans", prefix)
        own: dict[str, dict[str, Any]] = {
            "kafka": {
                "bootstrap": [broker.address],
                "prefix": prefix,
                "source": self.names.source,
                "partitions": 4,
                "source_partitions": 3,
                "session_s": 6.0,
                "tick_s": 0.2,
                "commit_s": 0.3,
                "worker_listen": "127.0.0.1:0",
            },
            "metrics": {"listen": "127.0.0.1:0"},
            "conversation": dict(WAITS),
            "otlp": {"listen": "127.0.0.1:0"},
        }
        for name, section in (settings or {}).items():
            own[name] = {**own.get(name, {}), **section}
        self.config = folder / f"{prefix}.toml"
        self.config.write_text(toml(own))
        self.partitions: int = own["kafka"]["partitions"]
        self.roles: list[Role] = []
        self.run("topics")

    def start(self, command: str, *options: str, **environment: str) -> Role:
        """A role, not yet running."""
        name = f"{self.names.prefix}-{command}-{len(self.roles)}"
        role = Role(
            [command, "--config", str(self.config), *options], self.folder, name, environment
        )
        self.roles.append(role)
        return role

    def worker(self, **environment: str) -> Role:
        role = self.start("worker", **environment)
        role.await_words("the worker is running")
        return role

    def export(self, name: str = "ledger", *options: str) -> Role:
        """An export with a ledger and report lines of that name."""
        ledger, reports = self.folder / f"{name}.sqlite3", self.reports(name)
        role = self.start("export", "--ledger", str(ledger), "--reports", str(reports), *options)
        role.await_words("export is running")
        return role

    def reports(self, name: str = "ledger") -> Path:
        return self.folder / f"{name}.jsonl"

    def run(self, command: str, *options: str) -> str:
        """A command to its end; what it printed."""
        done = subprocess.run(
            [sys.executable, "-m", "monitor.cli", command, *options, "--config", str(self.config)],
            cwd=self.folder,
            env={**os.environ, **KEY},
            capture_output=True,
            text=True,
            timeout=STOP_S + 60,
        )
        assert done.returncode == 0, done.stderr[-3_000:]
        return done.stdout

    def feed(
        self,
        payloads: Iterable[bytes],
        to: str | None = None,
        partition: int | None = None,
        **options: Any,
    ) -> int:
        """Records of the source, as a Collector writes them, or of another topic; how many."""
        place = to or self.names.source, partition
        return asyncio.run(self._feed(list(payloads), *place, options))

    async def _feed(
        self,
        payloads: Sequence[bytes],
        to: str,
        partition: int | None,
        options: Mapping[str, Any],
    ) -> int:
        address = self.broker.address
        async with AIOKafkaProducer(bootstrap_servers=address, acks="all", **options) as producer:
            sent = [await producer.send(to, payload, partition=partition) for payload in payloads]
            await asyncio.gather(*sent)
        return len(payloads)

    def flush(self, wait_s: float = 60.0) -> None:
        """Close everything that is open."""
        self.run("topics", "--flush", str(wait_s))

    def dead_letters(self) -> list[DeadLetter]:
        values = self.values(self.names.dead_letters)
        letters = {letter.name: letter for letter in map(letter_of, values)}
        return [letters[name] for name in sorted(letters)]

    def values(self, topic: str) -> list[bytes]:
        """All that a topic holds."""
        consumer = KafkaConsumer(
            bootstrap_servers=self.broker.address,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
        )
        places = [
            TopicPartition(topic, number) for number in consumer.partitions_for_topic(topic) or ()
        ]
        consumer.assign(places)
        ends = consumer.end_offsets(places)
        found: list[bytes] = []
        last = time.monotonic() + START_S
        while any(consumer.position(place) < ends[place] for place in places):
            assert time.monotonic() < last, "the topic cannot be read to its end"
            for records in consumer.poll(200).values():
                found += [record.value for record in records]
        consumer.close()
        return found

    def stop(self) -> None:
        """End every role that still runs."""
        for role in self.roles:
            if role.process.poll() is None:
                role.kill()

    def __enter__(self) -> Fleet:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def toml(sections: Mapping[str, Mapping[str, Any]]) -> str:
    """JSON's strings, numbers and lists are TOML's too."""
    lines = []
    for name, section in sections.items():
        lines.append(f"[{name}]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in section.items()]
    return "\n".join(lines) + "\n"
