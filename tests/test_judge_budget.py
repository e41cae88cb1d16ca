"""What judging spends, by the books of who bills for it: however many calls are open, and die."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_server import JudgeServer, Usage
from test_judge_service import metric, sent, started
from waiting import until

from monitor.backends.asking import Attempt
from monitor.judging.budget import Budget, Ceiling, Cost
from monitor.judging.prices import TEMPLATE_TOKENS, Price
from monitor.ledger.database import Database
from monitor.ledger.judge_book import JudgeBook
from monitor.ports import JudgePrompt, JudgeReply
from monitor.roles.demo.live import prepare
from monitor.roles.judge_purse import Paid, Purse

PRICE = Price(3.0, 15.0)
"""Of a model that nobody priced."""
PROMPT = JudgePrompt("s" * 600, "u" * 2_000, "o" * 300, "key")
GIVEN = 2_900 + TEMPLATE_TOKENS
REPLY = 100


def purse(**ceiling: float) -> Purse:
    book = JudgeBook(Database.open(":memory:"), 10, 10, 60.0)
    budget = Budget(Ceiling(**ceiling), Ceiling())  # type: ignore[arg-type]
    return Purse(book, budget, PRICE, lambda: 10.0, REPLY)


def ended(read: int | None = 700, written: int | None = 50) -> Attempt:
    return Attempt("ok", JudgeReply("said", read, written))


async def paid(found: Purse) -> Paid:
    done = await found.pay(PROMPT)
    assert isinstance(done, Paid)
    return done


@given(
    ceiling=st.integers(0, 5_000),
    calls=st.lists(st.tuples(st.integers(0, 900), st.integers(0, 900), st.floats(0, 1))),
    closing=st.lists(st.integers(0, 7)),
)
def test_a_ceiling_is_passed_by_less_than_one_call_in_any_order(ceiling, calls, closing):
    budget, open_calls, taken = Budget(Ceiling(tokens=ceiling), Ceiling()), [], []
    for likely, further, share in calls:
        most = Cost(1, likely + further)
        if budget.reserve(Cost(1, likely), 10.0, most) is None:
            open_calls.append((most, Cost(1, round(most.tokens * share))))
        while closing and closing.pop() > 3 and open_calls:
            most, actual = open_calls.pop(0)
            budget.settle(most, actual, 10.0, 11.0)
            taken.append(actual.tokens)
    taken += [actual.tokens for _, actual in open_calls]
    assert sum(taken) <= ceiling + max(taken, default=0)


async def test_a_small_budget_is_not_lost_to_what_a_call_might_have_been():
    found = purse(tokens=2_000)
    first = await paid(found)
    waiting = asyncio.create_task(found.pay(PROMPT))
    await asyncio.sleep(0)
    assert not waiting.done()
    await found.settle(first, ended(700, 50))
    second = await waiting
    assert isinstance(second, Paid)
    await found.settle(second, ended(700, 50))
    assert await found.pay(PROMPT) == "hour_tokens"


async def test_a_call_that_is_beyond_the_budget_waits_for_nobody():
    found = purse(calls=1)
    await paid(found)
    assert await found.pay(PROMPT) == "hour_calls"


@pytest.mark.parametrize(
    ("attempt", "read", "written"),
    [
        (ended(700, 50), 700, 50),
        (ended(None, None), GIVEN, REPLY),
        (Attempt("timeout", None), GIVEN, REPLY),
        (Attempt("garbage", None), GIVEN, REPLY),
        (Attempt("throttled", None, reached=False), 0, 0),
    ],
)
async def test_a_try_without_an_answer_counts_at_its_most(attempt, read, written):
    found = purse(usd=1.0)
    taken = await found.settle(await paid(found), attempt)
    usd = PRICE.of(read, written)
    assert taken == (read, written, usd)
    assert found.left_usd() == pytest.approx(1.0 - usd)


async def test_a_call_that_nobody_will_tell_of_is_paid_and_holds_up_nobody():
    found = purse(tokens=4_000)
    found.give_up(await paid(found))
    assert await asyncio.wait_for(found.pay(PROMPT), 1.0) == "hour_tokens"


def bytewise(body: dict[str, Any]) -> tuple[int, int]:
    """A tokenizer that knows no words, under a model that never comes to an end."""
    texts = [message["content"].encode() for message in body["messages"]]
    return sum(map(len, texts)) + 20 * len(texts), body["max_tokens"]


def wordwise(body: dict[str, Any]) -> tuple[int, int]:
    """As models are."""
    return bytewise(body)[0] // 4, 90


@pytest.fixture(scope="module")
def traffic(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    _, _, played = prepare(tmp_path_factory.mktemp("shop"))
    return [json.dumps(item.request).encode() for item in played[:24]]


def dollars(billed: tuple[int, int]) -> float:
    return PRICE.of(*billed)


@pytest.mark.parametrize("usage", [bytewise, wordwise])
@pytest.mark.parametrize(
    ("bound", "ceiling", "size"), [("tokens", 100_000, sum), ("usd", 0.3, dollars)]
)
def test_the_bill_passes_no_bound_by_more_than_one_call(
    tmp_path: Path,
    traffic: list[bytes],
    usage: Usage,
    bound: str,
    ceiling: float,
    size: Callable[[tuple[int, int]], float],
) -> None:
    with JudgeServer() as server:
        server.usage, server.think_s = usage, 0.2
        own = {"per_hour": f"{{ {bound} = {ceiling} }}", "concurrency": "8", "timeout_s": "5.0"}
        start = started(tmp_path, server, **own)
        with start() as service:
            sent(service, traffic[:8])
            until(lambda: len(server.asked) >= 6)
            service.kill()
        with start() as service:
            sent(service, traffic)
            until(lambda: metric(service, "judge_skipped_conversations_total") > 0, 90)
            until(lambda: metric(service, "judge_waiting_conversations") == 0, 90)
            assert service.stop() == 0
    bills = [size(billed) for billed in server.billed]
    assert sum(bills) <= ceiling + max(bills)
    # What eight killed calls might have cost is lost; hardly more is left over.
    assert sum(bills) >= ceiling / 3
