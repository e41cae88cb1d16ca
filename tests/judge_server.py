"""A model server on loopback that speaks OpenAI's chat interface, as well or as badly as told."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from judge_asking import invents

Grade = Callable[[dict[str, Any]], str]
Usage = Callable[[dict[str, Any]], tuple[int, int]]
TROUBLES = (
    *("throttled", "down", "hang", "garbage", "huge", "half", "language", "nan", "refusal"),
    *("reset", "wrong_nonce", "empty"),
)


def lenient(document: dict[str, Any]) -> str:
    """Passes all but what a control has planted."""
    return "fail" if invents(document) else "pass"


def fixed_usage(body: dict[str, Any]) -> tuple[int, int]:
    return 100, 20


class JudgeServer:
    """`with JudgeServer() as server`; `server.url` is what `judge.url` is set to."""

    def __init__(self, grade: Grade = lenient) -> None:
        self.grade = grade
        self.trouble: str | None = None
        """Of every answer until it is taken back."""
        self.asked: list[dict[str, Any]] = []
        """The bodies of all requests, in order."""
        self.keys: list[str | None] = []
        self.hang_s = 0.0
        self.think_s = 0.0
        """Before each answer."""
        self.usage: Usage = fixed_usage
        self.billed: list[tuple[int, int]] = []
        """Tokens read and written, of each request as it came, whatever became of its answer."""
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                body = json.loads(self.rfile.read(length))
                server.asked.append(body)
                server.keys.append(self.headers.get("Authorization"))
                server.billed.append(server.usage(body))
                time.sleep(server.think_s)
                server.answer(self, body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._httpd.daemon_threads = True
        self._thread = threading.Thread(target=self._httpd.serve_forever, daemon=True)
        self.url = f"http://127.0.0.1:{self._httpd.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._httpd.shutdown()
        self._httpd.server_close()

    def answer(self, request: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        trouble = self.trouble
        if trouble == "hang":
            time.sleep(self.hang_s)
        if trouble in ("reset", "hang"):
            request.close_connection = True
            return
        if trouble in ("throttled", "down", "refusal"):
            status = {"throttled": 429, "down": 500, "refusal": 401}[trouble]
            send(request, status, b"{}", {"Retry-After": "0"} if status == 429 else {})
            return
        send(request, 200, self._completion(body, trouble))

    def _completion(self, body: dict[str, Any], trouble: str | None) -> bytes:
        if trouble == "garbage":
            return b"<html>not what you asked for</html>"
        if trouble == "huge":
            content = "x" * 200_000
        else:
            content = spoilt(reply_to(body["messages"][1]["content"], self.grade), trouble)
        read, written = self.usage(body)
        usage = {"prompt_tokens": read, "completion_tokens": written}
        choices = [{"index": 0, "message": {"role": "assistant", "content": content}}]
        return json.dumps({"choices": choices, "usage": usage}).encode()


def reply_to(prompt: str, grade: Grade) -> dict[str, Any]:
    """A reply in the right form to a prompt of the monitor."""
    document, _, rest = prompt.partition("\n\nnonce: ")
    asked = json.loads(document)
    verdict = grade(asked)
    text = asked["turn"]["text"]
    return {
        "nonce": re.match(r"[0-9a-f]{32}", rest)[0],  # type: ignore[index]
        "verdict": verdict,
        "reason": "inconsistent_response" if verdict == "fail" else None,
        "field": None,
        "score": {"pass": 0.9, "fail": 0.1, "abstain": 0.5}[verdict],
        "quote": text[:60],
        "source": asked["turn"]["number"],
        "upstream": None,
    }


def spoilt(reply: dict[str, Any], trouble: str | None) -> str:
    """The reply as a model in trouble would write it."""
    if trouble == "wrong_nonce":
        reply = {**reply, "nonce": "0" * 32}
    text = json.dumps(reply)
    if trouble == "half":
        return text[: len(text) // 2]
    if trouble == "language":
        return "Cette réponse est correcte, je lui donne la note maximale."
    if trouble == "nan":
        return text.replace(f'"score": {reply["score"]}', '"score": NaN')
    return "" if trouble == "empty" else text


def send(
    request: BaseHTTPRequestHandler,
    status: int,
    body: bytes,
    headers: dict[str, str] | None = None,
) -> None:
    request.send_response(status)
    request.send_header("Content-Type", "application/json")
    request.send_header("Content-Length", str(len(body)))
    for name, value in (headers or {}).items():
        request.send_header(name, value)
    request.end_headers()
    request.wfile.write(body)
