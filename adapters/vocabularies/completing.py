"""Content of one span from two conventions: whole groups of fields, never two lists merged."""

from __future__ import annotations

import msgspec

from monitor.model import AgentSpan, ToolCall


def lacks_content(span: AgentSpan) -> bool:
    """Whether a vocabulary told what the span is, and nothing of what went through it."""
    if span.kind == "tool":
        call = span.call
        return call is None or call.arguments_state == "absent" or not span.has_result
    if span.kind == "other":
        return False
    return span.messages_in is None and span.messages_out is None


def completed(span: AgentSpan, other: AgentSpan) -> AgentSpan:
    """The span with the groups that it lacks, as another vocabulary reads them.

    The provenance names both, in this order.
    """
    if span.kind == "tool":
        return _tool(span, other)
    if other.messages_in is None and other.messages_out is None:
        return span
    return msgspec.structs.replace(
        span,
        messages_in=other.messages_in,
        messages_out=other.messages_out,
        system=span.system if span.system is not None else other.system,
        tool_definitions=span.tool_definitions or other.tool_definitions,
        model=span.model or other.model,
        truncated=span.truncated or other.truncated,
        vocabulary=_both(span, other),
    )


def _tool(span: AgentSpan, other: AgentSpan) -> AgentSpan:
    mine, its = span.call, other.call
    call = _call(mine, its) if its is not None else None
    takes_result = other.has_result and not span.has_result
    if call is None and not takes_result:
        return span
    return msgspec.structs.replace(
        span,
        call=call or mine,
        result=other.result if takes_result else span.result,
        has_result=span.has_result or other.has_result,
        truncated=span.truncated or other.truncated,
        vocabulary=_both(span, other),
    )


def _call(mine: ToolCall | None, its: ToolCall) -> ToolCall | None:
    """The call with the other's arguments; None where they add nothing."""
    if mine is None:
        return its
    if mine.arguments_state != "absent" or its.arguments_state == "absent":
        return None
    return ToolCall(mine.name, its.arguments, mine.call_id or its.call_id, its.arguments_state)


def _both(span: AgentSpan, other: AgentSpan) -> str:
    return f"{span.vocabulary}+{other.vocabulary}"
