"""Names for releases that declare none."""

from __future__ import annotations

from typing import Any

import pytest
from building_reports import passed, report

from monitor.model import Conversation, ToolDefinition, release_name
from monitor.releases.identity import named_by_tools
from monitor.verdict import Report
from monitor.wiring.comparing import identified

SEARCH = ToolDefinition("search", parameters={"type": "object", "required": ["query"]})
BUY = ToolDefinition("buy", parameters={"type": "object"})


def named(*tools: ToolDefinition, declared: str | None = None, model: str | None = "m") -> str:
    release = release_name(declared, model)
    return named_by_tools(Conversation("c", release=release, model=model, tools=tools))


def test_equal_tools_in_any_order_are_one_release() -> None:
    assert named(SEARCH, BUY) == named(BUY, SEARCH)
    assert named(SEARCH, BUY).startswith("tools-")
    assert named(SEARCH, BUY).endswith("@m")


@pytest.mark.parametrize(
    "other",
    [
        (SEARCH,),
        (SEARCH, ToolDefinition("buy", parameters={"type": "object", "required": ["id"]})),
        (SEARCH, ToolDefinition("purchase", parameters={"type": "object"})),
    ],
)
def test_another_name_or_schema_is_another_release(other: tuple[ToolDefinition, ...]) -> None:
    assert named(*other) != named(SEARCH, BUY)


def test_a_description_may_change_within_a_release() -> None:
    worded = ToolDefinition("buy", parameters={"type": "object"}, description="Buys it.")

    assert named(SEARCH, worded) == named(SEARCH, BUY)


def test_a_declared_release_keeps_its_name() -> None:
    assert named(SEARCH, declared="shop-2") == "shop-2@m"


def test_without_tools_the_model_remains() -> None:
    assert named() == "m"
    assert named(model=None) == "unknown"


def test_a_model_that_is_not_known_leaves_the_tools() -> None:
    assert named(SEARCH, model=None).startswith("tools-")


def evaluate(conversation: Conversation, *, closed: bool, revision: int) -> Report:
    return report("c", passed("1"), closed=closed, revision=revision, release=conversation.release)


class First:
    """Kinds of requests by their first letter."""

    version = "first-1"

    def of(self, queries: tuple[str | None, ...]) -> int | None:
        return ord((queries[0] or "a")[0]) - ord("a")


@pytest.mark.parametrize(("closed", "intent"), [(False, None), (True, 2)])
def test_a_final_report_tells_the_kind_of_request(closed: bool, intent: int | None) -> None:
    kinds: Any = First()
    conversation = Conversation("c", queries=("cancel it",), release="m", model="m", tools=(BUY,))

    told = identified(evaluate, kinds, from_tools=True)(conversation, closed=closed, revision=1)
    plain = identified(evaluate, kinds, from_tools=False)(conversation, closed=closed, revision=1)

    assert (told.intent, told.release) == (intent, named(BUY))
    assert (plain.intent, plain.release) == (intent, "m")


def test_without_either_nothing_is_wrapped() -> None:
    assert identified(evaluate, None, from_tools=False) is evaluate
