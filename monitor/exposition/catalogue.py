"""The metrics: the only place that knows their names, helps, types and labels."""

from __future__ import annotations

from bisect import bisect_left
from itertools import product
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from monitor.ledger.tally import LATENCY_BUCKETS_S, MICRO, VERDICT_LABELS
from monitor.verdict import BASES, CHAINS, REASONS, SUB_METRIC_OF, UNSCORED_WHYS, LabelledMetric

PREFIX: Final = "agent_monitor_"
Kind: TypeAlias = Literal["counter", "gauge", "histogram", "info"]
Labels: TypeAlias = tuple[str, ...]


class Metric(NamedTuple):
    """One metric family. A counter's name is without its `_total`, as OpenMetrics has it."""

    name: str
    kind: Kind
    help: str
    labels: Labels = ()
    unit: str = ""
    zeros: tuple[Labels, ...] = ()
    """Label values that stand at 0 from the start; by release: those behind the release."""
    family: str = ""
    """The ledger's family that it shows; empty where the collector works it out."""
    parts: int = 1
    """How many of the ledger's integers make one."""

    @property
    def by_release(self) -> bool:
        """Whether its first label is a release, and its zeros stand for each one."""
        return bool(self.labels) and self.labels[0] == "release"


VERDICTS: Final = VERDICT_LABELS[:4]
OUTCOMES: Final = ("pass", "fail", "unscored")
SCORED_OUTCOMES: Final = ("pass", "fail")
ATTRIBUTED: Final = tuple(
    (reason, "inherited" if reason == "prior_action_failed" else "root") for reason in REASONS
)
LABELLED: Final[tuple[str, ...]] = get_args(LabelledMetric)
SUB_METRICS: Final = tuple(dict.fromkeys(SUB_METRIC_OF.values()))
SPAN_OUTCOMES: Final = ("accepted", "attached", "duplicate", "late", "dropped", "dead_lettered")
DROPPED: Final = ("no_agent", "spans_per_trace", "bytes_per_trace", "traces_per_conversation")
FAULTS: Final = ("store", "writer", "sink", "receiver", "quarantined_row")
REFUSALS: Final = (
    "overloaded",
    "malformed",
    "unsupported",
    "body_bytes",
    "items",
    "attributes",
    "value_bytes",
    "nesting",
    "index",
)
REDACTED_KINDS: Final = (
    *("email", "phone", "card", "iban", "ssn", "national_id", "ip", "jwt", "key", "pem", "secret"),
)
"""What is taken out unless told otherwise; an operator's own patterns are named beside them."""
EVENTS_KNOWN: Final = (
    "conflict",
    "skew",
    "evaluation_failed",
    "trimmed_traces",
    "forgotten",
    "revived",
    "damaged_state",
    "evaluator_replaced",
    *(f"labels_{what}" for what in ("dropped", "errors", "refused")),
    *(f"alerts_{what}" for what in ("told", "failed")),
    *(f"reload_failed:{what}" for what in ("token", "tls")),
    *(f"forward_dropped:{why}" for why in ("queue_requests", "queue_bytes", "too_old", "refused")),
    *("stitched", "stitched_anew", "branched", "unstitched"),
    "kept_apart",
    *(f"early:{what}" for what in ("open_bytes", "open_conversations", "open_traces")),
    *(f"refused_id:{why}" for why in ("constant", "length", "per_call", "response", "service")),
    *(f"quarantine:{why}" for why in ("traces_per_conversation", "turns_per_hour")),
    *(f"quarantine:{what}" for what in ("traces", "released", "let_out")),
)
STAGES: Final = ("rules", "judge")
OVERFLOW_LABELS: Final = (
    "release",
    "reason",
    "detail",
    "basis",
    "why",
    "sub_metric",
    "outcome",
)
DETAILS: Final = (
    ("tool_mismatch", "omitted"),
    ("tool_mismatch", "uninvited"),
    ("tool_mismatch", "replaced"),
    ("tool_mismatch", "unknown_tool"),
    ("action_mismatch", "omitted"),
    ("action_mismatch", "uninvited"),
    ("action_mismatch", "replaced"),
    ("action_mismatch", "unknown_tool"),
    ("inconsistent_parameter_values", "result_differs"),
    ("incomplete_response", "omitted"),
    ("inconsistent_response", "uninvited"),
    ("inconsistent_response", "replaced"),
)
"""Details that a reason is expected to have; another pair appears when it first occurs."""
SHOWN_BOUNDS_S: Final = LATENCY_BUCKETS_S[::2]
"""Every other bound that the ledger keeps, so that eight releases stay under the ceiling."""
BUCKETS: Final = (*(str(bound) for bound in SHOWN_BOUNDS_S), "+Inf")
"""As OpenMetrics writes them: `1.0`, never `1`."""
SHOWN_BUCKET: Final = (
    *(bisect_left(SHOWN_BOUNDS_S, bound) for bound in LATENCY_BUCKETS_S),
    len(SHOWN_BOUNDS_S),
)
"""The shown bucket of each one that the ledger keeps."""


def _name(name: str) -> str:
    return PREFIX + name


def _singles(values: tuple[str, ...]) -> tuple[Labels, ...]:
    return tuple((value,) for value in values)


_CHAINS: Final = tuple(CHAINS)

TURNS: Final = Metric(
    _name("turns"),
    "counter",
    "Turns by their first verdict; never corrected.",
    ("release", "chain", "turn_type", "verdict"),
    zeros=tuple(product(_CHAINS, ("action", "response"), VERDICTS)),
    family="turns",
)
AT_RISK: Final = Metric(
    _name("at_risk_turns"),
    "counter",
    "Scored turns that inherited no failure: what a root failure rate is divided by.",
    ("release", "chain"),
    zeros=_singles(_CHAINS),
    family="at_risk",
)
FAILURES: Final = Metric(
    _name("failures"),
    "counter",
    "Failed turns by reason, and whether the failure began there or was inherited.",
    ("release", "chain", "reason", "attribution"),
    zeros=tuple((chain, *pair) for chain, pair in product(_CHAINS, ATTRIBUTED)),
    family="failures",
)
FAILURE_DETAILS: Final = Metric(
    _name("failure_details"),
    "counter",
    "Failed turns whose reason has a detail.",
    ("release", "reason", "detail"),
    zeros=DETAILS,
    family="failure_details",
)
CONVERSATIONS: Final = Metric(
    _name("conversations"),
    "counter",
    "Conversations when they first closed, by the outcome of all their turns.",
    ("release", "chain", "outcome"),
    zeros=tuple(product(_CHAINS, OUTCOMES)),
    family="conversations",
)
LATENCY: Final = Metric(
    _name("conversation_latency_seconds"),
    "histogram",
    "Time that users waited for the replies of a scored conversation, added up.",
    ("release", "chain", "outcome"),
    unit="seconds",
    zeros=tuple(product(_CHAINS, SCORED_OUTCOMES)),
    family="latency",
    parts=MICRO,
)
SCORED: Final = Metric(
    _name("scored_turns"),
    "counter",
    "Turns with a verdict, by the kind of reference that decided.",
    ("release", "basis"),
    zeros=_singles(BASES),
    family="scored",
)
UNSCORED: Final = Metric(
    _name("unscored_turns"),
    "counter",
    "Turns without a verdict, and why.",
    ("release", "why"),
    zeros=_singles(UNSCORED_WHYS),
    family="unscored",
)
SUB_METRIC_TURNS: Final = Metric(
    _name("sub_metric_turns"),
    "counter",
    "Turns that a sub-metric looked at.",
    ("release", "sub_metric"),
    zeros=_singles(SUB_METRICS),
    family="sub_metric_turns",
)
SUB_METRIC_SCORE: Final = Metric(
    _name("sub_metric_score"),
    "counter",
    "Sum of the scores from 0 to 1 that a sub-metric gave; divide by its turns.",
    ("release", "sub_metric"),
    zeros=_singles(SUB_METRICS),
    family="sub_metric_score",
    parts=MICRO,
)
TASK_TURNS: Final = Metric(
    _name("task_turns"),
    "counter",
    "Turns of conversations whose task's outcome the trace told, by verdict and by that outcome.",
    ("release", "verdict", "task"),
    zeros=tuple(product(VERDICTS, SCORED_OUTCOMES)),
    family="task_turns",
)
TASK_CONVERSATIONS: Final = Metric(
    _name("task_conversations"),
    "counter",
    "Closed conversations whose task's outcome the trace told, by the outcome of all their turns.",
    ("release", "outcome", "task"),
    zeros=tuple(product(OUTCOMES, SCORED_OUTCOMES)),
    family="task_conversations",
)
RELEASE_INFO: Final = Metric(
    _name("release"), "info", "The model behind a release.", ("release", "model")
)
FIRST_SEEN: Final = Metric(
    _name("release_first_seen_timestamp_seconds"),
    "gauge",
    "Start of the first conversation of a release, by the trace's clock.",
    ("release",),
    unit="seconds",
)
CORRECTIONS: Final = Metric(
    _name("corrections"),
    "counter",
    "Verdicts that a later revision changed; withdrawn when it no longer has the turn.",
    ("from", "to"),
    zeros=tuple(
        (one, other) for one, other in product(VERDICT_LABELS, VERDICT_LABELS) if one != other
    ),
    family="corrections",
)
LABEL_PAIRS: Final = Metric(
    _name("label_pairs"),
    "counter",
    "Labels of people beside the monitor's own verdict, each label once.",
    ("sub_metric", "automated", "human"),
    zeros=tuple(product(LABELLED, SCORED_OUTCOMES, SCORED_OUTCOMES)),
    family="label_pairs",
)
SPANS: Final = Metric(
    _name("spans"),
    "counter",
    "Spans by what became of them; accepted is the sum of the others and the open ones.",
    ("outcome",),
    zeros=_singles(SPAN_OUTCOMES),
)
DROPPED_SPANS: Final = Metric(
    _name("dropped_spans"),
    "counter",
    "Accepted spans that were dropped, and why.",
    ("why",),
    zeros=_singles(DROPPED),
)
EVENTS: Final = Metric(
    _name("events"),
    "counter",
    "Limits that bit and oddities that were met on the way, by name.",
    ("event",),
    zeros=_singles(EVENTS_KNOWN),
)
REJECTED: Final = Metric(
    _name("rejected_payloads"),
    "counter",
    "Payloads, or spans of them, refused before acceptance, by the rule that refused.",
    ("why",),
    zeros=_singles(REFUSALS),
)
USAGE_MISSING: Final = Metric(
    _name("usage_missing"),
    "counter",
    "Model calls that told no tokens, so that no sum of tokens holds them.",
)
REDACTIONS: Final = Metric(
    _name("redactions"),
    "counter",
    "Values that placeholders replaced at the door; a history that is sent again counts again.",
    ("kind",),
    zeros=_singles(REDACTED_KINDS),
)
EXPIRED: Final = Metric(
    _name("expired_reports"),
    "counter",
    "Reports of conversations too old to be corrected; not counted elsewhere.",
)
OVERFLOW: Final = Metric(
    _name("label_overflow"),
    "counter",
    "Times that a label had no room and `other` took the count.",
    ("label",),
    zeros=_singles(OVERFLOW_LABELS),
    family="overflow",
)
FAULTS_TOTAL: Final = Metric(
    _name("faults"),
    "counter",
    "Faults of the monitor itself that it survived.",
    ("fault",),
    zeros=_singles(FAULTS),
)
OPEN_CONVERSATIONS: Final = Metric(
    _name("open_conversations"), "gauge", "Conversations that may still get turns."
)
OPEN_TURNS: Final = Metric(
    _name("open_turns"), "gauge", "Turns that were assembled and have no verdict yet."
)
OPEN_SPANS: Final = Metric(
    _name("open_spans"), "gauge", "Accepted spans that belong to no turn yet."
)
SPOOL_ROWS: Final = Metric(_name("spool_rows"), "gauge", "Accepted batches that wait to be scored.")
SPOOL_BYTES: Final = Metric(
    _name("spool_bytes"), "gauge", "Bytes of the batches that wait to be scored.", unit="bytes"
)
SOURCE_UP: Final = Metric(
    _name("source_up"),
    "gauge",
    "Whether a source that is polled could be read the last time; 0 while it refuses.",
    ("source",),
)
SINK_PENDING: Final = Metric(
    _name("sink_pending_reports"), "gauge", "Reports that wait for a sink.", ("sink",)
)
SINK_DROPPED: Final = Metric(
    _name("sink_dropped_reports"),
    "counter",
    "Reports that a sink never got because its queue was full.",
    ("sink",),
)
CACHE: Final = Metric(
    _name("embedding_cache_lookups"),
    "counter",
    "Look-ups in the embedding cache.",
    ("result",),
)
LAG: Final = Metric(
    _name("scoring_lag_seconds"),
    "histogram",
    "Time from the close of a turn to the commit of its verdict.",
    ("stage",),
    unit="seconds",
    zeros=_singles(STAGES),
)
BUILD_INFO: Final = Metric(_name("build"), "info", "Version of the running monitor.", ("version",))

TOKENS: Final = Metric(
    _name("tokens"),
    "counter",
    "Tokens of the agents' model calls in closed conversations, as far as traces tell them.",
    ("release", "direction"),
    zeros=_singles(("input", "output")),
    family="tokens",
)
COST: Final = Metric(
    _name("cost_usd"),
    "counter",
    "What those tokens cost by the price table; nothing for a model without a price.",
    ("release",),
    unit="usd",
    zeros=((),),
    family="cost",
    parts=MICRO,
)

BY_RELEASE: Final = (
    TURNS,
    AT_RISK,
    FAILURES,
    FAILURE_DETAILS,
    CONVERSATIONS,
    SCORED,
    UNSCORED,
    SUB_METRIC_TURNS,
    SUB_METRIC_SCORE,
    TASK_TURNS,
    TASK_CONVERSATIONS,
    TOKENS,
    COST,
)
"""Counters that the ledger keeps by release."""
