"""Wire formats, read into the monitor's model."""

from __future__ import annotations

from typing import Final

DISTRIBUTION: Final = "agent-turn-monitor"
"""Whose package this is: an unrelated public distribution installs one of the same name."""
