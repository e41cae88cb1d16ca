"""A ledger small enough to add up by hand, for the tests of exposition."""

from __future__ import annotations

from building_reports import inherited, passed, report, root, unscored

from monitor.exposition.live import LagGauge, Live
from monitor.ledger.database import Database
from monitor.ledger.outbox import Outbox
from monitor.ledger.snapshot import Totals
from monitor.ledger.spool import Spool
from monitor.ledger.totals import Ledger

A = "shop-1@model-a"
B = 'shop "2" \\ müsli@model-b'

REPORTS = (
    report(
        "one",
        passed("1", scores={"structural": 1.0, "completeness": 1.0, "truthfulness": 1.0}),
        passed("2", turn_type="response", basis="gold", scores={"truthfulness": 0.9}),
        latency_s=4.25,
        started_s=1000.5,
    ),
    report(
        "two",
        root("1", scores={"structural": 1.0, "completeness": 0.5}, chain="2"),
        inherited("2", scores={"attribution": 0.0}, chain="2"),
        inherited("3", turn_type="response", basis="gold", chain="2"),
        chain="2",
        latency_s=33.25,
        started_s=2000.0,
    ),
    report(
        "three",
        unscored("1", "content_missing", turn_type="response", chain="0"),
        chain="0",
        latency_s=0.5,
        started_s=3000.0,
    ),
    report("four", passed("1"), release=B, latency_s=400.0, started_s=4000.0),
    report(
        "four",
        root("1", "tool_mismatch", detail="unknown_tool"),
        root("2", "tool_mismatch", detail="unknown_tool"),
        release=B,
        revision=2,
        latency_s=401.0,
        started_s=4000.0,
    ),
)


def shop() -> tuple[Totals, Live]:
    """The totals of the five reports, and a process with two spans still open."""
    db = Database.open(":memory:")
    spool, ledger, outbox = Spool(db), Ledger(db), Outbox(db, ["archive"])
    with db.transaction():
        ledger.fold(REPORTS)
        ledger.count(
            {"accepted": 20, "attached": 13, "duplicate": 2, "late": 1, "dropped:too_old": 2}
        )
        ledger.count({"rejected:body_bytes": 3, "fault:sink": 1})
        ledger.count({"skew": 4, "early:open_turns": 1, "reports:expired": 2})
        spool.append(b"0123456789", 1.0, 2)
        outbox.append(REPORTS)
    lag = LagGauge()
    for lag_s in (0.03, 0.3, 60.0):
        lag.observe(lag_s)
    live = Live(
        open_conversations=1,
        open_turns=1,
        open_spans=2,
        cache_hits=9,
        cache_misses=3,
        lags={"rules": lag.read()},
        counts={"rejected:body_bytes": 1, "fault:store": 2},
        version="0.1.0",
    )
    found = ledger.totals(db.reader())
    db.close()
    return found, live
