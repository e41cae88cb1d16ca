"""The proof: a fleet under attack ends with exactly what one undisturbed process counts."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, NamedTuple

from kafka import KafkaProducer
from kafka_broker import Broker
from kafka_fleet import KEY, Fleet
from proof_fleet import Attacked
from proof_releases import releases
from proof_scrapes import counters
from proof_totals import differences, wanted
from proof_traffic import Sent, Traffic
from running import final_lines
from waiting import until

from monitor.config import load
from monitor.roles.demo.traffic import BEFORE
from monitor.roles.kafka.reading import Record, records
from monitor.roles.kafka.records import Envelope, written

POINTS = ("after_output", "after_state", "after_source")
WAITS = {"settle_s": 0.3, "quiet_s": 7_200.0, "idle_s": 7_200.0, "late_s": 7_200.0}
"""Only what has its root closes before the end, so that outages close nothing early."""
FLUSH_S = 300.0


class Plan(NamedTuple):
    """What a run does; all by chance follows from the seed, but for the machine's own timing."""

    conversations: int
    kills: int
    seed: int
    pace_s: float
    poison: int = 6
    rolls: int = 2
    at_close: bool = False
    """Count turns when their conversation closes, so that every total must be equal."""


class Proof(NamedTuple):
    """What came out; every fault is a sentence."""

    faults: list[str]
    figures: dict[str, Any]


def prove(libs: Path, folder: Path, plan: Plan, say: Callable[[str], None]) -> Proof:
    """Run the plan on a broker of its own. Raises AssertionError when the fleet gets stuck."""
    say(f"proof: seed {plan.seed}: {plan}")
    began = time.monotonic()
    chance = random.Random(plan.seed)
    traffic = Traffic(plan.conversations, plan.poison, plan.seed)
    traces, sections = traffic.write(folder)
    broker = Broker(libs, folder / "broker")
    broker.start()
    try:
        waits = {**WAITS, "report_open": not plan.at_close}
        with Fleet(broker, folder, "proof", {"conversation": waits, **sections}) as fleet:
            present, *_ = releases(folder)
            expected = _oracle(fleet, traces, present)
            say(f"proof: the oracle is done after {time.monotonic() - began:.0f} s")
            run = Run(fleet, Attacked(fleet, present, chance), traffic, plan, say)
            return run.through(expected)
    finally:
        broker.stop()


class Run:
    """One run of a plan."""

    def __init__(
        self,
        fleet: Fleet,
        attacked: Attacked,
        traffic: Traffic,
        plan: Plan,
        say: Callable[[str], None],
    ) -> None:
        self._fleet, self._attacked, self._plan, self._say = fleet, attacked, plan, say
        self._traffic = traffic
        self._producer = KafkaProducer(
            bootstrap_servers=fleet.broker.address,
            acks="all",
            enable_idempotence=True,
            linger_ms=20,
        )
        self._poisoned: list[Future[Any]] = []
        self._began = time.monotonic()

    def through(self, expected: tuple[dict[str, str], dict[str, float]]) -> Proof:
        """Attack, let it settle, close everything and compare."""
        attacked, fleet = self._attacked, self._fleet
        steps = self._steps()
        coming = iter(self._traffic.records)
        share = len(self._traffic.records) // (len(steps) + 1)
        for number, (name, step) in enumerate(steps):
            self._feed(coming, share, self._plan.pace_s)
            self._say(f"proof: {time.monotonic() - self._began:5.0f} s: {number + 1}: {name}")
            step()
        self._feed(coming, len(self._traffic.records), self._plan.pace_s)
        self._producer.flush()
        attacked.settled(self._nudge)
        fed_s = time.monotonic() - self._began
        self._flush()
        lines, _ = expected
        until(lambda: fleet.reports().exists() and len(final_lines(fleet.reports())) >= len(lines))
        until(lambda: attacked.export.samples().get("agent_monitor_open_conversations") == 0)
        attacked.close()
        self._producer.close()
        return Proof(self._faults(expected), self._figures(fed_s))

    def _steps(self) -> list[tuple[str, Callable[[], None]]]:
        attacked, chance, plan = self._attacked, random.Random(self._plan.seed), self._plan
        steps: list[tuple[str, Callable[[], None]]] = []
        steps += [("the leader", attacked.kill_leader)] * max(1, plan.kills // 7)
        steps += [("the export", attacked.kill_export)] * (plan.kills // 7)
        # Each failpoint kills twice: who stood there, and the successor that it dooms.
        others = plan.kills - 2 * len(POINTS) - max(1, plan.kills // 7)
        steps += [("a worker", attacked.kill_any)] * max(0, others)
        chance.shuffle(steps)
        for point in POINTS:
            at = chance.randrange(len(steps) // 2 + 1)
            steps.insert(at, (point, lambda point=point: attacked.doom(point)))  # type: ignore[misc]
        steps.insert(len(steps) // 2, ("the broker", attacked.restart_broker))
        places = releases_of(self._fleet.folder)[1 : plan.rolls + 1]
        for number, place in enumerate(places, 1):
            at = len(steps) * number // (len(places) + 1)
            steps.insert(at, (f"all to {place.name}", lambda place=place: attacked.roll(place)))  # type: ignore[misc]
        steps.insert(1, ("poison between the roles", self._poison_between))
        return steps

    def _feed(self, coming: Iterator[Sent], count: int, pace_s: float) -> None:
        """So many records, over about so long, while the supervisor looks on."""
        last = time.monotonic() + self._plan.pace_s * random.Random(count).uniform(0.5, 1.5)
        slices = 8
        for number in range(slices):
            for _ in range(count // slices + (number < count % slices)):
                record = next(coming, None)
                if record is None:
                    break
                sent = self._producer.send(self._fleet.names.source, record.value, record.key)
                if record.poison:
                    self._poisoned.append(sent)
            self._attacked.supervise()
            time.sleep(max(0.0, (last - time.monotonic()) / (slices - number)))

    def _flush(self) -> None:
        """Close everything; two workers are killed meanwhile."""
        chance, attacked = random.Random(self._plan.seed + 1), self._attacked
        with ThreadPoolExecutor(1) as pool:
            flushed = pool.submit(
                _run, self._fleet, attacked.release, "topics", "--flush", str(FLUSH_S)
            )
            for _ in range(2):
                wait([flushed], chance.uniform(1.0, 3.0))
                attacked.kill_any()
            while not flushed.done():
                attacked.supervise()
                wait([flushed], 0.25)
            flushed.result()

    def _nudge(self) -> None:
        """Ticks for every partition, for who still has to die at a failpoint."""
        names = self._fleet.names
        for topic in (names.traces, names.conversations):
            for partition in range(self._fleet.partitions):
                value = written(Envelope("tick", time.time()))
                self._producer.send(topic, value, b"tick", partition=partition)
        self._producer.flush()

    def _poison_between(self) -> None:
        names = self._fleet.names
        for topic, value in ((names.traces, b"garbage"), (names.conversations, b"ame\x01123x")):
            self._poisoned.append(self._producer.send(topic, value, b"poison", partition=1))

    def _faults(self, expected: tuple[dict[str, str], dict[str, float]]) -> list[str]:
        lines, oracle = expected
        found = []
        ours, text = final_lines(self._fleet.reports()), self._attacked.export.page()
        if ours != lines:
            other = [name for name in lines if ours.get(name) != lines[name]]
            more = sorted(set(ours) - set(lines))
            found.append(f"{len(other)} reports differ, first {other[:3]}; {more[:3]} are invented")
        now = wanted(counters(text))
        found += differences(now, oracle, "" if self._plan.at_close else BEFORE.version)
        found += self._attacked.scrapes.falls
        letters = {(record.key or b"").decode() for record in self._letters()}
        planted = {f"{m.topic}/{m.partition}/{m.offset}" for m in map(_placed, self._poisoned)}
        if letters != planted:
            found.append(f"dead letters {sorted(letters ^ planted)} are lost or invented")
        found += _unbalanced(self._attacked.export.samples())
        kills = self._attacked.kills
        found += [f"nobody died {point}" for point in POINTS if not kills[point]]
        if kills.total() - kills["export"] < self._plan.kills:
            found.append(f"only {dict(kills)} were killed")
        return found

    def _letters(self) -> list[Record]:
        """By their keys: the present release cannot read those of the next."""
        given = load(self._fleet.config).kafka
        return list(records(given, self._fleet.names.dead_letters))

    def _figures(self, fed_s: float) -> dict[str, Any]:
        attacked = self._attacked
        return {
            "seed": self._plan.seed,
            "conversations": self._plan.conversations,
            "records": len(self._traffic.records),
            "spans": attacked.export.samples()['agent_monitor_spans_total{outcome="accepted"}'],
            "kills": dict(attacked.kills),
            "ended_themselves": attacked.ended_themselves,
            "poison": len(self._poisoned),
            "scrapes": attacked.scrapes.count,
            "exports": len(attacked.scrapes.processes),
            "recovery_s": _spread(attacked.standing.recoveries_s),
            "recovery_undisturbed_s": _spread(attacked.standing.alone_s),
            "drain_s": _spread(attacked.drains_s),
            "fed_s": round(fed_s, 1),
            "whole_s": round(time.monotonic() - self._began, 1),
        }


def releases_of(folder: Path) -> list[Path]:
    """Those that `releases` has made."""
    return [folder / name for name in ("present", "reads-2", "writes-2")]


def _oracle(fleet: Fleet, traces: Path, release: Path) -> tuple[dict[str, str], dict[str, float]]:
    """What one process makes of the same records."""
    out, metrics = fleet.folder / "oracle-reports.jsonl", fleet.folder / "oracle-metrics.txt"
    words = ["replay", str(traces), "--out", str(out), "--metrics", str(metrics)]
    _run(fleet, release, *words)
    return final_lines(out), wanted(counters(metrics.read_text()))


def _run(fleet: Fleet, release: Path, *words: str) -> None:
    """One command of a release to its end."""
    done = subprocess.run(
        [sys.executable, "-m", "monitor.cli", *words, "--config", str(fleet.config)],
        env={**os.environ, **KEY, "PYTHONPATH": str(release)},
        cwd=fleet.folder,
        capture_output=True,
        text=True,
        timeout=2 * FLUSH_S,
    )
    assert done.returncode == 0, done.stderr[-2_000:]


def _unbalanced(samples: dict[str, float]) -> list[str]:
    """The spans' equation: what was accepted is somewhere, and in one place only."""
    spans = {
        name: value
        for name, value in samples.items()
        if name.startswith("agent_monitor_spans_total")
    }
    accepted = sum(value for name, value in spans.items() if 'outcome="accepted"' in name)
    ended = sum(spans.values()) - accepted
    still = samples.get("agent_monitor_open_spans", 0.0)
    if accepted != ended + still:
        return [f"{accepted:.0f} spans were accepted, {ended:.0f} ended, {still:.0f} are open"]
    return []


def _placed(sent: Any) -> Any:
    return sent.get(timeout=60)


def _spread(values: Sequence[float]) -> dict[str, float]:
    ordered = sorted(values)
    if not ordered:
        return {"count": 0}
    return {
        "count": len(ordered),
        "p50": round(ordered[len(ordered) // 2], 2),
        "p99": round(ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)], 2),
        "max": round(ordered[-1], 2),
    }
