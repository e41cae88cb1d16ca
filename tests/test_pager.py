"""Pages told to Alertmanager: begun, repeated, ended, and over a restart."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from monitor.alerting.pages import Alert, Policy
from monitor.errors import BackendUnavailable
from monitor.ledger.snapshot import Totals
from monitor.releases.standing import Shown, Standing
from monitor.roles.pager import RETRY_S, Pager

OLD, NEW = "1@atlas", "2@atlas"
THRESHOLDS = {"total": 2.3, "drift": 6.8}
LABELS = {
    "alertname": "AgentCorrectnessRegression",
    "severity": "page",
    "job": "agent-monitor",
    "release": NEW,
    "baseline_release": OLD,
}
TOTALS = Totals(
    counters={
        "at_risk": {(OLD, "1"): 600, (OLD, "2"): 400, (NEW, "1"): 100},
        "failures": {
            (OLD, "1", "tool_mismatch", "root"): 6,
            (OLD, "2", "tool_mismatch", "root"): 4,
            (OLD, "1", "missing_parameters", "root"): 10,
            (NEW, "1", "tool_mismatch", "root"): 1,
            (NEW, "1", "missing_parameters", "root"): 7,
            (NEW, "1", "prior_action_failed", "inherited"): 40,
        },
    },
    releases=(),
    strata=(),
    gauges={},
    spool_rows=0,
    spool_bytes=0,
    sinks={},
)


def standing(total: float = 2.4, effect: float = 0.03, release: str = NEW) -> Standing:
    return Standing(release, OLD, "swap", 0, {"total": total}, (effect, -0.01, 0.07))


def shown(*standings: Standing) -> Shown:
    return Shown(standings, (), THRESHOLDS)


class World:
    """Detectors, a clock, an Alertmanager and a file, all in hand."""

    def __init__(self) -> None:
        self.shown = Shown()
        self.now = 1000.0
        self.told: list[list[Alert]] = []
        self.down = False
        self.kept: bytes | None = None
        self.keeps = 0
        self.full = False

    async def tell(self, alerts: Sequence[Alert]) -> None:
        if self.down:
            raise BackendUnavailable("ClientConnectorError")
        self.told.append(list(alerts))

    async def close(self) -> None:
        """Nothing is open."""

    def read(self) -> bytes | None:
        return self.kept

    def keep(self, position: bytes) -> None:
        if self.full:
            raise OSError(28, "no space")
        self.kept = position
        self.keeps += 1

    def totals(self) -> Totals:
        return TOTALS

    async def pager(self) -> Pager:
        """One that has started, and whose own task does nothing yet."""
        made = Pager(
            self,
            self,
            lambda: self.shown,
            self.totals,
            Policy({"job": "agent-monitor"}, "deploy/runbook.md"),
            lambda: self.now,
        )
        await made.start()
        await made.stop()
        return made

    def spans(self) -> list[list[tuple[str, float, float]]]:
        """What was told: release, start and end."""
        return [[(a.labels["release"], a.starts_s, a.ends_s) for a in each] for each in self.told]


@pytest.fixture
def world() -> World:
    return World()


async def test_evidence_is_told_in_the_words_and_labels_of_the_rule(world):
    pager = await world.pager()
    world.shown = shown(standing())

    await pager.look()

    assert world.told == [
        [
            Alert(
                LABELS,
                {
                    "summary": "Release 2@atlas is less correct than 1@atlas",
                    "description": "Correct turns fell by 3% at an equal mix of requests. What "
                    "rose most: missing_parameters (+6% of turns). Evidence: 10^2.4 to 1.",
                    "runbook_url": "deploy/runbook.md#agentcorrectnessregression",
                },
                1000.0,
                1240.0,
            )
        ]
    ]
    assert pager.counters == {"alerts_told": 1}


@pytest.mark.parametrize(
    "found",
    [
        Shown(),
        shown(),
        shown(standing(total=2.29)),
        shown(standing(effect=0.0099)),
        Shown((standing(),), (), {}),
    ],
)
async def test_what_the_rule_would_not_page_is_not_told(world, found):
    pager = await world.pager()
    world.shown = found
    await pager.look()
    assert (world.told, world.kept) == ([], None)


async def test_an_alert_is_repeated_long_before_it_would_end(world):
    pager = await world.pager()
    world.shown = shown(standing())
    for _ in range(121):
        await pager.look()
        world.now += 1.0
    assert world.spans() == [[(NEW, 1000.0, at + 240.0)] for at in (1000.0, 1060.0, 1120.0)]
    assert world.keeps == 1


async def test_an_alert_goes_on_while_its_evidence_stands(world):
    pager = await world.pager()
    world.shown = shown(standing())
    await pager.look()
    world.shown = shown(standing(effect=0.001))
    world.now += 60.0
    await pager.look()
    assert world.spans()[1] == [(NEW, 1000.0, 1300.0)]


async def test_cleared_evidence_ends_the_alert_once(world):
    pager = await world.pager()
    world.shown = shown(standing())
    await pager.look()
    world.shown = shown()
    world.now += 5.0
    for _ in range(3):
        await pager.look()
        world.now += 100.0
    assert world.spans()[1:] == [[(NEW, 1000.0, 1005.0)]]


async def test_two_releases_are_two_alerts(world):
    pager = await world.pager()
    world.shown = shown(standing(), standing(release="3@atlas"))
    await pager.look()
    world.shown = shown(standing(release="3@atlas"))
    world.now += 5.0
    await pager.look()
    assert world.spans() == [
        [(NEW, 1000.0, 1240.0), ("3@atlas", 1000.0, 1240.0)],
        [(NEW, 1000.0, 1005.0)],
    ]


async def test_a_silent_alertmanager_is_tried_again_and_told_everything(world):
    pager = await world.pager()
    world.shown = shown(standing())
    world.down = True
    await pager.look()
    world.now += RETRY_S / 2
    await pager.look()
    world.down = False
    world.now += RETRY_S / 2
    await pager.look()
    assert world.spans() == [[(NEW, 1000.0, 1245.0)]]
    assert pager.counters == {"alerts_failed": 1, "alerts_told": 1}


async def test_an_end_that_could_not_be_told_is_told_later(world):
    pager = await world.pager()
    world.shown = shown(standing())
    await pager.look()
    world.shown, world.down = shown(), True
    world.now += 5.0
    await pager.look()
    world.down = False
    world.now += 100.0
    await pager.look()
    assert world.spans()[1:] == [[(NEW, 1000.0, 1005.0)]]


async def test_an_end_that_nobody_heard_for_long_is_forgotten(world):
    pager = await world.pager()
    world.shown = shown(standing())
    await pager.look()
    world.shown, world.down = shown(), True
    await pager.look()
    world.now += 241.0
    world.down = False
    await pager.look()
    assert len(world.told) == 1
    assert world.kept == b"[]"


async def test_a_restart_goes_on_with_the_same_alert(world):
    world.shown = shown(standing())
    await (await world.pager()).look()
    first = world.told[0][0]
    world.now += 30.0

    await (await world.pager()).look()

    assert world.told[1] == [first._replace(ends_s=1270.0)]


async def test_a_restart_does_not_forget_an_alert_that_is_over_meanwhile(world):
    world.shown = shown(standing())
    await (await world.pager()).look()
    world.shown = shown()
    world.now += 30.0
    after = await world.pager()
    await after.look()
    await after.look()
    assert world.spans()[1:] == [[(NEW, 1000.0, 1030.0)]]
    world.now += 30.0
    await (await world.pager()).look()
    assert len(world.told) == 2


async def test_evidence_that_comes_back_is_a_new_alert(world):
    pager = await world.pager()
    for found in (shown(standing()), shown(), shown(standing())):
        world.shown = found
        await pager.look()
        world.now += 1.0
    assert world.spans() == [
        [(NEW, 1000.0, 1240.0)],
        [(NEW, 1000.0, 1001.0)],
        [(NEW, 1002.0, 1242.0)],
    ]


@pytest.mark.parametrize("kept", [b"", b"{", b"[1]", b'[["a","b",{}]]'])
async def test_a_damaged_file_is_an_empty_one(world, kept):
    world.kept = kept
    world.shown = shown(standing())
    await (await world.pager()).look()
    assert world.spans() == [[(NEW, 1000.0, 1240.0)]]


async def test_a_page_waits_for_no_disk_and_is_kept_once_there_is_room(world):
    pager = await world.pager()
    world.shown, world.full = shown(standing()), True
    with pytest.raises(OSError, match="no space"):
        await pager.look()
    assert world.spans() == [[(NEW, 1000.0, 1240.0)]]
    assert not world.kept

    world.full = False
    await pager.look()

    assert len(world.told) == 1
    assert world.kept is not None
    assert world.keeps == 1


async def test_a_commit_wakes_it(world):
    pager = Pager(
        world, world, lambda: world.shown, world.totals, Policy({}, "r"), lambda: world.now
    )
    heard: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def tell(alerts: Sequence[Alert]) -> None:
        heard.set_result(alerts)

    world.tell = tell
    await pager.start()
    world.shown = shown(standing())
    await asyncio.to_thread(pager.wake)
    (alert,) = await asyncio.wait_for(heard, 10)
    await pager.stop()
    assert alert.labels["release"] == NEW


async def test_after_its_loop_has_closed_nobody_is_woken(world):
    pager = await world.pager()
    loop = asyncio.new_event_loop()
    loop.close()
    pager._loop = loop
    pager.wake()
