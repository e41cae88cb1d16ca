"""What stands in files that are replaced while the monitor runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

from monitor.errors import ConfigurationError

Value = TypeVar("Value")
_Signature: TypeAlias = tuple[tuple[int, int, int] | None, ...]


class Watched(Generic[Value]):
    """A value read from files, and read again once one of them is another.

    A change that cannot be read leaves the value as it was, and is counted by `failed`; so a file
    that is just being written, or a pair of which one is replaced first, stops nobody.
    """

    def __init__(
        self, paths: Sequence[Path], load: Callable[[], Value], failed: Callable[[], None]
    ) -> None:
        """Raises ConfigurationError when the files cannot be read now."""
        self._paths = tuple(paths)
        self._load = load
        self._failed = failed
        # Looked at before the reading, so that a change meanwhile is seen the next time.
        self._seen = self._signature()
        self._value = load()

    def current(self) -> Value:
        """The value as the files have it now; costs one look at each file."""
        self.renew()
        return self._value

    def renew(self) -> bool:
        """Read the files again if they changed; whether there is another value."""
        found = self._signature()
        if found == self._seen:
            return False
        self._seen = found
        try:
            self._value = self._load()
        except ConfigurationError:
            self._failed()
            return False
        return True

    def _signature(self) -> _Signature:
        return tuple(_mark(path) for path in self._paths)


def _mark(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def read_file(path: Path, setting: str) -> bytes:
    """The whole file. Raises ConfigurationError that names the setting."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigurationError(
            f"`{setting}`: {path} cannot be read: {error.strerror}; the operator must mend it"
        ) from None
