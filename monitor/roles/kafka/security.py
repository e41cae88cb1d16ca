"""What makes a connection to the brokers safe: the settings, and the files that they name."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Iterator
from pathlib import Path

from monitor.config.kafka import KafkaSettings
from monitor.errors import ConfigurationError
from monitor.roles.pages import is_loopback


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
    """The context, hostnames checked; None where the protocol has none.

    Raises ConfigurationError that names the setting and its file.
    """
    if given.protocol not in ("SSL", "SASL_SSL"):
        return None
    with _readable("ca_file", given.ca_file):
        context = ssl.create_default_context(cafile=given.ca_file)
    if given.key_file and not given.cert_file:
        raise ConfigurationError("kafka.key_file is set without kafka.cert_file; set both")
    if given.cert_file:
        with _readable("key_file", given.key_file), _readable("cert_file", given.cert_file):
            # A key with a pass phrase is refused, and not asked for at a terminal.
            context.load_cert_chain(given.cert_file, given.key_file, password="")
    return context


@contextlib.contextmanager
def _readable(setting: str, path: str | None) -> Iterator[None]:
    if path is None:
        yield
        return
    if not Path(path).is_absolute():
        raise ConfigurationError(f"kafka.{setting} {path}: must be an absolute path")
    try:
        Path(path).read_bytes()
    except OSError as error:
        raise ConfigurationError(
            f"kafka.{setting} {path}: cannot be read: {error.strerror}"
        ) from None
    try:
        yield
    except OSError as error:
        what = getattr(error, "reason", None) or error
        raise ConfigurationError(
            f"kafka.{setting} {path}: is not what the setting needs, in PEM and without a pass "
            f"phrase: {what}"
        ) from None
