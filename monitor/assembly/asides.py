"""Guardrails and evaluators: their model calls and agents are nobody's turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from monitor.model import AgentSpan


def without_asides(spans: Sequence[AgentSpan]) -> Sequence[AgentSpan]:
    """The spans without those that guard or evaluate, and without what runs below these.

    A guard outside of which nothing acts is only a wrapper around the run itself, and stays.
    """
    asides = {span.span_id: span.aside for span in spans if span.aside is not None}
    if not asides:
        return spans
    parents = {span.span_id: span.parent_id for span in spans}
    lines = [{asides.get(above) for above in _line(span.span_id, parents)} for span in spans]
    rest = [span for span, line in zip(spans, lines, strict=True) if line == {None}]
    if any(span.kind in ("model", "agent") for span in rest):
        return rest
    return [span for span, line in zip(spans, lines, strict=True) if "evaluator" not in line]


def _line(span_id: str, parents: Mapping[str, str | None]) -> Iterator[str]:
    """The span and what is above it; a loop ends where it closes."""
    seen: set[str] = set()
    at: str | None = span_id
    while at is not None and at not in seen:
        yield at
        seen.add(at)
        at = parents.get(at)
