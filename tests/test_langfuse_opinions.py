"""What people said in Langfuse, as opinions on verdicts and without personal data."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from langfuse_bench import Bench, running_bench
from langfuse_server import PUBLIC_KEY, SECRET_KEY

from adapters.langfuse.labels import HumanLabel as Annotation
from adapters.langfuse.labels import human_labels
from adapters.langfuse.opinions import human_opinions, value_of
from adapters.redaction.redactor import Redactor
from monitor.entry_points import load_adapter
from monitor.verdict import HumanLabel

REDACTOR = Redactor(b"k" * 32)
TRACE = "ab" * 16


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with running_bench() as found:
        yield found


def annotation(number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"a{number}",
        "name": "correct",
        "dataType": "BOOLEAN",
        "value": 1,
        "source": "ANNOTATION",
        "traceId": TRACE,
        "timestamp": f"2026-05-01T12:00:{number:02d}.000Z",
        **more,
    }


@pytest.mark.parametrize("former", [False, True])
async def test_a_session_that_is_an_address_is_found_as_reports_name_it(
    bench: Bench, former: bool
) -> None:
    bench.server.former = former
    row = annotation(1, traceId=None, sessionId="ann@example.com", authorUserId="bob@example.com")
    bench.server.scores = {"a1": row | {"comment": "call +49 170 5550199"}}
    (label,) = [label async for label in human_labels(bench.client(), redaction=REDACTOR)]
    assert label.conversation_id == REDACTOR.name("ann@example.com") != "ann@example.com"
    assert label.author == REDACTOR.name("bob@example.com")
    assert label.comment == REDACTOR.text("call +49 170 5550199")


async def test_a_session_whose_id_names_no_conversation_is_about_none(bench: Bench) -> None:
    bench.server.scores = {"a1": annotation(1, traceId=None, sessionId="null")}
    (label,) = [label async for label in human_labels(bench.client())]
    assert (label.subject, label.conversation_id) == ("session", None)


async def test_opinions_are_the_named_scores_with_a_value_from_0_to_1(bench: Bench) -> None:
    rows = [
        annotation(1, observationId="cd" * 8, value=0),
        annotation(2, name="complete", dataType="NUMERIC", value=0.75, authorUserId="u1"),
        annotation(3, traceId=None, sessionId="talk-1", dataType="CATEGORICAL", value="Good"),
        annotation(4, name="tone"),
        annotation(5, dataType="NUMERIC", value=4),
        annotation(6, traceId=None, sessionId="null"),
    ]
    bench.server.scores = {row["id"]: row for row in rows}
    counters: dict[str, int] = {}
    found = load_adapter("langfuse.opinions")(
        bench.server.url,
        {"LANGFUSE_PUBLIC_KEY": PUBLIC_KEY, "LANGFUSE_SECRET_KEY": SECRET_KEY},
        {"correct": "overall", "complete": "completeness"},
        clock=bench.clock,
        counters=counters,
    )
    assert sorted([label async for label in found], key=lambda label: label.label_id) == [
        HumanLabel("a1", "overall", 0.0, trace_id=TRACE, span_id="cd" * 8),
        HumanLabel("a2", "completeness", 0.75, trace_id=TRACE, annotator="u1"),
        HumanLabel("a3", "overall", 1.0, "talk-1"),
    ]
    assert counters == {
        "labels": 6,
        "opinions": 3,
        "other_score": 1,
        "no_opinion": 1,
        "no_subject": 1,
    }


@pytest.mark.parametrize(
    ("value", "opinion"),
    [
        *((True, 1.0), (False, 0.0), (0.5, 0.5), (1.5, None), (-1.0, None), (None, None)),
        *((" PASS ", 1.0), ("wrong", 0.0), ("rather wrong", None), (float("nan"), None)),
    ],
)
def test_only_what_is_plainly_an_opinion_counts(
    value: bool | float | str | None, opinion: float | None
) -> None:
    label = Annotation(label_id="a", name="n", subject="trace", value=value, data_type="NUMERIC")
    assert value_of(label) == opinion


async def test_opinions_end_with_the_servers_last_page(bench: Bench) -> None:
    bench.server.scores = {
        f"a{number}": annotation(number % 60, id=f"a{number}") for number in range(150)
    }
    found = human_opinions(bench.client(), {"correct": "overall"})
    assert len([label async for label in found]) == 150
