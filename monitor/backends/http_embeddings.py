"""Embeddings behind any OpenAI-compatible endpoint: vLLM, Ollama, LiteLLM, TEI, OpenAI itself."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from monitor.backends.unit_rows import clean, foreign_rows, unit_rows
from monitor.errors import BackendUnavailable, ConfigurationError

BATCH: Final = 96
"""Texts of one request."""
TEXT_LIMIT: Final = 8_192
"""Characters of each text that are sent."""
REPLY_LIMIT_BYTES: Final = 32 * 1024 * 1024
THROTTLED: Final = 429
REFUSED: Final = (400, 401, 403, 404, 405, 413, 422)


class HttpEncoder:
    """Asks `POST {url}/embeddings`. Follows no redirect and trusts no proxy of the environment:
    the only address that is ever spoken to is the operator's own.
    """  # noqa: D205  one sentence about safety belongs to the summary

    def __init__(
        self,
        url: str,
        model: str,
        key: str | None = None,
        dimensions: int | None = None,
        timeout_s: float = 2.0,
    ) -> None:
        """`url` ends before `/embeddings`. `dimensions` is asked for, and required of the reply.

        Raises ConfigurationError for a `url` that is no http address.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigurationError(f"embedding.url is {url!r}, and no http or https address")
        self.version = f"http-{model}-{dimensions or 'full'}"
        self._secure, self._host, self._port = parts.scheme == "https", parts.hostname, parts.port
        self._path = f"{parts.path.rstrip('/')}/embeddings"
        self._model, self._asked, self._dimensions = model, dimensions, dimensions
        self._timeout_s = timeout_s
        self._headers = {"Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"

    @property
    def dimensions(self) -> int:
        """As configured, else as learnt from a first reply. Raises BackendUnavailable."""
        if self._dimensions is None:
            self.encode(["dimensions"])
        return self._dimensions or 0

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One unit-length row per text, in order; equal texts are sent once."""
        sent = list(dict.fromkeys(clean(text, TEXT_LIMIT) for text in texts))
        if not sent:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        found: list[list[float]] = []
        for start in range(0, len(sent), BATCH):
            found += self._batch(sent[start : start + BATCH])
        rows = dict(zip(sent, unit_rows(found), strict=True))
        return np.stack([rows[clean(text, TEXT_LIMIT)] for text in texts])

    def _batch(self, texts: list[str]) -> list[list[float]]:
        body: dict[str, Any] = {"model": self._model, "input": texts, "encoding_format": "float"}
        if self._asked is not None:
            body["dimensions"] = self._asked
        document = self._posted(json.dumps(body).encode())
        try:
            listed = sorted(json.loads(document)["data"], key=lambda one: int(one["index"]))
            rows = [one["embedding"] for one in listed]
            order = [int(one["index"]) for one in listed]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise BackendUnavailable("the endpoint sent no list of embeddings", "garbage") from None
        if order != list(range(len(texts))):
            raise BackendUnavailable("the endpoint did not answer for each text", "garbage")
        checked = foreign_rows(rows, self._dimensions, "the endpoint")
        self._dimensions = len(checked[0])
        return checked

    def _posted(self, body: bytes) -> bytes:
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        connection = kind(self._host, self._port, timeout=self._timeout_s)
        try:
            connection.request("POST", self._path, body, self._headers)
            until = time.monotonic() + self._timeout_s
            with connection.getresponse() as reply:
                content = _read(reply, until)
                _require_success(reply.status, reply.getheader("Retry-After"))
        except TimeoutError:
            raise BackendUnavailable("the endpoint did not answer in time", "timeout") from None
        except (http.client.HTTPException, OSError) as error:
            raise BackendUnavailable(f"the endpoint: {type(error).__name__}") from None
        finally:
            connection.close()
        if len(content) > REPLY_LIMIT_BYTES:
            raise BackendUnavailable("the endpoint's answer is longer than 32 MiB", "garbage")
        return content


def _read(reply: http.client.HTTPResponse, until: float) -> bytes:
    """The body, up to the limit; an endpoint that sends drop by drop is out of time."""
    content = bytearray()
    while len(content) <= REPLY_LIMIT_BYTES:
        part = reply.read1(65_536)
        if not part:
            break
        content += part
        if time.monotonic() > until:
            raise TimeoutError
    return bytes(content)


def _require_success(status: int, retry_after: str | None) -> None:
    if status == http.client.OK:
        return
    wait_s = float(retry_after) if retry_after and retry_after.isdecimal() else None
    why = "throttled" if status == THROTTLED else "refused" if status in REFUSED else "down"
    raise BackendUnavailable(f"the endpoint answered {status}", why, wait_s)
