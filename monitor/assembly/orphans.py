"""Tool runs whose parent never came: an exporter filtered it out, or another service kept it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from monitor.model import AgentSpan


def adopted(spans: Sequence[AgentSpan]) -> Sequence[AgentSpan]:
    """The spans, with such runs put below the agent whose model asked for them.

    The call's id and name tell it. Where calls of several agents have them, the run stays alone.
    """
    runs = [
        span
        for span in spans
        if span.kind == "tool" and span.parent_id and span.call is not None and span.call.call_id
    ]
    if not runs:
        return spans
    by_id = {span.span_id: span for span in spans}
    orphans = {
        (span.call.call_id, span.call.name)
        for span in runs
        if span.call is not None and span.parent_id not in by_id
    }
    if not orphans:
        return spans
    bosses: dict[tuple[str | None, str], set[str | None]] = {}
    for span in spans:
        if span.kind != "model":
            continue
        for message in span.messages_out or ():
            for call in message.calls:
                key = (call.call_id, call.name)
                if key in orphans:
                    bosses.setdefault(key, set()).add(_above(span, by_id))
    found = {key: next(iter(names)) for key, names in bosses.items() if len(names) == 1}
    return [_moved(span, found, by_id) for span in spans]


def _above(span: AgentSpan, by_id: dict[str, AgentSpan]) -> str | None:
    """The nearest span above that is no model call; None where it did not come either."""
    seen: set[str] = set()
    above = by_id.get(span.parent_id or "")
    while above is not None and above.kind == "model" and above.span_id not in seen:
        seen.add(above.span_id)
        above = by_id.get(above.parent_id or "")
    return None if above is None or above.kind == "model" else above.span_id


def _moved(
    span: AgentSpan,
    bosses: dict[tuple[str | None, str], str | None],
    by_id: dict[str, AgentSpan],
) -> AgentSpan:
    if span.kind != "tool" or span.call is None or span.parent_id in by_id:
        return span
    boss = bosses.get((span.call.call_id, span.call.name))
    return span if boss is None else msgspec.structs.replace(span, parent_id=boss)
