"""What comes in: receivers, redaction, and hosted backends."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from pydantic import Field, SecretStr

from monitor.config.section import Address, Section


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
    outcome_attribute: str | None = None
    """A span attribute that tells how the task ended, before `agent_monitor.outcome`: yes or no, a
    number, or a plain word."""


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
