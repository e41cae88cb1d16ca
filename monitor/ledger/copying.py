"""A copy of a ledger's file, of one committed moment, while another process writes it."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from monitor.errors import LedgerError
from monitor.ledger.database import Reader, translated


def copy_ledger(path: Path, out: Path) -> int:
    """Copy the file, whole or not at all; its size in bytes. Nobody is held up.

    Raises LedgerError when a file cannot be used, StateError when it is no ledger.
    """
    if out.exists():
        raise LedgerError(f"{out}: is there already; a copy never replaces a file")
    Reader.open(path).close()
    fresh = out.with_name(f"{out.name}.part")
    fresh.unlink(missing_ok=True)
    try:
        with (
            translated(str(path)),
            closing(sqlite3.connect(path)) as source,
            closing(sqlite3.connect(fresh)) as copy,
        ):
            source.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
        with fresh.open("rb") as file:
            os.fsync(file.fileno())
        fresh.replace(out)
    except OSError as error:
        raise LedgerError(f"{out}: cannot be written: {error.strerror}") from error
    return out.stat().st_size
