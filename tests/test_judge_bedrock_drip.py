"""Bedrock's endpoint at its slowest, through the real client: nobody else is held up."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from waiting import until

from monitor.backends.judge_bedrock import BedrockJudge
from monitor.errors import BackendUnavailable
from monitor.ports import JudgePrompt, JudgeReply

PROMPT = JudgePrompt("rubric", "shared ", "own", "key")
SAID = {
    "output": {"message": {"role": "assistant", "content": [{"text": "said"}]}},
    "stopReason": "end_turn",
    "usage": {
        "inputTokens": 12,
        "outputTokens": 3,
        "totalTokens": 1_015,
        "cacheReadInputTokens": 900,
        "cacheWriteInputTokens": 100,
    },
    "metrics": {"latencyMs": 5},
}
BETWEEN_BYTES_S = 0.1


class DrippingServer:
    """Answers Converse; while `drips`, a byte at a time, so that no single read is late."""

    def __init__(self) -> None:
        self.drips = False
        self.over = threading.Event()
        """Ends every drip, as a peer that goes away."""
        self.asked = 0
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                server.asked += 1
                body = json.dumps(SAID).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                if not server.drips:
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                    return
                self.close_connection = True
                self.send_header("Content-Length", "1000000")
                self.end_headers()
                while not server.over.wait(BETWEEN_BYTES_S):
                    self.wfile.write(b" ")

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._httpd.daemon_threads = True
        self._thread = threading.Thread(target=self._httpd.serve_forever, daemon=True)
        self.url = f"http://127.0.0.1:{self._httpd.server_address[1]}"

    def __enter__(self) -> DrippingServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self._httpd.shutdown()
        self._httpd.server_close()


AWS = {
    "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE000000000",
    "AWS_SECRET_ACCESS_KEY": "not-a-secret",
    "AWS_EC2_METADATA_DISABLED": "true",
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[DrippingServer]:
    with DrippingServer() as found:
        for name, value in {**AWS, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": found.url}.items():
            monkeypatch.setenv(name, value)
        yield found


async def outcome(judge: BedrockJudge) -> Any:
    try:
        return await judge.ask(PROMPT)
    except BackendUnavailable as error:
        return error.why, error.reached


async def test_what_came_through_the_cache_was_read_too(server: DrippingServer):
    judge = BedrockJudge("amazon.nova-lite-v1:0", "us-east-1", 5.0)
    assert await judge.ask(PROMPT) == JudgeReply("said", 1_012, 3)
    await judge.close()


async def test_dripping_answers_keep_a_few_threads_of_their_own_and_no_other(
    server: DrippingServer,
):
    judge = BedrockJudge("amazon.nova-lite-v1:0", "us-east-1", 0.5, threads=3)
    server.drips = True
    found = await asyncio.gather(*(outcome(judge) for _ in range(5)))
    assert sorted(found) == [("down", False)] * 2 + [("timeout", True)] * 3
    assert await outcome(judge) == ("down", False)
    assert server.asked == 3
    # The default executor is free, for everything else that this process does.
    assert await asyncio.wait_for(asyncio.to_thread(lambda: "free"), 5.0) == "free"
    server.drips = False
    server.over.set()
    until(lambda: judge._threads.running == 0)
    assert (await judge.ask(PROMPT)).text == "said"
    await judge.close()


ASKING = """
import asyncio
from monitor.backends.judge_bedrock import BedrockJudge
from monitor.errors import BackendUnavailable
from monitor.ports import JudgePrompt

async def ask():
    judge = BedrockJudge("amazon.nova-lite-v1:0", "us-east-1", 0.5)
    try:
        await judge.ask(JudgePrompt("rubric", "shared ", "own", "key"))
    except BackendUnavailable as error:
        print(error.why)
    await judge.close()

asyncio.run(ask())
"""


def test_a_process_ends_beside_an_answer_that_does_not(server: DrippingServer):
    server.drips = True
    done = subprocess.run(
        [sys.executable, "-c", ASKING],
        env={**os.environ},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "timeout\n", "")
    assert not server.over.is_set()
