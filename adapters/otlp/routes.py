"""The addresses of the HTTP receiver: OTLP's own, and those that a Langfuse SDK calls."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

import msgspec

from adapters.otlp import answers
from adapters.otlp.answers import LANGFUSE_INGESTION, LANGFUSE_TRACES, Signal
from adapters.otlp.media import JSON
from adapters.otlp.reception import Decode, Reception
from monitor.errors import MalformedPayload, UnsupportedPayload
from monitor.ports import Decoded

LANGFUSE_HEALTH: Final = "/api/public/health"
LANGFUSE_PROJECTS: Final = "/api/public/projects"
LANGFUSE_SCORES: Final = "/api/public/scores"
INGESTION_VERSION: Final = "x-langfuse-ingestion-version"
_NEWEST_INGESTION: Final = 4

Ingest: TypeAlias = Callable[[bytes], tuple[Decoded, bytes]]
"""From the body of an older Langfuse batch to what it held and the answer, of status 207."""


class Route(NamedTuple):
    """One address."""

    signal: Signal
    decode: Decode
    status: int = 200
    langfuse: bool = False
    json_only: bool = False

    def check(self, headers: Mapping[str, str], media: str) -> None:
        """Raises for what the address does not take, before the body is read."""
        if self.json_only and media != JSON:
            raise UnsupportedPayload(f"content type must be {JSON} at this address")
        version = headers.get(INGESTION_VERSION, "").strip()
        if not self.langfuse or not version.isdecimal():
            return
        if len(version) > 9 or int(version) > _NEWEST_INGESTION:
            raise MalformedPayload(
                f"{INGESTION_VERSION} must be at most {_NEWEST_INGESTION}; the sender's SDK is "
                "newer than this monitor"
            )


def routes(reception: Reception, ingest: Ingest | None) -> dict[str, Route]:
    """By path; Langfuse's older batches only where something reads them."""
    found = {signal.path: Route(signal, decode) for signal, decode in reception.decoders.items()}
    traces = reception.decoders[answers.TRACES]
    found[LANGFUSE_TRACES] = Route(answers.TRACES, traces, langfuse=True)
    if ingest is not None:
        one_by_one = _exclusive(ingest)
        found[LANGFUSE_INGESTION] = Route(answers.TRACES, one_by_one, 207, json_only=True)
    return found


def _exclusive(ingest: Ingest) -> Decode:
    """`ingest` remembers earlier batches, and large bodies are decoded in another thread."""
    lock = threading.Lock()

    def decode(body: bytes, _: str) -> tuple[Decoded, bytes]:
        with lock:
            return ingest(body)

    return decode


class Fixed(NamedTuple):
    """An answer that is always the same."""

    body: bytes
    open: bool = False
    """Given to everybody, and even where a Langfuse could be asked."""


def fixed_answers() -> dict[tuple[str, str], Fixed]:
    """What Langfuse SDKs ask beside sending traces, by method and path.

    Scores are taken without being kept: where no Langfuse stands behind, nobody wants them.
    """
    name = "agent-turn-monitor"
    owner = {"id": name, "name": name}
    projects = {"data": [{"id": name, "name": name, "organization": owner, "metadata": {}}]}
    return {
        ("GET", LANGFUSE_HEALTH): Fixed(_json({"status": "OK", "version": name}), open=True),
        ("GET", LANGFUSE_PROJECTS): Fixed(_json(projects)),
        ("POST", LANGFUSE_SCORES): Fixed(_json({"id": name})),
    }


_json = msgspec.json.encode
