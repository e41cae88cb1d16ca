"""The only place that chooses implementations: settings in, parts joined up, out."""

from __future__ import annotations

from monitor.wiring.checks import checked
from monitor.wiring.decoders import file_decoders, trace_decoder
from monitor.wiring.engines import engine
from monitor.wiring.records import backfill, inspected
from monitor.wiring.sidecar import demo_settings, service

__all__ = [
    "backfill",
    "checked",
    "demo_settings",
    "engine",
    "file_decoders",
    "inspected",
    "service",
    "trace_decoder",
]
