"""The operator's own patterns, and the time that any pattern may take."""

from __future__ import annotations

import time

import pytest

from adapters.redaction.redactor import Redactor
from monitor.errors import ConfigurationError

KEY = b"k" * 32
LENGTH = 100_000


def redactor(pattern: str, label: str = "STAFF") -> Redactor:
    return Redactor(KEY, patterns={label: pattern})


def test_an_own_pattern_is_taken_out_before_all_others():
    clean = redactor(r"EMP-\d{4,8}|crew@[a-z]{1,20}\.example").text("EMP-12345, crew@sea.example")
    assert clean.count("<STAFF:") == 2
    assert "EMAIL" not in clean


def test_a_short_match_of_an_own_pattern_counts_too():
    assert redactor(r"\bX\d\b").text("X1").startswith("<STAFF:")


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"(a+)+b", "every repeat needs an end"),
        (r"\d*", "every repeat needs an end"),
        (r"(a{1,9}){1,9}b", "a repeat within a repeat"),
        (r"(a|aa){2,9}b", "a choice within one"),
        (r"a{1,60}a{1,60}a{1,60}b", "can share a text out in 216000 ways"),
        (r"(\w)\1", "back references"),
        (r"a?", "matches an empty text"),
        (r"(", "is no regular expression"),
        ("a" * 300, "longer than 256"),
    ],
)
def test_a_pattern_that_could_take_long_is_refused_with_the_reason(pattern, why):
    with pytest.raises(ConfigurationError, match=why) as refused:
        redactor(pattern)
    assert "redaction pattern 'STAFF'" in str(refused.value)


@pytest.mark.parametrize("label", ["EMAIL", "staff", "S", "STAFF1"])
def test_a_label_that_is_taken_or_no_word_is_refused(label):
    with pytest.raises(ConfigurationError, match="2 to 16 capitals"):
        redactor("x", label)


@pytest.mark.parametrize(
    "unit",
    [
        "a", "1", "1 ", "4111 ", "@", "a@", "a@b.", "255.", ":", "1:", "::1", "+", "+1 ", "(1", "-",
        "eyJhbGciOiJIUzI1NiJ9.", "sk-", "-----BEGIN A-----", "password:", 'password: "a', "token ",
        "api_key=", "://a:", "://a:b@", "authorization:", "bearer ", "DE89 ", "AB 12 34 56 ", "\\",
        "\\u0031", "1\u200b", "１", "电话", "phone ", "a (at) b (dot) ", "ABCDEF12", "00",
        "1/1/2024 ", "a%40", "<EMAIL:7f3a2c>", "123-45-6789 ", "order 4111111111111111 ",
        "+49 30 1234567 ", "anna@example.com ", "11010519491231002X ",
    ],
)  # fmt: skip
def test_no_text_takes_more_than_time_in_proportion_to_its_length(unit):
    text = (unit * LENGTH)[:LENGTH]

    def seconds(part: str) -> float:
        best = 9.0
        for _ in range(2):
            started = time.process_time()
            Redactor(KEY).text(part)
            best = min(best, time.process_time() - started)
        return best

    # The bound is 0.1 s on an idle machine; what is slower than linear would take minutes.
    assert seconds(text) < 1
