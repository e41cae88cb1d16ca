"""Builders of closed conversations, for the tests that compare releases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from monitor.releases.arms import ROOT_REASONS, Closed
from monitor.releases.watch import Watch

OLD, NEW, NEXT = "shop-1@model-a", "shop-2@model-b", "shop-3@model-b"


def closed(release: str = OLD, roots: int = 0, at_risk: int = 5, **more: Any) -> Closed:
    """A conversation of one chain and intent, whose roots are missing parameters."""
    reasons = [0] * len(ROOT_REASONS)
    reasons[ROOT_REASONS.index("missing_parameters")] = min(roots, 12)
    fields: dict[str, Any] = {
        "release": release,
        "evaluator": "rules-1",
        "chain": 1,
        "intent": 0,
        "roots": roots,
        "at_risk": at_risk,
        "inherited": 0,
        "early_roots": min(roots, 12),
        "early_at_risk": min(at_risk, 12),
        "early_reasons": tuple(reasons),
        "latency_bucket": 2,
        "day": 0,
        "model": release.rpartition("@")[2],
    }
    return Closed(**{**fields, **more})


def traffic(release: str, count: int, one_in: int, **more: Any) -> Iterator[Closed]:
    """Conversations of five turns, of which each `one_in`th has one root."""
    for number in range(count):
        yield closed(release, int(number % one_in == 0), **more)


def fed(watch: Watch, *streams: Iterable[Closed]) -> Watch:
    """The watch, after the conversations of each stream in turn."""
    for stream in streams:
        for each in stream:
            watch.observe(each)
    return watch


def alternating(*streams: Iterable[Closed]) -> Iterator[Closed]:
    """One of each stream in turn, until the shortest ends."""
    for together in zip(*streams, strict=False):
        yield from together


def swapped(one_in: int = 4, **more: Any) -> Watch:
    """A release of 2,000 conversations, each twentieth with a root, and 400 of a new one."""
    return fed(Watch(), traffic(OLD, 2000, 20), traffic(NEW, 400, one_in, **more))
