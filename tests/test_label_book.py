"""Labels of people in the ledger: counted once, whichever side comes first."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from building_reports import passed, report, root, unscored

from monitor.errors import BackendUnavailable
from monitor.ledger.database import Database
from monitor.ledger.label_book import LabelBook
from monitor.roles.label_reader import LabelReader, LabelSink
from monitor.verdict import HumanLabel

NOW = 1_000.0
DAY = 86_400.0


@pytest.fixture
def db() -> Iterator[Database]:
    opened = Database.open(":memory:")
    yield opened
    opened.close()


def book_over(
    db: Database, keep_s: float = DAY, waiting: int = 100, conversations: int = 100
) -> LabelBook:
    return LabelBook(db, keep_s, waiting, conversations)


def counted(db: Database, family: str = "label_pairs") -> dict[str, int]:
    rows = db.rows("SELECT labels, value FROM counters WHERE family = ?", (family,))
    return {labels.replace("\x1f", " "): value for labels, value in rows}


def label(label_id: str = "l1", value: float = 1.0, **where: Any) -> HumanLabel:
    return HumanLabel(
        label_id,
        "overall",
        value,
        **{"conversation_id": "c", "turn_no": 1, **where},
    )


def shop() -> Any:
    return report(
        "c",
        passed("a", turn_no=1, trace_id="t1"),
        root("b", turn_no=2, trace_id="t2"),
        unscored("d", turn_no=3),
    )


def test_a_label_after_its_verdict_counts_at_once(db: Database):
    book = book_over(db)
    book.keep([shop()], NOW)

    assert book.offer([label(), label("l2", turn_no=2)], NOW) == 2
    assert counted(db) == {"overall pass pass": 1, "overall fail pass": 1}


def test_a_label_before_its_verdict_waits_for_it(db: Database):
    book = book_over(db)
    traced = label("l2", conversation_id=None, turn_no=None, trace_id="t2", value=0.0)

    assert book.offer([label(), traced], NOW) == 0
    assert book.keep([shop()], NOW) == 2
    assert counted(db) == {"overall pass pass": 1, "overall fail fail": 1}


def test_a_label_counts_once_however_often_it_is_read(db: Database):
    book = book_over(db)
    book.keep([shop()], NOW)
    book.offer([label()], NOW)

    again = book.offer([label(), label(value=0.0)], NOW) + book.keep([shop()], NOW)

    assert again == 0
    assert counted(db) == {"overall pass pass": 1}


def test_a_label_of_an_unscored_turn_waits_for_a_revision_that_scores_it(db: Database):
    book = book_over(db)
    book.keep([shop()], NOW)
    assert book.offer([label(turn_no=3)], NOW) == 0

    book.keep([report("c", passed("d", turn_no=3), revision=2)], NOW)

    assert counted(db) == {"overall pass pass": 1}


def test_what_can_no_longer_be_labelled_is_forgotten(db: Database):
    book = book_over(db, keep_s=10.0)
    book.keep([shop()], NOW)

    book.offer([], NOW + 11)

    assert db.rows("SELECT count(*) FROM judged") == [(0,)]
    assert db.rows("SELECT count(*) FROM judged_traces") == [(0,)]


def test_waiting_labels_have_a_limit_that_is_counted(db: Database):
    book = book_over(db, waiting=2)

    book.offer([label(f"l{n}", conversation_id=f"c{n}") for n in range(5)], NOW)

    assert db.rows("SELECT count(*) FROM human_labels") == [(2,)]
    assert counted(db, "counts") == {"labels_dropped": 3}


def test_conversations_that_can_be_labelled_have_a_limit(db: Database):
    book = book_over(db, conversations=2)
    for number in range(4):
        name = f"c{number}"
        book.keep([report(name, passed(name, trace_id=f"t{number}"))], NOW + number * 61)

    assert db.rows("SELECT count(*) FROM judged") == [(2,)]
    assert db.rows("SELECT trace_id FROM judged_traces ORDER BY trace_id") == [("t2",), ("t3",)]


def test_a_damaged_row_costs_itself_only(db: Database):
    book = book_over(db)
    book.offer([label()], NOW)
    db.execute("UPDATE human_labels SET label = x'c1'")
    book.keep([shop()], NOW)
    db.execute("UPDATE judged SET turns = x'c1'")

    assert book.offer([label("l2")], NOW) == 0
    assert book.keep([shop()], NOW) == 1


def reader_of(book: LabelBook, *files: Path, annotations: Any = None) -> LabelReader:
    return LabelReader(
        book, files, annotations, rename=str.lower, clock=lambda: NOW, interval_s=60, keep_s=DAY
    )


def test_a_file_is_read_when_it_changed_and_its_bad_lines_count_once(db: Database, tmp_path: Path):
    book = book_over(db)
    LabelSink(book, lambda: NOW).write([shop()])
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps({"conversation_id": "C", "turn_no": 1, "label": 0}) + "\nnonsense\n")
    reader = reader_of(book, path, tmp_path / "absent.jsonl")

    asyncio.run(reader.look())
    asyncio.run(reader.look())
    with path.open("a") as file:
        file.write(json.dumps({"conversation_id": "c", "turn_no": 2, "label": 0}) + "\n")
    asyncio.run(reader.look())

    assert counted(db) == {"overall pass fail": 1, "overall fail fail": 1}
    assert reader.counters == {"labels_read": 3, "labels_refused": 1, "labels_errors": 3}


def test_annotations_are_read_from_where_the_last_look_ended(db: Database):
    asked: list[float] = []

    async def annotations(since_s: float, told: dict[str, int]) -> AsyncIterator[HumanLabel]:
        asked.append(since_s)
        if len(asked) == 2:
            raise BackendUnavailable("Langfuse does not answer")
        told["no_opinion"] = 1
        yield label()

    book = book_over(db)
    book.keep([shop()], NOW)
    reader = reader_of(book, annotations=annotations)

    for _ in range(3):
        asyncio.run(reader.look())

    assert asked == [NOW - DAY, NOW - 300, NOW - 300]
    assert counted(db) == {"overall pass pass": 1}
    assert reader.counters == {"labels_read": 2, "labels_refused": 2, "labels_errors": 1}
