"""Strands agents' results: Converse messages with a summary of metrics, of one agent or several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from adapters.frameworks.documents import (
    DocumentDecoder,
    UnreadableDocument,
    conversation_id,
    document_key,
    list_in,
    object_in,
    text_or_none,
)
from adapters.frameworks.times import time_ns
from adapters.frameworks.transcript import Step, Transcript, with_one_voice
from adapters.shapes import converse, langchain
from monitor.model import JsonValue

_ERROR_STOPS: Final = frozenset({"error", "failed"})


class StrandsDecoder(DocumentDecoder):
    """An agent's result, a run of several `agents`, or a collection of results by name."""

    name = "strands"

    def records(self, document: JsonValue) -> Iterable[Any]:
        """Results with their names, where the document has names for them."""
        return _records(document)

    def transcript(self, record: Any) -> Transcript:
        """See DocumentDecoder."""
        key, record = record
        if not isinstance(record, Mapping):
            raise UnreadableDocument("no `messages`, no `agents`, and no results by name")
        agents = object_in(record, "agents")
        parts = [(text_or_none(name), one) for name, one in agents.items()] or [(None, record)]
        steps: list[Step] = []
        for number, (name, one) in enumerate(parts):
            steps += _as_next(_steps(one, name), number)
        if not steps:
            raise UnreadableDocument("no `messages` with a role and content")
        summary = object_in(record, "metrics_summary")
        last = parts[-1][1]
        stopped = last.get("stop_reason") if isinstance(last, Mapping) else None
        return Transcript(
            source=self.name,
            key=text_or_none(record.get("trace_id")) or f"{key or ''}:{document_key(record)}",
            steps=with_one_voice(steps),
            conversation_id=conversation_id(record.get("session_id")),
            model=text_or_none(record.get("model")),
            system=converse.text_of(record.get("system_prompt")),
            usage=langchain.usage_of(summary.get("accumulated_usage")),
            error_type="error" if isinstance(stopped, str) and stopped in _ERROR_STOPS else None,
        )


def _records(document: JsonValue) -> list[tuple[str | None, JsonValue]]:
    if isinstance(document, list):
        if document and all(isinstance(item, Mapping) and "role" in item for item in document):
            return [(None, {"messages": document})]
        return [(None, item) for item in document]
    if isinstance(document, Mapping) and not ("messages" in document or "agents" in document):
        return list(document.items())
    return [(None, document)]


def _steps(record: JsonValue, agent: str | None) -> list[Step]:
    steps = []
    model = text_or_none(record.get("model")) if isinstance(record, Mapping) else None
    for item in list_in(record, "messages"):
        if not isinstance(item, Mapping):
            continue
        message = converse.read_message(item)
        usage = langchain.usage_of(object_in(object_in(item, "metadata"), "usage"))
        steps.append(
            Step(
                message=message,
                agent=agent if message.role == "assistant" else None,
                model=model,
                usage=usage,
            )
        )
    return _timed(steps, list_in(object_in(record, "metrics_summary"), "traces"))


def _as_next(steps: Sequence[Step], number: int) -> list[Step]:
    """What a later agent is told to do is the one before it speaking, not the user."""
    if number == 0:
        return list(steps)
    return [
        msgspec.structs.replace(step, inner=True)
        if step.message.role == "user" and not step.message.results
        else step
        for step in steps
    ]


def _timed(steps: list[Step], cycles: Sequence[JsonValue]) -> list[Step]:
    """With the times of the event loop's cycles, when there is one for each of the replies."""
    said = [at for at, step in enumerate(steps) if step.message.role == "assistant"]
    known = [cycle for cycle in cycles if isinstance(cycle, Mapping)]
    if not said or len(said) != len(known):
        return steps
    timed = list(steps)
    for at, cycle in zip(said, known, strict=True):
        start_ns, end_ns = time_ns(cycle.get("start_time")), time_ns(cycle.get("end_time"))
        inner = [child for child in list_in(cycle, "children") if isinstance(child, Mapping)]
        model_end_ns = time_ns(inner[0].get("end_time")) if inner else 0
        timed[at] = msgspec.structs.replace(
            steps[at], start_ns=start_ns, end_ns=model_end_ns or end_ns
        )
        if at + 1 < len(steps) and steps[at + 1].message.results:
            # The answers were there when the cycle ended.
            timed[at + 1] = msgspec.structs.replace(
                steps[at + 1], start_ns=max(end_ns, start_ns), end_ns=end_ns
            )
    return timed
