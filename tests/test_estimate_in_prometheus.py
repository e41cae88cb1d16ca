"""PromQL over the four counters says what the code says of the same window."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from building_reports import passed, report, unscored
from prometheus_server import Sample, filled, serving
from rules_shipped import rules
from test_estimating import JUDGE, RELEASE, Folding

from monitor.exposition.collector import TEXT_TYPE, Collector
from monitor.exposition.judge_families import Judging
from monitor.exposition.live import Live
from monitor.releases.estimate import Sums
from monitor.verdict import CHAINS, Outcome, Report, SampledTurn
from monitor.verdict import Sample as Draw

RECORD = "release:agent_monitor_correctness_corrected:ratio_rate1h"
START_S, MINUTES, PER_MINUTE = 1_764_500_000, 180, 4


def conversation(rng: random.Random, number: int) -> Iterator[Report]:
    """Some turns by rule, some unscored; a third is drawn, by its doubt, and then judged."""
    chain = rng.choice(CHAINS)
    turns = tuple(
        rng.choice((passed, unscored))(f"{number}.{n}", chain=chain)
        for n in range(rng.randint(1, 6))
    )
    chance = rng.choice((0.2, 0.5))
    if rng.random() >= chance:
        yield report(f"c{number}", *turns, chain=chain)
        return
    cells = ["unscored" if t.verdict == "unscored" else "contract:pass" for t in turns]
    opinions: tuple[Outcome, ...] = ("pass", "pass", "fail", "unscored")
    for said, judge in ((None, None), (opinions, JUDGE)):
        sampled = tuple(
            SampledTurn(turn.turn_id, cell, rng.choice(said) if said else None)
            for turn, cell in zip(turns, cells, strict=True)
        )
        draw = Draw(chance, "active-1", sampled, judge)
        yield report(f"c{number}", *turns, chain=chain, revision=2 if judge else 1, sample=draw)


def page_of(host: Folding) -> list[tuple[str, str]]:
    """The series of the estimate, as a scrape finds them."""
    reader = host.db.reader()
    live = Live(judging=Judging(judge=JUDGE))
    page, _ = Collector(lambda: host.ledger.totals(reader), lambda: live).render(TEXT_TYPE)
    lines = [line.rpartition(" ") for line in page.decode().splitlines()]
    return [(name, value) for name, _, value in lines if name.startswith("agent_monitor_") and (
        "_correct_turns_total" in name or "_estimated_turns_total" in name
    )]  # fmt: skip


def plain(later: Sums, earlier: Sums) -> float:
    """The estimate before tuning, of what lies between."""
    turns, judged, helped = (getattr(later, n) - getattr(earlier, n) for n in "lyg")
    return (judged + helped) / turns


@pytest.fixture(scope="module")
def played(
    tmp_path_factory: pytest.TempPathFactory, require_tool: Callable[[str], str]
) -> tuple[Path, list[Sums]]:
    """A page for each minute in a Prometheus's folder, and the code's sums at the same moments."""
    folder, rng, host = tmp_path_factory.mktemp("estimated"), random.Random(5), Folding()
    samples, sums = [], []
    for minute in range(MINUTES + 1):
        if minute:
            for number in range(PER_MINUTE):
                host.take(*conversation(rng, minute * PER_MINUTE + number))
        sums.append(host.sums())
        for name, value in page_of(host):
            series = name.replace("{", '{job="j",', 1)
            samples.append(Sample(series, value, START_S + 60 * minute))
    filled(require_tool("promtool"), folder, samples)
    return folder, sums


def test_the_rule_gives_the_codes_estimate_of_any_window(
    played: tuple[Path, list[Sums]], require_tool: Callable[[str], str]
) -> None:
    folder, sums = played
    (rule,) = [each["expr"] for each in rules() if each.get("record") == RECORD]
    with serving(require_tool("prometheus"), folder) as server:
        for hours, end in ((1, 70), (1, 120), (2, 180)):
            asked = rule.replace("[1h]", f"[{hours}h]")
            (found,) = server.instant(asked, START_S + 60 * end)
            assert found["metric"] == {"job": "j", "release": RELEASE}
            expected = plain(sums[end], sums[end - 60 * hours])
            assert float(found["value"][1]) == pytest.approx(expected, abs=1e-6)
            assert 0.5 < expected < 1.0
