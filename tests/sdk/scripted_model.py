"""A model that answers by script, behind OpenAI's chat completions protocol, on loopback."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "gpt-4o-mini"
ANSWERING_MODEL = "gpt-4o-mini-2024-07-18"
QUERIES = (
    "What is the weather in Paris and London?",
    "Convert Paris to Fahrenheit please",
    "Thanks!",
)
CALLS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    QUERIES[0]: [("get_weather", {"city": "Paris"}), ("get_weather", {"city": "London"})],
    QUERIES[1]: [("convert_temp", {"celsius": 18.5, "to": "F"})],
    QUERIES[2]: [],
}
REPLIES = {
    QUERIES[0]: "Paris: 18.5C and sunny. London: 14.0C and rainy.",
    QUERIES[1]: "18.5C is 65.3F.",
    QUERIES[2]: "You are welcome. Have a nice day!",
}


def text_of(content: Any) -> str:
    """The text of a message's content, which is a string or a list of parts."""
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content or ""


def answer_to(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The assistant message that the script has next."""
    query = next(text_of(m["content"]) for m in reversed(messages) if m["role"] == "user")
    calls = CALLS.get(query, [])
    if calls and messages[-1]["role"] == "user":
        number = QUERIES.index(query)
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": f"call_{number}_{position}",
                    "type": "function",
                    "function": {"name": name, "arguments": json.dumps(arguments)},
                }
                for position, (name, arguments) in enumerate(calls)
            ],
        }
    return {"role": "assistant", "content": REPLIES.get(query, "I have no script for this.")}


def chunks(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The message as a stream's deltas."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    if message.get("tool_calls"):
        deltas += [
            {"tool_calls": [{**call, "index": index}]}
            for index, call in enumerate(message["tool_calls"])
        ]
    else:
        words = message["content"].split(" ")
        deltas += [{"content": word if i == 0 else f" {word}"} for i, word in enumerate(words)]
    return deltas


class ScriptedModel:
    """A server for the length of a `with` block; `requests` is what it was asked."""

    def __enter__(self) -> ScriptedModel:
        self.requests: list[dict[str, Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        asked = self.requests

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                asked.append(body)
                message = answer_to(body["messages"])
                if body.get("stream"):
                    self._stream(message, body)
                else:
                    self._whole(message)

            def _whole(self, message: dict[str, Any]) -> None:
                reason = "tool_calls" if message.get("tool_calls") else "stop"
                choice = {"index": 0, "message": message, "finish_reason": reason}
                self._send("application/json", json.dumps(_completion("", [choice])).encode())

            def _stream(self, message: dict[str, Any], body: dict[str, Any]) -> None:
                reason = "tool_calls" if message.get("tool_calls") else "stop"
                events = [
                    _completion(".chunk", [{"index": 0, "delta": delta, "finish_reason": None}])
                    for delta in chunks(message)
                ]
                last = {"index": 0, "delta": {}, "finish_reason": reason}
                events.append(_completion(".chunk", [last]))
                if (body.get("stream_options") or {}).get("include_usage"):
                    events.append(_completion(".chunk", []))
                for event in events[:-1]:
                    event.pop("usage", None)
                lines = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
                self._send("text/event-stream", (lines + "data: [DONE]\n\n").encode())

            def _send(self, kind: str, data: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        return Handler


def _completion(kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": "chatcmpl-script",
        "object": f"chat.completion{kind}",
        "created": 1_764_000_000,
        "model": ANSWERING_MODEL,
        "choices": choices,
        "usage": {"prompt_tokens": 40, "completion_tokens": 12, "total_tokens": 52},
    }
