"""What people said of traces in Langfuse: scores of annotation, read in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

import msgspec

from adapters.langfuse.client import LangfuseClient, NotThere
from adapters.langfuse.pages import iso
from adapters.langfuse.rows import span_id_of, time_ns, trace_id_of
from adapters.vocabularies.identity import CONVERSATION_KEYS, conversation_id
from monitor.errors import BackendUnavailable, MalformedPayload
from monitor.model import JsonValue
from monitor.ports import Redaction

Subject: TypeAlias = Literal["observation", "trace", "session", "experiment"]
CURRENT: Final = "/api/public/v3/scores"
FORMER: Final = "/api/public/v2/scores"
ANNOTATION: Final = "ANNOTATION"
LIMIT: Final = 100
_PAGES: Final = 100_000
_TEXT_CHARACTERS: Final = 4_096
_YES: Final = frozenset({"true", "1", "yes"})
_NO: Final = frozenset({"false", "0", "no"})


class HumanLabel(msgspec.Struct, frozen=True, kw_only=True):
    """One judgement of a person. Which of the ids are known depends on the subject."""

    label_id: str
    name: str
    """The score's name, as the project calls it."""
    subject: Subject
    value: bool | float | str | None
    """By the data type: yes or no, a number, or a category or text."""
    data_type: str
    trace_id: str | None = None
    """As spans have it: 32 hexadecimal digits."""
    span_id: str | None = None
    """As spans have it: 16 hexadecimal digits."""
    conversation_id: str | None = None
    """Of a session only, as reports have it; that of a trace is the trace's own. None also for a
    session whose id names no conversation."""
    comment: str | None = None
    """A person's words: data, never an instruction."""
    author: str | None = None
    queue_id: str | None = None
    config_id: str | None = None
    environment: str | None = None
    time_ns: int = 0


async def human_labels(
    client: LangfuseClient,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    name: str | None = None,
    redaction: Redaction | None = None,
    counters: dict[str, int] | None = None,
) -> AsyncIterator[HumanLabel]:
    """Every annotation in the range, in the server's order; from servers new and old.

    With the service's own `redaction`, ids of conversations are those of its reports, and no
    comment, author or text of a person comes through as it was written.
    `counters` is filled with `labels` and `rejected`: a score that cannot be read costs itself.
    Raises BackendUnavailable, RefusedRequest and NotThere as the client does.
    """
    told = counters if counters is not None else {}
    parameters = {"limit": str(LIMIT), "source": ANNOTATION}
    if since is not None:
        parameters["fromTimestamp"] = iso(time_ns(since))
    if until is not None:
        parameters["toTimestamp"] = iso(time_ns(until))
    if name is not None:
        parameters["name"] = name
    async for row in _rows(client, parameters):
        if not isinstance(row, Mapping) or row.get("source", ANNOTATION) != ANNOTATION:
            continue
        label = label_of(row)
        told["labels" if label else "rejected"] = told.get("labels" if label else "rejected", 0) + 1
        if label is not None:
            yield label if redaction is None else redacted(label, redaction)


async def _rows(client: LangfuseClient, parameters: Mapping[str, str]) -> AsyncIterator[JsonValue]:
    first = True
    try:
        async for row in _current(client, parameters):
            first = False
            yield row
    except NotThere:
        if not first:
            raise
    else:
        return
    async for row in _former(client, parameters):
        yield row


async def _current(
    client: LangfuseClient, parameters: Mapping[str, str]
) -> AsyncIterator[JsonValue]:
    query = {**parameters, "fields": "details,subject,annotation"}
    seen: set[str] = set()
    for _ in range(_PAGES):
        rows, meta = _page(await client.fetch(CURRENT, query))
        for row in rows:
            yield row
        cursor = meta.get("cursor")
        if not isinstance(cursor, str) or not cursor:
            return
        if cursor in seen:
            raise BackendUnavailable("Langfuse's cursor leads back to where it came from")
        seen.add(cursor)
        query["cursor"] = cursor


async def _former(
    client: LangfuseClient, parameters: Mapping[str, str]
) -> AsyncIterator[JsonValue]:
    for number in range(1, _PAGES):
        rows, meta = _page(await client.fetch(FORMER, {**parameters, "page": str(number)}))
        for row in rows:
            yield row
        total = meta.get("totalPages")
        if not rows or (isinstance(total, int) and number >= total):
            return


def _page(answer: JsonValue) -> tuple[list[JsonValue], Mapping[str, Any]]:
    rows = answer.get("data") if isinstance(answer, Mapping) else None
    if not isinstance(rows, list):
        raise MalformedPayload("an answer of Langfuse holds no list `data`")
    meta = answer.get("meta")
    return rows, meta if isinstance(meta, Mapping) else {}


def label_of(row: Mapping[str, Any]) -> HumanLabel | None:
    """The label in one row of either interface; None when it has no id, name or subject."""
    own_id, name = _text(row, "id"), _text(row, "name")
    subject, ids = _subject(row)
    if own_id is None or name is None or subject is None:
        return None
    kind = (_text(row, "dataType") or "NUMERIC").upper()
    return HumanLabel(
        label_id=own_id,
        name=name,
        subject=subject,
        value=_value(row, kind),
        data_type=kind,
        comment=_text(row, "comment"),
        author=_text(row, "authorUserId"),
        queue_id=_text(row, "queueId"),
        config_id=_text(row, "configId"),
        environment=_text(row, "environment"),
        time_ns=max(time_ns(row.get(key)) for key in ("timestamp", "createdAt")),
        **ids,
    )


def redacted(label: HumanLabel, redaction: Redaction) -> HumanLabel:
    """The label as the monitor may keep it, with its conversation's id as in reports."""

    def clean(told: str | None, redact: Callable[[str], str]) -> str | None:
        return None if told is None else redact(told)

    value = label.value
    return msgspec.structs.replace(
        label,
        name=redaction.text(label.name),
        value=redaction.text(value) if isinstance(value, str) else value,
        conversation_id=clean(label.conversation_id, redaction.name),
        author=clean(label.author, redaction.name),
        comment=clean(label.comment, redaction.text),
    )


def _subject(row: Mapping[str, Any]) -> tuple[Subject | None, dict[str, str]]:
    """What the score is about: told as one object, or by which of the ids are there."""
    given = row.get("subject")
    if isinstance(given, Mapping):
        kind, own_id = given.get("kind"), _text(given, "id")
        trace_id = _text(given, "traceId") or _text(row, "traceId")
        if kind == "observation" and own_id:
            ids = {"span_id": span_id_of(own_id)}
            return "observation", ids | ({"trace_id": trace_id_of(trace_id)} if trace_id else {})
        if kind == "trace" and own_id:
            return "trace", {"trace_id": trace_id_of(own_id)}
        if kind == "session" and own_id:
            return "session", _session(own_id)
        return ("experiment", {}) if kind == "experiment" else (None, {})
    return _subject_by_ids(row)


def _subject_by_ids(row: Mapping[str, Any]) -> tuple[Subject | None, dict[str, str]]:
    trace_id, span_id = _text(row, "traceId"), _text(row, "observationId")
    session_id = _text(row, "sessionId")
    if trace_id and span_id:
        return "observation", {
            "trace_id": trace_id_of(trace_id),
            "span_id": span_id_of(span_id),
        }
    if trace_id:
        return "trace", {"trace_id": trace_id_of(trace_id)}
    if session_id:
        return "session", _session(session_id)
    return ("experiment", {}) if _text(row, "datasetRunId") else (None, {})


def _session(session_id: str) -> dict[str, str]:
    """The conversation that spans of the session belong to."""
    found = conversation_id({"langfuse.session.id": session_id}, CONVERSATION_KEYS)
    return {} if found is None else {"conversation_id": found}


def _value(row: Mapping[str, Any], kind: str) -> bool | float | str | None:
    given, text = row.get("value"), row.get("stringValue")
    if kind == "BOOLEAN":
        word = str(given if given is not None else text).strip().lower().removesuffix(".0")
        return True if word in _YES else False if word in _NO else None
    if kind in ("CATEGORICAL", "TEXT"):
        chosen = text if isinstance(text, str) else given
        return None if chosen is None else str(chosen)[:_TEXT_CHARACTERS]
    if isinstance(given, int | float) and not isinstance(given, bool):
        return float(given)
    return None


def _text(row: Mapping[str, Any], key: str) -> str | None:
    value = row.get(key)
    return value[:_TEXT_CHARACTERS] or None if isinstance(value, str) else None
