"""Who may send: the settings of a receiver's door, and its tokens."""

from __future__ import annotations

import base64
import binascii
import hmac
import ipaddress
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from adapters.otlp.watched import Watched, read_file
from monitor.errors import ConfigurationError

_TOKEN_BYTES: Final = 4_096


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """What a sender must show, the same for each receiver. Names are those of the settings."""

    insecure: bool = False
    """Allow an address that other machines reach, though nobody authenticates."""
    token: str | None = None
    token_file: Path | None = None
    """One token a line, each of which is good; read again when the file changes."""
    tls_cert_file: Path | None = None
    tls_key_file: Path | None = None
    tls_client_ca_file: Path | None = None
    """Senders must show a certificate that one of these authorities signed."""

    def __repr__(self) -> str:
        """Without the token."""
        return f"Access(insecure={self.insecure}, token={'***' if self.token else None})"

    @property
    def authenticates(self) -> bool:
        """Whether a stranger is turned away."""
        return bool(self.token or self.token_file or self.tls_client_ca_file)


def access_of(given: Access | Mapping[str, object] | None) -> Access:
    """The settings from a mapping of their names.

    Raises ConfigurationError for settings that cannot work together, unknown ones, and a token
    that no sender could show.
    """
    access = given if isinstance(given, Access) else None
    if access is None:
        try:
            access = Access(**dict(given or {}))  # type: ignore[arg-type]
        except TypeError as error:
            raise ConfigurationError(f"access to the receiver: {error}") from None
    if access.token is not None:
        _checked(access.token, "token")
    if (access.tls_cert_file is None) != (access.tls_key_file is None):
        raise ConfigurationError("`tls_cert_file` and `tls_key_file` need each other")
    if access.tls_client_ca_file and not access.tls_cert_file:
        raise ConfigurationError("`tls_client_ca_file` needs `tls_cert_file` and `tls_key_file`")
    return access


def require_guarded(host: str, access: Access) -> None:
    """Raises ConfigurationError for an address beyond loopback that lets everybody in."""
    if access.insecure or access.authenticates or is_loopback(host):
        return
    raise ConfigurationError(
        f"{host} is reachable from other machines and nothing authenticates the senders; the "
        "operator must listen on 127.0.0.1, set a token or `tls_client_ca_file`, or set `insecure`"
    )


class Tokens:
    """The tokens of which a sender must show one; all are welcome when there are none."""

    def __init__(self, access: Access, failed: Callable[[], None]) -> None:
        """`failed` counts a changed file that could not be read; the old tokens then stay.

        Raises ConfigurationError when a token is empty or its file cannot be read.
        """
        self._fixed = (_checked(access.token, "token"),) if access.token is not None else ()
        path = access.token_file
        self._file = Watched([path], lambda: _tokens_in(path), failed) if path else None

    def authorise(self, authorization: str | None) -> bool:
        """Whether an Authorization header shows a token: as bearer, or as a Basic password.

        Compared in constant time. The Basic password is how Langfuse's SDKs show a secret key.
        """
        good = self._fixed + (self._file.current() if self._file else ())
        if not good:
            return True
        shown = _shown(authorization or "")
        # Each one is compared, so that the time does not tell which was nearly right.
        found = [hmac.compare_digest(shown, token) for token in good]
        return bool(shown) and any(found)

    @property
    def demanded(self) -> bool:
        """Whether a sender must show one."""
        return bool(self._fixed or self._file)


def is_bearer(authorization: str) -> bool:
    """Whether the header is of the kind that is meant for the receiver itself."""
    return authorization.partition(" ")[0].lower() == "bearer"


def _shown(authorization: str) -> bytes:
    kind, _, rest = authorization.partition(" ")
    rest = rest.strip()
    if len(rest) > _TOKEN_BYTES:
        return b""
    if kind.lower() == "bearer":
        return rest.encode(errors="replace")
    if kind.lower() != "basic":
        return b""
    try:
        return base64.b64decode(rest, validate=True).partition(b":")[2]
    except (binascii.Error, ValueError):
        return b""


def _tokens_in(path: Path) -> tuple[bytes, ...]:
    lines = read_file(path, "token_file").decode(errors="replace").split()
    if not lines:
        raise ConfigurationError(f"`token_file`: {path} holds no token; the operator must mend it")
    return tuple(_checked(line, "token_file") for line in lines)


def _checked(token: str, setting: str) -> bytes:
    bare = token.strip() == token and token.isascii() and token.isprintable()
    if not bare or not 1 <= len(token) <= _TOKEN_BYTES:
        raise ConfigurationError(
            f"`{setting}`: a token is 1 to {_TOKEN_BYTES} printable ASCII characters, with no "
            "space before or after; the operator must mend it"
        )
    return token.encode()


def address_of(listen: str) -> tuple[str, int]:
    """Host and port. Raises ConfigurationError."""
    host, _, port = listen.rpartition(":")
    host = host.strip("[]")
    if not host or not port.isdecimal() or int(port) > 65_535:
        raise ConfigurationError(
            f"{listen!r} is no address; the operator must write it as host:port"
        )
    return host, int(port)


def is_loopback(host: str) -> bool:
    """Whether every address that the name stands for is this machine's own."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        pass
    try:
        found = socket.getaddrinfo(host, None)
    except OSError:
        return False
    return all(ipaddress.ip_address(str(item[4][0])).is_loopback for item in found)
