"""Pays for the judge's calls before they are made, durably, and settles what they took."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from monitor.backends.asking import Attempt
from monitor.errors import MonitorError
from monitor.judging.budget import Budget, Cost
from monitor.judging.prices import (
    REPLY_TOKENS,
    TEMPLATE_TOKENS,
    Price,
    most_tokens_of,
    tokens_of,
)
from monitor.ledger.judge_book import JudgeBook
from monitor.ports import JudgePrompt


class Paid(NamedTuple):
    """One call that may be made."""

    given: int
    """The most tokens that its prompt can be."""
    most: Cost
    at: float


class Taken(NamedTuple):
    """What a call took; at its most where nobody can tell."""

    read: int
    written: int
    usd: float


class Purse:
    """The budget as several calls at once draw on it, kept in the judge's file."""

    def __init__(
        self,
        book: JudgeBook,
        budget: Budget,
        price: Price,
        clock: Callable[[], float],
        reply_tokens: int = REPLY_TOKENS,
    ) -> None:
        """`reply_tokens` is the limit that is sent with each call."""
        self._book = book
        self._budget = budget
        self._price = price
        self._clock = clock
        self._reply_tokens = reply_tokens
        self._lock = asyncio.Lock()
        self._settled = asyncio.Event()

    def left_usd(self) -> float | None:
        """What may still be spent now; None without a bound in money."""
        return self._budget.left_usd(self._clock())

    def would_refuse(self, prompt_tokens: int) -> str | None:
        """Which bound forbids a call about so long, whatever the open ones come to."""
        return self._budget.would_refuse(self._cost(prompt_tokens), self._clock())

    async def pay(self, prompt: JudgePrompt) -> Paid | str:
        """Pay for one call, or say which bound forbids it.

        Where only what the open calls may come to forbids it, this waits for them.
        """
        likely = self._cost(tokens_of(prompt.system) + tokens_of(prompt.user))
        given = most_tokens_of(prompt.system) + most_tokens_of(prompt.user) + TEMPLATE_TOKENS
        most = self._cost(given)
        while True:
            async with self._lock:
                settled, now = self._settled, self._clock()
                if self._budget.reserve(likely, now, most) is None:
                    paid = Paid(given, most, now)
                    await self._keep(paid)
                    return paid
                refused = self._budget.would_refuse(likely, now)
                if refused is not None:
                    return refused
            await settled.wait()

    async def settle(self, paid: Paid, attempt: Attempt) -> Taken:
        """Put what the call took in place of what was paid."""
        taken = self._taken(paid, attempt)
        actual = Cost(1, taken.read + taken.written, taken.usd)
        async with self._lock:
            self._close(paid, actual)
            await asyncio.to_thread(self._book.spend, self._budget.spent)
        return taken

    def give_up(self, paid: Paid) -> None:
        """Nobody will tell what became of the call: what was paid is gone."""
        self._close(paid, paid.most)

    async def _keep(self, paid: Paid) -> None:
        try:
            await asyncio.to_thread(self._book.spend, self._budget.spent)
        except MonitorError:
            self._close(paid, Cost())
            raise

    def _close(self, paid: Paid, actual: Cost) -> None:
        self._budget.settle(paid.most, actual, paid.at, self._clock())
        self._settled.set()
        self._settled = asyncio.Event()

    def _taken(self, paid: Paid, attempt: Attempt) -> Taken:
        if not attempt.reached:
            return Taken(0, 0, 0.0)
        reply = attempt.reply
        read = None if reply is None else reply.input_tokens
        written = None if reply is None else reply.output_tokens
        read = paid.given if read is None else read
        written = self._reply_tokens if written is None else written
        return Taken(read, written, self._price.of(read, written))

    def _cost(self, given: int) -> Cost:
        return Cost(1, given + self._reply_tokens, self._price.of(given, self._reply_tokens))
