"""How clients reach the broker: addresses, TLS and credentials, for each of the three libraries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from faust import SASLCredentials, SSLCredentials

from monitor.config.kafka import KafkaSettings
from monitor.roles.kafka.security import require_safe, tls

PRODUCED_BYTES = 1_000_000
"""Of one request to a partition; brokers take 1 MiB unless told otherwise."""


def connection(given: KafkaSettings) -> dict[str, Any]:
    """What aiokafka's and kafka-python's clients are built with. Raises ConfigurationError."""
    require_safe(given)
    found: dict[str, Any] = {
        "bootstrap_servers": list(given.bootstrap),
        "security_protocol": given.protocol,
        "ssl_context": tls(given),
    }
    if given.protocol.startswith("SASL") and given.password is not None:
        found["sasl_mechanism"] = given.mechanism
        found["sasl_plain_username"] = given.username
        found["sasl_plain_password"] = given.password.get_secret_value()
    return found


def credentials(given: KafkaSettings) -> SASLCredentials | SSLCredentials | None:
    """The same for Faust."""
    require_safe(given)
    context = tls(given)
    if given.protocol.startswith("SASL") and given.password is not None:
        return SASLCredentials(
            username=given.username,
            password=given.password.get_secret_value(),
            ssl_context=context,
            mechanism=given.mechanism,
        )
    return SSLCredentials(context=context) if context else None


def producer(given: KafkaSettings) -> AIOKafkaProducer:
    """Not yet started. Acknowledged by all copies, in order, without doubles of its own making."""
    return AIOKafkaProducer(
        **connection(given),
        acks="all",
        enable_idempotence=True,
        linger_ms=5,
        max_batch_size=PRODUCED_BYTES,
        max_request_size=4 * PRODUCED_BYTES,
    )


def reader(given: KafkaSettings, **options: Any) -> AIOKafkaConsumer:
    """A consumer without a group, not yet started, that commits nothing."""
    fixed: Mapping[str, Any] = {"enable_auto_commit": False, "auto_offset_reset": "earliest"}
    return AIOKafkaConsumer(**connection(given), **fixed, **options)
