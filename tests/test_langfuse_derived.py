"""The same spans over OTLP and by way of a Langfuse server give the same turns."""

from __future__ import annotations

import gzip
import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from langfuse_deriving import derived_rows

from adapters.langfuse.decoder import LangfuseTraceDecoder
from adapters.otlp.decoder import OtlpDecoder
from monitor.assembly.segments import segments_of
from monitor.assembly.spans import SpanSet
from monitor.assembly.turns import trace_turns
from monitor.model import ActionTurn, AgentSpan

CAPTURES = [
    "langfuse_otlp/captured_langfuse_py_5.0.4.otlp.json",
    "openai_agents/captured_oi_openai_agents_2.6.0.otlp.json",
    "openinference/captured_oi_openai_0.1.66.otlp.json",
    "openllmetry/captured_openllmetry_0.62.4_content_off.otlp.json",
    "openllmetry/captured_openllmetry_openai_0.40.14_indexed.otlp.json",
    "pydantic_ai/captured_pydantic_ai_2.68_fmt2.otlp.json",
    "pydantic_ai/captured_pydantic_ai_2.68_fmt5.otlp.json",
    "strands/captured_strands_1.62_legacy_events.otlp.json",
]
TRACES_PER_SET = 6


def turns(spans: list[AgentSpan]) -> dict[Any, Any]:
    """What happened in each trace, in the words that a verdict looks at."""
    by_trace: dict[str, list[AgentSpan]] = {}
    for span in spans:
        by_trace.setdefault(span.trace_id, []).append(span)
    found = {}
    for trace_id, own in by_trace.items():
        for segment in segments_of(trace_id, SpanSet(own).merged()):
            told = trace_turns(segment)
            found[trace_id, segment.conversation_id] = (
                [(part.query, [said_or_done(turn) for turn in part.turns]) for part in told.parts],
                [tool.name for tool in told.tools],
                told.model,
                told.usage,
            )
    return found


def said_or_done(turn: Any) -> Any:
    if not isinstance(turn, ActionTurn):
        return turn.text
    call = turn.call
    return call.name, call.arguments, call.call_id, turn.result, turn.has_result, turn.error_type


def compare(export: dict[str, Any], *, keeps: bool) -> int:
    direct = turns(OtlpDecoder().decode(json.dumps(export).encode(), "application/json").spans)
    rows = list(derived_rows(export, keeps=keeps))
    decoded = LangfuseTraceDecoder().decode(json.dumps(rows).encode())
    assert decoded.rejections == []
    assert turns(decoded.spans) == direct
    return len(direct)


@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize("name", CAPTURES)
def test_real_sdks_give_the_same_turns(shared_data: Path, name: str, keeps: bool) -> None:
    found = json.loads((shared_data / "traces" / name).read_bytes())
    exports = found if isinstance(found, list) else [found]
    assert sum(compare(export, keeps=keeps) for export in exports) >= 3


def test_labelled_trajectories_give_the_same_turns(shared_data: Path) -> None:
    sets = sorted((shared_data / "trajectories").glob("*/traces.jsonl.gz"))
    assert len(sets) == 18
    for path in sets:
        with gzip.open(path, "rt") as lines:
            for line in islice(lines, TRACES_PER_SET):
                compare(json.loads(line), keeps=False)
