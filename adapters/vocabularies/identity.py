"""Which conversation and which release a span says it belongs to, whatever its vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from monitor.model import IdRemark, JsonValue

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
USER_KEYS: Final = (
    "user.id",
    "langfuse.user.id",
    "langfuse.trace.metadata.langfuse_user_id",
    "langfuse.observation.metadata.langfuse_user_id",
    "ai.telemetry.metadata.userId",
    "enduser.id",
    "enduser.pseudo.id",
    "langwatch.user.id",
    "traceloop.association.properties.user_id",
    "traceloop.association.properties.userId",
    "langsmith.metadata.user_id",
    "mlflow.trace.user",
)
"""The first present and acceptable one wins; what names no conversation names no user."""
METADATA_USERS: Final = ("user_id", "userId", "langfuse_user_id")
"""The same among the entries of a metadata object."""
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
        "conversation",
        "thread",
        "true",
        "false",
        "nan",
        "{}",
        "[]",
        "00000000-0000-0000-0000-000000000000",
    }
)
_RESPONSE_PREFIXES: Final = ("resp_", "chatcmpl-")
_ID_CHARACTERS: Final = 256
SERVICE_NAME: Final = "service.name"
SERVICE_NAMESPACE: Final = "service.namespace"
_NO_SERVICE: Final = "unknown_service"
"""What SDKs write, with the program's name behind it, where nobody named the service."""


class Named(NamedTuple):
    """The conversation that attributes name, or why the one they name does not count."""

    conversation_id: str | None = None
    refused: IdRemark | None = None


_NOTHING: Final = Named()
_OF_RESPONSE: Final = Named(None, "response")
_OF_SERVICE: Final = Named(None, "service")
_TOO_LONG: Final = Named(None, "length")


def conversation_id(attributes: Mapping[str, JsonValue], keys: tuple[str, ...]) -> str | None:
    """The first acceptable conversation id among `keys`; None when there is none."""
    return named(attributes, keys).conversation_id


def named(
    attributes: Mapping[str, JsonValue], keys: tuple[str, ...], service: str | None = None
) -> Named:
    """The first acceptable conversation id among `keys`, else why the first was refused.

    An id that changes with each call, or that all users share, would split or merge conversations:
    ids of model responses, names of nothing and the name of the `service` are refused.
    """
    refused: IdRemark | None = None
    for key in keys:
        if key in attributes:
            value = attributes[key]
            if isinstance(value, int) and not isinstance(value, bool):
                value = str(value)
            if not isinstance(value, str):
                continue
            found = _named(value) if len(value) <= _ID_CHARACTERS else _TOO_LONG
            name = found.conversation_id
            if name is not None and name == attributes.get(RESPONSE_ID):
                found = _OF_RESPONSE
            elif name is not None and name == service:
                found = _OF_SERVICE
            elif name is not None:
                return found
            refused = refused or found.refused
    return _NOTHING if refused is None else Named(None, refused)


@lru_cache(4_096)
def _named(value: str) -> Named:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] == '"':
        # Some libraries write every attribute as JSON.
        value = value[1:-1].strip()
    if value.startswith(_RESPONSE_PREFIXES):
        return _OF_RESPONSE
    if value.lower() in _NOT_CONVERSATIONS:
        return Named(None, "constant")
    return Named(value)


def user_id(attributes: Mapping[str, JsonValue], keys: tuple[str, ...] = USER_KEYS) -> str | None:
    """The first acceptable user id among `keys`; None when there is none."""
    for key in keys:
        if key in attributes:
            found = named(attributes, (key,)).conversation_id
            if found is not None:
                return found
    return None


def service(resource: Mapping[str, JsonValue]) -> str | None:
    """The service that a resource names, behind its namespace; None when nobody named it."""
    name, space = (
        str(resource.get(key) or "").strip() for key in (SERVICE_NAME, SERVICE_NAMESPACE)
    )
    if not name or name.startswith(_NO_SERVICE):
        return None
    return f"{space}/{name}"[:_ID_CHARACTERS] if space else name[:_ID_CHARACTERS]


def release(attributes: Mapping[str, JsonValue], keys: tuple[str, ...]) -> str | None:
    """The first declared release among `keys`; None when there is none."""
    for key in keys:
        if key in attributes:
            name = str(attributes[key] or "").strip()
            if name:
                return name[:_ID_CHARACTERS]
    return None
