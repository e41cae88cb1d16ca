"""The one object: spans in, reports out, time as an argument."""

from __future__ import annotations

from monitor.pipeline.limits import PipelineLimits
from monitor.pipeline.pipeline import Evaluate, Pipeline

__all__ = ["Evaluate", "Pipeline", "PipelineLimits"]
