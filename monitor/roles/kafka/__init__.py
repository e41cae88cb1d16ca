"""The roles apart, over Kafka: topics, workers, export, collect and judge."""

from __future__ import annotations
