"""Says why no broker could be reached, by one more connection to each address."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import Final

from aiokafka.conn import create_conn
from aiokafka.errors import (
    KafkaError,
    SaslAuthenticationFailed,
    UnsupportedSaslMechanismError,
)

from monitor.config.kafka import KafkaSettings
from monitor.errors import BackendUnavailable
from monitor.roles.kafka.clients import connection
from monitor.roles.kafka.security import tls

BOOTSTRAP_MS: Final = 6_000
"""For so long a client tries before the cause is looked for."""
PROBE_S: Final = 2.0
ASKED: Final = 2
"""Addresses; more would take long, and seldom tell more."""
OTHER_NAME: Final = (62, 64)
"""OpenSSL's codes for a certificate of another host name, or of another IP address."""


def unreachable(given: KafkaSettings, error: Exception) -> BackendUnavailable:
    """The error in one line: the address, what is wrong with it, and the setting to look at."""
    for address in given.bootstrap[:ASKED]:
        if why := _why(given, address):
            return BackendUnavailable(f"no broker can be used at {address}: {why}")
    where = ", ".join(given.bootstrap)
    return BackendUnavailable(f"no broker answers at {where}: {type(error).__name__}")


def _why(given: KafkaSettings, address: str) -> str | None:
    name, _, port = address.rpartition(":")
    host = name.strip("[]")
    try:
        with socket.create_connection((host, int(port)), PROBE_S) as plain:
            context = tls(given)
            if context and (why := _tls_trouble(given, context, plain, host)):
                return why
    except OSError as error:
        return f"{error.strerror or error} (kafka.bootstrap)"
    if not given.protocol.startswith("SASL"):
        return None
    return asyncio.run(_login_trouble(given, host, int(port)))


def _tls_trouble(
    given: KafkaSettings, context: ssl.SSLContext, plain: socket.socket, host: str
) -> str | None:
    try:
        with context.wrap_socket(plain, server_hostname=host) as safe:
            safe.settimeout(PROBE_S / 4)
            heard = safe.recv(1)
    except ssl.SSLCertVerificationError as error:
        if error.verify_code in OTHER_NAME:
            return f"its certificate is not of this name (kafka.bootstrap): {error.verify_message}"
        return f"kafka.ca_file does not vouch for its certificate: {error.verify_message}"
    except TimeoutError:
        return None  # it waits for a request, as it should
    except OSError as error:
        reason = getattr(error, "reason", None) or error
        return _broken_off(given, str(reason))
    return None if heard else _broken_off(given, "it closed the connection")


def _broken_off(given: KafkaSettings, reason: str) -> str:
    if reason == "WRONG_VERSION_NUMBER":
        return f"it does not speak TLS there, as kafka.protocol {given.protocol} says"
    setting = (
        "it does not accept kafka.cert_file"
        if given.cert_file
        else "it may ask for a client certificate (kafka.cert_file, kafka.key_file)"
    )
    return f"TLS failed: {setting}: {reason}"


async def _login_trouble(given: KafkaSettings, host: str, port: int) -> str | None:
    options = connection(given)
    del options["bootstrap_servers"]
    try:
        async with asyncio.timeout(PROBE_S):
            made = await create_conn(host, port, **options)
    except SaslAuthenticationFailed:
        return (
            f"it refuses kafka.username {given.username!r} with AGENT_MONITOR_KAFKA__PASSWORD "
            f"(kafka.mechanism {given.mechanism})"
        )
    except UnsupportedSaslMechanismError:
        return f"it does not offer kafka.mechanism {given.mechanism}"
    except (KafkaError, OSError):
        return None
    made.close()
    return None
