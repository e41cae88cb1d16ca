"""Are two values the same? Exact, typed, by words, by a calibrated likeness, else unsure."""

from __future__ import annotations

from monitor.comparison.cache import CachedEncoder, VectorStore
from monitor.comparison.calibration import Calibrations
from monitor.comparison.ladder import Ladder

__all__ = ["CachedEncoder", "Calibrations", "Ladder", "VectorStore"]
