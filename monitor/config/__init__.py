"""Settings: one TOML file, overlaid by environment variables; a section a table of the file."""

from __future__ import annotations

from monitor.config.settings import Settings, load

__all__ = ["Settings", "load"]
