"""Whether a fleet's totals are those of one process.

Counters take a turn's first verdict, and that is given on what was known by then. Where a
conversation is one trace, it is known whole at once, so every total must be equal. Where each
exchange is a trace of its own, partitions may overtake each other, and a first verdict may be given
on less; then first verdicts and corrections together must be equal to the last ones.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

FAMILIES = ("spans", "conversations", "turns", "corrections", "failures", "scored", "unscored")
ALWAYS = ("agent_monitor_spans_", "agent_monitor_conversations_")


def wanted(samples: Sequence[tuple[str, float]]) -> dict[str, float]:
    """Totals that are not at zero, what was refused apart: the oracle was given no poison."""
    names = tuple(f"agent_monitor_{family}" for family in FAMILIES)
    return {
        name: value
        for name, value in samples
        if value and name.startswith(names) and "malformed" not in name
    }


def differences(
    ours: Mapping[str, float], oracle: Mapping[str, float], whole_release: str
) -> list[str]:
    """A sentence about each total that is not as it must be."""
    found = []
    for name in sorted({*ours, *oracle}):
        exact = name.startswith(ALWAYS) or f'release="{whole_release}' in name
        if exact and ours.get(name) != oracle.get(name):
            found.append(f"{name}: {ours.get(name)} instead of {oracle.get(name)}")
    for what, told in (("turns", _turns), ("last verdicts", _last_verdicts)):
        here, there = told(ours), told(oracle)
        found += [
            f"{what} {key}: {here.get(key)} instead of {there.get(key)}"
            for key in sorted({*here, *there})
            if here.get(key) != there.get(key)
        ]
    return found


def _turns(samples: Mapping[str, float]) -> dict[str, float]:
    """By release, chain and type, whatever their verdict."""
    found: dict[str, float] = defaultdict(float)
    for name, value in samples.items():
        if name.startswith("agent_monitor_turns_total"):
            found[re.sub(r',?verdict="\w+"', "", name)] += value
    return found


def _last_verdicts(samples: Mapping[str, float]) -> dict[str, float]:
    """First verdicts, with the corrections carried out."""
    found: dict[str, float] = defaultdict(float)
    for name, value in samples.items():
        labels = dict(re.findall(r'(\w+)="([^"]*)"', name))
        if name.startswith("agent_monitor_turns_total"):
            found[labels["verdict"]] += value
        elif name.startswith("agent_monitor_corrections_total"):
            found[labels["from"]] -= value
            found[labels["to"]] += value
    return {verdict: n for verdict, n in found.items() if n and verdict != "withdrawn"}
