"""How clients reach the broker: addresses, TLS and credentials, for each of the three libraries."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from faust import SASLCredentials, SSLCredentials

from monitor.config.kafka import KafkaSettings
from monitor.errors import ConfigurationError
from monitor.roles.pages import is_loopback

PRODUCED_BYTES = 1_000_000
"""Of one request to a partition; brokers take 1 MiB unless told otherwise."""


def require_safe(given: KafkaSettings) -> None:
    """Raise ConfigurationError for settings that would send customers' text in the clear."""
    hosts = [address.rpartition(":")[0].strip("[]") for address in given.bootstrap]
    open_way = given.protocol in ("PLAINTEXT", "SASL_PLAINTEXT")
    if open_way and not given.insecure and not all(is_loopback(host) for host in hosts):
        raise ConfigurationError(
            f"kafka.protocol {given.protocol} would send conversations unencrypted to another "
            "machine; use SASL_SSL or SSL, or set kafka.insecure"
        )
    if given.protocol.startswith("SASL") and (given.username is None or given.password is None):
        raise ConfigurationError(
            f"kafka.protocol {given.protocol} needs kafka.username and "
            "AGENT_MONITOR_KAFKA__PASSWORD in the environment"
        )


def tls(given: KafkaSettings) -> ssl.SSLContext | None:
    """The context, hostnames checked; None where the protocol has none."""
    if given.protocol not in ("SSL", "SASL_SSL"):
        return None
    try:
        context = ssl.create_default_context(cafile=given.ca_file)
        if given.cert_file:
            context.load_cert_chain(given.cert_file, given.key_file)
    except OSError as error:
        raise ConfigurationError(f"kafka: a certificate file cannot be used: {error}") from None
    return context


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
