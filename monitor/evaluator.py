"""A conversation and what it can be held against in, a report out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from monitor.attribution import Attribution, Blame
from monitor.model import ActionTurn, Conversation, ResponseTurn, Turn, omitted_turn_id
from monitor.ports import Comparator, ReferenceSource
from monitor.references.contracts import ToolContracts
from monitor.scoring.absence import may_not_have_come
from monitor.scoring.actions import ActionJudge
from monitor.scoring.alignment import align
from monitor.scoring.causes import NO_CAUSES, Causes, causes_of
from monitor.scoring.composition import CompositionRule, UnweightedMean
from monitor.scoring.contract import judge_by_contract
from monitor.scoring.delegation.suspects import first_failure, has_talks, inner_turns, suspected
from monitor.scoring.distance import Distance
from monitor.scoring.evidence import EvidenceJudge
from monitor.scoring.figures import (
    accumulated_s,
    duration_s,
    kept,
    means,
    outcome_at,
    started_s,
)
from monitor.scoring.judged import Judged, unscored
from monitor.scoring.literals import Literals
from monitor.scoring.opinions import with_opinion
from monitor.scoring.outputs import NO_OUTPUTS, Outputs, outputs_of
from monitor.scoring.placement import Slot
from monitor.scoring.replies import ReplyJudge
from monitor.scoring.structure import expected_name, names_of
from monitor.scoring.thresholds import Thresholds
from monitor.verdict import (
    REASONS,
    Chain,
    ExpectedAction,
    ExpectedResponse,
    ExpectedTurn,
    Finding,
    Judgement,
    Reference,
    Report,
    Verdict,
    chain_of,
)

RULES_VERSION: Final = "aem-4"
"""Changes whenever equal input may get another verdict."""


class Evaluator:
    """The whole metric over one conversation: pure, and equal input gives an equal report.

    `version` names everything that a verdict depends on beside its input; reports of different
    versions are not to be compared.
    """

    def __init__(
        self,
        sources: Sequence[ReferenceSource],
        contracts: ToolContracts,
        comparator: Comparator,
        composition: CompositionRule | None = None,
        thresholds: Thresholds | None = None,
        *,
        evidence: bool = True,
        outcome_bar: float = 0.5,
    ) -> None:
        """The first of `sources` that knows a conversation gives its reference.

        Without `evidence` a turn that no reference and no contract covers stays unscored. An
        outcome that the trace tells passes from `outcome_bar` on.
        """
        self._sources = tuple(sources)
        self._contracts = contracts
        self._comparator = comparator
        self._composition = composition or UnweightedMean()
        self._thresholds = thresholds or Thresholds()
        self._evidence = evidence
        self._outcome_bar = outcome_bar
        rules = RULES_VERSION if evidence else f"{RULES_VERSION}-without-evidence"
        self.version = f"{rules}+{comparator.version}"

    def evaluate(
        self,
        conversation: Conversation,
        *,
        closed: bool,
        revision: int,
        dialog_id: str | None = None,
        reference: Reference | None = None,
        judgements: Mapping[str, Judgement] | None = None,
    ) -> Report:
        """The report at this revision. What is expected later is missing only once `closed`.

        A `reference` that came with the conversation is taken before those of the sources.
        `judgements`, by turn id, decide what neither gold nor a contract does.
        """
        reference = reference or self.reference(conversation)
        contracts = self._contracts.with_definitions(conversation.tools)
        run = _Run(conversation, reference, contracts, self._comparator, self._thresholds)
        if self._evidence:
            run.evidence = EvidenceJudge(conversation, contracts)
            run.inner = inner_turns(conversation)
        run.judgements = judgements or {}
        verdicts = run.verdicts(closed=closed)
        if closed and reference is None and self.closing_matters(conversation, reference):
            verdicts = suspected(conversation, verdicts)
        return self._report(conversation, reference, verdicts, closed, revision, dialog_id)

    def closing_matters(self, conversation: Conversation, reference: Reference | None) -> bool:
        """Whether a turn may be decided otherwise once nothing more can come."""
        return reference is not None or (self._evidence and has_talks(conversation))

    def reference(self, conversation: Conversation) -> Reference | None:
        """What the conversation is held against; None where no source knows it."""
        for source in self._sources:
            reference = source.reference(conversation)
            if reference is not None:
                return reference
        return None

    def _report(
        self,
        conversation: Conversation,
        reference: Reference | None,
        verdicts: tuple[Verdict, ...],
        closed: bool,
        revision: int,
        dialog_id: str | None,
    ) -> Report:
        passed = sum(verdict.verdict == "pass" for verdict in verdicts)
        failed = sum(verdict.verdict == "fail" for verdict in verdicts)
        roots = [verdict for verdict in verdicts if verdict.is_root]
        scored = passed + failed
        sub_metrics = means(verdicts)
        usage = conversation.usage
        return Report(
            conversation_id=conversation.conversation_id,
            revision=revision,
            closed=closed,
            release=conversation.release,
            success_rate=passed / scored if scored else None,
            test_pass=failed == 0 if scored else None,
            first_failure_turn=first_failure(verdicts),
            root_cause=roots[0].failure_reason if roots else None,
            root_cause_count=len(roots),
            cascading_count=failed - len(roots),
            unscored_count=len(verdicts) - scored,
            chain_length=max((verdict.chain for verdict in verdicts), default="0"),
            sub_metrics=sub_metrics,
            composition=self._composition.compose(verdicts, sub_metrics),
            turns=verdicts,
            model=conversation.model,
            latency_s=accumulated_s(conversation),
            started_s=started_s(conversation),
            reference_id=None if reference is None else reference.reference_id,
            reference_match=None if reference is None else reference.match,
            evaluator=self.version,
            synthetic_id=conversation.synthetic_id,
            dialog_id=dialog_id,
            input_tokens=None if usage is None else usage.input_tokens,
            output_tokens=None if usage is None else usage.output_tokens,
            outcome=outcome_at(conversation.outcome, self._outcome_bar),
        )


class _Place(NamedTuple):
    """Where a verdict stands in its conversation."""

    turn_no: int
    exchange: int
    chain: Chain


class _Run:
    """One evaluation of one conversation."""

    def __init__(
        self,
        conversation: Conversation,
        reference: Reference | None,
        contracts: ToolContracts,
        comparator: Comparator,
        thresholds: Thresholds,
    ) -> None:
        self.conversation = conversation
        self.reference = reference
        self.expected: tuple[ExpectedTurn, ...] = () if reference is None else reference.turns
        self.contracts = contracts
        self.actions = ActionJudge(contracts, comparator, thresholds)
        self.replies = ReplyJudge(comparator, thresholds)
        self.evidence: EvidenceJudge | None = None
        self.inner: frozenset[int] = frozenset()
        self.judgements: Mapping[str, Judgement] = {}
        self.heard = _heard(conversation.turns)
        self.literals = Literals(
            (turn.result for turn in self.expected if isinstance(turn, ExpectedAction)),
            (turn.result for turn in conversation.turns if isinstance(turn, ActionTurn)),
        )

    def verdicts(self, *, closed: bool) -> tuple[Verdict, ...]:
        slots = self._slots(closed=closed)
        causes = self._causes(slots)
        outputs = self._outputs(slots, causes) if closed else NO_OUTPUTS
        attribution = Attribution(self.conversation, self.expected, self.contracts)
        calls = Counter(
            turn.exchange
            for turn in self.conversation.turns
            if isinstance(turn, ActionTurn) and turn.depth == 0
        )
        verdicts = []
        exchange = 0
        for position, slot in enumerate(slots):
            turn = None if slot.turn is None else self.conversation.turns[slot.turn]
            exchange = self._exchange(slots, position, exchange)
            judged = self._judged(slot, turn)
            if turn is not None and self.judgements:
                judged = with_opinion(judged, self.judgements.get(turn.turn_id))
            if turn is None and may_not_have_come(self.conversation, slots, position):
                judged = unscored("truncated")
            if position in causes.impossible:
                judged = unscored("unsure")
            judged = _with_faults(judged, causes.findings(position))
            judged = outputs.joined(position, judged, changed=attribution.changed)
            cause = causes.of.get(position)
            blame = attribution.blame(position, slot, judged, exchange, cause)
            place = _Place(position + 1, exchange, chain_of(calls[exchange]))
            verdicts.append(self._verdict(slot, turn, judged, blame, place))
        return tuple(verdicts)

    def _slots(self, *, closed: bool) -> list[Slot]:
        conversation, reference = self.conversation, self.reference
        if reference is None:
            return [Slot(index, None, False) for index in range(len(conversation.turns))]
        distance = Distance(conversation, reference.turns, self.contracts)
        slots = align(conversation, reference, distance, self._covers, closed=closed)
        return slots if closed else [slot for slot in slots if slot.turn is not None]

    def _exchange(self, slots: Sequence[Slot], position: int, last: int) -> int:
        """The slot's exchange: a call that was omitted was due for what follows it."""
        at = slots[position]
        if at.turn is None and at.expected is not None:
            if isinstance(self.expected[at.expected], ExpectedResponse):
                return last
            at = next((slot for slot in slots[position:] if slot.turn is not None), at)
        return last if at.turn is None else self.conversation.turns[at.turn].exchange

    def _covers(self, turn: ActionTurn) -> bool:
        """Whether the reference speaks about this call."""
        if self.reference is None or not self.reference.tells_actions:
            return False
        if self.reference.scope == "all":
            return True
        # A write that was refused changed nothing, so it is no write.
        if turn.error_type is not None:
            return False
        writes = self.contracts.writes(turn.call.name)
        if writes is not None:
            return writes
        action = names_of(turn.call, self.contracts).action
        return any(
            isinstance(expected, ExpectedAction) and expected.action in (action, turn.call.name)
            for expected in self.expected
        )

    def _judged(self, slot: Slot, turn: Turn | None) -> Judged:
        expected = None if slot.expected is None else self.expected[slot.expected]
        if turn is None:
            told = self.heard or not isinstance(expected, ExpectedAction)
            return _omitted(expected) if told else unscored("content_missing")
        if isinstance(turn, ResponseTurn):
            return self._judged_reply(expected, slot, turn)
        if isinstance(expected, ExpectedAction):
            return self.actions.judge(expected, turn)
        if slot.covered:
            finding = Finding("action_mismatch", "gold", detail="uninvited", actual=turn.call.name)
            return Judged("gold", (finding,), {"structural": 0.0})
        judged = judge_by_contract(turn, self.contracts)
        if self.evidence is None or slot.turn is None or slot.turn in self.inner:
            return judged
        return self.evidence.action(slot.turn, turn, judged)

    def _judged_reply(
        self, expected: ExpectedTurn | None, slot: Slot, turn: ResponseTurn
    ) -> Judged:
        if turn.text is None:
            return unscored("not_text" if turn.media else "content_missing")
        if turn.truncated:
            return unscored("truncated")
        if not isinstance(expected, ExpectedResponse):
            if self.evidence is None or slot.turn is None or slot.turn in self.inner:
                return unscored("no_reference")
            return self.evidence.reply(slot.turn, turn)
        return self.replies.judge(expected, turn.text, self.literals, self._query(turn.exchange))

    def _query(self, exchange: int) -> str | None:
        queries = self.conversation.queries
        return queries[exchange] if exchange < len(queries) else None

    def _causes(self, slots: Sequence[Slot]) -> Causes:
        """Why expected calls were not made, where the evidence counts."""
        if self.evidence is None:
            return NO_CAUSES
        return causes_of(self.conversation, self.expected, self.contracts, slots)

    def _outputs(self, slots: Sequence[Slot], causes: Causes) -> Outputs:
        """The required outputs that no reply states, where they were due."""
        if self.reference is None or not self.reference.required_outputs:
            return NO_OUTPUTS
        omitted = [
            position
            for position, slot in enumerate(slots)
            if slot.turn is None and position not in causes.impossible
        ]
        return outputs_of(
            self.reference.required_outputs,
            self.conversation,
            slots,
            omitted,
            whole=not self.conversation.broken_off,
        )

    def _verdict(
        self, slot: Slot, turn: Turn | None, judged: Judged, blame: Blame, place: _Place
    ) -> Verdict:
        expected = None if slot.expected is None else self.expected[slot.expected]
        outcome, why = "pass", None
        if blame.findings:
            outcome = "fail"
        elif judged.basis is None or judged.why is not None:
            outcome, why = "unscored", judged.why
        lead = min(blame.findings, key=lambda f: REASONS.index(f.reason), default=None)
        is_reply = isinstance(turn, ResponseTurn) or isinstance(expected, ExpectedResponse)
        return Verdict(
            turn_no=place.turn_no,
            turn_id=self._turn_id(slot, turn),
            turn_type="response" if is_reply else "action",
            verdict=outcome,  # type: ignore[arg-type]
            failure_reason=None if lead is None else lead.reason,
            detail=None if lead is None else lead.detail,
            field=None if lead is None else lead.field,
            basis=None if outcome == "unscored" else judged.basis,
            why=why,
            inherited_from=None if blame.origin is None else blame.origin + 1,
            scores={} if outcome == "unscored" else dict(judged.scores),
            findings=kept(blame.findings, lead),
            agent=None if turn is None else turn.agent,
            span_ids=() if turn is None else turn.span_ids,
            exchange=place.exchange,
            chain=place.chain,
            latency_s=None if turn is None else duration_s(turn),
            weight=1.0 if expected is None else expected.weight,
            critical=expected is not None and expected.critical,
            trace_id=None if turn is None else turn.trace_id or None,
        )

    def _turn_id(self, slot: Slot, turn: Turn | None) -> str:
        if turn is not None:
            return turn.turn_id
        return omitted_turn_id(self.conversation.conversation_id, slot.expected or 0)


def _heard(turns: Sequence[Turn]) -> bool:
    """Whether a call that is not among the turns was not made; with content off, none is told."""
    silent = [turn for turn in turns if isinstance(turn, ResponseTurn) and turn.text is None]
    return all(turn.media for turn in silent) or len(silent) < len(turns)


def _omitted(expected: ExpectedTurn | None) -> Judged:
    if isinstance(expected, ExpectedAction):
        name = expected_name(expected)
        finding = Finding("action_mismatch", "gold", detail="omitted", expected=name)
        return Judged("gold", (finding,), {"structural": 0.0})
    text = None if expected is None else expected.text
    finding = Finding("incomplete_response", "gold", detail="omitted", expected=text)
    return Judged("gold", (finding,), {"completeness": 0.0})


def _with_faults(judged: Judged, faults: tuple[Finding, ...]) -> Judged:
    """A turn's judgement with faults that show only in what followed."""
    if not faults:
        return judged
    return judged._replace(
        basis=judged.basis or faults[0].basis, own=(*judged.own, *faults), why=None
    )
