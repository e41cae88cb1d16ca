"""A Langfuse server on loopback: the public API as far as the monitor speaks it."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from aiohttp import web

PUBLIC_KEY = "pk-lf-test"
SECRET_KEY = "sk-lf-test"
METADATA_CHARACTERS = 200
GROUPS = {
    "core": ("id", "traceId", "startTime", "endTime", "projectId", "parentObservationId", "type"),
    "basic": (
        *("name", "level", "statusMessage", "version", "environment", "userId", "sessionId"),
        *("isRootObservation", "bookmarked", "public"),
    ),
    "time": ("completionStartTime", "createdAt", "updatedAt"),
    "io": ("input", "output"),
    "metadata": ("metadata",),
    "model": ("providedModelName", "internalModelId", "modelParameters"),
    "usage": ("usageDetails", "costDetails", "totalCost"),
    "prompt": ("promptId", "promptName", "promptVersion"),
    "metrics": ("latency", "timeToFirstToken"),
    "trace_context": ("tags", "release", "traceName"),
}
DATA_TYPES = ("NUMERIC", "BOOLEAN", "CATEGORICAL", "TEXT")


class LangfuseServer:
    """What the server holds, and how it is told to behave."""

    def __init__(self) -> None:
        self.traces: dict[str, dict[str, Any]] = {}
        self.observations: dict[tuple[str, str], dict[str, Any]] = {}
        self.scores: dict[str, dict[str, Any]] = {}
        self.ingested: list[dict[str, Any]] = []
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.troubles: list[tuple[int, dict[str, str]]] = []
        """Answers that the next requests meet, first to last."""
        self.widest_window_s: float | None = None
        """Wider windows end in a time-out inside the server."""
        self.former = False
        """The third major version, which has the former interface only."""
        self.groups = GROUPS
        self.loses_answers = 0
        """How many scores are stored without an answer that says so."""
        self.looping_cursor = False
        self.budget: tuple[int, Callable[[], float]] | None = None
        """Requests that are left, and when the limit resets."""
        self.url = ""

    def load(self, document: Mapping[str, Any], **changes: Any) -> None:
        """Hold a trace with its observations, as the read API once answered it."""
        trace = {key: value for key, value in document["trace"].items() if key != "observations"}
        trace.update(changes)
        self.traces[trace["id"]] = trace
        for observation in document["observations"]:
            self.observations[trace["id"], observation["id"]] = dict(observation)

    def add(self, **row: Any) -> dict[str, Any]:
        """Hold one observation of a trace that needs no row of its own."""
        whole = {
            "type": "SPAN",
            "name": "",
            "level": "DEFAULT",
            "environment": "default",
            "metadata": {},
            "input": None,
            "output": None,
            "parentObservationId": None,
            **row,
        }
        whole.setdefault("updatedAt", whole.get("endTime") or whole["startTime"])
        trace_id = whole["traceId"]
        self.traces.setdefault(trace_id, {"id": trace_id, "timestamp": whole["startTime"]})
        self.observations[trace_id, whole["id"]] = whole
        return whole

    def windows(self) -> list[tuple[str, str]]:
        """The spans of time that were asked for."""
        return [
            (query["fromStartTime"], query["toStartTime"])
            for path, query in self.requests
            if path == "/api/public/v2/observations"
        ]

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append((request.path, dict(request.query)))
        if self.troubles:
            status, headers = self.troubles.pop(0)
            return web.json_response({"message": "trouble"}, status=status, headers=headers)
        expected = base64.b64encode(f"{PUBLIC_KEY}:{SECRET_KEY}".encode()).decode()
        if request.headers.get("Authorization") != f"Basic {expected}":
            return web.json_response({"message": "Invalid credentials"}, status=401)
        headers = {}
        if self.budget is not None:
            left, reset = self.budget
            self.budget = (left - 1, reset)
            headers = {"X-RateLimit-Remaining": str(max(0, left - 1)), "X-RateLimit-Limit": "30"}
            headers["X-RateLimit-Reset"] = str(int(reset()))
            if left <= 0:
                return web.json_response({"message": "rate limit"}, status=429, headers=headers)
        found = await self._found(request)
        found.headers.update(headers)
        return found

    async def _found(self, request: web.Request) -> web.Response:
        path = request.path.removeprefix("/api/public")
        match request.method, path.strip("/").split("/"):
            case "GET", ["v2", "observations"] if not self.former:
                return self._observations(request.query)
            case "GET", ["traces"] if self.former:
                return self._traces(request.query)
            case "GET", ["traces", trace_id] if self.former and trace_id in self.traces:
                return web.json_response(self._whole(trace_id))
            case "POST", ["scores"]:
                return await self._score(request)
            case "GET", ["v3", "scores"] if not self.former:
                return self._scores(request.query)
            case "GET", ["v2", "scores"] if self.former:
                return self._former_scores(request.query)
            case "POST", ["ingestion"]:
                return await self._ingestion(request)
            case _:
                return web.json_response({"message": "Not Found"}, status=404)

    def _observations(self, query: Mapping[str, str]) -> web.Response:
        groups = [name for name in query.get("fields", "core,basic").split(",") if name]
        limit = int(query.get("limit", "50"))
        if not 1 <= limit <= 1_000 or not set(groups) <= set(self.groups):
            return web.json_response({"message": "Invalid request data"}, status=400)
        if self._times_out(query):
            return web.json_response({"message": "Timeout error"}, status=500)
        rows = sorted(
            (row for row in self.observations.values() if _asked_for(row, query)),
            key=lambda row: (row["startTime"], row["id"]),
            reverse=True,
        )
        if "cursor" in query and not self.looping_cursor:
            try:
                last = tuple(json.loads(base64.b64decode(query["cursor"], validate=True)))
            except (binascii.Error, ValueError):
                return web.json_response({"message": "Invalid cursor"}, status=400)
            rows = [row for row in rows if (row["startTime"], row["id"]) < last]
        page = rows[:limit]
        meta = {}
        if len(rows) > limit:
            mark = json.dumps([page[-1]["startTime"], page[-1]["id"]])
            meta["cursor"] = base64.b64encode(mark.encode()).decode()
        expanded = set(query.get("expandMetadata", "").split(","))
        data = [self._current(row, groups, expanded) for row in page]
        return web.json_response({"data": data, "meta": meta})

    def _times_out(self, query: Mapping[str, str]) -> bool:
        if self.widest_window_s is None:
            return False
        start, end = _seconds(query["fromStartTime"]), _seconds(query["toStartTime"])
        return end - start > self.widest_window_s

    def _current(
        self, row: dict[str, Any], groups: list[str], expanded: set[str]
    ) -> dict[str, Any]:
        trace = self.traces[row["traceId"]]
        whole = {
            **row,
            "providedModelName": row.get("providedModelName", row.get("model")),
            "sessionId": row.get("sessionId", trace.get("sessionId")),
            "userId": trace.get("userId"),
            "release": trace.get("release"),
            "traceName": trace.get("name"),
            "tags": trace.get("tags", []),
            "isRootObservation": row["parentObservationId"] is None,
            "input": _raw(row["input"]),
            "output": _raw(row["output"]),
            "metadata": _cut_metadata(_object(row["metadata"]), expanded),
        }
        keys = [key for group in groups for key in GROUPS[group]]
        return {key: whole.get(key) for key in keys}

    def _traces(self, query: Mapping[str, str]) -> web.Response:
        limit, number = int(query.get("limit", "50")), int(query.get("page", "1"))
        if limit > 100:
            return web.json_response({"message": "Invalid request data"}, status=400)
        start, end = query.get("fromTimestamp", ""), query.get("toTimestamp", "~")
        rows = sorted(
            (row for row in self.traces.values() if start <= row["timestamp"] < end),
            key=lambda row: row["timestamp"],
            reverse="asc" not in query.get("orderBy", ""),
        )
        return _paged([self._entry(row) for row in rows], number, limit)

    def _entry(self, trace: dict[str, Any]) -> dict[str, Any]:
        """A trace in the list: its observations by id only."""
        own = [row for key, row in self.observations.items() if key[0] == trace["id"]]
        ends = [row["endTime"] for row in own if row.get("endTime")]
        return {
            **trace,
            "observations": [row["id"] for row in own],
            "latency": max(ends, default=0),
        }

    def _whole(self, trace_id: str) -> dict[str, Any]:
        rows = [row for key, row in self.observations.items() if key[0] == trace_id]
        return {**self.traces[trace_id], "observations": rows, "scores": []}

    async def _score(self, request: web.Request) -> web.Response:
        score = await request.json()
        fault = _fault_of(score)
        if fault:
            return web.json_response({"message": fault}, status=400)
        own_id = score.get("id") or f"random-{len(self.scores)}"
        self.scores[own_id] = {**score, "id": own_id}
        if self.loses_answers > 0:
            self.loses_answers -= 1
            return web.json_response({"message": "Timeout error"}, status=504)
        return web.json_response({"id": own_id})

    def _chosen_scores(self, query: Mapping[str, str]) -> list[dict[str, Any]]:
        source, name = query.get("source"), query.get("name")
        start = query.get("fromTimestamp", "")
        return [
            score
            for score in self.scores.values()
            if (source is None or score.get("source", "API") == source)
            and (name is None or score["name"] == name)
            and score.get("timestamp", "~") >= start
        ]

    def _scores(self, query: Mapping[str, str]) -> web.Response:
        limit = int(query.get("limit", "50"))
        groups = set(filter(None, query.get("fields", "").split(",")))
        if limit > 100 or not groups <= {"details", "subject", "annotation"}:
            return web.json_response({"message": "Invalid request data"}, status=400)
        rows = self._chosen_scores(query)
        start = int(base64.urlsafe_b64decode(query["cursor"] + "==")) if "cursor" in query else 0
        page = [_current_score(row, groups) for row in rows[start : start + limit]]
        meta = {}
        if start + limit < len(rows):
            mark = base64.urlsafe_b64encode(str(start + limit).encode()).decode().rstrip("=")
            meta["cursor"] = mark
        return web.json_response({"data": page, "meta": meta})

    def _former_scores(self, query: Mapping[str, str]) -> web.Response:
        limit, number = int(query.get("limit", "50")), int(query.get("page", "1"))
        return _paged(self._chosen_scores(query), number, limit)

    async def _ingestion(self, request: web.Request) -> web.Response:
        batch = (await request.json()).get("batch", [])
        self.ingested += batch
        successes = [{"id": event["id"], "status": 201} for event in batch]
        return web.json_response({"successes": successes, "errors": []}, status=207)


def _asked_for(row: dict[str, Any], query: Mapping[str, str]) -> bool:
    wanted = {key: query[key] for key in ("traceId", "type", "name", "environment") if key in query}
    for condition in json.loads(query.get("filter", "[]")):
        if condition["operator"] == "=":
            wanted[condition["column"]] = condition["value"]
    start, end = query.get("fromStartTime", ""), query.get("toStartTime", "~")
    if "filter" in query:
        start, end = "", "~"
    return start <= row["startTime"] < end and all(row.get(k) == v for k, v in wanted.items())


def _raw(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        value = json.loads(value)
    return value if isinstance(value, dict) else {}


def _cut_metadata(metadata: dict[str, Any], expanded: set[str]) -> dict[str, Any]:
    whole = {key: _raw(value) for key, value in metadata.items()}
    return {
        key: value if key in expanded else (value or "")[:METADATA_CHARACTERS]
        for key, value in whole.items()
    }


def _current_score(score: dict[str, Any], groups: set[str]) -> dict[str, Any]:
    told = {key: score.get(key) for key in ("id", "name", "value", "dataType", "timestamp")}
    told["source"] = score.get("source", "API")
    told["environment"] = score.get("environment", "default")
    if "details" in groups:
        told |= {key: score.get(key) for key in ("comment", "configId", "metadata", "stringValue")}
    if "subject" in groups:
        told["subject"] = _subject(score)
    if "annotation" in groups:
        told |= {key: score.get(key) for key in ("authorUserId", "queueId")}
    return told


def _subject(score: dict[str, Any]) -> dict[str, Any]:
    if score.get("observationId"):
        kind = {"kind": "observation", "id": score["observationId"], "traceId": score["traceId"]}
    elif score.get("traceId"):
        kind = {"kind": "trace", "id": score["traceId"]}
    elif score.get("sessionId"):
        kind = {"kind": "session", "id": score["sessionId"]}
    else:
        kind = {"kind": "experiment", "id": score.get("datasetRunId")}
    return kind


def _paged(rows: list[dict[str, Any]], number: int, limit: int) -> web.Response:
    page = rows[(number - 1) * limit : number * limit]
    total = len(rows)
    meta = {"page": number, "limit": limit, "totalItems": total, "totalPages": -(-total // limit)}
    return web.json_response({"data": page, "meta": meta})


def _fault_of(score: dict[str, Any]) -> str | None:
    kind, value = score.get("dataType"), score.get("value")
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind not in DATA_TYPES or not score.get("name"):
        return "Invalid score"
    if not any(score.get(key) for key in ("traceId", "sessionId", "datasetRunId")):
        return "Provide one of traceId, sessionId, datasetRunId"
    if kind in ("CATEGORICAL", "TEXT") and not isinstance(value, str):
        return "value must be a text"
    if kind == "NUMERIC" and not number:
        return "value must be a number"
    if kind == "BOOLEAN" and (not number or value not in (0, 1)):
        return "value must be 0 or 1"
    if str(score.get("environment", "")).startswith("langfuse"):
        return "environment must not start with langfuse"
    return None


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


@asynccontextmanager
async def langfuse_server() -> AsyncIterator[LangfuseServer]:
    """A running server, on a free port."""
    server = LangfuseServer()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", server.answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()


def documents(shared_data: Path) -> dict[str, dict[str, Any]]:
    """The samples of the read API by file name."""
    folder = shared_data / "traces" / "langfuse_api"
    return {
        path.name.removesuffix(".trace.json"): json.loads(path.read_bytes())
        for path in sorted(folder.glob("*.trace.json"))
    }
