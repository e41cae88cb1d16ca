"""The proof's fleet under attack: killed, rolled and started again, scraped and timed meanwhile."""

from __future__ import annotations

import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

from kafka import KafkaConsumer, TopicPartition
from kafka.admin import KafkaAdminClient
from kafka_fleet import Fleet, Role
from proof_releases import LEADS
from proof_scrapes import Scrapes
from waiting import until

WORKERS = 3
DIED = 86
LOOK_S = 0.25
START_S = 240.0
RUNNING = "the worker is running"


class Attacked:
    """Three workers and an export, whose supervisor starts anew whatever dies."""

    def __init__(self, fleet: Fleet, release: Path, chance: random.Random) -> None:
        self.fleet, self.release, self.chance = fleet, release, chance
        self.kills: Counter[str] = Counter()
        self.drains_s: list[float] = []
        self.ended_themselves = 0
        self.scrapes = Scrapes()
        self.standing = Standing(fleet)
        self._doomed: dict[Role, str] = {}
        """Where who still lives will die: the failpoint, and how often it lets through."""
        self._stopping = threading.Event()
        self.workers = [self._worker() for _ in range(WORKERS)]
        self.export = self._export()
        for role in [*self.workers, self.export]:
            self._await(role)
        self._threads = [
            threading.Thread(target=self._on_and_on, args=[each], daemon=True)
            for each in (self._scrape, self.standing.look)
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """No more scrapes."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(30)
        self.standing.close()

    @property
    def doomed(self) -> int:
        """Workers that will die at a failpoint, and live yet."""
        return sum(worker in self._doomed for worker in self.workers)

    def supervise(self) -> None:
        """Start anew what has ended by itself, as every supervisor would."""
        for number, worker in enumerate(self.workers):
            if worker.process.poll() is not None:
                self.workers[number] = self._worker(self._ended(worker))
        if self.export.process.poll() is not None:
            self.ended_themselves += 1
            self.export = self._export()

    def kill_any(self) -> None:
        """Kill -9 at whatever it is doing."""
        self._kill(self.chance.choice(self._victims()), "random")

    def kill_leader(self) -> None:
        """Kill the worker that shared the partitions out last."""
        pattern = re.compile(LEADS + r" ([\d.]+)")
        led = {
            number: max(
                map(float, pattern.findall(self.workers[number].log.read_text())), default=0
            )
            for number in self._victims()
        }
        self._kill(max(led, key=lambda number: led[number]), "leader")

    def kill_export(self) -> None:
        """Kill the export, and start it over the same file."""
        self.export.kill()
        self.kills["export"] += 1
        self.export = self._export()

    def restart_broker(self) -> None:
        """Stop it and start it again."""
        self.standing.disturbed()
        self.fleet.broker.restart()
        self.standing.disturbed()

    def doom(self, point: str) -> None:
        """Kill a worker; its successor dies between two promises, after it has kept some."""
        point = f"{point}:{self.chance.randrange(1, 5)}"
        self._kill(self.chance.choice(self._victims()), "random", point)

    def roll(self, release: Path) -> None:
        """Bring another release to everyone, one after the other; the export first."""
        self.release = release
        self.standing.disturbed()
        self._stopped(self.export)
        self.export = self._export()
        self._await(self.export)
        for number, worker in enumerate(self.workers):
            self.workers[number] = self._worker(self._stopped(worker))
            self._await(self.workers[number])

    def settled(self, nudge: Callable[[], None]) -> None:
        """Return when three workers run that nobody will kill; `nudge` gives the doomed work."""

        def running() -> bool:
            self.supervise()
            if self.doomed:
                nudge()
            return not self.doomed and all(worker.said(RUNNING) for worker in self.workers)

        until(running, START_S)

    def _stopped(self, role: Role) -> str:
        """Ask a role to end; what its successor is doomed to, or nothing."""
        if role.process.poll() is not None:
            return self._ended(role)
        began = time.monotonic()
        code = role.stop()
        if code == DIED:
            return self._ended(role)
        assert code == 0, role.log.read_text()[-2_000:]
        self.drains_s.append(time.monotonic() - began)
        return self._doomed.pop(role, "")

    def _victims(self) -> list[int]:
        """Workers that run, and are not doomed to die elsewhere."""
        found: list[int] = []

        def there() -> bool:
            self.supervise()
            found[:] = [
                number
                for number, worker in enumerate(self.workers)
                if worker.said(RUNNING) and worker not in self._doomed
            ]
            return bool(found)

        until(there, START_S)
        return found

    def _kill(self, number: int, kind: str, doom: str = "") -> None:
        worker = self.workers[number]
        held = self._held(worker)
        worker.kill()
        self.kills[kind] += 1
        self.standing.lost(held)
        self.workers[number] = self._worker(doom)

    def _ended(self, role: Role) -> str:
        """Count who has ended; a doom that did not come true passes on to the successor."""
        doom = self._doomed.pop(role, "")
        if doom and role.process.returncode == DIED:
            self.kills[doom.partition(":")[0]] += 1
            return ""
        self.ended_themselves += 1
        return doom

    def _worker(self, doom: str = "") -> Role:
        release = {"PYTHONPATH": str(self.release)}
        if not doom:
            return self.fleet.start("worker", **release)
        role = self.fleet.start("worker", **release, AGENT_MONITOR_FAILPOINT=doom)
        self._doomed[role] = doom
        return role

    def _export(self) -> Role:
        ledger = str(self.fleet.folder / "ledger.sqlite3")
        options = ("--ledger", ledger, "--reports", str(self.fleet.reports()))
        return self.fleet.start("export", *options, PYTHONPATH=str(self.release))

    def _await(self, role: Role) -> None:
        until(
            lambda: role.said("is running") is not None or role.process.poll() is not None, START_S
        )

    def _held(self, worker: Role) -> list[TopicPartition]:
        """What the worker had taken on, by its own page."""
        with suppress(AssertionError, OSError, HTTPException):
            return held(worker.page())
        return []

    def _on_and_on(self, what: Callable[[], None]) -> None:
        # Whom it asks may be dead just now; then it asks again.
        while not self._stopping.wait(LOOK_S):
            with suppress(Exception):
                what()

    def _scrape(self) -> None:
        export = self.export
        if export.said("is running"):
            self.scrapes.add(export.process.pid, export.page())


def held(page: str) -> list[TopicPartition]:
    """The partitions that a worker's metrics page speaks of."""
    found = re.findall(
        r'^agent_monitor_worker_waiting_records\{partition="(\d+)",topic="([^"]+)"\}', page, re.M
    )
    return [TopicPartition(topic, int(number)) for number, topic in found]


class Standing:
    """How long the partitions of killed workers stood still with work before them."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._lost: dict[TopicPartition, tuple[float, int | None]] = {}
        """Since when, and behind which offset: None until it was asked after the kill."""
        self._alone: set[TopicPartition] = set()
        self._admin: KafkaAdminClient | None = None
        self.recoveries_s: list[float] = []
        self.alone_s: list[float] = []
        """Those that nothing else disturbed."""

    def close(self) -> None:
        """Ask no more."""
        if self._admin is not None:
            self._admin.close()
            self._consumer.close()

    def lost(self, places: list[TopicPartition]) -> None:
        """Their worker was killed just now."""
        now = time.monotonic()
        self.disturbed()
        for place in places:
            if place not in self._lost:
                self._alone.add(place)
            self._lost.setdefault(place, (now, None))

    def disturbed(self) -> None:
        """Something else is under way that moves partitions."""
        self._alone.clear()

    def look(self) -> None:
        """Ask the broker where the group is."""
        group, address = self._fleet.names.workers, self._fleet.broker.address
        if self._admin is None:
            self._admin = KafkaAdminClient(bootstrap_servers=address)
            self._consumer = KafkaConsumer(bootstrap_servers=address)
        asked = time.monotonic()
        found = self._admin.list_group_offsets([group]).get(group, {})
        waiting = list(self._lost)
        ends = self._consumer.end_offsets(waiting) if waiting else {}
        now = time.monotonic()
        for place in waiting:
            since, at = self._lost[place]
            here = found[place].offset if place in found else 0
            if at is None:
                # What the dead one still committed is no recovery.
                if asked > since:
                    self._lost[place] = since, here
            elif here > at:
                del self._lost[place]
                self.recoveries_s.append(now - since)
                if place in self._alone:
                    self._alone.discard(place)
                    self.alone_s.append(now - since)
            elif ends[place] <= here:
                self._lost[place] = now, at
