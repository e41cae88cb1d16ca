"""When a worker says that it should be started anew."""

from __future__ import annotations

from monitor.roles.kafka.stalls import Stalls

PLACE = ("traces", 1)


def test_work_after_a_long_quiet_is_no_stall() -> None:
    stalls = Stalls(60.0)
    assert not stalls.is_stalled(PLACE, 8, 0.0, waits=False)
    assert not stalls.is_stalled(PLACE, 8, 10_000.0, waits=False)
    assert not stalls.is_stalled(PLACE, 8, 10_000.5, waits=True)
    assert not stalls.is_stalled(PLACE, 8, 10_059.0, waits=True)


def test_work_that_gets_nowhere_is_a_stall_until_something_is_done() -> None:
    stalls = Stalls(60.0)
    assert not stalls.is_stalled(PLACE, None, 0.0, waits=True)
    assert stalls.is_stalled(PLACE, None, 61.0, waits=True)
    assert not stalls.is_stalled(PLACE, 9, 62.0, waits=True)
    assert not stalls.is_stalled(("traces", 2), None, 62.0, waits=True)
