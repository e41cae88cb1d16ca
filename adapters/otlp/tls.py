"""The receivers' certificates: TLS 1.2 or later, renewed without a restart."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from adapters.otlp.access import Access
from adapters.otlp.watched import Watched, read_file
from monitor.errors import ConfigurationError


class Pems(NamedTuple):
    """What the files held; they fit together."""

    certificate: bytes
    key: bytes
    client_ca: bytes | None


class _Files(NamedTuple):
    certificate: Path
    key: Path
    client_ca: Path | None

    def given(self) -> list[Path]:
        return [path for path in self if path]


def watched_pems(access: Access, failed: Callable[[], None]) -> Watched[Pems] | None:
    """The certificates, read again when their files change; None without TLS.

    Raises ConfigurationError when they cannot be read or do not fit together.
    """
    files = _files(access)
    return Watched(files.given(), lambda: _read(files), failed) if files else None


def server_context(access: Access, failed: Callable[[], None]) -> ssl.SSLContext | None:
    """A context whose every new connection gets the certificates of the moment; None without TLS.

    Raises ConfigurationError as above.
    """
    files = _files(access)
    if files is None:
        return None
    watched = Watched(files.given(), lambda: _context(files), failed)
    first = watched.current()

    def renew(connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        connection.context = watched.current()

    # It is called in every handshake, whether or not the sender names a server.
    first.sni_callback = renew
    return first


def _files(access: Access) -> _Files | None:
    if access.tls_cert_file is None or access.tls_key_file is None:
        return None
    return _Files(access.tls_cert_file, access.tls_key_file, access.tls_client_ca_file)


def _read(files: _Files) -> Pems:
    _context(files)
    return Pems(
        read_file(files.certificate, "tls_cert_file"),
        read_file(files.key, "tls_key_file"),
        read_file(files.client_ca, "tls_client_ca_file") if files.client_ca else None,
    )


def _context(files: _Files) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # A resumed session would keep a certificate alive that the files no longer vouch for.
    context.options |= ssl.OP_NO_TICKET
    context.num_tickets = 0
    try:
        context.load_cert_chain(files.certificate, files.key, password=_no_password)
        if files.client_ca:
            context.load_verify_locations(files.client_ca)
            context.verify_mode = ssl.CERT_REQUIRED
    except (OSError, ValueError) as error:
        names = ", ".join(str(path) for path in files.given())
        raise ConfigurationError(
            f"TLS: {names}: cannot be used: {getattr(error, 'reason', None) or error}; "
            "the operator must mend them"
        ) from None
    return context


def _no_password() -> str:
    raise ValueError("the key is encrypted, and nobody is there to type its password")
