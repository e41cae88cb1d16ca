"""The addresses of the HTTP receiver: OTLP's own, and those that a Langfuse SDK calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

import msgspec

from adapters.otlp import answers
from adapters.otlp.answers import Signal
from adapters.otlp.media import JSON
from adapters.otlp.reception import Decode, Reception
from monitor.errors import MalformedPayload, UnsupportedPayload
from monitor.ports import Decoded

LANGFUSE_TRACES: Final = "/api/public/otel/v1/traces"
LANGFUSE_INGESTION: Final = "/api/public/ingestion"
LANGFUSE_HEALTH: Final = "/api/public/health"
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
    traces = reception.decoders[answers.TRACES]
    found = {
        answers.TRACES.path: Route(answers.TRACES, traces),
        answers.LOGS.path: Route(answers.LOGS, reception.decoders[answers.LOGS]),
        LANGFUSE_TRACES: Route(answers.TRACES, traces, langfuse=True),
    }
    if ingest is not None:
        read = ingest
        found[LANGFUSE_INGESTION] = Route(
            answers.TRACES, lambda body, _: read(body), 207, json_only=True
        )
    return found


def fixed_answers() -> dict[tuple[str, str], bytes]:
    """Answers to what SDKs ask before they send, by method and path; they need no token."""
    health = msgspec.json.encode({"status": "OK", "version": "agent-turn-monitor"})
    return {("GET", LANGFUSE_HEALTH): health}
