"""Judging over Kafka comes to the same numbers as judging in one process."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from judge_server import JudgeServer
from kafka_broker import Broker
from kafka_fleet import KEY, Fleet, toml
from running import Running
from waiting import until

from monitor.roles.demo.traffic import BEFORE, traffic

COPIES = 80
PREFIX = "agent_monitor_"
SAME = (
    *("estimated_turns_total", "predicted_correct_turns_total", "judged_turns_total"),
    *("ipw_judged_correct_turns_total", "ipw_predicted_correct_turns_total"),
    *("judge_skipped_conversations_total", "turns_total", "corrected_correctness_ratio"),
    "people_corrected_correctness_ratio",
)


def graded(document: dict[str, Any]) -> str:
    """The same of the same turn, whichever copy of the conversation it is in."""
    return ("pass", "fail", "pass", "abstain")[document["turn"]["number"] % 4]


@pytest.fixture(scope="module")
def copies() -> list[bytes]:
    """One conversation over and over, so that the order of their answers is of no account."""
    (one,) = traffic(BEFORE, 1, 11)
    text = json.dumps(one.request)

    def copied(number: int) -> bytes:
        def renamed(found: re.Match[str]) -> str:
            return hashlib.md5(f"{number}:{found[0]}".encode()).hexdigest()

        own = re.sub(r"\b[0-9a-f]{32}\b", renamed, text)
        return own.replace(one.conversation_id, f"copy-{number:03d}").encode()

    return [copied(number) for number in range(COPIES)]


def labelled(folder: Path) -> Path:
    """People's own verdicts on the first turn of some of them."""
    labels = [
        {
            "conversation_id": f"copy-{number:03d}",
            "turn_no": 1,
            "sub_metric": "overall",
            "label": int(number % 3 > 0),
            "annotator": "ann",
            "label_id": f"l{number}",
        }
        for number in range(40)
    ]
    path = folder / "labels.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in labels))
    return path


def settings(folder: Path, server: JudgeServer) -> dict[str, dict[str, Any]]:
    return {
        "judge": {
            "backend": "openai",
            "model": "grader-1",
            "url": server.url,
            "rate": 0.6,
            "control": "never",
            "pause_s": 0.5,
        },
        "labels": {"files": [str(labelled(folder))], "interval_s": 0.3},
        "conversation": {"report_open": False},
    }


def numbers(page: Callable[[], str]) -> dict[str, float]:
    """What both hosts must agree on."""
    found = {}
    for line in page().splitlines():
        name, _, value = line.rpartition(" ")
        if name.startswith(tuple(PREFIX + each for each in SAME)):
            found[name] = float(value)
    return found


def settled(page: Callable[[], str]) -> bool:
    """Whether every conversation is in the estimate, and every label beside its turn."""
    found = numbers(page)
    turns = sum(n for name, n in found.items() if name.startswith(PREFIX + "turns_total"))
    known = sum(n for name, n in found.items() if name.startswith(PREFIX + "estimated"))
    by_people = any(name.startswith(PREFIX + "people_") for name in found)
    return by_people and turns == known > 0 and turns % COPIES == 0


@pytest.fixture(scope="module")
def together(copies: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """The numbers of one process, whose judge is down until all is reported."""
    folder = tmp_path_factory.mktemp("together")
    with JudgeServer(graded) as server:
        server.trouble = "down"
        own = settings(folder, server)
        own["conversation"] |= {"settle_s": 0.1, "quiet_s": 0.5, "idle_s": 0.5}
        config = folder / "monitor.toml"
        config.write_text(toml(own))
        with Running(folder, "--config", str(config), environment=KEY) as service:
            for body in copies:
                assert service.post(body) == 200

            def page() -> str:
                return service.page("/metrics")[1]

            until(lambda: _reported(page) == COPIES)
            server.trouble = None
            until(lambda: settled(page), timeout_s=120)
            found = numbers(page)
            assert service.stop() == 0
    return found


def _reported(page: Callable[[], str]) -> float:
    lines = [line.rpartition(" ") for line in page().splitlines()]
    return sum(float(n) for name, _, n in lines if name.startswith(PREFIX + "conversations_total"))


def test_the_estimate_over_kafka_is_that_of_one_process(
    broker: Broker, tmp_path: Path, copies: list[bytes], together: dict[str, float]
) -> None:
    with (
        JudgeServer(graded) as server,
        Fleet(broker, tmp_path, "estimated", settings(tmp_path, server)) as fleet,
    ):
        fleet.worker()
        export = fleet.export()
        standby = fleet.export("standby", "--standby")
        fleet.feed(copies)
        fleet.flush()
        until(lambda: _reported(export.page) == COPIES)
        judge = fleet.start("judge", "--ledger", str(tmp_path / "judge.sqlite3"))
        until(lambda: any("judged" in name for name in numbers(export.page)))
        export.kill()
        export = fleet.export()
        until(lambda: settled(export.page), timeout_s=120)
        assert numbers(export.page) == pytest.approx(together)
        until(lambda: settled(standby.page), timeout_s=120)
        assert numbers(standby.page) == numbers(export.page)
        assert judge.stop() == 0
    assert any(name.startswith(PREFIX + "corrected") for name in together)
