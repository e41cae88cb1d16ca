"""Prometheus rules as values, and as the YAML that Prometheus reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

Severity: TypeAlias = Literal["page", "ticket"]
PAGE: Final[Severity] = "page"
TICKET: Final[Severity] = "ticket"
HEADER: Final = """\
# Written by `agent-monitor rules`; change the policy there and write it again.
"""


class Record(NamedTuple):
    """A recording rule; its name is `level:metric:operation`."""

    name: str
    expr: str


class Alert(NamedTuple):
    """An alerting rule. Annotations are templates of Prometheus."""

    name: str
    expr: str
    severity: Severity
    summary: str
    description: str
    hold: str = "0s"
    """How long the condition must last (`for`)."""
    keep: str = "0s"
    """How long it fires on after the condition ended, so that it does not flap."""


class Group(NamedTuple):
    """Rules that are evaluated one after the other, at one moment."""

    name: str
    rules: tuple[Record | Alert, ...]
    interval: str | None = None
    """None: as often as Prometheus is configured to."""


def runbook_url(base: str, alert: str) -> str:
    """The section of the runbook, as renderers of Markdown name it."""
    return f"{base}#{alert.lower()}"


def rule_file(groups: tuple[Group, ...], runbook: str) -> str:
    """The file of some groups; `runbook` is the address of the page without a fragment."""
    lines = [HEADER + "groups:"]
    for group in groups:
        lines.append(f"  - name: {group.name}")
        if group.interval:
            lines.append(f"    interval: {group.interval}")
        lines.append("    rules:")
        for rule in group.rules:
            lines += _recorded(rule) if isinstance(rule, Record) else _alerting(rule, runbook)
    return "\n".join(lines) + "\n"


def _recorded(rule: Record) -> Iterator[str]:
    yield f"      - record: {rule.name}"
    yield from _expression(rule.expr)


def _alerting(rule: Alert, runbook: str) -> Iterator[str]:
    yield f"      - alert: {rule.name}"
    yield from _expression(rule.expr)
    if rule.hold != "0s":
        yield f"        for: {rule.hold}"
    if rule.keep != "0s":
        yield f"        keep_firing_for: {rule.keep}"
    yield from _mapping("labels", {"severity": rule.severity})
    said = {"summary": rule.summary, "description": rule.description}
    yield from _mapping("annotations", {**said, "runbook_url": runbook_url(runbook, rule.name)})


def _expression(expr: str) -> Iterator[str]:
    yield "        expr: |-"
    for line in expr.splitlines():
        yield f"          {line}"


def _mapping(name: str, values: Mapping[str, str]) -> Iterator[str]:
    yield f"        {name}:"
    for key, value in values.items():
        # A JSON string is a YAML string, whatever it holds.
        yield f"          {key}: {json.dumps(value, ensure_ascii=False)}"
