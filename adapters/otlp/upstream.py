"""The backend that requests are sent on to: its addresses, its headers, what its answers mean."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from adapters.langfuse.address import forbidden
from adapters.otlp.access import is_bearer
from adapters.otlp.answers import LANGFUSE_INGESTION, LANGFUSE_TRACES, LOGS, METRICS, TRACES
from monitor.errors import ConfigurationError

_ALWAYS: Final = ("content-type", "content-encoding")
_NEVER: Final = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "expect", "te", "upgrade"}
)
_OURS: Final = _NEVER - {"host"}
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}")
_AGAIN: Final = frozenset({408, 425, 429})
_NEVER_AGAIN: Final = frozenset({501, 505})


class Answered(NamedTuple):
    """What an attempt came to."""

    outcome: str | None
    """The counter that the request ends in; None when it is to be sent again."""
    retry_after_s: float | None = None


class Upstream:
    """Where requests go by the path at which they came, and with which headers."""

    def __init__(
        self,
        url: str | None,
        langfuse_url: str | None,
        headers: Mapping[str, str],
        pass_headers: Sequence[str],
        *,
        insecure: bool = False,
    ) -> None:
        """`url` is an OTLP base address, `langfuse_url` a Langfuse host; one of them is needed.

        `headers` are added to each request. `pass_headers` names what is kept of the sender's own;
        a name may end in `*`. Addresses come from the configuration only. Raises ConfigurationError
        for an address or a header that no request can carry.
        """
        if not url and not langfuse_url:
            raise ConfigurationError("`forward` needs `url` or `langfuse_url`")
        otlp = checked(url, "forward.url", insecure=insecure) if url else None
        langfuse = None
        if langfuse_url:
            langfuse = checked(langfuse_url, "forward.langfuse_url", insecure=insecure)
        self.langfuse = langfuse
        self._targets = _targets(otlp, langfuse)
        self._added = _sendable(headers)
        names = [name.lower() for name in pass_headers]
        self._passed = frozenset(name for name in names if not name.endswith("*"))
        self._prefixes = tuple(name[:-1] for name in names if name.endswith("*"))

    def target(self, path: str) -> str | None:
        """The address for what came at a path; None when the backend has none for it."""
        return self._targets.get(path)

    def headers(self, received: Mapping[str, str]) -> dict[str, str]:
        """The headers to send; a bearer token is the receiver's own and stays here."""
        found = {
            name: value
            for name, value in received.items()
            if name not in _NEVER
            and (name in _ALWAYS or name in self._passed or name.startswith(self._prefixes))
            and not (name == "authorization" and is_bearer(value))
        }
        return found | self._added


def _sendable(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers by lower-case name. An error names a header, never its value."""
    for name, value in headers.items():
        if not _NAME.fullmatch(name):
            raise ConfigurationError(
                f"`forward.headers`: {name[:64]!a} is no name of a header; the operator must "
                "mend it"
            )
        if name.lower() in _OURS:
            raise ConfigurationError(
                f"`forward.headers`: `{name.lower()}` is the connection's own and cannot be set"
            )
        if not value.isascii() or not value.isprintable() or value.strip() != value:
            raise ConfigurationError(
                f"`forward.headers`: the value of `{name.lower()}` cannot be sent: a header is "
                "one line of printable ASCII, with no space before or after (an unseen line break "
                "at its end is common); the operator must mend it"
            )
    return {name.lower(): value for name, value in headers.items()}


def _targets(otlp: str | None, langfuse: str | None) -> dict[str, str]:
    """An OTLP export may go to either kind of backend; logs and old batches to their own only."""
    found = {}
    if otlp is not None:
        found[LOGS.path] = otlp + LOGS.path
        found[METRICS.path] = otlp + METRICS.path
    if langfuse is not None:
        found[LANGFUSE_INGESTION] = langfuse + LANGFUSE_INGESTION
    traces = {TRACES.path: otlp and otlp + TRACES.path}
    traces[LANGFUSE_TRACES] = langfuse and langfuse + LANGFUSE_TRACES
    either = traces[TRACES.path] or traces[LANGFUSE_TRACES]
    for path, target in traces.items():
        if chosen := target or either:
            found[path] = chosen
    return found


def checked(url: str, setting: str, *, insecure: bool) -> str:
    """The address without a trailing slash.

    Raises ConfigurationError unless it is https, or http to this machine, or `insecure`; and for
    an address at which machines serve their own metadata, or that is no host's.
    """
    parts = urlsplit(url.strip())
    host = parts.hostname
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise ConfigurationError(f"`{setting}` must be http(s)://host[:port][/path]")
    if parts.username is not None or parts.password is not None:
        raise ConfigurationError(f"`{setting}` holds a password; set it in `forward.headers`")
    if forbidden(host):
        raise ConfigurationError(
            f"`{setting}` is link-local, a metadata service's or no host's; "
            "the operator must mend it"
        )
    if parts.scheme == "http" and not insecure and not _is_this_machine(host):
        raise ConfigurationError(
            f"`{setting}` is plain http, so that its content could be read on the way; the "
            "operator must use https or set `forward.insecure`"
        )
    return url.strip().rstrip("/")


def _is_this_machine(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def verdict_on(status: int, headers: Mapping[str, str]) -> Answered:
    """What a backend's answer means for the request."""
    if 200 <= status < 300:
        return Answered("forwarded")
    if 300 <= status < 400:
        return Answered("forward_dropped:redirected")
    if status in _AGAIN or (status >= 500 and status not in _NEVER_AGAIN):
        return Answered(None, _wait_s(headers))
    if status in (401, 403):
        return Answered("forward_dropped:unauthorised")
    if status == 413:
        return Answered("forward_dropped:too_large")
    return Answered("forward_dropped:refused")


def _wait_s(headers: Mapping[str, str]) -> float | None:
    """What Retry-After asks for: seconds, or a date that is held against the answer's own."""
    text = headers.get("Retry-After", "").strip()
    if text.isdecimal() and len(text) <= 9:
        return float(text)
    try:
        until, now = (parsedate_to_datetime(each) for each in (text, headers.get("Date", "")))
        return max(0.0, (until - now).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None
