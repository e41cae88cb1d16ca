"""Settings: one TOML file, overlaid by `AGENT_MONITOR_*` environment variables.

Every limit, wait and path of the service has its name here. Unknown keys are refused, both in the
file and in the environment, so that a misspelt setting never passes for a default.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from monitor.config.alerts import AlertSettings
from monitor.config.intake import LangfuseSettings, OtlpSettings, RedactionSettings
from monitor.config.judge import JudgeSettings
from monitor.config.judgement import (
    ComparisonSettings,
    CompositionSettings,
    EmbeddingSettings,
    EvidenceSettings,
    ReferenceSettings,
    ToolSettings,
)
from monitor.config.kafka import KafkaSettings
from monitor.config.keeping import ConversationSettings, LedgerSettings, LimitSettings
from monitor.config.labels import LabelSettings
from monitor.config.outlets import ForwardSettings, MetricsSettings, SinkSettings
from monitor.config.releases import ReleaseSettings
from monitor.config.section import Section
from monitor.errors import ConfigurationError

PREFIX = "AGENT_MONITOR_"


class Settings(Section):
    """All settings of `agent-monitor run`."""

    otlp: OtlpSettings = OtlpSettings()
    forward: ForwardSettings = ForwardSettings()
    metrics: MetricsSettings = MetricsSettings()
    redaction: RedactionSettings = RedactionSettings()
    ledger: LedgerSettings = LedgerSettings()
    conversation: ConversationSettings = ConversationSettings()
    limits: LimitSettings = LimitSettings()
    references: ReferenceSettings = ReferenceSettings()
    tools: ToolSettings = ToolSettings()
    evidence: EvidenceSettings = EvidenceSettings()
    composition: CompositionSettings = CompositionSettings()
    comparison: ComparisonSettings = ComparisonSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    judge: JudgeSettings = JudgeSettings()
    langfuse: LangfuseSettings = LangfuseSettings()
    releases: ReleaseSettings = ReleaseSettings()
    alerts: AlertSettings = AlertSettings()
    sinks: SinkSettings = SinkSettings()
    labels: LabelSettings = LabelSettings()
    kafka: KafkaSettings = KafkaSettings()


def load(path: Path | None, environment: Mapping[str, str] | None = None) -> Settings:
    """Settings from a TOML file, or the defaults, under the environment's overrides.

    `AGENT_MONITOR_OTLP__LISTEN=127.0.0.1:0` overrides `listen` in `[otlp]`; lists and tables are
    written as TOML values. Relative paths in the file are relative to the file. Raises
    ConfigurationError that names the file or variable, the key and what is wrong with it.
    """
    environment = os.environ if environment is None else environment
    tables = _read(path) if path else {}
    origin = str(path) if path else "the environment"
    for variable, value in environment.items():
        if variable.startswith(PREFIX) and "__" in variable:
            _overlay(tables, variable, value)
    try:
        return Settings.model_validate(tables)
    except ValidationError as error:
        raise ConfigurationError(f"{origin}: {_explain(error)}") from None


def _read(path: Path) -> dict[str, Any]:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: is not valid TOML: {error}") from None
    return _anchored(tables, path.parent)


def _anchored(tables: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The tables with each path setting made relative to the file's folder."""
    anchored: dict[str, Any] = {}
    for name, table in tables.items():
        section = Settings.model_fields.get(name)
        if section is None or not isinstance(table, dict):
            anchored[name] = table
            continue
        fields = section.annotation.model_fields if section.annotation else {}
        anchored[name] = {
            key: _join(folder, value) if "Path" in str(_annotation(fields, key)) else value
            for key, value in table.items()
        }
    return anchored


def _annotation(fields: Mapping[str, Any], key: str) -> Any:
    return fields[key].annotation if key in fields else None


def _join(folder: Path, value: Any) -> Any:
    if isinstance(value, str):
        return str(folder / value)
    if isinstance(value, list):
        return [_join(folder, item) for item in value]
    return value


def _overlay(tables: dict[str, Any], variable: str, value: str) -> None:
    section, _, key = variable[len(PREFIX) :].lower().partition("__")
    if section not in Settings.model_fields:
        raise ConfigurationError(f"{variable}: there is no section `{section}`")
    tables.setdefault(section, {})[key] = value if key in ("token", "password") else _parsed(value)


def _parsed(value: str) -> Any:
    """A list, table, number or boolean written as TOML; anything else is the text itself."""
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value


def _explain(error: ValidationError) -> str:
    """What is wrong, one clause per fault, without echoing values that may be secrets."""
    clauses = []
    for fault in error.errors(include_url=False, include_input=False):
        where = ".".join(str(part) for part in fault["loc"])
        what = "is not a known setting" if fault["type"] == "extra_forbidden" else fault["msg"]
        clauses.append(f"`{where}` {what[0].lower() + what[1:]}")
    return "; ".join(clauses)
