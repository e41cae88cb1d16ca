"""A judge model asked with patience: a few tries, pauses with jitter, and a circuit breaker."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from monitor.errors import BackendUnavailable
from monitor.ports import JudgeModel, JudgePrompt, JudgeReply

LOG = logging.getLogger("agent_monitor")
TRIES: Final = 3
FIRST_PAUSE_S: Final = 0.5
LONGEST_PAUSE_S: Final = 20.0
OPEN_AFTER: Final = 5
"""Failed questions one after the other before the circuit opens."""
OPEN_S: Final = 30.0
"""How long it stays open before one question probes the model."""


class Attempt(NamedTuple):
    """One call to the model, as the budget and the metrics see it."""

    result: str
    """`ok`, or why it failed: down, timeout, throttled, refused, garbage."""
    reply: JudgeReply | None
    reached: bool = True
    """False where nothing can have been done for it, nor billed."""


Permit = Callable[[], Awaitable[str | None]]
Note = Callable[[Attempt], Awaitable[None]]


class PatientJudge:
    """Asks at most three times, never more than a few questions at once.

    `permit` is asked before every single call, and may forbid it: then nothing more is tried.
    """

    def __init__(
        self,
        model: JudgeModel,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: random.Random | None = None,
        concurrency: int = 4,
        timeout_s: float = 60.0,
        pause_s: float = OPEN_S,
    ) -> None:
        """`clock` is monotonic; `chance` draws the jitter."""
        self.version = model.version
        self._model = model
        self._clock = clock
        self._sleep = sleep
        self._chance = chance or random.Random()  # noqa: S311  jitter, no secret
        self._room = asyncio.Semaphore(concurrency)
        self._timeout_s = timeout_s
        self._pause_s = pause_s
        self._failed = 0
        self._open_until: float | None = None
        self._told = False
        """That the model does not answer; once, until it does again."""

    @property
    def is_open(self) -> bool:
        """Whether the circuit keeps questions from the model now."""
        return self._open_until is not None and self._clock() < self._open_until

    async def ask(self, prompt: JudgePrompt, permit: Permit, note: Note) -> JudgeReply | None:
        """The reply, or None: not permitted, circuit open, or no answer after all tries."""
        async with self._room:
            for number in range(TRIES):
                if self.is_open or await permit() is not None:
                    return None
                attempt, wait_s = await self._try(prompt)
                await note(attempt)
                self._learn(failed=attempt.reply is None)
                if attempt.reply is not None or attempt.result == "refused":
                    return attempt.reply
                if number + 1 < TRIES:
                    await self._sleep(self._wait_s(number, wait_s))
        return None

    async def close(self) -> None:
        """Close the model's connections."""
        await self._model.close()

    async def _try(self, prompt: JudgePrompt) -> tuple[Attempt, float | None]:
        try:
            async with asyncio.timeout(self._timeout_s):
                return Attempt("ok", await self._model.ask(prompt)), None
        except TimeoutError:
            self._tell("it did not answer in time", now=False)
            return Attempt("timeout", None), None
        except BackendUnavailable as error:
            self._tell(str(error), now=error.why == "refused")
            free = not error.reached or error.why in ("throttled", "refused")
            return Attempt(error.why, None, not free), error.retry_after_s

    def _wait_s(self, number: int, asked_s: float | None) -> float:
        grown: float = FIRST_PAUSE_S * 2.0**number * (0.5 + self._chance.random())
        return min(LONGEST_PAUSE_S, max(grown, asked_s or 0.0))

    def _tell(self, why: str, *, now: bool) -> None:
        """Log it where a further try would help nobody, or none has helped."""
        if not self._told and (now or self._failed + 1 >= OPEN_AFTER):
            self._told = True
            LOG.warning("judging waits: %s", why)

    def _learn(self, *, failed: bool) -> None:
        self._failed = self._failed + 1 if failed else 0
        if not failed:
            if self._told:
                self._told = False
                LOG.warning("the judge answers again")
            self._open_until = None
        elif self._failed >= OPEN_AFTER:
            self._open_until = self._clock() + self._pause_s
