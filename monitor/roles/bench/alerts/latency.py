"""How long it takes from the close of a conversation to the webhook, both ways.

One release is made to page again and again: 49 bad conversations after its evidence was cleared
cannot be weighed yet, the fiftieth pages. Two Alertmanagers are told, one by Prometheus' rules and
one directly, so that neither takes the other's alert for its own.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import re
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import aiohttp

from monitor.alerting.alerts import Policy, rule_files
from monitor.config import Settings
from monitor.errors import MonitorError
from monitor.exposition.live import LagGauge
from monitor.releases.mixture import LEAST_CONVERSATIONS
from monitor.roles.bench.alerts.daemons import Daemon, Webhook, alertmanager, prometheus
from monitor.roles.demo.traffic import BEFORE, TOOLS, DemoRelease, forgets_the_reason, traffic
from monitor.roles.service import Addresses, Service

BASELINE: Final = 300
NAME: Final = "2026.12.0@atlas-5"
BAD: Final = DemoRelease("2026.12.0", "atlas-5", ((1.0, forgets_the_reason),))
PER_REQUEST: Final = 10
POLL_S: Final = 0.05
WAIT_S: Final = 30.0
DIRECT, RULES = "/direct", "/rules"
# A group that has been told of once waits for its interval; a new release's has not been.
_ROUTES: Final = (
    "route: {{receiver: hook, group_by: [alertname, job, release], group_wait: 0s, "
    "group_interval: 10ms, repeat_interval: 1d}}\n"
    "receivers: [{{name: hook, webhook_configs: [{{url: '{url}'}}]}}]\n"
)
_SCRAPES: Final = (
    "global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}\n"
    "rule_files: [rules/*.yaml]\n"
    "alerting: {{alertmanagers: [{{static_configs: [{{targets: ['{told}']}}]}}]}}\n"
    "scrape_configs: [{{job_name: agent-monitor, static_configs: [{{targets: ['{pages}']}}]}}]\n"
)
_CLOSED: Final = re.compile(r"^agent_monitor_conversations_total\{[^}]*\} (\S+)$", re.M)


class LastClosed(LagGauge):
    """Remembers when the last report was made that has been committed."""

    def __init__(self) -> None:
        super().__init__()
        self.at_s = 0.0

    def observe(self, lag_s: float) -> None:
        """Called as soon as the report's transaction has committed."""
        super().observe(lag_s)
        self.at_s = time.time() - lag_s


def measure(
    serve: Callable[[Settings, LagGauge], Service],
    folder: Path,
    events: int,
    commit_interval_s: float,
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """Page `events` times; the times of both ways. Raises MonitorError when a page never came."""
    tools = folder / "tools.json"
    tools.write_text(json.dumps({"tools": TOOLS}), encoding="utf-8")
    with ExitStack() as stack:
        webhook = stack.enter_context(Webhook())
        direct = stack.enter_context(
            alertmanager(folder / "direct", _ROUTES.format(url=webhook.url + DIRECT))
        )
        ruled = stack.enter_context(
            alertmanager(folder / "ruled", _ROUTES.format(url=webhook.url + RULES))
        )
        settings = _settings(folder, tools, direct.url, commit_interval_s)
        closed = LastClosed()
        service = serve(settings, closed)

        async def run() -> tuple[list[float], list[float]]:
            addresses = await service.start()
            pages = addresses.pages.removeprefix("http://")
            scraping = _SCRAPES.format(told=ruled.address, pages=pages)
            try:
                with prometheus(folder, scraping, rule_files(Policy())) as watching:
                    await _warm(watching)
                    async with aiohttp.ClientSession() as session:
                        bench = _Paging(session, addresses, webhook, closed, events, tell)
                        return await bench.run()
            finally:
                await service.stop()

        direct_s, rules_s = asyncio.run(run())
    return {
        "events": events,
        "commit_interval_s": commit_interval_s,
        "scrape_interval_s": 1,
        "closed_to_webhook_seconds": {"direct": _spread(direct_s), "rules": _spread(rules_s)},
    }


class _Paging:
    """Makes the release page, and clears it."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        addresses: Addresses,
        webhook: Webhook,
        closed: LastClosed,
        events: int,
        tell: Callable[[str], None],
    ) -> None:
        self._session = session
        self._receiver, self._pages = addresses.receivers[0], addresses.pages
        self._webhook = webhook
        self._closed = closed
        self._events = events
        self._tell = tell
        self._sent = 0
        self._rng = random.Random(1)  # noqa: S311  of waits

    async def run(self) -> tuple[list[float], list[float]]:
        """The times of every event, directly and by the rules."""
        await self._send([one.request for one in traffic(BEFORE, BASELINE, seed=1)])
        bad = traffic(BAD, self._events * LEAST_CONVERSATIONS, seed=2)
        times: list[tuple[float, float]] = []
        for number in range(self._events):
            times.append(await self._event([one.request for one in _taken(bad)]))
            if number % 20 == 0:
                self._tell(f"page {number + 1} of {self._events}")
        return [one for one, _ in times], [other for _, other in times]

    async def _event(self, requests: Sequence[dict[str, Any]]) -> tuple[float, float]:
        await self._send(requests[:-1])
        # The rules resolve in step with the scrapes; a page comes at any time.
        await asyncio.sleep(self._rng.random())
        heard = len(self._webhook.heard)
        await self._post(requests[-1:])
        arrived = [await self._notified(path, "firing", heard) for path in (DIRECT, RULES)]
        at_s = self._closed.at_s
        heard = len(self._webhook.heard)
        await self._clear()
        for path in (DIRECT, RULES):
            await self._notified(path, "resolved", heard)
        return arrived[0] - at_s, arrived[1] - at_s

    async def _send(self, requests: Sequence[dict[str, Any]]) -> None:
        """Until each conversation has closed."""
        for start in range(0, len(requests), PER_REQUEST):
            await self._post(requests[start : start + PER_REQUEST])
        until = time.monotonic() + WAIT_S
        while await self._closed_conversations() < self._sent:
            if time.monotonic() > until:
                raise MonitorError("the conversations of the benchmark did not close")
            await asyncio.sleep(POLL_S)

    async def _post(self, requests: Sequence[dict[str, Any]]) -> None:
        spans = itertools.chain.from_iterable(each["resourceSpans"] for each in requests)
        body = {"resourceSpans": list(spans)}
        async with self._session.post(f"{self._receiver}/v1/traces", json=body) as answer:
            if answer.status != 200:
                raise MonitorError(f"the monitor answered with status {answer.status}")
        self._sent += len(requests)

    async def _closed_conversations(self) -> int:
        async with self._session.get(f"{self._pages}/metrics") as answer:
            return round(sum(map(float, _CLOSED.findall(await answer.text()))))

    async def _clear(self) -> None:
        url = f"{self._pages}/releases/{NAME}/clear"
        async with self._session.post(url, json={}) as answer:
            if answer.status != 200:
                raise MonitorError(f"clearing answered with status {answer.status}")

    async def _notified(self, path: str, status: str, after: int) -> float:
        found = await asyncio.to_thread(
            self._webhook.wait,
            lambda each: (each.path, each.status) == (path, status),
            WAIT_S,
            after,
        )
        return found.at_s


async def _warm(watching: Daemon) -> None:
    """Until Prometheus has found whom to scrape and whom to tell, which it looks for slowly."""
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        told = watching.asked("/api/v1/alertmanagers")["data"]["activeAlertmanagers"]
        scraped = watching.asked("/api/v1/targets")["data"]["activeTargets"]
        if told and scraped and scraped[0]["health"] == "up":
            return
        await asyncio.sleep(POLL_S)
    raise MonitorError("Prometheus found nobody to scrape or to tell")


def _taken(bad: Iterator[Any]) -> list[Any]:
    return list(itertools.islice(bad, LEAST_CONVERSATIONS))


def _settings(folder: Path, tools: Path, url: str, commit_interval_s: float) -> Settings:
    return Settings.model_validate(
        {
            "otlp": {"listen": "127.0.0.1:0"},
            "metrics": {"listen": "127.0.0.1:0"},
            "ledger": {
                "path": folder / "alerts.sqlite3",
                "commit_interval_s": commit_interval_s,
            },
            "conversation": {"settle_s": 0.05, "quiet_s": 1.0, "idle_s": 0.2},
            "tools": {"files": [tools]},
            "releases": {"baseline_conversations": 200, "intents": ()},
            "alerts": {"alertmanager_url": url},
        }
    )


def _spread(times: Sequence[float]) -> dict[str, float]:
    """p99 is the value that at most one in a hundred exceeds."""
    ordered = sorted(times)
    p99 = ordered[max(-(-99 * len(ordered) // 100) - 1, 0)]
    found = {
        "min": ordered[0],
        "median": statistics.median(ordered),
        "p99": p99,
        "max": ordered[-1],
    }
    return {"n": len(ordered), **{name: round(value, 4) for name, value in found.items()}}
