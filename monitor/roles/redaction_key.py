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
REPEATABLE: Final = b"agent-monitor: a key for what is replayed, so that it can be repeated"
"""Of commands that read the operator's own files and keep nothing; it is no secret."""


def service_key(environment: Mapping[str, str], path: Path) -> bytes:
    """The key from the environment, else the file's, which is created where there is none.

    Raises ConfigurationError when the file cannot be read or made, or others may read it.
    """
    given = environment.get(VARIABLE)
    if given:
        return given.encode()
    try:
        return _created(path)
    except FileExistsError:
        return _read(path)
    except OSError as error:
        raise ConfigurationError(
            f"{path}: the redaction key cannot be created: {error.strerror}; set {VARIABLE}"
        ) from None


def replay_key(environment: Mapping[str, str]) -> bytes:
    """The key from the environment, else a fixed one: the same files give the same reports."""
    given = environment.get(VARIABLE)
    return given.encode() if given else REPEATABLE


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
            return file.read().strip()
    except OSError as error:
        raise ConfigurationError(
            f"{path}: the redaction key cannot be read: {error.strerror}"
        ) from None
