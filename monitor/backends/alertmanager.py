"""Alertmanager's API, version 2: tells it of alerts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp

from monitor.alerting.pages import Alert
from monitor.errors import BackendUnavailable, ConfigurationError

PATH: Final = "/api/v2/alerts"
LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
OK: Final = 200
REFUSED: Final = (400, 401, 403, 404, 405, 413, 422)
SETTING: Final = "alerts.alertmanager_url"


class Alertmanager:
    """Posts alerts. Redirects are not followed, nor proxies of the environment trusted: the only
    address that is ever spoken to is the operator's own.
    """  # noqa: D205  one sentence about safety belongs to the summary

    def __init__(
        self, url: str, token: str | None = None, timeout_s: float = 5.0, *, insecure: bool = False
    ) -> None:
        """`url` ends before `/api/v2`. Raises ConfigurationError for one that is not safe."""
        require_safe(url, insecure=insecure)
        if token is not None and (not token or not token.isascii() or not token.isprintable()):
            raise ConfigurationError("alerts.token cannot be sent: want printable ASCII")
        self._url = f"{url.rstrip('/')}{PATH}"
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        self._session: aiohttp.ClientSession | None = None

    async def tell(self, alerts: Sequence[Alert]) -> None:
        """Raises BackendUnavailable, without anything of the answer or the address in its text."""
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=self._timeout, headers=self._headers)
        body = [_document(alert) for alert in alerts]
        try:
            async with self._session.post(self._url, json=body, allow_redirects=False) as answer:
                status = answer.status
        except TimeoutError:
            raise BackendUnavailable("no answer in time", "timeout") from None
        except (aiohttp.ClientError, OSError) as error:
            raise BackendUnavailable(type(error).__name__) from None
        if status != OK:
            why = "refused" if status in REFUSED else "down"
            raise BackendUnavailable(f"it answered with status {status}", why)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            await asyncio.sleep(0)


def require_safe(url: str, *, insecure: bool) -> None:
    """Refuse an address that others can listen in on, or that holds a secret."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        raise ConfigurationError(f"{SETTING} is no address") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigurationError(f"{SETTING} must be http(s)://host:port, with a path at most")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigurationError(
            f"{SETTING} must hold neither credentials nor a query; a bearer token belongs into "
            "AGENT_MONITOR_ALERTS__TOKEN"
        )
    if parts.scheme == "http" and host not in LOOPBACK and not insecure:
        raise ConfigurationError(
            f"{SETTING} is plain http to another machine; use https, or set `insecure = true`"
        )


def _document(alert: Alert) -> dict[str, Any]:
    return {
        "labels": dict(alert.labels),
        "annotations": dict(alert.annotations),
        "startsAt": _time(alert.starts_s),
        "endsAt": _time(alert.ends_s),
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
