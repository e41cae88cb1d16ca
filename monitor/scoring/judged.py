"""What scoring says of one turn before anybody asks where the fault came from."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from monitor.verdict import Basis, Finding, SubMetric, UnscoredWhy


class Judged(NamedTuple):
    """One turn's own result. With findings it fails; without a basis it is unscored."""

    basis: Basis | None
    findings: tuple[Finding, ...] = ()
    scores: Mapping[SubMetric, float] = MappingProxyType({})
    why: UnscoredWhy | None = None
    """Set when unscored, and when a comparison stayed open: then a turn that has no finding is
    unscored."""
    own: tuple[Finding, ...] = ()
    """Further faults of the conversation as a whole: what some reply owed. Only a reply that said
    something else in its place explains them."""
    hinging: tuple[Finding, ...] = ()
    """Further faults that are not the turn's own: only a call that went wrong before it could
    have prevented them."""
    upstream: str | None = None
    """Id of an earlier turn that a judge blames for what this one passes on."""
    surplus: tuple[str, ...] = ()
    """Claims of a reply that the expected reply does not hold. Whether they are faults depends
    on where they came from, which attribution knows."""


def unscored(why: UnscoredWhy) -> Judged:
    """A turn that nothing could be held against."""
    return Judged(None, why=why)
