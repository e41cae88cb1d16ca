"""What the monitor decides: references, findings, turn verdicts and conversation reports."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

import msgspec

from monitor.model import ActionTurn, JsonValue, Turn

Reason: TypeAlias = Literal[
    "tool_mismatch",
    "action_mismatch",
    "missing_parameters",
    "extra_parameters",
    "inconsistent_parameter_values",
    "incomplete_response",
    "inconsistent_response",
    "prior_action_failed",
]
REASONS: Final[tuple[Reason, ...]] = get_args(Reason)
"""The eight public names, in the order in which a turn's single reason is chosen."""

SubMetric: TypeAlias = Literal["structural", "completeness", "truthfulness", "attribution"]
SUB_METRIC_OF: Final[dict[Reason, SubMetric]] = {
    "tool_mismatch": "structural",
    "action_mismatch": "structural",
    "missing_parameters": "completeness",
    "extra_parameters": "completeness",
    "inconsistent_parameter_values": "truthfulness",
    "incomplete_response": "completeness",
    "inconsistent_response": "truthfulness",
    "prior_action_failed": "attribution",
}

LabelledMetric: TypeAlias = Literal[
    "overall", "structural", "completeness", "truthfulness", "attribution"
]
"""What people may be asked about; `overall` is the verdict itself."""

Basis: TypeAlias = Literal["gold", "contract", "evidence", "judge"]
BASES: Final[tuple[Basis, ...]] = get_args(Basis)
Outcome: TypeAlias = Literal["pass", "fail", "unscored"]
Detail: TypeAlias = Literal[
    "omitted",
    "uninvited",
    "replaced",
    "result_differs",
    "unknown_tool",
    "invented",
    "contradicted",
    "unanswered",
    "repeated",
    "users_choice",
]
"""Of the evidence: a value from nowhere, one that the tool results deny, a question left open, a
refused call made again. `users_choice`: what the user asked for, so that no turn is its root."""
UnscoredWhy: TypeAlias = Literal[
    "no_reference", "content_missing", "truncated", "no_reply", "unsure", "not_text"
]
UNSCORED_WHYS: Final[tuple[UnscoredWhy, ...]] = get_args(UnscoredWhy)
Chain: TypeAlias = Literal["0", "1", "2", "3+"]
CHAINS: Final[tuple[Chain, ...]] = get_args(Chain)


class ExpectedAction(msgspec.Struct, frozen=True, array_like=True, tag="action", gc=False):
    """A tool call that the reference expects."""

    action: str | None
    tool_id: str | None = None
    args: dict[str, JsonValue] = {}
    result: JsonValue = None
    has_result: bool = False
    """Whether the reference tells the result; a JSON null result is a result."""
    required: tuple[str, ...] | None = None
    """Keys that must be present; None: the contract's, else the keys of `args`."""
    optional: tuple[str, ...] = ()
    """Keys that may be absent or present beyond the contract's."""
    group: str | None = None
    """Calls of one group may come in any order (tag `OrderInvariant_<group>`)."""
    depends_on: tuple[int, ...] = ()
    """Numbers (from 1) of expected turns whose output this one consumes."""
    kinds: dict[str, str] = {}
    """Comparison kind by argument name: exact, number, date, enum, text."""
    variants: tuple[dict[str, JsonValue], ...] = ()
    """Other accepted argument objects."""
    weight: float = 1.0
    critical: bool = False


class ExpectedResponse(msgspec.Struct, frozen=True, array_like=True, tag="response", gc=False):
    """A reply that the reference expects."""

    text: str
    variants: tuple[str, ...] = ()
    group: str | None = None
    depends_on: tuple[int, ...] = ()
    weight: float = 1.0
    critical: bool = False


ExpectedTurn: TypeAlias = ExpectedAction | ExpectedResponse


class Reference(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a conversation is held against.

    `turns` holds actions and replies in the order of the source; a source that lists both apart
    says so with `interleaved=False`, and then only the order within each kind means anything.
    `pairs`, where given, is the source's own pairing with the conversation's turns: the index of
    the expected turn for each turn, None where the source has no reference for that turn.
    """

    reference_id: str
    match: Literal["conversation_id", "carried", "query", "pairs"]
    turns: tuple[ExpectedTurn, ...] = ()
    ordered: bool = True
    interleaved: bool = True
    scope: Literal["all", "writes"] = "all"
    """`writes`: only calls that change the world are listed; reads are free."""
    required_outputs: tuple[str, ...] = ()
    """Values that some reply must state."""
    pairs: tuple[int | None, ...] | None = None
    tells_actions: bool = True
    """False: the source says nothing of tool calls, which is not that none is expected."""


class Similarity(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How far two values mean the same: 1 the same, 0 not at all, None could not say."""

    score: float | None
    why: str
    """Which rung decided: exact, number, date, ..., lexical, embedding, unsure."""


class Finding(msgspec.Struct, frozen=True, gc=False):
    """One fault of one turn."""

    reason: Reason
    basis: Basis
    field: str | None = None
    """Path of the argument, dotted for nested ones; None where the turn as a whole is at fault."""
    detail: Detail | None = None
    expected: JsonValue = None
    actual: JsonValue = None
    score: float | None = None
    """Similarity behind the finding, in [0, 1]; None where no comparison took place."""
    confidence: float | None = None
    """How probable it is that the fault lies with whom it is laid, in [0, 1], where that rests on
    what was said and in which order; None where a value, a declared dependency or the state that
    a call left tells it."""


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """What was decided for one turn. Several findings may stand; one reason is reported."""

    turn_no: int
    turn_id: str
    turn_type: Literal["action", "response"]
    verdict: Outcome
    failure_reason: Reason | None = None
    detail: Detail | None = None
    field: str | None = None
    basis: Basis | None = None
    """Which kind of reference decided; None when unscored."""
    why: UnscoredWhy | None = None
    """Why the turn is unscored; None when it is scored."""
    inherited_from: int | None = None
    """`turn_no` of the earliest root behind this failure, also where own faults stand beside it."""
    scores: dict[SubMetric, float] = {}
    """Continuous score in [0, 1] per sub-metric that was looked at."""
    findings: tuple[Finding, ...] = ()
    agent: str | None = None
    span_ids: tuple[str, ...] = ()
    exchange: int = 0
    """Which reply's chain the turn belongs to, from 0; also for an omitted turn."""
    chain: Chain = "0"
    """Number of tool calls behind the reply of this turn's exchange."""
    latency_s: float | None = None
    """Duration of the turn by the trace's own clock; None for an omitted turn."""
    weight: float = 1.0
    critical: bool = False
    trace_id: str | None = None
    """The trace of `span_ids`; None for an omitted turn."""
    suspicion: float | None = None
    """Where agents talked among themselves, on the one turn to look at first: how probable it is
    that a failure of the talk, if there was one, began here. By itself it fails nobody."""

    @property
    def is_root(self) -> bool:
        """Whether the turn failed by its own fault."""
        return self.verdict == "fail" and self.failure_reason != "prior_action_failed"

    @property
    def is_inherited(self) -> bool:
        """Whether the turn failed only by what an earlier failed turn handed on."""
        return self.verdict == "fail" and self.failure_reason == "prior_action_failed"


class SampledTurn(msgspec.Struct, frozen=True, gc=False):
    """One turn of a conversation that was drawn for the judge."""

    turn_id: str
    cell: str
    """The kind of its cheap verdict, before anybody was asked."""
    verdict: Outcome | None = None
    """The judge's own, whatever decided the turn; `unscored` where it abstained, None before."""
    why: str | None = None
    """Why there is no opinion; bounded."""


class Sample(msgspec.Struct, frozen=True, gc=False):
    """How a conversation came to be judged: fixed before the judge saw anything of it."""

    probability: float
    policy: str
    turns: tuple[SampledTurn, ...] = ()
    judge: str | None = None
    """Model and rubric version; None until it has been asked."""
    skipped: str | None = None
    """Why nobody was asked after all: a budget, a full queue."""


class Composition(msgspec.Struct, frozen=True, gc=False):
    """The one number of a conversation, with the rule and parameters that give it meaning."""

    rule: str
    score: float | None
    passed: bool | None
    """None when nothing was scored."""
    parameters: dict[str, JsonValue] = {}


class TaskOutcome(msgspec.Struct, frozen=True, gc=False):
    """How the task ended by who can tell, beside the verdicts: they explain, outcomes decide."""

    score: float
    """As told: a reward, or 1 and 0 for yes and no."""
    passed: bool
    """Whether it reaches the configured bar."""


class Report(msgspec.Struct, frozen=True, gc=False):
    """One conversation's result at one revision; the only thing the ledger knows.

    `closed` is False while turns may still be added. Equal spans give equal reports, the
    revision apart.
    """

    conversation_id: str
    revision: int
    closed: bool
    release: str
    success_rate: float | None
    test_pass: bool | None
    first_failure_turn: int | None
    """Of the first root; where nothing was scored, the first turn under suspicion, if any."""
    root_cause: Reason | None
    root_cause_count: int
    cascading_count: int
    unscored_count: int
    chain_length: Chain
    """Of the longest chain in the conversation."""
    sub_metrics: dict[SubMetric, float | None]
    """Mean score over the turns that were looked at; None where there are none."""
    composition: Composition
    turns: tuple[Verdict, ...]
    model: str | None = None
    latency_s: float | None = None
    """Accumulated agent time: the sum of what the user waited for each reply."""
    started_s: float | None = None
    reference_id: str | None = None
    reference_match: str | None = None
    evaluator: str = ""
    """Version of the rules, comparator and encoder; never compare across versions."""
    synthetic_id: bool = False
    dialog_id: str | None = None
    """Only for reports made from dialog files."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    sample: Sample | None = None
    """Only where the conversation was drawn for the judge."""
    intent: int | None = None
    """Cluster of the first query, a small number that means the same in every report; None: not
    known. Only comparison between releases uses it."""
    outcome: TaskOutcome | None = None
    """None where nothing told how the task ended."""


class JudgeCase(msgspec.Struct, frozen=True, gc=False):
    """A conversation picked for the judge, whole, with the turns to ask about."""

    conversation_id: str
    revision: int
    turn_nos: tuple[int, ...]
    conversation: bytes
    """The conversation in the state codec."""
    release: str = "unknown"
    sample: Sample | None = None
    reference: str | None = None
    """What a correct conversation says and does, as text; None where that is not known."""


class Judgement(msgspec.Struct, frozen=True, gc=False):
    """What a judge said of one turn, its quote already found again by our code."""

    turn_id: str
    verdict: Outcome
    reason: Reason | None
    score: float | None
    quote: str
    judge: str
    """Model and rubric version."""
    field: str | None = None
    upstream: str | None = None
    """Id of the earlier turn whose result was wrong, where the judge blames one."""


class HumanLabel(msgspec.Struct, frozen=True, gc=False):
    """What one person said of a turn, a trace or a whole conversation."""

    label_id: str
    """Its identity: the same label counts once, however often it is read."""
    sub_metric: LabelledMetric
    value: float
    """0 to 1, 1 is good."""
    conversation_id: str | None = None
    """None: found by the trace."""
    turn_no: int | None = None
    turn_id: str | None = None
    trace_id: str | None = None
    span_id: str | None = None
    annotator: str | None = None


class Effects(msgspec.Struct, frozen=True, gc=False):
    """What one step of the pipeline asks its host to carry out, in this order."""

    reports: tuple[Report, ...] = ()
    cases: tuple[JudgeCase, ...] = ()
    counts: dict[str, int] = {}
    """Span outcomes of this step: accepted, attached, duplicate, late, dropped:<why>."""

    def plus(self, other: Effects) -> Effects:
        """Both steps' effects, this one's first."""
        counts = dict(self.counts)
        for name, count in other.counts.items():
            counts[name] = counts.get(name, 0) + count
        return Effects(self.reports + other.reports, self.cases + other.cases, counts)


def chain_of(calls: int) -> Chain:
    """The chain label for a number of tool calls."""
    return CHAINS[min(calls, 3)]


def turn_type_of(turn: Turn) -> Literal["action", "response"]:
    """The turn's type as reports spell it."""
    return "action" if isinstance(turn, ActionTurn) else "response"
