"""JSON documents and JSON lines to spans: what the decoders of native payloads have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, Final

import msgspec

from adapters.frameworks.synthesis import spans_of
from adapters.frameworks.transcript import Transcript
from adapters.shapes import content
from adapters.vocabularies import identity
from monitor.errors import ConfigurationError, MalformedPayload, PayloadTooLarge, UnsupportedPayload
from monitor.model import AgentSpan, JsonValue
from monitor.ports import Decoded, Rejection

CONTENT_TYPES: Final = frozenset(
    {"application/json", "application/jsonl", "application/x-ndjson", "application/x-jsonlines"}
)
_CONTAINERS: Final = 1_000_000
"""Lists and objects in one payload; each costs at least 56 bytes."""
_ID_KEYS: Final = ("session.id",)


class DocumentLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What one payload may hold; names are those by which a refusal is counted."""

    body_bytes: int = 20 * 1024 * 1024
    items: int = 50_000
    """Steps of one conversation."""
    nesting: int = 64


class UnreadableDocument(Exception):
    """A document that is JSON and not of the format; it costs itself only."""


class DocumentDecoder:
    """Port SpanDecoder over documents of one format; each format says what it finds in one.

    A payload is one JSON document, or one per line. A document that is not of the format is
    refused alone, with a reason that says what was missing.
    """

    name: str = ""

    def __init__(self, limits: DocumentLimits | Mapping[str, int] | None = None) -> None:
        """Limits by name; the defaults for the rest. Raises ConfigurationError for others."""
        self.limits = _limits(limits)

    def records(self, document: JsonValue) -> Iterable[Any]:
        """The records that lie in one document, each read and refused alone."""
        return (document,)

    def transcript(self, record: Any) -> Transcript:
        """What a record tells; for formats that do not make `spans` themselves.

        Raises UnreadableDocument when it is of another format.
        """
        raise UnreadableDocument("nothing says what its records tell")

    def spans(self, record: Any) -> Iterable[AgentSpan]:
        """The spans of a record. Raises UnreadableDocument and PayloadTooLarge."""
        transcript = self.transcript(record)
        if len(transcript.steps) > self.limits.items:
            raise _too_large("items", self.limits.items)
        return spans_of(transcript)

    def decode(self, payload: bytes, content_type: str) -> Decoded:
        """See the port. Content types: `application/json` and those of JSON lines."""
        kind = content_type.partition(";")[0].strip().lower()
        if kind not in CONTENT_TYPES:
            raise UnsupportedPayload(
                f"content type must be one of {', '.join(sorted(CONTENT_TYPES))}; "
                "the sender must choose one of them"
            )
        if len(payload) > self.limits.body_bytes:
            raise _too_large("body_bytes", self.limits.body_bytes)
        text, salvaged = _text(payload)
        spans: list[AgentSpan] = []
        rejections: list[Rejection] = []
        for number, document in _documents(text, rejections):
            try:
                content.check_depth(document)
                records = list(self.records(document))
            except (UnreadableDocument, PayloadTooLarge) as error:
                rejections.append(self._rejection(f"document {number}", error))
                continue
            for place, record in enumerate(records, start=1):
                where = f"document {number}" + (f", record {place}" if len(records) > 1 else "")
                try:
                    spans += list(self.spans(record))
                except (UnreadableDocument, PayloadTooLarge) as error:
                    rejections.append(self._rejection(where, error))
        return Decoded(spans, rejections, salvaged)

    def _rejection(self, where: str, error: UnreadableDocument | PayloadTooLarge) -> Rejection:
        if isinstance(error, PayloadTooLarge):
            return Rejection(error.limit, f"{where}: {error}")
        message = f"{where} is not of the format {self.name!r}: {error}"
        return Rejection("unreadable_document", message)


def document_key(document: JsonValue) -> str:
    """The same for the same document; other documents have another."""
    encoded = msgspec.json.encode(document, order="deterministic")
    return blake2b(encoded, digest_size=12).hexdigest()


def conversation_id(*candidates: JsonValue) -> str | None:
    """The first candidate that names one conversation, by the rules for attributes."""
    for candidate in candidates:
        found = identity.conversation_id({_ID_KEYS[0]: candidate}, _ID_KEYS)
        if found is not None:
            return found
    return None


def text_or_none(value: JsonValue) -> str | None:
    """A text that says something; None for anything else."""
    return value if isinstance(value, str) and value else None


def object_in(document: JsonValue, key: str) -> Mapping[str, Any]:
    """The object under a key, empty where there is none."""
    found = document.get(key) if isinstance(document, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def list_in(document: JsonValue, key: str) -> list[JsonValue]:
    """The list under a key, empty where there is none."""
    found = document.get(key) if isinstance(document, Mapping) else None
    return found if isinstance(found, list) else []


def _documents(text: str, rejections: list[Rejection]) -> Iterator[tuple[int, JsonValue]]:
    try:
        document = content.decode(text, _CONTAINERS)
    except content.Undecodable as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise _malformed() from error
        yield from _lines(lines, rejections)
    else:
        if document != {}:
            yield 1, document


def _lines(lines: list[str], rejections: list[Rejection]) -> Iterator[tuple[int, JsonValue]]:
    malformed = 0
    for number, line in enumerate(lines, start=1):
        try:
            document = content.decode(line, _CONTAINERS)
        except content.Undecodable:
            malformed += 1
            rejections.append(Rejection("malformed_line", f"line {number} is not JSON"))
        except PayloadTooLarge as error:
            rejections.append(Rejection(error.limit, f"line {number}: {error}"))
        else:
            yield number, document
    if malformed == len(lines):
        raise _malformed()


def _text(payload: bytes) -> tuple[str, bool]:
    try:
        return payload.decode("utf-8-sig"), False
    except UnicodeDecodeError:
        return payload.decode("utf-8", "replace"), True


def _malformed() -> MalformedPayload:
    return MalformedPayload("the payload is neither a JSON document nor JSON lines; do not retry")


def _too_large(limit: str, value: int) -> PayloadTooLarge:
    return PayloadTooLarge(
        f"it is beyond the limit `{limit}` of {value}; the sender must split it", limit
    )


def _limits(given: DocumentLimits | Mapping[str, int] | None) -> DocumentLimits:
    if isinstance(given, DocumentLimits):
        return given
    chosen = dict(given or {})
    known = set(DocumentLimits.__struct_fields__)
    # The receiver's settings name more limits than a document has.
    return _checked({name: value for name, value in chosen.items() if name in known})


def _checked(chosen: Mapping[str, int]) -> DocumentLimits:
    if any(value < 1 for value in chosen.values()):
        raise ConfigurationError("a document limit is below 1; the operator must mend it")
    return DocumentLimits(**chosen)
