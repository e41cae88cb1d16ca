"""Which conversation and which release a span says it belongs to, whatever its vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from monitor.model import JsonValue

CONVERSATION_KEYS: Final = (
    "langfuse.session.id",
    "session.id",
    "gen_ai.conversation.id",
    "gcp.vertex.agent.session_id",
    "langwatch.thread.id",
    "traceloop.association.properties.session_id",
    "traceloop.association.properties.conversation_id",
    "traceloop.association.properties.thread_id",
    "langsmith.metadata.session_id",
    "langsmith.metadata.thread_id",
    "langsmith.metadata.conversation_id",
    "ai.telemetry.metadata.sessionId",
    "mlflow.trace.session",
)
"""The first present and acceptable one wins; a configured attribute goes before them."""
RELEASE_KEYS: Final = ("langfuse.release", "service.version")
RESPONSE_ID: Final = "gen_ai.response.id"
_NOT_CONVERSATIONS: Final = frozenset(
    {
        "",
        "null",
        "none",
        "nil",
        "undefined",
        "unknown",
        "default",
        "default_session",
        "default-session",
        "session",
        "n/a",
        "<not specified>",
    }
)
_RESPONSE_PREFIXES: Final = ("resp_", "chatcmpl-")
_ID_CHARACTERS: Final = 256


def conversation_id(attributes: Mapping[str, JsonValue], keys: tuple[str, ...]) -> str | None:
    """The first acceptable conversation id among `keys`; None when there is none.

    An id that changes with each call, or that all users share, would split or merge conversations:
    ids of model responses and names of nothing are refused.
    """
    for key in keys:
        if key in attributes:
            value = attributes[key]
            if isinstance(value, int) and not isinstance(value, bool):
                value = str(value)
            if isinstance(value, str) and len(value) <= _ID_CHARACTERS:
                name = _name(value)
                if name is not None and name != attributes.get(RESPONSE_ID):
                    return name
    return None


@lru_cache(4_096)
def _name(value: str) -> str | None:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] == '"':
        # Some libraries write every attribute as JSON.
        value = value[1:-1].strip()
    if value.lower() in _NOT_CONVERSATIONS or value.startswith(_RESPONSE_PREFIXES):
        return None
    return value


def release(attributes: Mapping[str, JsonValue], keys: tuple[str, ...]) -> str | None:
    """The first declared release among `keys`; None when there is none."""
    for key in keys:
        if key in attributes:
            name = str(attributes[key] or "").strip()
            if name:
                return name[:_ID_CHARACTERS]
    return None
