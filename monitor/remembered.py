"""An evaluator that remembers: the same words and calls, held against the same, are judged once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

import msgspec

from monitor.evaluator import Evaluator
from monitor.model import ActionTurn, Conversation, JsonValue, Turn, omitted_turn_id
from monitor.ports import ReferenceSource
from monitor.scoring.figures import accumulated_s, duration_s, started_s
from monitor.verdict import Judgement, Reference, Report, Verdict

REMEMBERED_TURNS: Final = 20_000
REMEMBERED_REFERENCES: Final = 4_096

_ENCODER: Final = msgspec.msgpack.Encoder()


class _Known(NamedTuple):
    """A report as a pattern for conversations of the same content."""

    report: Report
    at: tuple[int, ...]
    """For each verdict the index of its turn; -1 - n for the omitted expected turn n."""


class RememberingEvaluator:
    """Gives the reports that its evaluator gives, and those of content seen before without asking.

    Ids, times, the release and the model of a conversation are not its content: no verdict rests
    on them. Canaries, replayed test cases and revisions without news are of content seen before.
    Memory is bounded by turns; it only saves time.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        sources: Sequence[ReferenceSource] = (),
        turns: int = REMEMBERED_TURNS,
        unavailable: Callable[[], int] = lambda: 0,
    ) -> None:
        """The first of `sources` that knows a conversation gives its reference.

        `unavailable` counts what an encoder that was down left open: that is not to be remembered.
        """
        self._unavailable = unavailable
        self._evaluator = evaluator
        self._sources = tuple(sources)
        self._turns = turns
        self._kept = 0
        self._known: OrderedDict[bytes, _Known] = OrderedDict()
        self._references: OrderedDict[int, tuple[Reference, bytes]] = OrderedDict()
        self.version = evaluator.version
        self.hits = 0
        self.misses = 0

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
        """As `Evaluator.evaluate`. What judgements decided is not remembered."""
        reference = reference or self.reference(conversation)
        if judgements:
            return self._evaluator.evaluate(
                conversation,
                closed=closed,
                revision=revision,
                dialog_id=dialog_id,
                reference=reference,
                judgements=judgements,
            )
        # Where the end decides nothing, a conversation that closes is judged already.
        ended = closed and self._evaluator.closing_matters(conversation, reference)
        key = self._key(conversation, reference, ended=ended)
        known = None if key is None else self._known.get(key)
        if known is not None and key is not None:
            self.hits += 1
            self._known.move_to_end(key)
            return _filled(known, conversation, closed, revision, dialog_id)
        self.misses += 1
        before = self._unavailable()
        report = self._evaluator.evaluate(
            conversation, closed=closed, revision=revision, dialog_id=dialog_id, reference=reference
        )
        if key is not None and self._unavailable() == before:
            self._keep(key, _pattern(report, conversation, reference))
        return report

    def reference(self, conversation: Conversation) -> Reference | None:
        """What the conversation is held against; None where no source knows it."""
        for source in self._sources:
            reference = source.reference(conversation)
            if reference is not None:
                return reference
        return None

    def _key(
        self, conversation: Conversation, reference: Reference | None, *, ended: bool
    ) -> bytes | None:
        """Equal for equal content only; None for content that has no bytes of its own."""
        try:
            content = _ENCODER.encode(
                (
                    ended,
                    [_content(turn) for turn in conversation.turns],
                    conversation.queries,
                    conversation.system,
                    conversation.tools,
                    conversation.broken_off,
                    conversation.outcome,
                    conversation.unheard,
                    None if reference is None else self._digest(reference),
                )
            )
        except (OverflowError, UnicodeEncodeError, TypeError, RecursionError):
            return None
        return blake2b(content, digest_size=16).digest()

    def _digest(self, reference: Reference) -> bytes:
        """Of the reference's content; the stores give the same object again and again."""
        # Held beside its digest, so that no other object can get its identity meanwhile.
        kept = self._references.get(id(reference))
        if kept is not None:
            return kept[1]
        digest = blake2b(_ENCODER.encode(reference), digest_size=16).digest()
        self._references[id(reference)] = reference, digest
        if len(self._references) > REMEMBERED_REFERENCES:
            self._references.popitem(last=False)
        return digest

    def _keep(self, key: bytes, known: _Known | None) -> None:
        if known is None or len(known.at) > self._turns:
            return
        self._known[key] = known
        self._kept += len(known.at)
        while self._kept > self._turns:
            _, oldest = self._known.popitem(last=False)
            self._kept -= len(oldest.at)


def _content(turn: Turn) -> tuple[JsonValue, ...]:
    """All of a turn but its ids, times and model."""
    if isinstance(turn, ActionTurn):
        call = turn.call
        return (
            *(call.name, call.arguments, call.arguments_state, turn.exchange),
            *(turn.result, turn.has_result, turn.error_type),
            *(turn.agent, turn.depth, turn.attempt, turn.truncated),
        )
    return turn.text, turn.exchange, turn.agent, turn.truncated, turn.media


def _pattern(
    report: Report, conversation: Conversation, reference: Reference | None
) -> _Known | None:
    """None when a verdict cannot be traced to one turn, and when one could not be reached.

    What was unsure for want of a backend must be asked again once it is back.
    """
    if any(verdict.why == "unsure" for verdict in report.turns):
        return None
    if reference is None:
        return _Known(report, tuple(range(len(report.turns))))
    places = {turn.turn_id: at for at, turn in enumerate(conversation.turns)}
    if len(places) < len(conversation.turns):
        return None
    expected = len(reference.turns) if len(report.turns) > len(places) else 0
    for at in range(expected):
        places[omitted_turn_id(conversation.conversation_id, at)] = -1 - at
    found = [places.get(verdict.turn_id) for verdict in report.turns]
    known = tuple([at for at in found if at is not None])
    return _Known(report, known) if len(known) == len(found) else None


def _filled(
    known: _Known, conversation: Conversation, closed: bool, revision: int, dialog_id: str | None
) -> Report:
    usage = conversation.usage
    return msgspec.structs.replace(
        known.report,
        conversation_id=conversation.conversation_id,
        revision=revision,
        closed=closed,
        release=conversation.release,
        model=conversation.model,
        turns=tuple(
            [
                _verdict(verdict, at, conversation)
                for verdict, at in zip(known.report.turns, known.at, strict=True)
            ]
        ),
        latency_s=accumulated_s(conversation),
        started_s=started_s(conversation),
        synthetic_id=conversation.synthetic_id,
        dialog_id=dialog_id,
        input_tokens=None if usage is None else usage.input_tokens,
        output_tokens=None if usage is None else usage.output_tokens,
    )


def _verdict(verdict: Verdict, at: int, conversation: Conversation) -> Verdict:
    if at < 0:
        identity = omitted_turn_id(conversation.conversation_id, -1 - at)
        return msgspec.structs.replace(verdict, turn_id=identity)
    turn = conversation.turns[at]
    return msgspec.structs.replace(
        verdict,
        turn_id=turn.turn_id,
        span_ids=turn.span_ids,
        trace_id=turn.trace_id or None,
        latency_s=duration_s(turn),
    )
