"""The metrics page: every number, both formats, and what hostile text does to it."""

from __future__ import annotations

import os
import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest
from building_reports import passed, report
from exposed_shop import A, B, shop
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_text

from monitor.errors import LedgerError
from monitor.exposition import catalogue
from monitor.exposition.balance import span_balance, turn_balance
from monitor.exposition.collector import Collector, prefers_openmetrics
from monitor.exposition.live import Lag, LagGauge, Live
from monitor.ledger.database import Database
from monitor.ledger.totals import Ledger, LedgerLimits
from monitor.verdict import CHAINS, REASONS, UNSCORED_WHYS

GOLDEN = Path(__file__).parent / "data" / "exposition.txt"
OPENMETRICS = "application/openmetrics-text;version=1.0.0"
PROMETHEUS_242 = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)
PROMETHEUS_3 = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "application/openmetrics-text;version=0.0.1;q=0.5,"
    "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)

Key = tuple[str, tuple[tuple[str, str], ...]]
Samples = dict[Key, float]


def page(accept: str = "") -> str:
    totals, live = shop()
    return Collector(lambda: totals, lambda: live).render(accept)[0].decode()


def samples(text: str) -> Samples:
    read = read_openmetrics if text.endswith("# EOF\n") else read_text
    found: Samples = {}
    for family in read(text):
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert key not in found
            found[key] = sample.value
    return found


def key(name: str, **labels: str) -> Key:
    named = {label.rstrip("_"): value for label, value in labels.items()}
    return f"agent_monitor_{name}", tuple(sorted(named.items()))


def turns(release: str, chain: str, turn_type: str, verdict: str) -> Key:
    return key("turns_total", release=release, chain=chain, turn_type=turn_type, verdict=verdict)


def latency(suffix: str, release: str, chain: str, outcome: str, **le: str) -> Key:
    name = f"conversation_latency_seconds_{suffix}"
    return key(name, release=release, chain=chain, outcome=outcome, **le)


def buckets(release: str, chain: str, outcome: str, first: str) -> Samples:
    """A histogram's buckets that hold its one observation."""
    bounds = catalogue.BUCKETS[catalogue.BUCKETS.index(first) :]
    found = {latency("bucket", release, chain, outcome, le=bound): 1.0 for bound in bounds}
    return found | {latency("count", release, chain, outcome): 1.0}


BY_HAND: Samples = {
    turns(A, "1", "action", "pass"): 1,
    turns(A, "1", "response", "pass"): 1,
    turns(A, "2", "action", "root_fail"): 1,
    turns(A, "2", "action", "cascade_fail"): 1,
    turns(A, "2", "response", "cascade_fail"): 1,
    turns(A, "0", "response", "unscored"): 1,
    turns(B, "1", "action", "pass"): 1,  # its first verdict; the correction stands below
    turns(B, "1", "action", "root_fail"): 1,
    key("at_risk_turns_total", release=A, chain="1"): 2,
    key("at_risk_turns_total", release=A, chain="2"): 1,
    key("at_risk_turns_total", release=B, chain="1"): 2,
    key("failures_total", release=A, chain="2", reason="missing_parameters", attribution="root"): 1,
    key(
        "failures_total",
        release=A,
        chain="2",
        reason="prior_action_failed",
        attribution="inherited",
    ): 2,
    key("failures_total", release=B, chain="1", reason="tool_mismatch", attribution="root"): 1,
    key("failure_details_total", release=B, reason="tool_mismatch", detail="unknown_tool"): 1,
    key("conversations_total", release=A, chain="1", outcome="pass"): 1,
    key("conversations_total", release=A, chain="2", outcome="fail"): 1,
    key("conversations_total", release=A, chain="0", outcome="unscored"): 1,
    key("conversations_total", release=B, chain="1", outcome="pass"): 1,
    key("scored_turns_total", release=A, basis="contract"): 3,
    key("scored_turns_total", release=A, basis="gold"): 2,
    key("scored_turns_total", release=B, basis="contract"): 2,
    key("unscored_turns_total", release=A, why="content_missing"): 1,
    key("sub_metric_turns_total", release=A, sub_metric="structural"): 2,
    key("sub_metric_turns_total", release=A, sub_metric="completeness"): 2,
    key("sub_metric_turns_total", release=A, sub_metric="truthfulness"): 2,
    key("sub_metric_turns_total", release=A, sub_metric="attribution"): 1,
    key("sub_metric_score_total", release=A, sub_metric="structural"): 2.0,
    key("sub_metric_score_total", release=A, sub_metric="completeness"): 1.5,
    key("sub_metric_score_total", release=A, sub_metric="truthfulness"): 1.9,
    **buckets(A, "1", "pass", "5.0"),  # 4.25 s
    latency("sum", A, "1", "pass"): 4.25,
    **buckets(A, "2", "fail", "80.0"),  # 33.25 s
    latency("sum", A, "2", "fail"): 33.25,
    **buckets(B, "1", "pass", "+Inf"),  # 400 s
    latency("sum", B, "1", "pass"): 400.0,
    key("release_info", release=A, model="model-a"): 1,
    key("release_info", release=B, model="model-b"): 1,
    key("release_first_seen_timestamp_seconds", release=A): 1000.5,
    key("release_first_seen_timestamp_seconds", release=B): 4000.0,
    key("corrections_total", from_="pass", to="root_fail"): 1,
    key("spans_total", outcome="accepted"): 20,
    key("spans_total", outcome="attached"): 13,
    key("spans_total", outcome="duplicate"): 2,
    key("spans_total", outcome="late"): 1,
    key("spans_total", outcome="dropped"): 2,
    key("dropped_spans_total", why="too_old"): 2,
    key("rejected_payloads_total", why="body_bytes"): 4,  # 3 in the ledger, 1 in the process
    key("expired_reports_total"): 2,
    key("events_total", event="skew"): 4,
    key("events_total", event="early:open_turns"): 1,
    key("faults_total", fault="sink"): 1,
    key("faults_total", fault="store"): 2,
    key("open_conversations"): 1,
    key("open_turns"): 1,
    key("open_spans"): 2,
    key("spool_rows"): 1,
    key("spool_bytes"): 10,
    key("sink_pending_reports", sink="archive"): 5,
    key("embedding_cache_lookups_total", result="hit"): 9,
    key("embedding_cache_lookups_total", result="miss"): 3,
    key("scoring_lag_seconds_bucket", stage="rules", le="0.05"): 1,
    key("scoring_lag_seconds_bucket", stage="rules", le="0.1"): 1,
    key("scoring_lag_seconds_bucket", stage="rules", le="0.25"): 1,
    key("scoring_lag_seconds_bucket", stage="rules", le="0.5"): 2,
    key("scoring_lag_seconds_bucket", stage="rules", le="1.0"): 2,
    key("scoring_lag_seconds_bucket", stage="rules", le="2.5"): 2,
    key("scoring_lag_seconds_bucket", stage="rules", le="5.0"): 2,
    key("scoring_lag_seconds_bucket", stage="rules", le="10.0"): 2,
    key("scoring_lag_seconds_bucket", stage="rules", le="30.0"): 2,
    key("scoring_lag_seconds_bucket", stage="rules", le="+Inf"): 3,
    key("scoring_lag_seconds_count", stage="rules"): 3,
    key("scoring_lag_seconds_sum", stage="rules"): 60.33,
    key("build_info", version="0.1.0"): 1,
}


@pytest.mark.parametrize("accept", ["", OPENMETRICS], ids=["text", "openmetrics"])
def test_every_number_on_the_page_is_the_one_worked_out_by_hand(accept: str) -> None:
    found = {name: value for name, value in samples(page(accept)).items() if value}

    assert found == BY_HAND


def test_the_page_is_the_golden_one() -> None:
    text = page()
    if os.environ.get("REWRITE_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8")

    assert text == GOLDEN.read_text(encoding="utf-8")


def test_both_formats_say_the_same() -> None:
    assert samples(page()) == samples(page(OPENMETRICS))


def test_every_series_of_a_release_stands_at_zero_from_the_start() -> None:
    db = Database.open(":memory:")
    ledger = Ledger(db)
    with db.transaction():
        ledger.declare("new@model", "model")
    found = Collector(lambda: ledger.totals(db.reader()), Live).render("")[0].decode()

    series = samples(found)

    for chain, reason in product(CHAINS, REASONS):
        attribution = "inherited" if reason == "prior_action_failed" else "root"
        name = key(
            "failures_total",
            release="new@model",
            chain=chain,
            reason=reason,
            attribution=attribution,
        )
        assert series[name] == 0
    for chain, kind, verdict in product(CHAINS, ("action", "response"), catalogue.VERDICTS):
        assert series[turns("new@model", chain, kind, verdict)] == 0
    for why in UNSCORED_WHYS:
        assert series[key("unscored_turns_total", release="new@model", why=why)] == 0
    assert series[latency("bucket", "new@model", "3+", "fail", le="+Inf")] == 0
    assert not [name for name, _ in series if name.endswith("_created")]


def test_what_an_alert_takes_the_rate_of_stands_at_zero_before_it_happens() -> None:
    db = Database.open(":memory:")
    ledger = Ledger(db)

    series = samples(Collector(lambda: ledger.totals(db.reader()), Live).render("")[0].decode())

    for why in ("no_agent", "spans_per_trace", "bytes_per_trace", "traces_per_conversation"):
        assert series[key("dropped_spans_total", why=why)] == 0
    assert series[key("spans_total", outcome="dead_lettered")] == 0
    assert series[key("label_overflow_total", label="release")] == 0


def test_a_retired_release_has_no_series() -> None:
    db = Database.open(":memory:")
    ledger = Ledger(db, LedgerLimits(release_ttl_s=10.0, prune_interval_s=0.0))
    with db.transaction():
        ledger.fold([report("c", passed("1"))])
        ledger.prune(100.0)
    with db.transaction():
        ledger.prune(111.0)

    assert A not in Collector(lambda: ledger.totals(db.reader()), Live).render("")[0].decode()


HOSTILE = [
    'quote"in}{side',
    "back\\slash\\",
    "new\nline",
    "carriage\rreturn",
    "nul\x00",
    "right\u202eto left",
    "line\u2028separator",
    "lone\ud800",
    "x" * 10_000,
    "",
    "# EOF",
    "über 模型",
]


@pytest.mark.parametrize("accept", ["", OPENMETRICS], ids=["text", "openmetrics"])
def test_hostile_names_of_releases_and_models_leave_the_page_readable(accept: str) -> None:
    db = Database.open(":memory:")
    ledger = Ledger(db, LedgerLimits(releases=20))
    with db.transaction():
        ledger.fold(
            [
                report(f"c{n}", passed("1"), release=f"{n}{name}", model=name)
                for n, name in enumerate(HOSTILE)
            ]
        )
        ledger.count({f"rejected:{name}": 1 for name in HOSTILE})
    text = Collector(lambda: ledger.totals(db.reader()), Live).render(accept)[0].decode()

    found = samples(text)

    assert sum(
        value for (name, _), value in found.items() if name.endswith("monitor_turns_total")
    ) == len(HOSTILE)
    assert max(len(value) for _, labels in found for _, value in labels) <= 128
    assert [line for line in text.splitlines() if not line.isprintable()] == []


def test_a_ledger_that_cannot_be_read_is_an_error_not_an_empty_page() -> None:
    def broken() -> None:
        raise LedgerError("ledger x: the disk does not answer")

    with pytest.raises(LedgerError):
        Collector(broken, Live).render("")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("", False),
        ("*/*", False),
        ("text/plain", False),
        ("text/html,application/xhtml+xml,*/*;q=0.8", False),
        (PROMETHEUS_242, True),
        (PROMETHEUS_3, True),
        ("Application/OpenMetrics-Text", True),
        ("application/openmetrics-text;version=9.9", False),
        ("application/openmetrics-text;q=0", False),
        ("application/openmetrics-text;q=0.1,text/plain;q=0.9", False),
        ("application/openmetrics-text;q=broken", False),
        (",;,;;q=,", False),
    ],
)
def test_the_format_follows_the_accept_header(accept: str, wanted: bool) -> None:
    assert prefers_openmetrics(accept) is wanted


def test_what_was_open_with_the_commit_is_shown_before_what_is_open_now() -> None:
    db = Database.open(":memory:")
    ledger = Ledger(db)
    with db.transaction():
        ledger.count({"accepted": 7, "attached": 4})
        ledger.set_gauges({"open_spans": 2, "open_turns": 1})
        ledger.set_gauges({"open_spans": 3})
    totals, live = ledger.totals(db.reader()), Live(open_spans=99, open_conversations=5)

    found = samples(Collector(lambda: totals, lambda: live).render("")[0].decode())

    assert found[key("open_spans")] == 3
    assert found[key("open_turns")] == 1
    assert found[key("open_conversations")] == 5
    assert span_balance(totals, live).holds


def test_a_lag_falls_into_the_bucket_that_bounds_it() -> None:
    lag = LagGauge()
    for lag_s in (-1.0, 0.05, 0.06, 30.0, 31.0):
        lag.observe(lag_s)

    assert lag.read() == Lag(buckets=(2, 1, 0, 0, 0, 0, 0, 0, 1, 1), sum_s=61.11)


def test_the_content_type_says_which_format_it_is() -> None:
    totals, live = shop()
    collector = Collector(lambda: totals, lambda: live)

    assert collector.render("")[1] == "text/plain; version=0.0.4; charset=utf-8"
    assert collector.render(PROMETHEUS_242)[1] == (
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    )


def test_both_ledger_equations_hold_and_tell_what_is_missing() -> None:
    totals, live = shop()

    assert span_balance(totals, live).holds
    assert turn_balance(totals, live).terms == (
        ("pass", 3),
        ("fail", 4),
        ("unscored: content_missing", 1),
        ("open", 1),
    )
    assert turn_balance(totals, live).holds
    assert span_balance(totals, Live(open_spans=1)).difference == 1


def test_promtool_finds_nothing_to_say() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        if os.environ.get("CI") == "true":
            pytest.fail("promtool is not installed")
        pytest.skip("promtool is not installed")
    checked = subprocess.run(
        [promtool, "check", "metrics"],
        input=page().encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")
