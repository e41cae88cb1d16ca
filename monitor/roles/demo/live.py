"""`agent-monitor demo`: two releases of a shop's agent, monitored live over OTLP."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

from monitor.errors import MonitorError
from monitor.roles.demo.traffic import AFTER, BEFORE, TOOLS, Played, traffic
from monitor.roles.service import Addresses

CONVERSATIONS = 250
PER_REQUEST = 5
WAIT_S = 40.0
POLL_S = 0.25

Samples = dict[str, list[tuple[dict[str, str], float]]]


def prepare(folder: Path) -> tuple[Path, Path, list[Played]]:
    """Write references and tool contracts; both paths, and the conversations to send."""
    played = [
        *traffic(BEFORE, CONVERSATIONS, seed=11),
        *traffic(AFTER, CONVERSATIONS, seed=12),
    ]
    references = folder / "references.jsonl"
    lines = [json.dumps(item.reference) for item in played if item.reference]
    references.write_text("\n".join(lines) + "\n", encoding="utf-8")
    tools = folder / "tools.json"
    tools.write_text(json.dumps({"tools": TOOLS}, indent=1), encoding="utf-8")
    return references, tools, played


async def show(addresses: Addresses, played: list[Played], say: Callable[[str], None]) -> None:
    """Send the conversations, wait until each has its final report, and tell the result."""
    releases = f"{BEFORE.version} on {BEFORE.model}, then {AFTER.version} on {AFTER.model}"
    say(f"sending {len(played)} conversations of two releases: {releases}")
    async with aiohttp.ClientSession() as session:
        for group in _groups(played):
            await _post(session, addresses.receivers[0], group)
        samples = await _settled(session, addresses.pages, len(played))
    for line in findings(samples):
        say(line)
    say("")
    say(f"metrics  {addresses.pages}/metrics")
    say(f"status   {addresses.pages}/")


def findings(samples: Samples) -> Iterator[str]:
    """What the metrics tell of both releases, as lines of text."""
    turns = _by_release(samples, "agent_monitor_turns_total", "verdict")
    failures = _by_release(samples, "agent_monitor_failures_total", "reason")
    yield ""
    yield f"{'release':<26}{'correct':>9}{'scored':>8}{'roots':>7}{'inherited':>11}{'unscored':>10}"
    for release, counts in sorted(turns.items()):
        scored = counts["pass"] + counts["root_fail"] + counts["cascade_fail"]
        if not scored:
            continue
        yield (
            f"{release:<26}{counts['pass'] / scored:>9.1%}{scored:>8.0f}{counts['root_fail']:>7.0f}"
            f"{counts['cascade_fail']:>11.0f}{counts['unscored']:>10.0f}"
        )
    yield ""
    yield "failure reasons, root causes first"
    for release, counts in sorted(failures.items()):
        ranked = sorted(
            counts.items(), key=lambda item: (item[0] == "prior_action_failed", -item[1])
        )
        for reason, count in ranked:
            if count:
                kind = "inherited" if reason == "prior_action_failed" else "root cause"
                yield f"  {release:<24}{reason:<32}{count:>5.0f}  {kind}"
    yield from _comparison(samples)


def _comparison(samples: Samples) -> Iterator[str]:
    """How sure it is that the newer release is the worse one."""
    drops = _by_release(samples, "agent_monitor_regression_effect_ratio", "bound")
    found = _by_release(samples, "agent_monitor_regression_log10_evidence", "signal")
    needed = samples.get("agent_monitor_regression_needed_turns", [])
    thresholds = {
        labels["signal"]: value
        for labels, value in samples.get("agent_monitor_regression_log10_threshold", [])
    }
    for labels, turns in needed:
        release, baseline = labels["release"], labels["baseline_release"]
        drop, log10 = drops[release], found[release]["total"]
        yield ""
        yield f"{release} against {baseline}"
        if turns:
            yield f"  not enough data: {turns:.0f} more turns"
            continue
        estimate, low, high = (100 * drop[bound] for bound in ("estimate", "lower", "upper"))
        verdict = "pages" if log10 >= thresholds["total"] else "stays silent"
        yield f"  drop in correct turns      {estimate:.1f} points ({low:.1f} to {high:.1f})"
        yield f"  evidence that it is worse  e = 10^{log10:.1f}: {verdict}"


def _by_release(samples: Samples, name: str, label: str) -> dict[str, dict[str, float]]:
    table: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for labels, value in samples.get(name, []):
        table[labels["release"]][labels[label]] += value
    return table


async def _settled(session: aiohttp.ClientSession, pages: str, conversations: int) -> Samples:
    """The metrics once every conversation has closed."""
    for _ in range(int(WAIT_S / POLL_S)):
        samples = await _scrape(session, pages)
        closed = sum(value for _, value in samples.get("agent_monitor_conversations_total", []))
        if closed >= conversations:
            return samples
        await asyncio.sleep(POLL_S)
    raise MonitorError(f"not all conversations were reported within {WAIT_S:.0f} s")


async def _scrape(session: aiohttp.ClientSession, pages: str) -> Samples:
    async with session.get(f"{pages}/metrics", headers={"Accept": "text/plain"}) as answer:
        text = await answer.text()
    samples: Samples = defaultdict(list)
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            samples[sample.name].append((sample.labels, sample.value))
    return samples


async def _post(session: aiohttp.ClientSession, receiver: str, body: dict[str, Any]) -> None:
    async with session.post(f"{receiver}/v1/traces", json=body) as answer:
        if answer.status != 200:
            raise MonitorError(f"the monitor answered {answer.status}: {await answer.text()}")


def _groups(played: list[Played]) -> Iterator[dict[str, Any]]:
    """Export requests that mix several conversations, as a busy agent's exporter does."""
    for start in range(0, len(played), PER_REQUEST):
        group = played[start : start + PER_REQUEST]
        spans = [item.request["resourceSpans"] for item in group]
        yield {"resourceSpans": list(itertools.chain.from_iterable(spans))}
