"""How far a source that is read has been taken, in a small file that survives a crash."""

from __future__ import annotations

import os
from pathlib import Path

from monitor.errors import ConfigurationError


class PositionFile:
    """One opaque position. It is kept after its spans were accepted, so a crash repeats spans."""

    def __init__(self, path: Path) -> None:
        """Nothing is read yet."""
        self._path = path

    def read(self) -> bytes | None:
        """What was kept last; None before the first. Raises ConfigurationError."""
        try:
            return self._path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ConfigurationError(f"{self._path}: cannot be read: {error.strerror}") from None

    def keep(self, position: bytes) -> None:
        """Put the position in place of the last, whole or not at all."""
        temporary = self._path.with_suffix(".new")
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(position)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, self._path)
