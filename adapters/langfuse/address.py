"""Where a Langfuse server may be: the address comes from configuration, and is checked twice."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from aiohttp import ThreadedResolver
from aiohttp.abc import AbstractResolver, ResolveResult

from monitor.errors import ConfigurationError

HOST: Final = "LANGFUSE_HOST"
BASE_URL: Final = "LANGFUSE_BASE_URL"
PUBLIC_KEY: Final = "LANGFUSE_PUBLIC_KEY"
SECRET_KEY: Final = "LANGFUSE_SECRET_KEY"  # noqa: S105 - the name of a variable
_METADATA: Final = frozenset(
    ipaddress.ip_address(address)
    for address in ("169.254.169.254", "100.100.100.200", "fd00:ec2::254", "192.0.0.192")
)


def checked_address(base_url: str, *, insecure: bool = False) -> str:
    """The address without a trailing slash.

    Raises ConfigurationError unless it is https, or http to this machine, or `insecure` is set;
    and for an address at which machines serve their own metadata, or that is no host's.
    """
    try:
        parts = urlsplit(base_url.strip())
        host = parts.hostname if parts.port != 0 else None
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise ConfigurationError(
            "the Langfuse address must be http(s)://host[:port][/path]; the operator must mend it"
        )
    if parts.username is not None or parts.password is not None:
        raise ConfigurationError(
            "the Langfuse address holds a password; the operator must move it to the environment"
        )
    if forbidden(host):
        raise ConfigurationError(
            "the Langfuse address is link-local, a metadata service's or no host's; "
            "the operator must mend it"
        )
    if parts.scheme == "http" and not insecure and not _is_loopback(host):
        raise ConfigurationError(
            "the Langfuse address is plain http, so that its keys could be read on the way; "
            "the operator must use https or set `insecure`"
        )
    return base_url.strip().rstrip("/")


def keys_from(environment: Mapping[str, str]) -> tuple[str, str]:
    """The public and the secret key. Raises ConfigurationError when one of them is not set."""
    found = tuple(environment.get(name, "").strip() for name in (PUBLIC_KEY, SECRET_KEY))
    if not all(found):
        raise ConfigurationError(
            f"{PUBLIC_KEY} and {SECRET_KEY} must be set in the environment; the operator must add "
            "the project's keys"
        )
    return found[0], found[1]


def forbidden(host: str) -> bool:
    """Whether this literal address must never be called; a name is not literal."""
    try:
        address = ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    address = mapped or address
    return (
        address in _METADATA
        or address.is_link_local
        or address.is_multicast
        or address.is_unspecified
        or address.is_reserved
    )


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class GuardedResolver(AbstractResolver):
    """Resolves names, and leaves out addresses that must never be called.

    It stands between the name and the connection, so that a name whose answer changes after the
    configuration was checked is refused as well.
    """

    def __init__(self, resolver: AbstractResolver | None = None) -> None:
        """Around the system's resolver, if no other is given."""
        self._resolver = resolver or ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """See aiohttp. Raises OSError when no address is left."""
        found = await self._resolver.resolve(host, port, family)
        allowed = [item for item in found if not forbidden(item["host"])]
        if not allowed:
            raise OSError(None, "the name leads to no address that may be called")
        return allowed

    async def close(self) -> None:
        """See aiohttp."""
        await self._resolver.close()
