"""Recall and precision on labelled texts of many languages.

The rules were written against the first set. The second was written after them and never looked
at, so its figures are those to expect of texts from elsewhere.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from adapters.redaction.redactor import Redactor

DATA = Path(__file__).parent / "data"
PROSE = {"SECRET"}  # a password in running text has no form of its own


class Figures(NamedTuple):
    expected: Counter[str]
    found: Counter[str]
    false: Counter[str]

    def recall(self, *, without: set[str] = frozenset()) -> float:  # type: ignore[assignment]
        kinds = set(self.expected) - without
        return sum(self.found[k] for k in kinds) / sum(self.expected[k] for k in kinds)

    def precision(self) -> float:
        return self.found.total() / (self.found.total() + self.false.total())


def measured(name: str) -> Figures:
    redactor = Redactor(b"k" * 32)
    figures = Figures(Counter(), Counter(), Counter())
    for line in (DATA / name).read_text().splitlines():
        row = json.loads(line)
        clean = redactor.text(row["text"])
        found = Counter(re.findall(r"<([A-Z_]+):[0-9a-f]{6}>", clean))
        expected = Counter(kind for kind, _ in row["expected"])
        gone = all(value not in clean for _, value in row["expected"])
        figures.expected.update(expected)
        figures.found.update(found & expected if gone else {})
        figures.false.update(found - expected)
    return figures


def test_the_sets_are_large_and_speak_many_languages():
    rows = [json.loads(line) for line in (DATA / "redaction_set.jsonl").read_text().splitlines()]
    assert len(rows) >= 600
    assert len({row["language"] for row in rows}) >= 10
    assert sum(not row["expected"] for row in rows) >= 200


def test_the_set_that_the_rules_were_written_against():
    figures = measured("redaction_set.jsonl")
    assert figures.recall() >= 0.99
    assert figures.precision() >= 0.95


def test_the_set_that_was_never_looked_at():
    figures = measured("redaction_set_unseen.jsonl")
    assert figures.recall(without=PROSE) >= 0.99
    assert figures.recall() >= 0.95
    assert figures.precision() >= 0.95
