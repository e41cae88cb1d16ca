"""The comparator's answers on the values where a careless comparison goes wrong."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from comparator_conformance import ComparatorConformance

from monitor.backends.wordllama import WordLlamaEncoder
from monitor.comparison import CachedEncoder, Ladder
from monitor.errors import BackendUnavailable
from monitor.model import JsonValue
from monitor.ports import Hint
from monitor.verdict import Similarity

X = Hint("x")


class FailingEncoder:
    """Down until it is told otherwise."""

    version = "failing"
    dimensions = 2
    down = True

    def encode(self, texts):
        if self.down:
            raise BackendUnavailable("the encoder is down")
        return np.tile(np.array([1.0, 0.0], dtype=np.float32), (len(texts), 1))


@pytest.fixture(scope="module")
def ladder():
    return Ladder(encoder=CachedEncoder(WordLlamaEncoder()))


class TestLadderWithoutEncoder(ComparatorConformance):
    comparator = Ladder()


class TestLadderWithEncoder(ComparatorConformance):
    comparator = Ladder(encoder=CachedEncoder(WordLlamaEncoder()))


SAME = [
    ("NYC", "New York City", Hint("city")),
    ("NYC", "New York City", X),
    ("Q3 2024 revenue", "third quarter revenue figures for 2024", X),
    ("2025-Q4", "4Q25", Hint("period")),
    ("Boston", "Boston, MA", Hint("location")),
    ("Chicago, IL", "Chicago, Illinois", Hint("location")),
    ("Washington D.C.", "DC", Hint("destination")),
    (5, 5.0, X),
    ("5.0", 5, X),
    (1234, "1,234", X),
    ("242,000", "242k", Hint("amount")),
    (7700, "seven thousand seven hundred", X),
    ("14 kg", "14000 g", X),
    ("21 feet", "252 inches", X),
    ("$197", "197 USD", X),
    ("\u00a318", "18 pounds", X),
    ("cm", "centimeters", Hint("unit")),
    ("square meters", "m^2", Hint("unit")),
    ("EUR", "Euro", Hint("currency")),
    ("38%", "38 percent", X),
    ("50%", 0.5, Hint("tax_rate")),
    ("2024-03-05", "March 5, 2024", X),
    ("2024-03-05", "5 Mar 2024", X),
    ("2024-03-05", "2024-03-05T00:00:00", X),
    ("2019-07-23T21:00:00Z", "2019-07-23T17:00:00-04:00", X),
    ("22:15", "10:15 PM", X),
    ("Mon", "Monday", Hint("day")),
    (True, "true", X),
    ("yes", True, Hint("flag", None, {"type": "boolean"})),
    ("Round Trip", "round_trip", Hint("trip", None, {"enum": ["round_trip", "one_way"]})),
    ("createdAt", "created_at", Hint("sort")),
    ("Mia.Li@mail.com", "mia.li@mail.com", X),
    ("https://www.example.com/x/", "https://example.com/x", X),
    ("+1 (711) 204-2392", "7112042392", Hint("phone")),
    ("#W123456", "W123456", Hint("order_id")),
    (12446, 12446.0, Hint("order_id")),
    ("hello  World!", "Hello world", Hint("text")),
    ("machine learning", "ML", Hint("topic")),
    (["a", "b"], ["b", "a"], Hint("tags")),
    ([2, 1], [1, 2], Hint("x", None, {"uniqueItems": True})),
    ({"a": 1, "b": "2024-03-05"}, {"a": 1.0, "b": "March 5, 2024", "price": 9}, X),
    ('{"a": 1}', {"a": 1}, X),
    ({"a": None}, {}, X),
]
DIFFERENT = [
    ("revenue", "profit", Hint("metric")),
    ("approved", "not approved", Hint("status")),
    ("The order was approved.", "The order was not approved.", Hint()),
    ("buy", "sell", Hint("side")),
    ("2024-01-05", "2024-05-01", X),
    ("Q3 2024", "Q4 2024", X),
    ("$100", "EUR 100", X),
    ("3x**2+2x", "2x**2+3x", X),
    ("3x**2+2x", "2x**2+3x", Hint("function")),
    ("Alice owes Bob", "Bob owes Alice", X),
    ("Alice owes Bob", "Bob owes Alice", Hint()),
    ("14 kg", "14,001 g", X),
    ("25 hours", "1505 minutes", X),
    ("secure_pass123", "securePass123", Hint("password")),
    ("secure_pass123", "securePass123", X),
    ("abc", "ABC", Hint("api_key")),
    ("Report.pdf", "report.pdf", Hint("file_name")),
    ("a/b", "a/B", Hint("path")),
    ("X9K6YV", "9XK6YV", Hint("reservation_id")),
    ("abC12", "abc12", Hint("token_id")),
    ("raj.patel@acme.com", "raj.patel8@acme.com", X),
    ("-5", "5", X),
    ("10%", "-10%", Hint("rate")),
    ("economy", "basic_economy", Hint("cabin")),
    ("JFK", "EWR", Hint("origin")),
    ("San Jose, CA", "San Francisco, CA", Hint("city")),
    ("Portland, OR", "Portland, ME", Hint("city")),
    ("January", "February", Hint("month")),
    ("husband", "wife", Hint("relation")),
    ("Houston", "San Antonio", Hint("city")),
    ([1, 2], [2, 1], X),
    (["a", "b"], ["b", "a"], Hint("steps")),
    (["a"], ["a", "b"], X),
    (["a", "a", "b"], ["a", "b", "b"], X),
    ({"a": 1}, {"a": 2}, X),
    ({"a": 1}, {"b": 1}, X),
    ({"a": 1}, {"a": True}, Hint("x", None, {"properties": {"a": {"type": "integer"}}})),
    (None, "a", X),
    ("", "a", X),
    ("x", {"x": 1}, X),
    ("10:30", "10:30 PM", X),
    ("Paris, France", "Paris, Texas", Hint("city")),
    ("exact", "Exact", Hint("x", "exact")),
]
UNSURE = [
    ("m", "million", X),
    ("5m", "5000000", X),
    ("03/04/2024", "2024-04-03", X),
    ("03/04/2024", "04/03/2024", X),
    ("50%", 0.5, X),
    ("March 3rd", "2024-03-03", X),
    ("next Friday", "2024-03-08", Hint("date")),
    ("CO", "Colorado", X),
    ("SD", "San Diego", Hint("location")),
    ("", None, X),
    (float("nan"), 1.0, X),
    (float("nan"), float("nan"), X),
    ("$100", "100", X),
    ("$100", "100 CAD", X),
]


@pytest.mark.parametrize(("expected", "actual", "hint"), SAME)
def test_values_of_one_meaning_are_the_same(ladder, expected, actual, hint):
    found = ladder.compare(expected, actual, hint)
    assert found.score is not None, found
    assert found.score >= 0.5, found


@pytest.mark.parametrize(("expected", "actual", "hint"), DIFFERENT)
def test_values_of_two_meanings_differ(ladder, expected, actual, hint):
    found = ladder.compare(expected, actual, hint)
    assert found.score is not None, found
    assert found.score < 0.5, found


@pytest.mark.parametrize(("expected", "actual", "hint"), UNSURE)
def test_values_with_two_readings_are_left_open(ladder, expected, actual, hint):
    assert ladder.compare(expected, actual, hint).score is None


def test_m_is_million_where_the_field_holds_money(ladder):
    assert ladder.compare("5m", "5000000", Hint("budget")).score == 1.0


def test_m_is_metre_beside_a_length(ladder):
    assert ladder.compare("5m", "5 metres", X).score == 1.0


def test_the_seed_reply_means_the_same_in_other_words(ladder):
    found = ladder.compare(
        "Which region should the report cover?",
        "Sure, which region would you like the report for?",
        Hint(),
    )
    assert found.why == "embedding"
    assert found.score is not None
    assert found.score >= 0.5


def test_a_short_answer_is_found_in_a_longer_reply(ladder):
    reply = "The average salary for a U.S. Congressman is $174,000 per year."
    assert ladder.compare("$174,000", reply, Hint()).score > 0.5
    assert ladder.compare("$183,000", reply, Hint()).score < 0.5


def test_a_declared_kind_beats_the_field_name(ladder):
    assert ladder.compare("1", "1.0", Hint("order_id", "number")).score == 1.0
    assert ladder.compare("1", "1.0", Hint("amount", "exact")).score == 0.0


def test_equal_values_never_leave_the_first_rung(ladder):
    assert ladder.compare({"a": [1, "x"]}, {"a": [1, "x"]}, X) == (
        ladder.compare("same", "same", X)
    )
    assert ladder.compare("same", "same", X).why == "exact"


def test_true_is_not_one_inside_a_container(ladder):
    hint = Hint("x", None, {"items": {"type": "integer"}})
    assert ladder.compare([1], [True], hint).score == 0.0


def test_an_encoder_that_is_down_leaves_free_text_unsure_and_recovers():
    encoder = FailingEncoder()
    ladder = Ladder(encoder=encoder)
    rung: Any = ladder.rungs[-1]
    texts = ("the parcel arrived late", "delivery was slow today", Hint())
    assert ladder.compare(*texts) == Similarity(None, "encoder: unsure")
    assert rung.unavailable == 1
    encoder.down = False
    assert ladder.compare(*texts).score == 0.5


def test_without_an_encoder_typed_values_and_names_are_still_decided():
    ladder = Ladder()
    assert ladder.compare("5.0", 5, X).score == 1.0
    apart = ladder.compare("alpha beta", "gamma delta", X).score
    assert apart is not None
    assert apart < 0.1
    assert ladder.compare("the parcel came late", "delivery was slow", Hint()).score is None


def test_the_version_names_every_rung_and_the_encoder(ladder):
    for part in ("exact", "typed", "lexical", "residual", "wordllama"):
        assert part in ladder.version


def test_importing_the_comparison_loads_no_encoder():
    code = (
        "import sys, monitor.comparison, monitor.backends.wordllama;"
        "sys.exit('wordllama' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_values_nested_beyond_the_limit_are_left_open(ladder):
    one: JsonValue = 1
    other: JsonValue = 2
    for _ in range(200):
        one, other = [one], [other]
    assert ladder.compare(one, other, X).score is None


@pytest.mark.parametrize(
    "part",
    [
        "a",
        "1",
        "a1",
        "-",
        "a.",
        "a/",
        "'",
        "a@",
        "1,",
        "$",
        "(",
        "q1 ",
        " ",
        ", ",
        "Ab ",
        "a. ",
        "not ",
        "/a",
    ],
)
def test_long_hostile_texts_cost_no_more_than_their_length(ladder, part):
    text = part * (20_000 // len(part))
    for hint in (Hint(), X, Hint("company"), Hint("city"), Hint(query="who is it")):
        assert ladder.compare(text, f"{text}b", hint).why
        assert ladder.compare("Ann", f"{text}b", hint).why
