"""The writer's side of judging: draws, queues cases, and puts opinions into later revisions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from monitor.codec import decode_conversation, encode_conversation
from monitor.judging.expected import expected_text
from monitor.judging.sampling import Sampler, cell
from monitor.ledger.judge_book import JudgeBook, Opinions, keyed
from monitor.ledger.totals import Folded
from monitor.model import ActionTurn, Conversation
from monitor.roles.estimating import Estimating
from monitor.verdict import JudgeCase, Reference, Report, Sample, SampledTurn

PENDING_LIMIT: Final = 10_000
"""Drawn conversations of one commit; more wait for the next."""


class JudgeDesk:
    """Stands between the pipeline and its evaluator. One thread calls it."""

    def __init__(
        self,
        evaluate: Callable[..., Report],
        sampler: Sampler,
        book: JudgeBook,
        estimating: Estimating,
        reference: Callable[[Conversation], Reference | None] | None = None,
    ) -> None:
        """`evaluate` also takes `judgements` by turn id."""
        self._reference = reference
        self._evaluate = evaluate
        self._sampler = sampler
        self._book = book
        self._estimating = estimating
        self._cases: dict[str, JudgeCase] = {}
        self._answers: dict[str, tuple[int, Opinions]] = {}
        self.waiting = 0
        self.restore()

    def evaluate(self, conversation: Conversation, *, closed: bool, revision: int) -> Report:
        """The report; with what a judge said, or with the draw that will have it asked."""
        report = self._evaluate(conversation, closed=closed, revision=revision)
        if not closed:
            return report
        answer = self._answers.get(conversation.conversation_id)
        opinions = answer[1] if answer else self._book.opinions(conversation.conversation_id)
        if opinions is not None:
            return self.with_opinions(conversation, report, opinions)
        sample = drawn(self._sampler, conversation, report)
        if sample is None:
            return report
        if len(self._cases) < PENDING_LIMIT:
            known = self._reference(conversation) if self._reference else None
            self._cases[conversation.conversation_id] = case_of(conversation, report, sample, known)
        return msgspec.structs.replace(report, sample=sample)

    def with_opinions(
        self, conversation: Conversation, report: Report, opinions: Opinions
    ) -> Report:
        """The report of the same revision with what was said of its turns."""
        judgements = keyed(opinions.judgements)
        if judgements:
            report = self._evaluate(
                conversation,
                closed=report.closed,
                revision=report.revision,
                judgements=judgements,
            )
        return msgspec.structs.replace(report, sample=opinions.sample)

    def answer(self, seq: int, case: JudgeCase, opinions: Opinions) -> bool:
        """Take in what came of asking; whether the conversation should be reported anew.

        It is in the file with the next commit; until then the case counts as answered. A case that
        the queue dropped while it was asked about is settled already, and stays as it is.
        """
        if not self._book.waits(seq):
            return False
        self._answers[case.conversation_id] = (seq, opinions)
        return opinions.sample.judge is not None

    def is_answered(self, seq: int) -> bool:
        """Whether a case that is still in the file has its answer. Any thread may ask."""
        return any(seq == known for known, _ in list(self._answers.values()))

    def late(self, case: JudgeCase, opinions: Opinions) -> Report:
        """The next revision of a conversation that the pipeline has let go."""
        conversation = decode_conversation(case.conversation)
        report = self._evaluate(conversation, closed=True, revision=case.revision + 1)
        return self.with_opinions(conversation, report, opinions)

    def fold(self, folded: Sequence[Folded], now: float) -> None:
        """Queue the cases and take in what came of asking, in the transaction of the reports.

        The estimate has taken the reports in before.
        """
        for name, (seq, opinions) in self._answers.items():
            self._book.answered(seq, name, opinions, now)
            if opinions.sample.skipped:
                self._estimating.skip(name, opinions.sample.skipped)
        for each in folded:
            case = self._cases.get(each.report.conversation_id)
            if case is not None and each.first:
                for dropped in self._book.wait(case, now):
                    self._drop(dropped, now)
        self._book.prune(now)

    def _drop(self, case: JudgeCase, now: float) -> None:
        """A case that the full queue has no room for. It is not asked about later either."""
        if case.sample is not None:
            sample = msgspec.structs.replace(case.sample, skipped="queue_full")
            self._book.keep(case.conversation_id, Opinions(sample, ()), now)
        self._estimating.skip(case.conversation_id, "queue_full")

    def restore(self) -> None:
        """Go back to what the file holds."""
        self._cases.clear()
        self._answers.clear()
        self.waiting = self._book.waiting()

    @property
    def dirty(self) -> bool:
        """Whether answers wait for a commit."""
        return bool(self._answers)

    def publish(self) -> None:
        """Everything is committed: only now is nobody waited for."""
        self._cases.clear()
        self._answers.clear()
        self.waiting = self._book.waiting()


def drawn(sampler: Sampler, conversation: Conversation, report: Report) -> Sample | None:
    """How a closed conversation was drawn; None where nobody is to be asked about it."""
    tools = [turn.call.name for turn in conversation.turns if isinstance(turn, ActionTurn)]
    draw = sampler.draw(report, tools, conversation.service)
    if not draw.judged or not report.turns:
        return None
    turns = tuple(SampledTurn(turn.turn_id, cell(turn)) for turn in report.turns)
    return Sample(draw.probability, draw.policy, turns)


def case_of(
    conversation: Conversation, report: Report, sample: Sample, known: Reference | None
) -> JudgeCase:
    """The whole conversation, and those of its turns that were taken."""
    taken = {turn.turn_id for turn in conversation.turns}
    return JudgeCase(
        conversation_id=conversation.conversation_id,
        revision=report.revision,
        turn_nos=tuple(turn.turn_no for turn in report.turns if turn.turn_id in taken),
        conversation=encode_conversation(conversation),
        release=report.release,
        sample=sample,
        reference=None if known is None else expected_text(known),
    )
