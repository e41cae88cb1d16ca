"""The tenant's redaction key: from the environment, else from a file that only its owner reads."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from monitor.errors import ConfigurationError

VARIABLE: Final = "AGENT_MONITOR_REDACTION_KEY"
KEY_BYTES: Final = 32
LEAST_BYTES: Final = 16
REPEATABLE: Final = b"agent-monitor: a key for what is replayed, so that it can be repeated"
"""Of commands that read the operator's own files and keep nothing; it is no secret."""


def service_key(
    environment: Mapping[str, str], path: Path | None = None, fallback: Path | None = None
) -> bytes:
    """The key from the environment, else of the file at `path`, else of the user's own file.

    A file that is not there is created. The user's own lies in the state folder of the account,
    so that all commands of one user redact alike; where that cannot be written, the file
    `fallback` takes its place, and without one the key that is no secret. Raises
    ConfigurationError when the file cannot be read or made, or others may read it, and for a key
    that is too short to be one.
    """
    if given := _given(environment):
        return given
    place = _place(environment, path, fallback)
    return REPEATABLE if place is None else _kept(place)


def tried_key(
    environment: Mapping[str, str], path: Path | None = None, fallback: Path | None = None
) -> bytes:
    """What `service_key` gives, or raises, without making a file.

    The key that is no secret stands for the one that would be made.
    """
    if given := _given(environment):
        return given
    for place in [path] if path else [_own(environment), fallback]:
        if place is not None and os.path.exists(place):
            return _read(place)
    if path is not None and not os.access(path.parent, os.W_OK | os.X_OK):
        raise ConfigurationError(
            f"{path}: the redaction key cannot be created in this folder; set {VARIABLE}"
        )
    return REPEATABLE


def shown_key(environment: Mapping[str, str]) -> bytes:
    """The key from the environment, else a fixed one, for what is shown and not kept."""
    return _given(environment) or REPEATABLE


def _given(environment: Mapping[str, str]) -> bytes | None:
    given = environment.get(VARIABLE)
    return _long_enough(given.encode(), VARIABLE) if given else None


def _long_enough(key: bytes, origin: str) -> bytes:
    if len(key) < LEAST_BYTES:
        raise ConfigurationError(
            f"{origin}: the redaction key has {len(key)} bytes and needs {LEAST_BYTES}; whoever "
            "can guess it can find redacted values by trial"
        )
    return key


def _place(environment: Mapping[str, str], path: Path | None, fallback: Path | None) -> Path | None:
    """Where the key is kept, or would be; None where no file can be made."""
    if path is not None:
        return path
    own = _own(environment)
    try:
        own.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        writable = own.exists() or os.access(own.parent, os.W_OK)
    except OSError:
        writable = False
    return own if writable else fallback


def _own(environment: Mapping[str, str]) -> Path:
    """The file in the account's state folder."""
    told = environment.get("XDG_STATE_HOME")
    home = Path(told) if told else Path(environment.get("HOME") or "/nonexistent") / ".local/state"
    return home / "agent-turn-monitor" / "redaction.key"


def _kept(path: Path) -> bytes:
    try:
        return _created(path)
    except FileExistsError:
        return _read(path)
    except OSError as error:
        raise ConfigurationError(
            f"{path}: the redaction key cannot be created: {error.strerror}; set {VARIABLE}"
        ) from None


def _created(path: Path) -> bytes:
    """A new key, whole or not at all, so that two processes never start with half of one."""
    key = secrets.token_hex(KEY_BYTES).encode()
    if path.exists():
        raise FileExistsError
    new = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(key)
            file.flush()
            os.fsync(descriptor)
        os.link(new, path)
    finally:
        new.unlink()
    return key


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_mode & 0o077:
                raise ConfigurationError(
                    f"{path}: others may read the redaction key; its owner must `chmod 600` it"
                )
            return _long_enough(file.read().strip(), str(path))
    except OSError as error:
        raise ConfigurationError(
            f"{path}: the redaction key cannot be read: {error.strerror}"
        ) from None
