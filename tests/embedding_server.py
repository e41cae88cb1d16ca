"""A local server that speaks the embedding interfaces of OpenAI and of Bedrock."""

from __future__ import annotations

import json
import math
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class EmbeddingServer:
    """Answers with vectors made of the text's letters; counts requests, and fails on demand."""

    def __init__(self, dimensions: int = 256) -> None:
        self.dimensions = dimensions
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.answer: tuple[int, dict[str, str], bytes] | None = None
        """Given instead of vectors while it is set."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def vector(self, text: str, size: int) -> list[float]:
        row = [0.0] * size
        for place, char in enumerate(text or " "):
            row[(ord(char) * 31 + place) % size] += 1.0
        length = math.sqrt(sum(x * x for x in row))
        return [x / length for x in row]

    def reply(self, path: str, body: dict[str, Any]) -> bytes:
        size = body.get("dimensions") or self.dimensions
        if "inputText" in body:
            found = {"embedding": self.vector(body["inputText"], size), "inputTextTokenCount": 3}
            return json.dumps(found).encode()
        listed = [
            {"object": "embedding", "index": index, "embedding": self.vector(text, size)}
            for index, text in enumerate(body["input"])
        ]
        # The interface promises an index, not an order.
        return json.dumps({"object": "list", "data": listed[::-1], "model": body["model"]}).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                server.paths.append(urllib.parse.unquote(self.path))
                server.headers.append(dict(self.headers.items()))
                server.requests.append(json.loads(raw))
                status, headers, content = server.answer or (
                    200,
                    {},
                    server.reply(self.path, server.requests[-1]),
                )
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_arguments: object) -> None:
                """Nothing."""

        return Handler
