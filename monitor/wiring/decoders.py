"""What reads payloads, with the limits that the settings name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from monitor.config import Settings
from monitor.config.intake import OtlpSettings
from monitor.entry_points import load_adapter
from monitor.errors import ConfigurationError
from monitor.ports import SpanDecoder
from monitor.roles.files import table_of

MAPPED = "generic"
"""The format that reads by a mapping."""


def trace_decoder(settings: Settings) -> SpanDecoder:
    """Recorded OTLP traces, in both encodings; their ids may be in base64."""
    decoder: SpanDecoder = load_adapter("otlp.traces")(**decoding(settings), base64_ids=True)
    return decoder


def file_decoders(
    settings: Settings, name: str | None = None, mapping: Path | None = None
) -> list[SpanDecoder]:
    """What reads recorded payloads: OTLP and span records, or the format behind an entry point.

    Raises ConfigurationError for an unknown format and for a mapping that cannot work.
    """
    if name is None and mapping is None:
        logs: SpanDecoder = load_adapter("otlp.logs")(**decoding(settings), base64_ids=True)
        return [trace_decoder(settings), logs, load_adapter("spans")()]
    if mapping is not None and name != MAPPED:
        raise ConfigurationError(f"a mapping belongs to `--format {MAPPED}`, and to no other")
    options = {} if mapping is None else {"mapping": table_of(mapping)}
    try:
        decoder: SpanDecoder = load_adapter(name or MAPPED)(**options)
    except TypeError:
        decoder = None  # type: ignore[assignment]
    if not callable(getattr(decoder, "decode", None)):
        raise ConfigurationError(f"the adapter {name!r} is no format of recorded payloads")
    return [decoder]


def decoding(settings: Settings) -> dict[str, Any]:
    """What every decoder is built with: its limits, and the attributes that override."""
    limits, otlp = settings.limits, settings.otlp
    return {
        "limits": {
            "body_bytes": limits.body_bytes,
            "items": limits.items_per_request,
            "attributes": limits.attributes_per_span,
            "nesting": limits.nesting,
            "index": limits.attribute_index,
        },
        "outcome_attribute": otlp.outcome_attribute,
        **attributes_of(otlp),
    }


def attributes_of(otlp: OtlpSettings) -> dict[str, Any]:
    """The operator's own attributes for conversation and release."""
    return {
        "conversation_attribute": otlp.conversation_attribute,
        "release_attribute": otlp.release_attribute,
    }
