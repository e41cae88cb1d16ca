"""Closed reports, appended to a file as JSON lines."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from monitor.codec import report_line
from monitor.errors import ConfigurationError
from monitor.verdict import Report


class JsonlSink:
    """Appends one line per report and syncs before it returns.

    A crash between the sync and the outbox's mark writes a line again: readers keep the last line
    of each conversation id and revision.
    """

    name = "jsonl"

    def __init__(self, path: Path) -> None:
        """Raises ConfigurationError when the file cannot be opened for appending."""
        self._path = path
        try:
            # Reports quote conversations, so the file is its owner's alone, as the ledger is.
            os.close(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600))
        except OSError as error:
            raise ConfigurationError(f"sinks.jsonl: {path}: {error.strerror}") from None

    def write(self, reports: Iterable[Report]) -> None:
        """Append the reports in order, whole lines only."""
        lines = b"".join(report_line(report) + b"\n" for report in reports)
        with self._path.open("ab") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())
