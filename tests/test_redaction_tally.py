"""Counts of what was redacted, by kind."""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from adapters.redaction.redactor import Redactor
from monitor.config.intake import RedactedKind
from monitor.exposition.catalogue import REDACTED_KINDS
from monitor.model import AgentSpan, Message

KEY = b"k" * 32


def said(*texts: str) -> AgentSpan:
    messages = tuple(Message("user", text) for text in texts)
    return AgentSpan("0" * 32, "0" * 16, "model", messages_in=messages)


def counted(redactor: Redactor) -> dict[str, int]:
    return {kind: count for kind, count in redactor.counters.items() if count}


def test_every_replaced_value_counts_under_its_kind() -> None:
    redactor = Redactor(KEY)
    redactor.spans([said("a@example.com and b@example.com", "from 203.0.113.77"), said("hello")])
    assert counted(redactor) == {"email": 2, "ip": 1}


def test_a_text_that_is_remembered_counts_each_time_that_it_comes() -> None:
    redactor = Redactor(KEY)
    for _ in range(3):
        redactor.span(said("write to a@example.com"))
    assert counted(redactor) == {"email": 3}


def test_a_placeholder_that_was_there_before_counts_for_nothing() -> None:
    redactor = Redactor(KEY)
    redactor.span(said("<EMAIL:7f3a2c> wrote to a@example.com"))
    redactor.span(said("<EMAIL:7f3a2c> wrote"))
    assert counted(redactor) == {"email": 1}


def test_plain_placeholders_and_own_patterns_count_alike() -> None:
    redactor = Redactor(KEY, patterns={"ORDER": r"ORD-\d{4}"}, style="plain")
    span: Any = msgspec.structs.replace(
        said("ORD-1234 of a@example.com"), conversation_id="ORD-9876"
    )
    redactor.span(span)
    assert counted(redactor) == {"email": 1, "order": 2}


def test_text_cannot_make_kinds_of_its_own() -> None:
    redactor = Redactor(KEY)
    kinds = set(redactor.counters)
    redactor.span(said("<MADEUP:0aaaaa> a@example.com <CARD:0aaaaa>"))
    assert set(redactor.counters) == kinds == set(get_args(RedactedKind)) == set(REDACTED_KINDS)
    assert counted(redactor) == {"email": 1}
