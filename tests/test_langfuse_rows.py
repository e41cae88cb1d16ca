"""Rows of any interface under one set of names: ids, times, spellings."""

from __future__ import annotations

from typing import Any

import pytest
from langfuse_rows import TRACE, span

from adapters.langfuse.observations import ObservationReader
from adapters.langfuse.rows import span_id_of, time_ns, trace_id_of
from monitor.errors import MalformedPayload


def test_rows_of_an_export_read_like_rows_of_the_api() -> None:
    exported = ObservationReader().read(
        {
            "id": "cd" * 8,
            "trace_id": TRACE,
            "parent_observation_id": "ef" * 8,
            "type": "GENERATION",
            "start_time": "2026-05-01 12:00:00.000000",
            "end_time": "2026-05-01 12:00:01.500000",
            "session_id": "s1",
            "provided_model_name": "m",
            "usage_details": {"input": 3, "output": 5},
            "input": "Hot?",
            "output": "Yes.",
        }
    )
    assert exported == span(
        parentObservationId="ef" * 8,
        sessionId="s1",
        model="m",
        usageDetails={"input": 3, "output": 5},
        input="Hot?",
        output="Yes.",
    )


@pytest.mark.parametrize("row", [None, [], "x", {}, {"id": "a"}, {"id": "a", "traceId": ""}])
def test_a_row_without_identity_is_malformed(row: Any) -> None:
    with pytest.raises(MalformedPayload):
        ObservationReader().read(row)


def test_ids_become_hexadecimal_and_stay_what_they_are() -> None:
    assert trace_id_of("AB" * 16) == TRACE
    assert trace_id_of("abababab-abab-abab-abab-abababababab") == TRACE
    assert span_id_of("cd" * 8) == "cd" * 8
    for made in (trace_id_of("my trace"), trace_id_of("0" * 32)):
        assert len(made) == 32
        assert int(made, 16) > 0
    assert len(span_id_of("abababab-abab-abab-abab-abababababab")) == 16
    assert span_id_of("a") != span_id_of("b")


@pytest.mark.parametrize(
    ("told", "ns"),
    [
        ("1970-01-01T00:00:01.250Z", 1_250_000_000),
        ("1970-01-01T01:00:01.25+01:00", 1_250_000_000),
        ("1970-01-01 00:00:01.250000", 1_250_000_000),
        ("1969-12-31T00:00:00Z", 0),
        ("soon", 0),
        (None, 0),
        (17, 0),
    ],
)
def test_times_of_any_spelling(told: Any, ns: int) -> None:
    assert time_ns(told) == ns
