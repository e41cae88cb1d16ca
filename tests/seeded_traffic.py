"""A monitor that sees two releases of the shop's agent: its pages of metrics, as scraped."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from judge_asking import invents
from judge_server import JudgeServer
from prometheus_server import Sample
from running import Running
from waiting import until

from monitor.roles.demo.traffic import AFTER, BEFORE, SECOND_NS, START_NS, TOOLS, Played, traffic

BEFORE_COUNT, AFTER_COUNT = 360, 330
EVERY_S = 10
"""Between the starts of two conversations, by the traces' clock."""
PER_PAGE = 6
PAGE_S = EVERY_S * PER_PAGE
BEHIND = 18
"""Conversations that pages may lag behind what was sent."""
REST_PAGES = 5
"""Pages after the last conversation, when nothing moves any more."""
REFUND = "issue_refund"
"""The tool that the second release calls wrongly in two of three conversations."""
START_S = START_NS // SECOND_NS
JOB, INSTANCE = "agent-monitor", "127.0.0.1:9464"
_SAMPLE = re.compile(r"^(agent_monitor_\w+)(?:\{(.*)\})? (\S+)$", re.M)
CONFIGURATION = """
[ledger]
commit_interval_s = 0.1
[conversation]
settle_s = 0.1
quiet_s = 0.3
idle_s = 0.3
[references]
by_id = ["references.jsonl"]
[tools]
files = ["tools.json"]
[releases]
baseline_conversations = 200
[labels]
files = ["labels.jsonl"]
interval_s = 0.2
[judge]
backend = "openai"
model = "grader-1"
url = "{url}"
rate = 0.3
canary_every = 20
per_hour = {{ calls = 100000, usd = 25.0 }}
per_day = {{ calls = 100000, usd = 100.0 }}
prices = {{ grader-1 = {{ input_usd = 3.0, output_usd = 15.0 }} }}
"""


class Seeded(NamedTuple):
    """What was scraped, and from when to when."""

    samples: list[Sample]
    start_s: int
    swap_s: int
    end_s: int


def seeded(folder: Path) -> Seeded:
    """Runs the monitor over the traffic; a page after every few conversations."""
    played = [*traffic(BEFORE, BEFORE_COUNT, 11), *traffic(AFTER, AFTER_COUNT, 12)]
    _prepared(folder, played)
    samples: list[Sample] = []
    with JudgeServer(_grade) as server:
        (folder / "monitor.toml").write_text(CONFIGURATION.format(url=server.url))
        given = ("--config", str(folder / "monitor.toml"), "--reports", str(folder / "out.jsonl"))
        with Running(folder, *given) as service:
            at_s = START_S
            samples += _scraped(service, at_s)
            for start in range(0, len(played), PER_PAGE):
                group = [_placed(played[n], n) for n in range(start, start + PER_PAGE)]
                spans = [each["resourceSpans"][0] for each in group]
                assert service.post(json.dumps({"resourceSpans": spans}).encode()) == 200
                until(partial(_kept_up, service, start), timeout_s=60)
                at_s += PAGE_S
                samples += _scraped(service, at_s)
            assert service.post(b"no traces at all") == 400
            until(lambda: _closed(service) >= len(played), timeout_s=60)
            until(lambda: _value(service, "judge_waiting_conversations") == 0, timeout_s=60)
            for _ in range(REST_PAGES):
                at_s += PAGE_S
                samples += _scraped(service, at_s)
            assert service.stop() == 0
    return Seeded(samples, START_S, START_S + BEFORE_COUNT * EVERY_S, at_s)


def fresh(folder: Path) -> Seeded:
    """A monitor that nobody has sent anything to, and that has no judge."""
    with Running(folder) as service:
        times = range(START_S, START_S + 10 * PAGE_S, PAGE_S)
        samples = [sample for at_s in times for sample in _scraped(service, at_s)]
    return Seeded(samples, times[0], times[0], times[-1])


def _prepared(folder: Path, played: list[Played]) -> None:
    references = [json.dumps(each.reference) for each in played if each.reference]
    (folder / "references.jsonl").write_text("\n".join(references) + "\n")
    (folder / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    rng = random.Random(7)
    labels = []
    for number, each in enumerate(played):
        label = {"conversation_id": each.conversation_id, "annotator": "ann"}
        spoilt = number >= BEFORE_COUNT and REFUND in json.dumps(each.request) and number % 4 > 0
        for sub_metric in ("overall", "truthfulness"):
            right = int(spoilt if rng.random() < 0.1 else not spoilt)
            labels.append(json.dumps({**label, "label": right, "sub_metric": sub_metric}))
    (folder / "labels.jsonl").write_text("\n".join(labels) + "\n")


def _placed(played: Played, number: int) -> dict[str, Any]:
    """The conversation at its place in time, at a pace of its own, with its task's outcome."""
    rng = random.Random(number)
    pace = rng.uniform(0.5, 6.0) * (1.6 if played.conversation_id.startswith("demo-2026.12") else 1)
    starts = [int(span["startTimeUnixNano"]) for span in _spans(played.request)]
    first, start = min(starts), START_NS + number * EVERY_S * SECOND_NS
    request = json.loads(json.dumps(played.request))
    outcome = {"key": "agent_monitor.outcome", "value": {"stringValue": "pass"}}
    if rng.random() < (0.1 if number < BEFORE_COUNT else 0.35):
        outcome["value"] = {"stringValue": "fail"}
    for span in _spans(request):
        for key in ("startTimeUnixNano", "endTimeUnixNano"):
            span[key] = str(start + int((int(span[key]) - first) * pace))
        if "parentSpanId" not in span:
            span["attributes"].append(outcome)
    return request


def _spans(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for resource in request["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            yield from scope["spans"]


def _grade(document: dict[str, Any]) -> str:
    """Mostly content; the same for the same turn. What a control has planted it never takes."""
    if invents(document):
        return "fail"
    drawn = blake2b(json.dumps(document, sort_keys=True).encode(), digest_size=1).digest()[0]
    return "abstain" if drawn < 20 else "fail" if drawn < 50 else "pass"


def _scraped(service: Running, at_s: int) -> Iterator[Sample]:
    status, page = service.page("/metrics")
    assert status == 200
    own = f'job="{JOB}",instance="{INSTANCE}"'
    yield Sample(f"up{{{own}}}", "1", at_s)
    for name, labels, value in _SAMPLE.findall(page):
        yield Sample(f"{name}{{{labels},{own}}}" if labels else f"{name}{{{own}}}", value, at_s)


def _kept_up(service: Running, sent: int) -> bool:
    """Whether the busy machine has nearly done what was sent, so that pages show it in its time."""
    waiting = _value(service, "judge_waiting_conversations")
    return _closed(service) >= sent - BEHIND and waiting <= BEHIND


def _closed(service: Running) -> float:
    return _value(service, "conversations_total")


def _value(service: Running, name: str) -> float:
    """The sum over all labels."""
    page = service.page("/metrics")[1]
    return sum(float(v) for n, _, v in _SAMPLE.findall(page) if n == f"agent_monitor_{name}")
