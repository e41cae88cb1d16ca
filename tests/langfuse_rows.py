"""Observations as rows of Langfuse's API, and what is asked about in them."""

from __future__ import annotations

from typing import Any

from adapters.langfuse.observations import ObservationReader
from adapters.langfuse.rows import TraceRow
from monitor.model import AgentSpan, ToolCall

TRACE = "ab" * 16
CITY = {"city": "Paris"}
CALL = ToolCall("get_weather", CITY, "c1")


def span(trace: TraceRow | None = None, **row: Any) -> AgentSpan:
    whole = {
        "id": "cd" * 8,
        "traceId": TRACE,
        "type": "GENERATION",
        "startTime": "2026-05-01T12:00:00.000Z",
        "endTime": "2026-05-01T12:00:01.500Z",
        **row,
    }
    return ObservationReader().read(whole, trace or TraceRow())


def tool(**row: Any) -> AgentSpan:
    return span(type="TOOL", name="get_weather", **row)
