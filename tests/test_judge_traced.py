"""The judge's calls, traced into the very service that makes them, are nobody's turns."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from judge_server import JudgeServer, reply_to
from test_judge_service import PLAYED, metric, reports_of, sent, started, traffic
from traced_judge import CONVENTIONS, Tracing
from waiting import until

__all__ = ["traffic"]


class TracedServer(JudgeServer):
    """A gateway that traces what it answers."""

    tracing: Tracing | None = None

    def answer(self, request: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        reply = json.dumps(reply_to(body["messages"][1]["content"], self.grade))
        if self.tracing is not None:
            self.tracing.trace(body["messages"], reply)
        super().answer(request, body)


GREETING = [
    {"role": "system", "content": "You work at a hotel's reception."},
    {"role": "user", "content": "Good day to you."},
]


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_traced_judge_does_not_judge_itself(tmp_path, traffic, convention):
    with TracedServer() as server, started(tmp_path, server)() as service:
        server.tracing = Tracing(service.otlp, convention)
        sent(service, traffic)
        until(lambda: metric(service, "judge_waiting_conversations") == 0 < len(server.asked))
        until(lambda: len(reports_of(tmp_path)) >= 2 * PLAYED)
        asked = len(server.asked)
        # A call of somebody else through the same gateway, after all of ours: so all were seen.
        server.tracing.trace(GREETING, "Good day, how can I help?")
        until(lambda: len(ours(tmp_path)) > 0 and last_is_closed(tmp_path))
        server.tracing.close()
        assert service.stop() == 0
    verdicts = [turn["verdict"] for report in ours(tmp_path) for turn in report["turns"]]
    assert set(verdicts) == {"unscored"}
    if convention == "genai_bare":
        # Without a word of content nobody can tell whose call it was; then nobody is asked either.
        whys = {turn["why"] for report in ours(tmp_path) for turn in report["turns"]}
        assert whys == {"content_missing"}
        assert len(server.asked) == asked
    else:
        assert len({report["conversation_id"] for report in ours(tmp_path)}) == 1


def ours(folder: Path) -> list[dict[str, Any]]:
    """Reports of what came through the gateway."""
    found = reports_of(folder)
    return [report for report in found if not report["conversation_id"].startswith("demo-")]


def last_is_closed(folder: Path) -> bool:
    return bool(ours(folder)[-1]["closed"])
