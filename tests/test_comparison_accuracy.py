"""The comparator on labelled pairs of real values: tool arguments and short answers."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter

import pytest

from monitor.backends.wordllama import WordLlamaEncoder
from monitor.comparison import CachedEncoder, Ladder
from monitor.ports import Hint


def hint_of(kind, context):
    if kind == "qa":
        return Hint(query=context.get("question"))
    named = {"type": context.get("type"), "enum": context.get("enum")}
    schema = {key: value for key, value in named.items() if value}
    return Hint(context.get("param"), None, schema or None, context.get("query"))


@pytest.fixture(scope="module")
def outcomes(shared_data):
    ladder = Ladder(encoder=CachedEncoder(WordLlamaEncoder()))
    path = shared_data / "equivalence" / "dev.tsv.gz"
    found: dict[str, Counter[str]] = {}
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            hint = hint_of(row["kind"], json.loads(row["ctx"]))
            score = ladder.compare(json.loads(row["gold"]), json.loads(row["pred"]), hint).score
            same = row["label"] == "1"
            says = "unsure" if score is None else "right" if (score >= 0.5) == same else "wrong"
            for group in (row["kind"], row["source"]):
                counts = found.setdefault(group, Counter())
                counts[says] += 1
                counts["false equal"] += says == "wrong" and not same
    return found


def test_arguments_are_judged_right(outcomes):
    counts = outcomes["arg"]
    pairs = counts["right"] + counts["wrong"] + counts["unsure"]
    assert counts["right"] / pairs >= 0.965
    assert (counts["right"] + counts["wrong"]) / pairs >= 0.975
    assert counts["right"] / (counts["right"] + counts["wrong"]) >= 0.98


def test_values_of_other_tasks_are_never_called_equal(outcomes):
    assert outcomes["tau-gold"]["false equal"] == 0
    assert outcomes["tau-airline-gpt4o"]["wrong"] == 0


def test_short_answers_are_judged_better_than_by_a_cosine(outcomes):
    counts = outcomes["qa"]
    assert counts["right"] / (counts["right"] + counts["wrong"]) >= 0.89
