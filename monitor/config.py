"""Settings: one TOML file, overlaid by `AGENT_MONITOR_*` environment variables.

Every limit, wait and path of the service has its name here. Unknown keys are refused, both in the
file and in the environment, so that a misspelt setting never passes for a default.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from monitor.errors import ConfigurationError
from monitor.verdict import SubMetric

PREFIX = "AGENT_MONITOR_"

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
Bytes = Annotated[int, Field(ge=1)]
Unit = Annotated[float, Field(ge=0, le=1)]
Address = Annotated[str, Field(pattern=r"^(\[[0-9a-fA-F:]+\]|[^:\s]+):\d{1,5}$")]


class Section(BaseModel):
    """A table of the file; frozen, and strict about its keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class OtlpSettings(Section):
    """The OTLP receivers; who may send is the same for both."""

    listen: Address = "127.0.0.1:4318"
    """Over HTTP. Port 0 takes a free one, which the start-up line names."""
    grpc_listen: Address | None = None
    """Over gRPC, usually 127.0.0.1:4317; needs the extra `grpc`."""
    insecure: bool = False
    """Allow an address other than loopback, although nothing authenticates the senders."""
    token: SecretStr | None = None
    """What senders show as a bearer token or Basic password; set it in the environment."""
    token_file: Path | None = None
    """One token a line, each of which is good; read again when the file changes."""
    tls_cert_file: Path | None = None
    tls_key_file: Path | None = None
    tls_client_ca_file: Path | None = None
    """Senders must show a certificate of one of these authorities."""
    conversation_attribute: str | None = None
    """A span attribute that overrides every other source of the conversation id."""
    release_attribute: str | None = None
    """A span or resource attribute that overrides every other declared release id."""


class MetricsSettings(Section):
    """The page server: /metrics, /healthz, /readyz and the status page."""

    listen: Address = "127.0.0.1:9464"
    insecure: bool = False


RedactedKind = Literal[
    "email", "phone", "card", "iban", "ssn", "national_id", "ip", "jwt", "key", "pem", "secret"
]


class RedactionSettings(Section):
    """Personal data and secrets, taken out before anything is stored.

    The key comes from `AGENT_MONITOR_REDACTION_KEY`, else from `key_file`.
    """

    enabled: bool = True
    kinds: tuple[RedactedKind, ...] = get_args(RedactedKind)
    patterns: dict[str, str] = Field(default_factory=dict)
    """Regular expressions of your own by name (capitals), with an upper bound to each repeat."""
    style: Literal["keyed", "plain"] = "keyed"
    """`keyed` writes `<EMAIL:7f3a2c>`, which keeps equal values equal. `plain` writes
    `[REDACTED:EMAIL]`: two different values then compare as the same."""
    key_file: Path | None = None
    """Created, readable by its owner only, when it is not there; unset: `redaction.key` in
    `agent-turn-monitor` of the user's state folder (XDG_STATE_HOME)."""


class LedgerSettings(Section):
    """The one SQLite file."""

    path: Path = Path("agent-monitor.sqlite3")
    commit_interval_s: Annotated[float, Field(gt=0, le=60)] = 0.5
    """How long scored work may wait for its commit; acceptance never waits for it."""
    retain_s: Seconds = 86_400.0
    """How long a closed conversation's turns are kept beyond its late horizon."""


class ConversationSettings(Section):
    """When turns and conversations close."""

    settle_s: Seconds = 2.0
    """Wait for stragglers after a turn's root ended."""
    quiet_s: Seconds = 30.0
    """A turn whose root never ends closes after this long without a span."""
    idle_s: Seconds = 600.0
    """A conversation closes after this long without a span."""
    max_age_s: Seconds = 86_400.0
    """A conversation closes at this age, busy or not."""
    late_s: Seconds = 600.0
    """Spans up to this long after closing make a new revision; later ones are only counted."""
    chores: tuple[str, ...] = ()
    """Model calls that the application makes for itself, such as titles, and that are nobody's
    turns: patterns with `*`, each for a span's name, its agent's, or the beginning of its
    instructions or of its last user message."""
    refused_ids: tuple[str, ...] = ()
    """Ids that name no conversation, such as a project's name; their traces count as unnamed."""
    turns_per_hour: Count = 3_600
    """An id that more turns name, on average over its life, counts as none for a while."""
    quarantine_s: Seconds = 3_600.0
    """For so long nothing may name such an id before it counts again."""


class LimitSettings(Section):
    """What bounds memory, disk and time; each bite is counted in a metric."""

    body_bytes: Bytes = 20 * 1024 * 1024
    """Of one request, after inflation."""
    nesting: Count = 64
    attributes_per_span: Count = 4096
    attribute_index: Count = 10_000
    items_per_request: Count = 200_000
    """Spans, attributes, events and links of one request, counted before parsing; a full batch
    of an SDK holds 65,000."""
    in_flight_bytes: Bytes = 64 * 1024 * 1024
    """Bodies admitted and not yet durable."""
    connections: Count = 256
    connections_per_peer: Count = 32
    """From one address, over HTTP."""
    body_bytes_per_s: Count = 1024
    """The pace that a body must keep, over HTTP."""
    grpc_message_bytes: Bytes = 4 * 1024 * 1024
    """Of one message as sent; `body_bytes` bounds it once inflated."""
    body_timeout_s: Annotated[float, Field(gt=0)] = 30.0
    spool_bytes: Bytes = 1024 * 1024 * 1024
    """Accepted and not yet scored; beyond it senders are told to wait."""
    spans_per_trace: Count = 10_000
    trace_bytes: Bytes = 16 * 1024 * 1024
    """Of one open trace in memory."""
    traces_per_conversation: Count = 2_000
    conversation_text_bytes: Bytes = 1024 * 1024
    """Beyond it the text of the oldest turns is cut, and marked."""
    open_traces: Count = 20_000
    open_trace_bytes: Bytes = 96 * 1024 * 1024
    """Of all open traces in memory."""
    open_conversations: Count = 50_000
    cached_state_bytes: Bytes = 24 * 1024 * 1024
    """Decoded open conversations kept in memory; the rest stay in the file."""
    releases: Annotated[int, Field(ge=1, le=64)] = 8
    """Releases with series of their own; further ones fold to `other`."""


class ReferenceSettings(Section):
    """Expected behaviour."""

    by_id: tuple[Path, ...] = ()
    """JSON lines of references by conversation id, plain or gzip."""
    golden: tuple[Path, ...] = ()
    """JSON lines of golden dialogs, matched by id or by the user's query."""
    query_similarity: Unit = 0.9
    """How alike a query must be to a golden one, every typed value being equal."""


class ToolSettings(Section):
    """Tool contracts, beside those that the traces carry."""

    files: tuple[Path, ...] = ()
    """Complete contracts: a call of a tool that neither they nor the trace define fails."""
    writes: tuple[str, ...] = ()
    """Names of tools that change the world, where no contract says so."""
    reads: tuple[str, ...] = ()
    """Names of tools that do not."""


class CompositionSettings(Section):
    """How turn verdicts become one number."""

    rule: str = "unweighted_mean"
    parameters: dict[str, Any] = Field(default_factory=dict)


class ComparisonSettings(Section):
    """When two values count as the same."""

    threshold: Unit = 0.5
    """Neutral, not tuned: choose by the price of false alarms against missed errors."""
    sub_metrics: dict[SubMetric, Unit] = Field(default_factory=dict)
    tools: dict[str, Unit] = Field(default_factory=dict)
    """By the tool's name, or by its action alone."""
    fields: dict[str, Unit] = Field(default_factory=dict)
    """By dotted argument path, or by `tool:path` for one tool only; the most specific counts."""


class EmbeddingSettings(Section):
    """The encoder behind text similarity."""

    backend: Literal["wordllama", "none"] = "wordllama"
    cache_entries: Count = 50_000
    persist_path: Path | None = None
    """Keep the vectors across restarts, in a file of their own."""


class SinkSettings(Section):
    """Where closed reports go."""

    jsonl: Path | None = None
    """Append one report line per closed conversation and revision."""


class ForwardSettings(Section):
    """The backend that everything received is sent on to, unchanged; off without an address."""

    url: str | None = None
    """OTLP base address, to which /v1/traces and /v1/logs are added."""
    langfuse_url: str | None = None
    """Langfuse host, for what came at the addresses of Langfuse."""
    insecure: bool = False
    """Allow plain http to another machine."""
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    """Added to each request, such as the backend's Authorization; set them in the environment."""
    pass_headers: tuple[str, ...] = ("authorization", "x-langfuse-*")
    """What is kept of the senders' own headers; a bearer token of ours never is."""
    ca_file: Path | None = None
    """Authorities that vouch for the backend, instead of the system's."""
    queue_requests: Count = 1_000
    queue_bytes: Bytes = 64 * 1024 * 1024
    """What waits for the backend; more is dropped, and counted."""
    timeout_s: Annotated[float, Field(gt=0)] = 10.0
    """Of one attempt."""
    give_up_s: Annotated[float, Field(gt=0)] = 300.0
    """A request that the backend has not taken by then is dropped, and counted."""
    drain_s: Seconds = 10.0
    """How long stopping waits for what is still here."""


class LangfuseSettings(Section):
    """A Langfuse server that is read, and that verdicts are written back to.

    The keys come from LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY in the environment.
    """

    url: str | None = None
    """Else LANGFUSE_BASE_URL or LANGFUSE_HOST of the environment."""
    insecure: bool = False
    """Allow plain http to another machine."""
    environment: str | None = None
    """Read this Langfuse environment only, and write scores into it."""
    poll: bool = False
    """Read new observations again and again."""
    scores: bool = False
    """Write the verdicts of closed conversations back as scores."""
    blob_bucket: str | None = None
    """Read the exports that Langfuse puts into this S3 bucket, with boto3's usual credentials."""
    blob_project: str | None = None
    blob_prefix: str = ""
    blob_region: str | None = None
    blob_endpoint_url: str | None = None


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
    composition: CompositionSettings = CompositionSettings()
    comparison: ComparisonSettings = ComparisonSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    langfuse: LangfuseSettings = LangfuseSettings()
    sinks: SinkSettings = SinkSettings()


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
    tables.setdefault(section, {})[key] = value if key == "token" else _parsed(value)


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
