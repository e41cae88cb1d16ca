"""Are two values the same? Exact, typed, by words, by cached embedding, else unsure."""

from __future__ import annotations

from monitor.comparison.cache import CachedEncoder, VectorStore
from monitor.comparison.ladder import Ladder

__all__ = ["CachedEncoder", "Ladder", "VectorStore"]
