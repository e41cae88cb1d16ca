"""How many series there are at most, with every release and comparison that has room."""

from __future__ import annotations

from itertools import product

from building_reports import passed, report, root, unscored
from prometheus_client.parser import text_string_to_metric_families as read_text

from monitor.exposition.collector import Collector
from monitor.exposition.judge_families import Judging
from monitor.exposition.live import Live
from monitor.ledger.database import Database
from monitor.ledger.totals import Ledger, LedgerLimits
from monitor.releases.pairs import SIGNALS
from monitor.releases.standing import Quality, Shown, Standing
from monitor.releases.watch import PAIRS_LIMIT
from monitor.verdict import CHAINS, REASONS, Report


def eight_full_releases() -> list[Report]:
    """Every chain and outcome of seven releases, and of strays that fold to `other`."""
    return [
        report(
            f"{release}-{chain}-{outcome}",
            *(
                make("1", chain=chain, turn_type=kind)
                for make in (passed, root, unscored)
                for kind in ("action", "response")
            ),
            release=f"r{release}@m" if release < 7 else f"stray-{chain}-{outcome}@m",
            chain=chain,
            test_pass=outcome,
            latency_s=3.0,
            started_s=1.0,
        )
        for release, chain, outcome in product(range(8), CHAINS, (True, False, None))
    ]


def every_comparison() -> Shown:
    """As many comparisons as are made at once, with every signal and some reasons selected."""
    names = [f"r{number}@m" for number in range(7)]
    return Shown(
        tuple(
            Standing(
                name,
                "r6@m",
                "canary",
                0,
                dict.fromkeys(SIGNALS, 1.0),
                (0.1, 0.0, 0.2),
                tuple((reason, "1") for reason in REASONS[:3]),
            )
            for name in names[:PAIRS_LIMIT]
        ),
        tuple(Quality(name, (0.9, 0.8, 0.95), 0.5) for name in names),
        {"total": 2.3, "drift": 6.8},
    )


def test_the_catalogue_stays_under_its_ceiling() -> None:
    db = Database.open(":memory:")
    ledger = Ledger(db, LedgerLimits())
    with db.transaction():
        ledger.fold(eight_full_releases())
    bounds = ("grader/turn-3", (0.9, 0.8, 0.95))
    judging = Judging({}, {f"r{n}@m": bounds for n in range(7)}, 1.0, judge="grader/turn-3")
    live = Live(shown=every_comparison(), judging=judging)
    found = Collector(lambda: ledger.totals(db.reader()), lambda: live).render("")[0].decode()

    series = [sample for family in read_text(found) for sample in family.samples]

    assert len(series) <= 2000, len(series)
    assert {sample.labels.get("release") for sample in series} == {
        None,
        "other",
        *(f"r{number}@m" for number in range(7)),
    }
