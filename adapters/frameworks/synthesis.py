"""Transcripts to spans: one trace per user turn, with the ids that the same record always gets."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

import msgspec

from adapters.frameworks.open_calls import OpenCall, OpenCalls
from adapters.frameworks.transcript import Step, Transcript, exchanges_of, opens
from monitor.model import AgentSpan, Message, SpanKind, ToolCall, Usage

RECORD_ID: Final = "record:"
"""Begins the id of a conversation that is known by its record only, which names none."""
_POSITIONS: Final = 0x7FFFFFFF
_SYSTEM: Final = ("system", "developer")


def spans_of(transcript: Transcript) -> list[AgentSpan]:
    """The spans of a record, an agent's at the root of each trace.

    Ids start with positions: where no times are known, their order is the record's order.
    """
    spans: list[AgentSpan] = []
    exchanges = list(exchanges_of(transcript.steps))
    if transcript.conversation_id is None and len(exchanges) > 1:
        # Nothing but the record ties its turns together.
        stand_in = f"{RECORD_ID}{_digest(8, transcript.source, transcript.key)}"
        transcript = msgspec.structs.replace(transcript, conversation_id=stand_in)
    for number, exchange in enumerate(exchanges):
        last = number == len(exchanges) - 1
        spans += _Exchange(transcript, number, _with_sound_times(exchange), last).spans()
    if transcript.usage is not None and all(span.usage is None for span in spans):
        spans = _with_usage(spans, transcript.usage)
    return spans


def trace_id_of(transcript: Transcript, number: int) -> str:
    """The trace of one user turn."""
    position = min(max(transcript.position, 0) + number, _POSITIONS)
    return f"{position:08x}{_digest(12, transcript.conversation_id or '', transcript.key, number)}"


def _digest(size: int, *parts: object) -> str:
    # The length of each part keeps ("a", "bc") apart from ("ab", "c").
    texts = [str(part) for part in parts]
    text = "".join(f"{len(part)}:{part}" for part in texts)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


def _with_sound_times(steps: Sequence[Step]) -> list[Step]:
    """The steps with their times, or all without when those would change their order."""
    before = 0
    for step in steps:
        # When a user spoke orders nothing: the words come first in any case.
        if step.message.role in _SYSTEM or (opens(step) and not step.start_ns):
            continue
        if step.start_ns < max(before, 1):
            return [msgspec.structs.replace(step, start_ns=0, end_ns=0) for step in steps]
        before = step.start_ns
    return list(steps)


def _with_usage(spans: list[AgentSpan], usage: Usage) -> list[AgentSpan]:
    """The record's sum on its last model call, since sums of agents are not counted."""
    for at in range(len(spans) - 1, -1, -1):
        if spans[at].kind == "model":
            spans[at] = msgspec.structs.replace(spans[at], usage=usage)
            break
    return spans


def _as_one(messages: Sequence[Message]) -> tuple[Message, ...]:
    """What the user said in several messages in a row is one query."""
    if len(messages) < 2:
        return tuple(messages)
    texts = [message.text for message in messages if message.text is not None]
    media = tuple(part for message in messages for part in message.media)
    return (Message("user", "\n".join(texts) if texts else None, media=media),)


class _Exchange:
    """The spans of one user turn, numbered as they come."""

    def __init__(
        self, transcript: Transcript, number: int, steps: Sequence[Step], last: bool
    ) -> None:
        self._told = transcript
        self._steps = steps
        self._first = number == 0
        self._last = last
        self._trace_id = trace_id_of(transcript, number)
        self._root_id = self._span_id(0)
        self._count = 0
        self._spans: list[AgentSpan] = []
        self._asked: list[tuple[str, OpenCall]] = []
        self._open = OpenCalls()
        self._system = transcript.system
        self._group: tuple[str | None, str] | None = None

    def spans(self) -> list[AgentSpan]:
        for step in self._steps:
            self._take(step)
        for span_id, asked in self._asked:
            self._spans.append(self._tool(span_id, asked))
        self._spans.sort(key=lambda span: span.span_id)
        return [self._root(), *self._spans]

    def _take(self, step: Step) -> None:
        message = step.message
        if message.role in _SYSTEM:
            self._system = self._system or message.text
            return
        parent = self._parent(step)
        if message.role == "assistant":
            self._model(step, parent)
        elif message.calls:
            self._ran(step, parent)
        else:
            self._answered(step, parent)

    def _parent(self, step: Step) -> str:
        """The root, or the sub-agent whose turn it is."""
        if not step.inner:
            self._group = None
            return self._root_id
        if self._group is None or self._group[0] != step.agent:
            span_id = self._next_id()
            self._group = (step.agent, span_id)
            self._spans.append(self._span("agent", span_id, step, name=step.agent or ""))
        return self._group[1]

    def _model(self, step: Step, parent: str) -> None:
        # What it was given is left unknown: the query stands at the root, answers at the tools,
        # and a history that each call repeats would grow as its square.
        span = self._span("model", self._next_id(), step, parent, name=step.model or "")
        self._spans.append(
            msgspec.structs.replace(
                span,
                model=step.model or self._told.model,
                messages_out=(step.message,),
                usage=step.usage,
                tool_definitions=self._told.tools,
            )
        )
        for call in step.message.calls:
            asked = OpenCall(call, parent, step)
            self._asked.append((self._next_id(), asked))
            self._open.add(asked)
        # A provider's own tools answer within the message that calls them.
        self._answered(step, parent)

    def _ran(self, step: Step, parent: str) -> None:
        results = list(step.message.results)
        for call in step.message.calls:
            asked = OpenCall(call, parent, step)
            asked.take(results.pop(0) if results else None, step)
            self._asked.append((self._next_id(), asked))

    def _answered(self, step: Step, parent: str) -> None:
        for result in step.message.results:
            found = self._open.answered(result, parent)
            if found is None:
                if not result.name:
                    continue
                call = ToolCall(result.name, None, result.call_id, "absent")
                found = OpenCall(call, parent, step)
                self._asked.append((self._next_id(), found))
            found.take(result, step)

    def _tool(self, span_id: str, asked: OpenCall) -> AgentSpan:
        step, answered_by = asked.step, asked.answered_by
        asked_ns = max(step.start_ns, step.end_ns)
        start_ns = step.start_ns if answered_by is step else asked_ns
        end_ns = start_ns if answered_by is None else max(start_ns, answered_by.end_ns)
        answer = asked.answer
        span = self._span("tool", span_id, step, asked.parent, name=asked.call.name)
        return msgspec.structs.replace(
            span,
            start_ns=start_ns,
            end_ns=end_ns,
            call=asked.call,
            result=None if answer is None else answer.result,
            has_result=answer is not None,
            error_type="error" if answer is not None and answer.is_error else None,
            truncated=step.truncated or (answered_by is not None and answered_by.truncated),
        )

    def _root(self) -> AgentSpan:
        told, steps = self._told, self._steps
        starts = [step.start_ns for step in steps if step.start_ns]
        ends = [step.end_ns for step in steps if step.end_ns]
        reply = told.reply if self._last else None
        return AgentSpan(
            trace_id=self._trace_id,
            span_id=self._root_id,
            kind="agent",
            name=told.agent or "",
            start_ns=(self._first and told.start_ns) or min(starts, default=0),
            end_ns=(self._last and told.end_ns) or max(ends, default=0),
            conversation_id=told.conversation_id,
            agent=told.agent,
            release=told.release,
            system=self._system,
            messages_in=_as_one([step.message for step in steps if opens(step)]),
            messages_out=() if reply is None else (Message("assistant", reply),),
            error_type=told.error_type if self._last else None,
            expected=told.expected if self._last else None,
            truncated=any(step.truncated for step in steps if opens(step)),
            vocabulary=told.source,
        )

    def _span(
        self, kind: SpanKind, span_id: str, step: Step, parent: str | None = None, *, name: str
    ) -> AgentSpan:
        return AgentSpan(
            trace_id=self._trace_id,
            span_id=span_id,
            kind=kind,
            name=name,
            parent_id=parent or self._root_id,
            start_ns=step.start_ns,
            end_ns=step.end_ns,
            conversation_id=self._told.conversation_id,
            agent=step.agent or self._told.agent,
            release=self._told.release,
            truncated=step.truncated,
            vocabulary=self._told.source,
        )

    def _next_id(self) -> str:
        self._count += 1
        return self._span_id(self._count)

    def _span_id(self, number: int) -> str:
        return f"{number:08x}{_digest(4, self._trace_id, number)}"
