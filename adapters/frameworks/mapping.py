"""Where a JSON format of one's own keeps what the monitor reads: a mapping, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from adapters.frameworks.paths import Path
from monitor.errors import ConfigurationError

DEFAULT: Final[dict[str, Any]] = {
    "messages": {"path": "$.messages[*]"},
    "tool_calls": {"path": "$.tool_calls[*]"},
    "metadata": {
        "input_tokens": "$.usage.input_tokens",
        "output_tokens": "$.usage.output_tokens",
        "model": "$.model",
        "system": "$.system",
    },
    "trace_id": "$.trace_id",
    "session_id": "$.session_id",
}
_MESSAGE_FIELDS: Final = {
    "role_field": "role",
    "content_field": "content",
    "timestamp_field": "timestamp",
    "tool_calls_field": "tool_calls",
    "call_id_field": "tool_call_id",
    "name_field": "name",
}
_CALL_FIELDS: Final = {
    "name_field": "name",
    "arguments_field": "arguments",
    "result_field": "result",
    "timestamp_field": "timestamp",
    "execution_time_field": "execution_time",
    "error_field": "error",
    "call_id_field": "id",
}
_METADATA: Final = frozenset(
    {"input_tokens", "output_tokens", "latency", "model", "system", "agent", "release", "cost"}
)
_PATHS: Final = frozenset({"records", "trace_id", "session_id", "turn_id", "query", "reply"})
_ROLES: Final = frozenset({"user", "assistant", "system", "tool"})


class Mapped:
    """A compiled mapping; parts that it does not name are not read.

    Raises ConfigurationError for a key that does not exist, a value of the wrong kind, or a path
    that cannot be read.
    """

    def __init__(self, mapping: Mapping[str, Any] | None = None) -> None:
        given = DEFAULT if mapping is None else mapping
        _check_keys(given, {"messages", "tool_calls", "metadata", "roles", *_PATHS}, "mapping")
        self.messages, self.message = _section(given, "messages", _MESSAGE_FIELDS)
        self.tool_calls, self.call = _section(given, "tool_calls", _CALL_FIELDS)
        metadata = _table(given, "metadata")
        _check_keys(metadata, _METADATA, "metadata")
        self.metadata = {key: Path(path, f"metadata.{key}") for key, path in metadata.items()}
        self.paths = {key: Path(given[key], key) for key in _PATHS if key in given}
        self.roles = _roles(_table(given, "roles"))
        if self.messages is None and not {"query", "reply"} & self.paths.keys():
            raise ConfigurationError(
                "the mapping names neither `messages.path` nor `query` or `reply`, so nothing of a "
                "conversation could be read; the operator must mend it"
            )


def _section(
    given: Mapping[str, Any], name: str, fields: Mapping[str, str]
) -> tuple[Path | None, dict[str, Path]]:
    """The section's path and its fields, relative to what the path leads to."""
    section = _table(given, name)
    if not section:
        return None, {}
    _check_keys(section, {"path", *fields}, name)
    if "path" not in section:
        raise ConfigurationError(f"{name}.path is missing; the operator must name it")
    found = {
        field: Path(section.get(field, default), f"{name}.{field}")
        for field, default in fields.items()
    }
    return Path(section["path"], f"{name}.path"), found


def _table(given: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = given.get(name, {})
    if not isinstance(table, Mapping):
        raise ConfigurationError(f"{name} must be a table of settings; the operator must mend it")
    return table


def _check_keys(given: object, known: set[str] | frozenset[str], where: str) -> None:
    if not isinstance(given, Mapping):
        raise ConfigurationError("the mapping must be a table of settings")
    unknown = sorted(str(key) for key in given if key not in known)
    if unknown:
        raise ConfigurationError(
            f"{where} knows no {', '.join(unknown)}; known: {', '.join(sorted(known))}; "
            "the operator must mend it"
        )


def _roles(table: Mapping[str, Any]) -> dict[str, str]:
    for name, role in table.items():
        if not isinstance(role, str) or role not in _ROLES:
            raise ConfigurationError(
                f"roles.{name} = {role!r} is none of {', '.join(sorted(_ROLES))}; "
                "the operator must mend it"
            )
    return {name.lower(): role for name, role in table.items()}
