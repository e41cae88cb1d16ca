"""What goes out: pages, sinks and what is sent on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr

from monitor.config.section import Address, Bytes, Count, Seconds, Section


class MetricsSettings(Section):
    """The page server: /metrics, /healthz, /readyz and the status page."""

    listen: Address = "127.0.0.1:9464"
    insecure: bool = False
    token: SecretStr | None = None
    """What callers show as a bearer token to declare or clear releases; set it in the
    environment. Unset: only callers on this machine may."""


class SinkSettings(Section):
    """Where closed reports go."""

    jsonl: Path | None = None
    """Append one report line per closed conversation and revision."""


class ForwardSettings(Section):
    """The backend that everything received is sent on to, unchanged; off without an address."""

    url: str | None = None
    """OTLP base address, to which /v1/traces and /v1/logs are added."""
    langfuse_url: str | None = None
    """Langfuse host, for what came at the addresses of Langfuse."""
    insecure: bool = False
    """Allow plain http to another machine."""
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    """Added to each request, such as the backend's Authorization; set them in the environment."""
    pass_headers: tuple[str, ...] = ("authorization", "x-langfuse-*")
    """What is kept of the senders' own headers; a bearer token of ours never is."""
    ca_file: Path | None = None
    """Authorities that vouch for the backend, instead of the system's."""
    queue_requests: Count = 1_000
    queue_bytes: Bytes = 64 * 1024 * 1024
    """What waits for the backend; more is dropped, and counted."""
    timeout_s: Annotated[float, Field(gt=0)] = 10.0
    """Of one attempt."""
    give_up_s: Annotated[float, Field(gt=0)] = 300.0
    """A request that the backend has not taken by then is dropped, and counted."""
    drain_s: Seconds = 10.0
    """How long stopping waits for what is still here."""
