"""What listens, what sends on, and what both count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from monitor.config import Settings
from monitor.config.intake import OtlpSettings
from monitor.entry_points import load_adapter
from monitor.roles.embedded import CountingReceiver
from monitor.roles.service import Companion
from monitor.wiring.decoders import attributes_of, decoding

SHOWN_KINDS = (
    *("forward", "reload_failed", "relayed", "passed_over"),
    *("polls", "poll_errors", "look_errors", "labels_", "alerts_"),
)
"""What the edge counts beside refusals, and shows as events."""


def otlp_receivers(settings: Settings, onward: Companion | None) -> list[CountingReceiver]:
    """The receivers that the settings ask for, HTTP first, not yet listening."""
    limits, otlp = settings.limits, settings.otlp
    shared = {
        "access": _access(otlp),
        "in_flight_bytes": limits.in_flight_bytes,
        "connections": limits.connections,
        "body_timeout_s": limits.body_timeout_s,
        "onward": onward,
        **decoding(settings),
    }
    found = [
        load_adapter("otlp.http")(
            listen=otlp.listen,
            connections_per_peer=limits.connections_per_peer,
            body_bytes_per_s=limits.body_bytes_per_s,
            ingest=load_adapter("langfuse.ingestion")(**attributes_of(otlp)).ingest,
            **shared,
        )
    ]
    if otlp.grpc_listen:
        grpc = load_adapter("otlp.grpc")
        message_bytes = limits.grpc_message_bytes
        found.append(grpc(listen=otlp.grpc_listen, message_bytes=message_bytes, **shared))
    return found


def forwarder(settings: Settings) -> Companion | None:
    """What sends on everything received; None when no backend is named."""
    given = settings.forward
    if not given.url and not given.langfuse_url:
        return None
    own = {"url", "langfuse_url", "insecure", "pass_headers", "ca_file"}
    found: Companion = load_adapter("otlp.forward")(
        **given.model_dump(include=own),
        headers={name: value.get_secret_value() for name, value in given.headers.items()},
        limits=given.model_dump(exclude=own | {"headers"}),
    )
    return found


def _access(otlp: OtlpSettings) -> dict[str, Any]:
    names = ("insecure", "token_file", "tls_cert_file", "tls_key_file", "tls_client_ca_file")
    found: dict[str, Any] = {name: getattr(otlp, name) for name in names}
    # An empty token is one that somebody forgot to fill in, and is refused.
    return found | {"token": None if otlp.token is None else otlp.token.get_secret_value()}


class Counting(Protocol):
    """Whatever counts at the edge."""

    @property
    def counters(self) -> Mapping[str, int]:
        """By `kind:why`."""
        ...


def edge_counts(parts: Iterable[Counting]) -> dict[str, int]:
    """What was refused whole, and what else the edge counts; single spans are counted durably."""
    found: Counter[str] = Counter()
    for part in parts:
        for name, count in part.counters.items():
            kind, _, why = name.partition(":")
            if kind == "refused":
                found[f"rejected:{why}"] += count
            elif name == "defects":
                found["fault:receiver"] += count
            elif kind.startswith(SHOWN_KINDS):
                found[name] += count
    return dict(found)
