"""Encoders by name, each with what it needs before it: a circuit where it may be down."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import urlsplit

from monitor.backends.bedrock_embeddings import MODEL, TitanEncoder
from monitor.backends.circuit import Circuit
from monitor.backends.http_embeddings import HttpEncoder
from monitor.backends.minilm import MiniLmEncoder
from monitor.backends.wordllama import WordLlamaEncoder
from monitor.errors import ConfigurationError
from monitor.ports import Encoder


class Wish(NamedTuple):
    """What a deployment says of its encoder."""

    backend: str
    url: str | None = None
    key: str | None = None
    insecure: bool = False
    model: str | None = None
    dimensions: int | None = None
    region: str | None = None
    timeout_s: float = 2.0

    @property
    def is_slow(self) -> bool:
        """Whether texts are better gathered, since each question costs a round trip."""
        return self.backend in ("bedrock", "http")


def encoder(wish: Wish, clock: Callable[[], float]) -> Circuit:
    """The encoder behind its circuit; `clock` is monotonic. Raises ConfigurationError."""
    return Circuit(_plain(wish), clock)


def _plain(wish: Wish) -> Encoder:
    match wish.backend:
        case "wordllama":
            return WordLlamaEncoder()
        case "minilm":
            return MiniLmEncoder()
        case "bedrock":
            return TitanEncoder(
                wish.model or MODEL, wish.dimensions or 256, wish.region, wish.timeout_s
            )
        case "http":
            return _http(wish)
        case _:
            raise ConfigurationError(f"embedding.backend is {wish.backend!r}, which is none")


def _http(wish: Wish) -> HttpEncoder:
    if not wish.url or not wish.model:
        raise ConfigurationError('embedding.backend = "http" needs `url` and `model`')
    parts = urlsplit(wish.url)
    local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if parts.scheme == "http" and not local and not wish.insecure:
        raise ConfigurationError(
            "embedding.url is plain http to another machine, where texts and the key would pass "
            "unprotected; use https, or set `insecure = true`"
        )
    return HttpEncoder(wish.url, wish.model, wish.key, wish.dimensions, wish.timeout_s)
