"""The score role's side of judging: draws conversations, and puts opinions into later revisions."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from hashlib import blake2b
from typing import Any, Final

import msgspec

from monitor.codec import VERSION, decode_conversation, reader_of, seal, unseal
from monitor.judging.sampling import Sampler
from monitor.ledger.judge_book import Opinions, keyed
from monitor.model import Conversation
from monitor.roles.judge_desk import PENDING_LIMIT, case_of
from monitor.roles.judge_desk import drawn as sample_of
from monitor.roles.kafka.records import Said
from monitor.verdict import JudgeCase, Reference, Report

PREFIX: Final = "j:"


class Drawn(msgspec.Struct, array_like=True):
    """What is known of a conversation that was drawn."""

    at: float
    opinions: Opinions | None = None


class Drawing:
    """Stands between a pipeline and its evaluator, over the state of one partition."""

    def __init__(
        self,
        evaluate: Callable[..., Report],
        sampler: Sampler,
        store: MutableMapping[str, bytes],
        keep_s: float,
        reference: Callable[[Conversation], Reference | None] | None = None,
    ) -> None:
        """`evaluate` also takes `judgements`. What is known is kept for `keep_s`."""
        self._reference = reference
        self._evaluate = evaluate
        self._sampler = sampler
        self._store = store
        self._keep_s = keep_s
        self._cases: list[JudgeCase] = []
        self._stamps: dict[str, float] = {}
        for key in store:
            if key.startswith(PREFIX) and (drawn := self._read(key)) is not None:
                self._stamps[key] = drawn.at

    def evaluate(self, conversation: Conversation, *, closed: bool, revision: int) -> Report:
        """The report; with what a judge said, or with the draw that will have it asked."""
        report = self._evaluate(conversation, closed=closed, revision=revision)
        if not closed:
            return report
        drawn = self._read(_key(conversation.conversation_id))
        if drawn is not None and drawn.opinions is not None:
            return self._judged(conversation, report, drawn.opinions)
        sample = sample_of(self._sampler, conversation, report)
        if sample is None:
            return report
        if drawn is None and len(self._cases) < PENDING_LIMIT:
            known = self._reference(conversation) if self._reference else None
            self._cases.append(case_of(conversation, report, sample, known))
        return msgspec.structs.replace(report, sample=sample)

    def drawn(self, now: float) -> list[JudgeCase]:
        """The cases since the last call, each conversation once."""
        cases, self._cases = self._cases, []
        for case in cases:
            self._keep(_key(case.conversation_id), Drawn(now))
        self._prune(now)
        return cases

    def answer(self, said: Said, now: float) -> bool:
        """Take in what came of asking; whether the conversation should be reported anew."""
        self._keep(_key(said.conversation_id), Drawn(now, said.opinions))
        return True

    def late(self, said: Said) -> Report | None:
        """The next revision of a conversation that the pipeline has let go, if its case came."""
        if said.case is None:
            return None
        conversation = decode_conversation(said.case.conversation)
        report = self._evaluate(conversation, closed=True, revision=said.case.revision + 1)
        return self._judged(conversation, report, said.opinions)

    def _judged(self, conversation: Conversation, report: Report, opinions: Opinions) -> Report:
        judgements = keyed(opinions.judgements)
        if judgements:
            report = self._evaluate(
                conversation,
                closed=report.closed,
                revision=report.revision,
                judgements=judgements,
            )
        return msgspec.structs.replace(report, sample=opinions.sample)

    def _read(self, key: str) -> Drawn | None:
        data = self._store.get(key)
        return None if data is None else unseal(b"j", data, _DRAWN)

    def _keep(self, key: str, drawn: Drawn) -> None:
        self._stamps.pop(key, None)
        self._stamps[key] = drawn.at
        self._store[key] = seal(b"j", drawn)

    def _prune(self, now: float) -> None:
        while self._stamps:
            key, at = next(iter(self._stamps.items()))
            if now - at < self._keep_s:
                return
            del self._stamps[key]
            self._store.pop(key, None)


def _key(conversation_id: str) -> str:
    name = conversation_id.encode("utf-8", "surrogatepass")
    return PREFIX + blake2b(name, digest_size=16).hexdigest()


_DRAWN: Final[dict[int, Any]] = {VERSION: reader_of(Drawn)}
