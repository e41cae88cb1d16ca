"""The roles apart: brokers, topics, and how the workers share the work."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr

from monitor.config.section import Address, Bytes, Count, Seconds, Section

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,200}$")]
Protocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]


class KafkaSettings(Section):
    """Where the broker is, and the topics between the roles.

    Set the password in the environment, as `AGENT_MONITOR_KAFKA__PASSWORD`.
    """

    bootstrap: tuple[Address, ...] = ("127.0.0.1:9092",)
    protocol: Protocol = "PLAINTEXT"
    insecure: bool = False
    """Allow a protocol without encryption to another machine."""
    ca_file: str | None = None
    """Authorities that vouch for the brokers, instead of the system's; absolute."""
    cert_file: str | None = None
    key_file: str | None = None
    mechanism: Mechanism = "SCRAM-SHA-512"
    username: str | None = None
    password: SecretStr | None = None
    prefix: Name = "agent-monitor"
    """Of every topic and group that is ours."""
    source: Name = "otlp_spans"
    """The topic that the Collector's kafka exporter writes."""
    source_partitions: Count = 12
    """Only where we create it."""
    partitions: Annotated[int, Field(ge=1, le=1024)] = 12
    """Of each topic between the roles. Fixed for the life of the topics: a key's home depends on
    it."""
    replication: Annotated[int, Field(ge=1, le=15)] = 1
    """Copies of each partition where we create the topics; three in production."""
    retention_s: Annotated[float, Field(gt=0)] = 3 * 86_400.0
    """How long the topics between the roles can be read again."""
    record_bytes: Annotated[int, Field(ge=1_024, le=900_000)] = 900_000
    """What is larger goes in several records."""
    instance: Name | None = None
    """This worker's own name in the group, so that a restart moves no partitions; each worker needs
    another one. It must be back within `session_s`."""
    session_s: Annotated[float, Field(ge=6, le=300)] = 15.0
    """Silence after which a worker counts as dead."""
    commit_s: Annotated[float, Field(gt=0, le=60)] = 1.0
    tick_s: Annotated[float, Field(gt=0, le=60)] = 1.0
    """How often a worker looks for what has fallen due."""
    send_s: Annotated[float, Field(gt=0, le=300)] = 8.0
    """How long collect waits for the brokers before it tells its sender to come again."""
    drain_s: Seconds = 20.0
    """How long stopping waits for the work in hand."""
    stalled_s: Annotated[float, Field(gt=0)] = 60.0
    """A worker with work that gets nowhere for so long ends itself."""
    read_ahead_bytes: Bytes = 16 * 1024 * 1024
    """Fetched from the broker and not yet worked on."""
    dead_letter_payloads: bool = False
    """Keep a source record that cannot be read with its dead letter: it is not redacted."""
    worker_listen: Address = "127.0.0.1:9465"
    """Health and metrics of a worker, of collect and of judge."""
