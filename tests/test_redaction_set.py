"""Recall and precision on labelled texts of many languages.

The rules were written against the first set. The second was written after them and never looked
at, so its figures are those to expect of texts from elsewhere. The sets of wordings ask for
passwords in sentences of 28 languages, keys of named providers and fields; the rules were widened
on the one, and the other was written last and read once.

The third and fourth ask for headers, connection strings, cookies, commands and configurations as
well. On first look 95.1 % of the third's values went, with a precision of 99.4 %, and 93.7 % and
98.0 % of the fourth's after the third's misses were mended; all but secrets: 98.1 and 98.5 %.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

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


def told(name: str) -> Figures:
    """The same by what is gone, whatever the placeholder calls it."""
    redactor = Redactor(b"k" * 32)
    figures = Figures(Counter(), Counter(), Counter())
    for line in (DATA / name).read_text().splitlines():
        row = json.loads(line)
        clean = redactor.text(row["text"])
        left = re.sub(r"<[A-Z_]+:[0-9a-f]{6}>", "\0", clean)
        found = Counter(kind for kind, value in row["expected"] if _is_gone(value, left))
        figures.expected.update(kind for kind, _ in row["expected"])
        figures.found.update(found)
        spoilt = sum(word not in clean for word in row["kept"])
        figures.false["FALSE"] += max(0, left.count("\0") - found.total()) + spoilt
    return figures


def _is_gone(value: str, left: str) -> bool:
    half = max(4, len(value) // 2)
    return value not in left and value[:half] not in left and value[-half:] not in left


def test_the_wordings_that_the_rules_were_widened_on():
    rows = [
        json.loads(line)
        for line in (DATA / "redaction_set_wordings.jsonl").read_text().splitlines()
    ]
    assert len({row["language"] for row in rows}) >= 12
    assert sum(kind == "SECRET" for row in rows for kind, _ in row["expected"]) >= 700
    figures = told("redaction_set_wordings.jsonl")
    assert figures.recall() >= 0.99
    assert figures.precision() >= 0.95


def test_the_wordings_that_were_read_once():
    figures = told("redaction_set_wordings_unseen.jsonl")
    assert figures.recall() >= 0.99
    assert figures.precision() >= 0.95


@pytest.mark.parametrize("name", ["redaction_set_third.jsonl", "redaction_set_fourth.jsonl"])
def test_the_sets_of_headers_commands_and_configurations(name: str):
    figures = measured(name)
    assert figures.recall(without=PROSE) >= 0.99
    assert figures.recall() >= 0.95
    assert figures.precision() >= 0.95


@pytest.mark.parametrize(
    "text",
    [
        "Password policy changed in v2.3.1 for all 250 users",
        "your password must have 8-12 characters and 1 digit",
        "I reset my password on iPhone15 yesterday",
        "my password for order SO-48213 does not work",
        "wrong password on windows11, error 0x80070005",
        "password hash uses sha256 and argon2id",
        "la clave del producto es AB1234",
        "κωδικός προϊόντος AB-1234-XL",
        "the password-protected file report2024.pdf",
        "confirm password, step2 of 3",
        "set a password. Flight LH1234 leaves at 9am",
        "密码错误，订单A12345678",
        "login page https://shop.example.com/login?x=1 does not load",
        "The password for wifi network Guest2024 is wrong",
        "user password updated_at 2026-11-03T10:32:15Z",
        "my login failed at 10:32 / 11:45",
        "otp 2 of 5 received",
    ],
)
def test_what_else_a_password_is_spoken_of_with_stays(text):
    assert Redactor(b"k" * 32).text(text) == text
