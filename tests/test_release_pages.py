"""Declaring, clearing and accepting releases over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

import aiohttp
import pytest

from monitor.errors import LedgerError
from monitor.roles.orders import Orders
from monitor.roles.pages import Pages
from monitor.roles.release_pages import ReleasePages

JSON = {"Content-Type": "application/json"}


class Engine:
    """Remembers what it was asked; knows one release."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []
        self.full = False
        self.has_room = True

    def declare(self, release: str, model: str | None) -> bool:
        if self.full:
            raise LedgerError("the disk is full")
        self.asked.append(("declare", release, model or ""))
        return self.has_room

    def clear(self, release: str) -> bool:
        self.asked.append(("clear", release))
        return release == "shop/2@model-b"

    def accept_release(self, release: str) -> bool:
        self.asked.append(("accept", release))
        return release == "shop/2@model-b"


def at_once(order: Callable[[], bool]) -> Future[bool]:
    orders = Orders()
    answer = orders.ask(order)
    orders.carry_out()
    return answer


async def post(
    engine: Engine,
    path: str,
    body: str = "",
    headers: dict[str, str] = JSON,
    token: str | None = None,
) -> tuple[int, dict[str, str]]:
    routes = ReleasePages(engine, at_once, token).routes()
    pages = Pages(
        "127.0.0.1:0",
        lambda _: (b"", "text/plain"),
        lambda: b"",
        lambda: None,
        lambda: None,
        routes=routes,
    )
    address = await pages.start()
    try:
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{address}{path}", data=body, headers=headers) as answer,
        ):
            return answer.status, await answer.json(content_type=None)
    finally:
        await pages.stop()


async def test_a_declared_release_is_named_by_its_id_and_its_model() -> None:
    engine = Engine()

    answer = await post(engine, "/releases", '{"release": "shop-2", "model": "model-b"}')

    assert answer == (200, {"release": "shop-2@model-b"})
    assert engine.asked == [("declare", "shop-2@model-b", "model-b")]


@pytest.mark.parametrize("verb", ["clear", "accept"])
async def test_a_release_with_a_slash_in_its_name_is_found(verb: str) -> None:
    engine = Engine()

    status, _ = await post(engine, f"/releases/shop%2F2%40model-b/{verb}")

    assert (status, engine.asked) == (200, [(verb, "shop/2@model-b")])


async def test_an_unknown_release_is_no_success() -> None:
    assert (await post(Engine(), "/releases/nobody/clear"))[0] == 404


@pytest.mark.parametrize(
    "body",
    [
        *("", "[", "[]", "{}", '{"release": 7}', '{"release": " "}'),
        f'{{"release": "{"x" * 300}"}}',
        '{"release": "a", "model": 7}',
        '{"release": "a", "modle": "b"}',
        f'{{"release": "a", "model": "{"x" * 300}"}}',
    ],
)
async def test_a_body_that_names_no_release_or_more_than_that_is_refused(body: str) -> None:
    engine = Engine()

    status, _ = await post(engine, "/releases", body)

    assert (status, engine.asked) == (400, [])


@pytest.mark.parametrize(
    ("headers", "token", "status"),
    [
        ({"Content-Type": "text/plain"}, None, 415),  # what a web page may send unasked
        ({**JSON, "Host": "monitor.example.com"}, None, 403),  # a name bound to this address
        (JSON, "secret", 401),
        ({**JSON, "Authorization": "Bearer wrong"}, "secret", 401),
        ({**JSON, "Authorization": "Bearer secret"}, "secret", 200),
        ({**JSON, "Authorization": "Bearer secret", "Host": "m.example.com"}, "secret", 200),
        ({**JSON, "Host": "localhost"}, None, 200),
        ({**JSON, "Host": "[::1]:9464"}, None, 200),
    ],
)
async def test_only_this_machine_or_the_token_may_change_releases(
    headers: dict[str, str], token: str | None, status: int
) -> None:
    engine = Engine()

    found, _ = await post(engine, "/releases", '{"release": "x"}', headers, token)

    assert found == status
    assert bool(engine.asked) == (status == 200)


async def test_a_release_that_found_no_room_is_not_declared() -> None:
    engine = Engine()
    engine.has_room = False

    status, said = await post(engine, "/releases", '{"release": "shop-2", "model": "model-b"}')

    assert status == 409
    assert said["error"].startswith("`shop-2@model-b` was not declared: every place")


async def test_a_ledger_that_cannot_be_written_says_so() -> None:
    engine = Engine()
    engine.full = True

    assert (await post(engine, "/releases", '{"release": "x"}'))[0] == 503
