"""When a worker says that it should be started anew."""

from __future__ import annotations

import sys

import pytest

from monitor.cli import main
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


def test_without_the_extra_a_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("monitor.roles.kafka")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "aiokafka", None)
    monkeypatch.setitem(sys.modules, "kafka.admin", None)
    assert main(["topics"]) == 2
    assert "pip install 'agent-turn-monitor[kafka]'" in capsys.readouterr().err
