"""What kind of request a conversation serves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from monitor.backends.wordllama import WordLlamaEncoder
from monitor.errors import BackendUnavailable
from monitor.releases.intents import PHRASES, TEXT_LIMIT, Intents


class Letters:
    """Encodes a text as how often each of three letters occurs; may be out of order."""

    version = "letters-1"
    dimensions = 3

    def __init__(self) -> None:
        self.broken = False
        self.longest = 0

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if self.broken:
            raise BackendUnavailable("no vectors today")
        self.longest = max(map(len, texts), default=0)
        rows = np.array([[text.count(c) for c in "abc"] for text in texts], dtype=np.float32)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def test_a_request_counts_as_the_nearest_phrase() -> None:
    intents = Intents(Letters(), ["a", "b", "c"])

    assert [intents.of([text]) for text in ("aaab", "bbc", "ccccb")] == [0, 1, 2]


def test_the_first_request_with_words_decides() -> None:
    assert Intents(Letters(), ["a", "b"]).of([None, "  ", "bb", "aa"]) == 1


@pytest.mark.parametrize("queries", [[], [None], [""], ["xyz"]])
def test_without_words_the_kind_is_not_known(queries: list[str | None]) -> None:
    assert Intents(Letters(), ["a", "b"]).of(queries) is None


def test_without_an_encoders_answer_the_kind_is_not_known() -> None:
    encoder = Letters()
    intents = Intents(encoder, ["a", "b"])
    encoder.broken = True

    assert intents.of(["a"]) is None
    encoder.broken = False
    assert intents.of(["a"]) == 0


def test_only_the_beginning_of_a_long_request_is_looked_at() -> None:
    encoder = Letters()
    intents = Intents(encoder, ["a", "b"])
    intents.of(["a"])

    assert intents.of(["a" * TEXT_LIMIT + "b" * 100 * TEXT_LIMIT]) == 0
    assert encoder.longest == TEXT_LIMIT


def test_other_phrases_are_another_version() -> None:
    versions = {Intents(Letters(), phrases).version for phrases in (PHRASES, PHRASES[1:], ["a"])}

    assert len(versions) == 3


def test_the_phrases_tell_common_requests_apart() -> None:
    intents = Intents(WordLlamaEncoder())

    requests = (
        "Hi, I want to cancel my subscription please",
        "I need to change the shipping address of my order",
        "I'd like to return these shoes and get my money back",
        "Where is my package? Has it shipped?",
        "Can you explain how the loyalty points work?",
        "Please book me a table for two on Friday",
        "My phone has no mobile data, it will not connect",
        "Write a python script that sorts a file",
    )
    assert [intents.of([request]) for request in requests] == list(range(8))
