"""Asks the judge about the cases that wait, in the background and within the budget."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from contextvars import ContextVar
from typing import Final, NamedTuple

import msgspec

from monitor.backends.asking import Attempt, PatientJudge
from monitor.codec import decode_conversation
from monitor.errors import MonitorError, StateError
from monitor.judging.canaries import CANARIES
from monitor.judging.control import Controlled, control, upheld
from monitor.judging.interview import Answer, Question, concluded, interview
from monitor.judging.prices import tokens_of
from monitor.judging.reply import Reply, read_reply
from monitor.judging.rubric import RUBRIC_VERSION
from monitor.ledger.judge_book import JudgeBook, Opinions
from monitor.model import Conversation
from monitor.roles.judge_purse import Paid, Purse
from monitor.verdict import JudgeCase, Judgement, Sample, SampledTurn

LOG = logging.getLogger("agent_monitor")
MICRO_USD: Final = 1_000_000
LOOK_S: Final = 0.5
CASES: Final = 8
"""Conversations in hand at once."""
FIRST_TOKENS: Final = 1_000
"""Of the first question about a conversation, its system prompt apart: at least."""
_REFUSALS: Final[ContextVar[list[str]]] = ContextVar("refusals")
"""What the budget forbade about the case in hand; each case is a task of its own."""

Settle = Callable[[int, JudgeCase, Opinions], "Future[None]"]


class _Stored(NamedTuple):
    """An answer as it is kept: only with its own nonce is the text a reply."""

    nonce: str
    text: str


_STORED: Final = msgspec.msgpack.Decoder(_Stored)


class JudgeWorker:
    """A companion of the service: nothing that it does, or fails to do, delays a verdict.

    A case is taken from the queue only together with its outcome, so that a stop in between asks
    again. `counters` are this process's own.
    """

    def __init__(
        self,
        book: JudgeBook,
        judge: PatientJudge,
        purse: Purse,
        settle: Settle,
        is_answered: Callable[[int], bool],
        *,
        clock: Callable[[], float],
        nonce: Callable[[], str],
        canary_every: int = 200,
        give_up_s: float = 3_600.0,
        control: Controlled = "always",
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`settle` hands an outcome to the ledger's writer, `is_answered` tells what it has.

        `nonce` gives 32 secret hex digits.

        A case that the judge could not be asked about waits for at most `give_up_s`.
        """
        self._book = book
        self._judge = judge
        self._purse = purse
        self._settle = settle
        self._is_answered = is_answered
        self._clock = clock
        self._nonce = nonce
        self._canary_every = canary_every
        self._give_up_s = give_up_s
        self._control = control
        self._sleep = sleep
        self._task: asyncio.Task[None] | None = None
        self._calls = 0
        self._canary_due = 0
        self.counters: dict[str, int] = Counter()
        """`request:<result>`, `abstained:<why>`, `suspected:<family>`, `canary:<result>`,
        `cached`, `tokens:<kind>`, `micro_usd`."""

    @property
    def version(self) -> str:
        """The judge's name, as judgements carry it."""
        return f"{self._judge.version}/{RUBRIC_VERSION}"

    @property
    def circuit_open(self) -> bool:
        """Whether failed calls keep the judge from being asked now."""
        return self._judge.is_open

    def left_usd(self) -> float | None:
        """What may still be spent now; None without a bound in money."""
        return self._purse.left_usd()

    async def start(self) -> None:
        """Begin with the cases that wait from before."""
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Leave what is not answered in the queue; also when it was never started."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        await self._judge.close()

    async def work(self) -> int:
        """Answer the oldest cases; how many left the queue. None does while the judge is down."""
        if self._judge.is_open:
            return 0
        waiting = await asyncio.to_thread(self._book.next_cases, CASES)
        cases = [each for each in waiting if not self._is_answered(each[0])]
        done = await asyncio.gather(*(self._answer(*each) for each in cases))
        return sum(done)

    async def _run(self) -> None:
        """The outermost loop; so it alone catches everything, and counts."""
        while True:
            try:
                found = await self.work()
            except MonitorError as error:
                self.counters["request:fault"] += 1
                LOG.error("judging: %s", error)  # noqa: TRY400  an operator reads it
                found = 0
            except Exception as error:  # noqa: BLE001  counted; its text may quote a customer
                self.counters["request:fault"] += 1
                LOG.error("judging failed with %s", type(error).__name__)  # noqa: TRY400
                found = 0
            if not found:
                await self._sleep(LOOK_S)

    async def _answer(self, seq: int, picked_s: float, case: JudgeCase) -> bool:
        """Whether the case has left the queue."""
        try:
            outcome = await self._outcome(case, self._clock() - picked_s)
        except (KeyError, ValueError, TypeError, AttributeError, IndexError) as error:
            # A defect that one case brings out must not stop those behind it.
            LOG.error("a judge case failed with %s", type(error).__name__)  # noqa: TRY400
            outcome = _skipped(case, "defect")
        if outcome is None:
            return False
        await asyncio.wrap_future(self._settle(seq, case, outcome))
        await self._try_canaries()
        return True

    async def _outcome(self, case: JudgeCase, waited_s: float) -> Opinions | None:
        """What came of asking; None: the judge is down, and the case had better wait."""
        try:
            conversation = decode_conversation(case.conversation)
        except StateError:
            return _skipped(case, "damaged")
        refused = self._purse.would_refuse(tokens_of(conversation.system or "") + FIRST_TOKENS)
        if refused:
            return _skipped(case, refused)
        refusals: list[str] = []
        _REFUSALS.set(refusals)
        answers = [
            await self._ask_about(conversation, position, case.reference)
            for position in range(len(conversation.turns))
        ]
        unanswered = any(answer.result == "unavailable" for answer in answers)
        if unanswered and not refusals and waited_s < self._give_up_s:
            return None
        for answer in answers:
            if isinstance(answer.result, str):
                self.counters[f"abstained:{answer.result}"] += 1
        return self._opinions(case, conversation, answers)

    def _opinions(
        self, case: JudgeCase, conversation: Conversation, answers: Sequence[Answer]
    ) -> Opinions:
        said = dict(zip([turn.turn_id for turn in conversation.turns], answers, strict=True))
        drawn = case.sample or Sample(1.0, "")
        turns = tuple(_sampled(turn, said.get(turn.turn_id)) for turn in drawn.turns)
        judgements = tuple(a.result for a in answers if isinstance(a.result, Judgement))
        sample = msgspec.structs.replace(drawn, turns=turns, judge=self.version)
        return Opinions(sample, judgements)

    async def _ask_about(
        self, conversation: Conversation, position: int, reference: str | None
    ) -> Answer:
        asked = interview(conversation, position, (self._nonce(), self._nonce()), reference)
        for family in asked.families:
            self.counters[f"suspected:{family}"] += 1
        questions, texts = [], []
        for question in asked.questions:
            put, text = await self._put(question)
            questions.append(put)
            texts.append(text)
        asked = asked._replace(questions=tuple(questions))
        answer = concluded(asked, texts, self._judge.version)
        known = control(asked, answer, self._nonce(), self._control)
        if known is None:
            return answer
        put, text = await self._put(known.question)
        return upheld(answer, known._replace(question=put), text)

    async def _put(self, question: Question) -> tuple[Question, str | None]:
        """The question as it was put, perhaps earlier, and its answer."""
        known = await asyncio.to_thread(self._book.answer, self.version, question.prompt.key)
        if known is not None:
            stored = _STORED.decode(known)
            self.counters["cached"] += 1
            return question._replace(nonce=stored.nonce), stored.text
        text = await self._call(question)
        # A reply that is none must not stand for the question from now on.
        if text is not None and isinstance(read_reply(text, question.nonce), Reply):
            body = msgspec.msgpack.encode(_Stored(question.nonce, text))
            await asyncio.to_thread(
                self._book.remember, self.version, question.prompt.key, body, self._clock()
            )
        return question, text

    async def _call(self, question: Question) -> str | None:
        """The one door to the model: every single try is paid for before it is made."""
        open_tries: list[Paid] = []

        async def permit() -> str | None:
            paid = await self._purse.pay(question.prompt)
            if isinstance(paid, Paid):
                open_tries.append(paid)
                return None
            self.counters[f"request:{paid}"] += 1
            _REFUSALS.get([]).append(paid)
            return paid

        async def note(attempt: Attempt) -> None:
            self._calls += 1
            self.counters[f"request:{attempt.result}"] += 1
            taken = await self._purse.settle(open_tries.pop(), attempt)
            self.counters["tokens:input"] += taken.read
            self.counters["tokens:output"] += taken.written
            self.counters["micro_usd"] += round(taken.usd * MICRO_USD)

        try:
            reply = await self._judge.ask(question.prompt, permit, note)
        finally:
            for paid in open_tries:
                self._purse.give_up(paid)
        return None if reply is None else reply.text

    async def _try_canaries(self) -> None:
        """After every so many calls, ask what is known already; never from the cache."""
        if self._calls < self._canary_due:
            return
        self._canary_due = self._calls + self._canary_every
        for canary in CANARIES:
            turns = canary.conversation.turns
            asked = interview(canary.conversation, len(turns) - 1, (self._nonce(), self._nonce()))
            texts = [await self._call(question) for question in asked.questions]
            result = concluded(asked, texts, self._judge.version).result
            if isinstance(result, Judgement):
                good = result.verdict == canary.verdict
                self.counters[f"canary:{'right' if good else 'wrong'}"] += 1
            else:
                self.counters["canary:abstained"] += 1


def _skipped(case: JudgeCase, why: str) -> Opinions:
    drawn = case.sample or Sample(1.0, "")
    return Opinions(msgspec.structs.replace(drawn, skipped=why), ())


def _sampled(turn: SampledTurn, answer: Answer | None) -> SampledTurn:
    if answer is None:
        return msgspec.structs.replace(turn, verdict="unscored", why="not_taken")
    if isinstance(answer.result, Judgement):
        return msgspec.structs.replace(turn, verdict=answer.result.verdict)
    return msgspec.structs.replace(turn, verdict="unscored", why=answer.result)
