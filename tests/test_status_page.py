"""The status page: right numbers, nothing that runs, nothing that escapes its cell."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from building_reports import passed, report
from exposed_shop import A, B, shop

from monitor.exposition.live import Live
from monitor.exposition.status import status_page
from monitor.ledger.database import Database
from monitor.ledger.totals import Ledger
from monitor.releases.standing import Shown, Standing

VOID = {"meta", "br", "link"}


class Page(HTMLParser):
    """Tables by caption, and the tags that were seen; fails on tags that do not match up."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self._open: list[str] = []
        self._caption = ""
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name == "href"]
        if tag not in VOID:
            self._open.append(tag)
        if tag == "tr":
            self.tables[self._caption].append([])
        if tag in ("td", "th"):
            self.tables[self._caption][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "caption":
            self._caption = data
            self.tables[data] = []
        if self._open and self._open[-1] in ("td", "th"):
            self.tables[self._caption][-1][-1] += data


def test_the_page_shows_the_numbers_worked_out_by_hand() -> None:
    page = Page(status_page(*shop()).decode())

    assert page.tables["Correctness by release"][1:] == [
        # closed, turns, correct of scored, roots, inherited, roots per turn at risk
        [A, "3", "6", "40.0 %", "1", "2", "33.3 %"],
        [B, "1", "2", "50.0 %", "1", "0", "50.0 %"],
    ]
    assert page.tables["Failed turns by reason"] == [
        ["Reason", A, B],
        ["tool_mismatch", "0", "1"],
        ["missing_parameters", "1", "0"],
        ["prior_action_failed", "2", "0"],
    ]
    assert page.tables["Coverage"][1:] == [
        [A, "83.3 %", "2", "3", "0", "0", "1", "content_missing 1"],
        [B, "100.0 %", "0", "2", "0", "0", "0", ""],
    ]
    assert page.tables["Spans accepted: 20"][1:] == [
        ["attached", "13"],
        ["duplicate", "2"],
        ["late", "1"],
        ["dropped: too_old", "2"],
        ["dead-lettered", "0"],
        ["open", "2"],
    ]
    assert page.links == ["/metrics", "/healthz", "/readyz"]
    assert "not accounted for" not in status_page(*shop()).decode()


def test_what_is_not_accounted_for_is_said() -> None:
    totals, _ = shop()

    assert "+2 not accounted for" in status_page(totals, Live()).decode()


def test_an_empty_ledger_has_a_page_and_no_made_up_rates() -> None:
    db = Database.open(":memory:")
    html = status_page(Ledger(db).totals(db.reader()), Live()).decode()

    assert "No turn has been scored yet." in html
    assert "%" not in re.sub(r"<style>.*</style>", "", html)


def test_hostile_names_stay_in_their_cell() -> None:
    name = "<script>alert(1)</script><img src=x onerror=y>\"'&amp;"
    db = Database.open(":memory:")
    ledger = Ledger(db)
    with db.transaction():
        ledger.fold([report("c", passed("1"), release=name)])
        ledger.count({f"dropped:{name}": 1})

    page = Page(status_page(ledger.totals(db.reader()), Live(version="<b>")).decode())

    assert page.tables["Correctness by release"][1][0] == name
    assert page.tags & {"script", "img", "b", "iframe", "link"} == set()


def test_a_source_that_refuses_is_named_and_escaped() -> None:
    totals, _ = shop()
    live = Live(source_faults={"langfuse/poll": "answered <401>", "langfuse/blob": None})
    html = status_page(totals, live).decode()
    assert "langfuse/poll cannot be read: answered &lt;401&gt;" in html
    assert "langfuse/blob" not in html


def test_comparisons_tell_the_evidence_or_how_much_is_missing() -> None:
    shown = Shown(
        (
            Standing(B, A, "swap", 240),
            Standing(
                "new",
                A,
                "canary",
                0,
                {"total": 3.25},
                (0.052, 0.01, 0.09),
                (("tool_mismatch", "2"),),
            ),
            Standing("third", A, "swap", 0, {"total": 0.4}),
        ),
        thresholds={"total": 2.3},
    )
    page = Page(status_page(shop()[0], Live(shown=shown)).decode())

    assert page.tables["Releases compared"][1:] == [
        [B, f"{A} (swap)", "not known", "not enough data: 240 more turns", "none"],
        [
            "new",
            f"{A} (canary)",
            "+5.2 points (+1.0 to +9.0)",
            "e = 10^3.2, pages",
            "tool_mismatch (chain 2)",
        ],
        ["third", f"{A} (swap)", "not known", "e = 10^0.4", "none"],
    ]


def test_an_upgrade_hides_no_page_and_says_that_comparisons_began_anew() -> None:
    kept = Standing(B, A, "swap", 9000, {"total": 3.25})
    shown = Shown((kept,), (), {"total": 2.3}, evaluators_replaced=1)

    page = Page(status_page(shop()[0], Live(shown=shown)).decode())

    title = "Releases compared (begun anew by changed rules of verdicts: 1)"
    assert page.tables[title][1][3] == "e = 10^3.2, pages"
