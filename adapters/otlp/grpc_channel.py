"""How the gRPC receiver's transport is bounded and secured."""

from __future__ import annotations

from typing import Final, NamedTuple

import grpc
import grpc.aio

from adapters.otlp.tls import Pems
from adapters.otlp.watched import Watched

_IDENTITY_AND_GZIP: Final = 0b101


class Transport(NamedTuple):
    """What connections may take; names as in the configuration where they are there."""

    connections: int = 256
    streams: int = 32
    """Calls at one time on one connection; the sender waits with more."""
    age_s: float = 600.0
    """A connection is closed in peace at this age, so that senders spread anew."""
    age_grace_s: float = 20.0
    idle_s: float = 300.0
    handshake_timeout_s: float = 5.0
    head_bytes: int = 8 * 1024


def server_options(transport: Transport, message_bytes: int) -> list[tuple[str, int]]:
    """The channel arguments."""
    return [
        # The receiver refuses what is over the limit, and counts it; this refuses what is absurd.
        ("grpc.max_receive_message_length", 2 * message_bytes),
        # gRPC inflates without a limit, so the receiver does it instead.
        ("grpc.per_message_decompression", 0),
        ("grpc.compression_enabled_algorithms_bitset", _IDENTITY_AND_GZIP),
        # What a call may send before anybody asked for it.
        ("grpc.http2.lookahead_bytes", 64 * 1024),
        ("grpc.http2.bdp_probe", 0),
        ("grpc.max_concurrent_streams", transport.streams),
        ("grpc.max_allowed_incoming_connections", transport.connections),
        ("grpc.max_metadata_size", transport.head_bytes),
        ("grpc.absolute_max_metadata_size", transport.head_bytes),
        ("grpc.max_connection_age_ms", int(transport.age_s * 1000)),
        ("grpc.max_connection_age_grace_ms", int(transport.age_grace_s * 1000)),
        ("grpc.max_connection_idle_ms", int(transport.idle_s * 1000)),
        ("grpc.server_handshake_timeout_ms", int(transport.handshake_timeout_s * 1000)),
        ("grpc.keepalive_time_ms", 60_000),
        ("grpc.keepalive_timeout_ms", 20_000),
        ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
        ("grpc.so_reuseport", 0),
    ]


def credentials(pems: Watched[Pems]) -> grpc.ServerCredentials:
    """Server credentials that follow the files; clients must show a certificate under a client CA.

    gRPC speaks TLS 1.2 and later only.
    """
    first = pems.current()

    def renewed() -> grpc.ServerCertificateConfiguration:
        return _configuration(pems.current())

    return grpc.dynamic_ssl_server_credentials(
        _configuration(first), renewed, require_client_authentication=first.client_ca is not None
    )


def _configuration(found: Pems) -> grpc.ServerCertificateConfiguration:
    pair = [(found.key, found.certificate)]
    return grpc.ssl_server_certificate_configuration(pair, root_certificates=found.client_ca)


def listen_on(
    server: grpc.aio.Server, host: str, port: int, secure: grpc.ServerCredentials | None
) -> int:
    """The port that was bound; 0 when none could be."""
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        if secure is None:
            return server.add_insecure_port(address)
        return server.add_secure_port(address, secure)
    except RuntimeError:
        return 0
