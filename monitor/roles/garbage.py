"""How often Python looks for reference cycles in a process that holds many frozen values."""

from __future__ import annotations

import gc

YOUNG, MIDDLE, OLD = 50_000, 20, 100
"""Spans and turns are trees without cycles, so looking at all of them finds nothing to free. With
Python's own thresholds that took an eighth of the path from the wire to the ledger."""


def collect_rarely() -> None:
    """Set the thresholds of this process; hosts that hold conversations call it once."""
    gc.set_threshold(YOUNG, MIDDLE, OLD)
