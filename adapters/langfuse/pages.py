"""Reads all observations of a span of time, page by page, from servers new and old."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from adapters.langfuse.client import LangfuseClient, NotNow, NotThere, RefusedRequest
from adapters.langfuse.observations import EXPANDED
from adapters.langfuse.rows import NO_TRACE, TraceRow, trace_of
from adapters.langfuse.seen import encoded_row
from monitor.errors import BackendUnavailable, MalformedPayload, PayloadTooLarge
from monitor.model import JsonValue

OBSERVATIONS: Final = "/api/public/v2/observations"
TRACES: Final = "/api/public/traces"
GROUPS: Final = ("core", "basic", "time", "io", "metadata", "model", "usage", "trace_context")
LIMIT: Final = 1_000
LEGACY_LIMIT: Final = 100
REMEMBERED: Final = 20_000
SMALLEST_WINDOW_NS: Final = 1_000_000_000
_BEST_EFFORT: Final = "trace_context"
_HEAVY: Final = frozenset({"io", "metadata"})
_PAGES: Final = 100_000
_ATTEMPTS_NARROWED: Final = 2
_MS: Final = 1_000_000


class Page(NamedTuple):
    """Some observations, each with what its trace's own row says."""

    rows: list[tuple[JsonValue, TraceRow]]


class PageReader:
    """Reads windows of start times, `start` inclusive and `end` exclusive.

    A window that the server cannot serve is halved, down to a second; so is nothing left out, and
    some rows may come twice. `counters`: `windows_halved`, `cursor_loops`, `pages`, `without_io`,
    `legacy`.
    """

    def __init__(
        self,
        client: LangfuseClient,
        *,
        limit: int = LIMIT,
        environment: str | None = None,
        expanded: tuple[str, ...] = (),
    ) -> None:
        """`expanded`: entries of the metadata that must come whole, beside the usual ones."""
        self._client = client
        self._limit = max(1, min(limit, LIMIT))
        self._environment = environment
        self._expanded = ",".join(dict.fromkeys((*EXPANDED, *expanded)))
        self._groups: tuple[str, ...] = GROUPS
        self._attempts: int | None = None
        self._whole: dict[bytes, bytes] = {}
        """Traces that were read with all their observations ended, by the former interface."""
        self.legacy = False
        """The server has no newer interface than that of its third major version."""
        self.counters: dict[str, int] = {}

    async def pages(self, start_ns: int, end_ns: int) -> AsyncIterator[Page]:
        """All observations that started in the window.

        Raises BackendUnavailable when not even a small window can be read, RefusedRequest and
        NotThere when the operator must act. What was yielded before stands.
        """
        pending = [(start_ns, end_ns)]
        self._attempts = None
        while pending:
            start, end = pending.pop()
            try:
                async for page in self._window(start, end):
                    self._count("pages")
                    yield page
            except BackendUnavailable as error:
                # A server that cannot be reached, or throttles, does so for any window.
                narrower = error.too_much if isinstance(error, NotNow) else True
                if not narrower or end - start <= SMALLEST_WINDOW_NS:
                    raise
                self._count("windows_halved")
                span_s = (end - start) / SMALLEST_WINDOW_NS
                self._client.notice(
                    f"{self._client.base_url} could not serve {span_s:.0f} s of observations at "
                    f"once; asking for half as much"
                )
                # The whole patience was spent once; a broken server should be told of soon.
                self._attempts = _ATTEMPTS_NARROWED
                middle = start + (end - start) // 2 // _MS * _MS
                pending += [(middle, end), (start, middle)]

    async def _window(self, start: int, end: int) -> AsyncIterator[Page]:
        if not self.legacy:
            try:
                async for page in self._current(start, end):
                    yield page
            except NotThere:
                pass
            else:
                return
        self._count("legacy")
        async for page in self._former(start, end):
            yield page
        # Only now is it sure that the address is right and the server old.
        self.legacy = True

    async def _current(self, start: int, end: int) -> AsyncIterator[Page]:
        """By cursor. A page that is too large is asked for again in smaller ones."""
        cursor: str | None = None
        seen: set[str] = set()
        limit, light = self._limit, False
        for _ in range(_PAGES):
            try:
                answer = await self._ask(start, end, cursor, limit, light=light)
            except PayloadTooLarge:
                if limit == 1 and light:
                    raise
                # One observation alone is too large: take it without its content.
                light = limit == 1
                self._count("without_io" if light else "pages_shrunk")
                limit = max(1, limit // 8)
                continue
            limit, light = self._limit, False
            yield Page([(row, NO_TRACE) for row in self._rows(answer, OBSERVATIONS)])
            cursor = _cursor(answer)
            if cursor is None:
                return
            if cursor in seen:
                self._count("cursor_loops")
                raise BackendUnavailable("Langfuse's cursor leads back to where it came from")
            seen.add(cursor)
        raise BackendUnavailable("Langfuse's pages have no end")

    async def _ask(
        self, start: int, end: int, cursor: str | None, limit: int, *, light: bool
    ) -> JsonValue:
        parameters = {
            "fromStartTime": iso(start),
            "toStartTime": iso(end),
            "limit": str(limit),
            "expandMetadata": self._expanded,
            "fields": self._fields(light=light),
        }
        if self._environment is not None:
            parameters["environment"] = self._environment
        if cursor is not None:
            parameters["cursor"] = cursor
        try:
            return await self._fetch(OBSERVATIONS, parameters)
        except RefusedRequest as error:
            if error.status != 400 or _BEST_EFFORT not in self._groups:
                raise
        # A server that does not know the newest group knows the others.
        self._groups = tuple(group for group in self._groups if group != _BEST_EFFORT)
        parameters["fields"] = self._fields(light=light)
        return await self._fetch(OBSERVATIONS, parameters)

    async def _fetch(self, path: str, parameters: dict[str, str]) -> JsonValue:
        return await self._client.fetch(path, parameters, attempts=self._attempts)

    def _fields(self, *, light: bool) -> str:
        return ",".join(group for group in self._groups if not light or group not in _HEAVY)

    async def _former(self, start: int, end: int) -> AsyncIterator[Page]:
        """By trace: the list of traces has neither content nor observations."""
        number = 1
        while number <= _PAGES:
            parameters = {
                "fromTimestamp": iso(start),
                "toTimestamp": iso(end),
                "orderBy": "timestamp.asc",
                "page": str(number),
                "limit": str(LEGACY_LIMIT),
            }
            if self._environment is not None:
                parameters["environment"] = self._environment
            answer = await self._fetch(TRACES, parameters)
            rows = self._rows(answer, TRACES)
            for row in rows:
                key, digest = _listed(row)
                if self._whole.get(key) == digest:
                    continue
                page = await self._trace(row)
                if page is not None:
                    yield page
                    # Only here was the page handed on.
                    self._remember(key, digest, page)
            if not rows or number >= _total_pages(answer):
                return
            number += 1

    async def _trace(self, row: JsonValue) -> Page | None:
        """A trace with its observations; None when it was deleted meanwhile."""
        name = row.get("id") if isinstance(row, Mapping) else None
        if not isinstance(name, str) or not name:
            return None
        try:
            whole = await self._fetch(f"{TRACES}/{quote(name, safe='')}", {})
        except NotThere:
            return None
        except PayloadTooLarge:
            self._count("without_io")
            return None
        if not isinstance(whole, Mapping) or not isinstance(whole.get("observations"), list):
            raise MalformedPayload(
                f"an answer of {self._client.base_url}{TRACES} holds no observations"
            )
        trace = trace_of(whole)
        return Page([(observation, trace) for observation in whole["observations"]])

    def _remember(self, key: bytes, digest: bytes, page: Page) -> None:
        """A trace whose entry in the list does not change is not worth reading again.

        The entry tells the number of observations and the latency, so a new one changes it.
        """
        if all(isinstance(row, Mapping) and row.get("endTime") for row, _ in page.rows):
            self._whole[key] = digest
            if len(self._whole) > REMEMBERED:
                self._whole = dict(list(self._whole.items())[REMEMBERED // 2 :])

    def _rows(self, answer: JsonValue, path: str) -> list[JsonValue]:
        rows = answer.get("data") if isinstance(answer, Mapping) else None
        if not isinstance(rows, list):
            raise MalformedPayload(
                f"an answer of {self._client.base_url}{path} holds no list `data`; the operator "
                "must check that the address is a Langfuse server's"
            )
        return rows

    def _count(self, what: str) -> None:
        self.counters[what] = self.counters.get(what, 0) + 1


def iso(moment_ns: int) -> str:
    """The moment as Langfuse writes it, in milliseconds."""
    moment = datetime.fromtimestamp(moment_ns // 1_000_000_000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment_ns // _MS % 1_000:03d}Z"


def _meta(answer: Any) -> Mapping[str, Any]:
    meta = answer.get("meta")
    return meta if isinstance(meta, Mapping) else {}


def _listed(row: JsonValue) -> tuple[bytes, bytes]:
    """A trace's identity and content in the list of traces."""
    name = str(row.get("id")) if isinstance(row, Mapping) else ""
    return (
        blake2b(name.encode("utf-8", "replace"), digest_size=8).digest(),
        blake2b(encoded_row(row), digest_size=8).digest(),
    )


def _cursor(answer: JsonValue) -> str | None:
    cursor = _meta(answer).get("cursor")
    return cursor if isinstance(cursor, str) and cursor else None


def _total_pages(answer: JsonValue) -> int:
    total = _meta(answer).get("totalPages")
    return total if isinstance(total, int) else _PAGES
