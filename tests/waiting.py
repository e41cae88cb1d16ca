"""Waits for another process to get somewhere; bounded, and only as long as it takes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

LOOK_S = 0.05


def until(reached: Callable[[], bool], timeout_s: float = 30.0) -> None:
    """Return once it is so; fails when it is not in time."""
    deadline = time.monotonic() + timeout_s
    pause = threading.Event()
    while not reached():
        if time.monotonic() > deadline:
            raise AssertionError(f"not reached within {timeout_s:.0f} s")
        pause.wait(LOOK_S)
