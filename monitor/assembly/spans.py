"""The spans of one trace, each identity once, whatever was delivered and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Literal, TypeAlias

import msgspec

from monitor.model import AgentSpan, Message

Arrival: TypeAlias = Literal["new", "duplicate", "conflict"]
_ONE_TELLS: Final = (
    *("agent", "release", "model", "system", "error_type"),
    *("tool_definitions", "usage", "expected", "response_id", "user_id", "service", "outcome"),
)


class SpanSet:
    """Collects spans by span id; equal sets of spans end equal after any order of arrival."""

    def __init__(self, spans: Iterable[AgentSpan] = ()) -> None:
        self._spans: dict[str, AgentSpan] = {}
        self._encoded: dict[str, bytes] = {}
        self._details: dict[str, dict[bytes, AgentSpan]] = {}
        self._detail_count = 0
        for span in spans:
            self.add(span)

    def __len__(self) -> int:
        return len(self._spans) + self._detail_count

    def __iter__(self) -> Iterator[AgentSpan]:
        """Spans, then details, as they were delivered: unmerged."""
        yield from self._spans.values()
        for details in self._details.values():
            yield from details.values()

    def add(self, span: AgentSpan, encoded: bytes | None = None) -> Arrival:
        """Take one span in. `conflict`: same identity, other content; the fuller one is kept.

        `encoded` is equal for equal spans only; a caller that has it saves the work.
        """
        new = _encoded(span) if encoded is None else encoded
        if span.detail:
            return self._add_detail(span, new)
        name = span.span_id
        known = self._spans.get(name)
        if known is None:
            self._spans[name], self._encoded[name] = span, new
            return "new"
        old = self._encoded[name]
        if old == new:
            return "duplicate"
        if (span.end_ns, len(new), new) > (known.end_ns, len(old), old):
            self._spans[name], self._encoded[name] = span, new
        return "conflict"

    def rows(self) -> list[bytes]:
        """Every span and detail, encoded."""
        rows = list(self._encoded.values())
        for details in self._details.values():
            rows += details
        return rows

    def knows(self, span_id: str) -> bool:
        """Whether a span, not only a detail of one, has this id."""
        return span_id in self._spans

    def merged(self) -> list[AgentSpan]:
        """Every span with its details merged in, by start time and span id."""
        if self._details:
            whole = dict(self._spans)
            for span_id, found in self._details.items():
                details = [found[key] for key in sorted(found)]
                whole[span_id] = _with_details(self._spans.get(span_id), details)
            spans = list(whole.values())
        else:
            spans = list(self._spans.values())
        spans.sort(key=lambda span: (span.start_ns, span.span_id))
        return spans

    def _add_detail(self, span: AgentSpan, encoded: bytes) -> Arrival:
        details = self._details.setdefault(span.span_id, {})
        if encoded in details:
            return "duplicate"
        details[encoded] = span
        self._detail_count += 1
        return "new"


def _encoded(span: AgentSpan) -> bytes:
    try:
        return msgspec.msgpack.encode(span)
    except (OverflowError, UnicodeEncodeError):
        return repr(span).encode("utf-8", "surrogatepass")


def _with_details(span: AgentSpan | None, details: list[AgentSpan]) -> AgentSpan:
    """The span with what it does not know filled from its details; a detail alone stands in."""
    ordered = sorted(details, key=lambda detail: detail.start_ns)
    if span is None:
        first = ordered[0]
        span = AgentSpan(
            first.trace_id,
            first.span_id,
            "other",
            start_ns=first.start_ns,
            end_ns=ordered[-1].start_ns,
            scope=first.scope,
            vocabulary=first.vocabulary,
        )
    filled: dict[str, object] = {
        name: _first(ordered, name) for name in _ONE_TELLS if getattr(span, name) is None
    }
    if span.conversation_id is None or span.id_remark is not None:
        filled |= _named_by(span, ordered)
    if span.kind == "other":
        filled["kind"] = next((d.kind for d in ordered if d.kind != "other"), "other")
    filled["cut_short"] = span.cut_short or any(detail.cut_short for detail in ordered)
    filled["truncated"] = span.truncated or any(detail.truncated for detail in ordered)
    # A detail may tell its content as messages and as a tool's run; the span knows which it was.
    if filled.get("kind", span.kind) == "tool":
        filled |= _run_of(span, ordered)
    else:
        for name in ("messages_in", "messages_out"):
            filled[name] = _told_messages(getattr(span, name), _joined(ordered, name))
    return msgspec.structs.replace(span, **filled)


def _named_by(span: AgentSpan, details: list[AgentSpan]) -> dict[str, object]:
    """The conversation by whoever names it himself, else by whoever has it of the resource."""
    told = [one for one in (span, *details) if one.conversation_id is not None]
    own = next((one for one in told if one.id_remark is None), told[0] if told else span)
    return {"conversation_id": own.conversation_id, "id_remark": own.id_remark}


def _run_of(span: AgentSpan, details: list[AgentSpan]) -> dict[str, object]:
    """The call and the result of a tool span, completed from its details."""
    found: dict[str, object] = {}
    call = span.call
    for detail in details:
        told = detail.call
        if told is None:
            continue
        if call is None:
            call = told
        if call.arguments_state == "absent" and told.arguments_state != "absent":
            call = msgspec.structs.replace(
                call, arguments=told.arguments, arguments_state=told.arguments_state
            )
        if call.call_id is None and told.call_id is not None:
            call = msgspec.structs.replace(call, call_id=told.call_id)
    found["call"] = call
    holder = None if span.has_result else next((d for d in details if d.has_result), None)
    if holder is not None:
        found |= {"result": holder.result, "has_result": True}
    return found


def _told_messages(
    own: tuple[Message, ...] | None, told: tuple[Message, ...] | None
) -> tuple[Message, ...] | None:
    """A span's messages; where they have lost their words, with the words of its details."""
    if own is None or told is None:
        return told if own is None else own
    if any(message.text or message.results or message.media for message in own):
        return own
    if any(message.calls for message in told):
        return told
    return own + told


def _first(details: list[AgentSpan], name: str) -> object:
    found = (getattr(detail, name) for detail in details)
    return next((value for value in found if value is not None), None)


def _joined(details: list[AgentSpan], name: str) -> tuple[Message, ...] | None:
    parts = [getattr(detail, name) for detail in details]
    known = [part for part in parts if part is not None]
    return tuple(message for part in known for message in part) if known else None
