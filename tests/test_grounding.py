"""A reply whose values were all said passes only where the rest of it holds as well."""

from __future__ import annotations

from typing import Any

import pytest
from evaluating import call, evaluated, reply, talk

from monitor.model import Turn

SHOWN = {"order_id": "SO-10012", "status": "shipped", "total": 45.5, "items": [{"qty": 1}]}


def outcome(text: str, *more: Turn, query: str = "Where is SO-10012?", **extra: Any) -> str:
    shown = call("shop.get_order", {"order_id": "SO-10012"}, SHOWN)
    return evaluated(talk(shown, *more, reply(text), queries=(query,), **extra)).turns[-1].verdict


@pytest.mark.parametrize(
    "text",
    [
        "SO-10012 has shipped; you paid $45.50.",
        "I have successfully located SO-10012; the total is $45.50.",
    ],
)
def test_what_the_tools_said_passes(text: str):
    assert outcome(text) == "pass"


@pytest.mark.parametrize(
    "text",
    [
        "SO-10013 has shipped; you paid $45.50.",
        "SO-10012 has been delivered; you paid $45.50.",
        "SO-10012 has not shipped; you paid $45.50.",
        "I have refunded $45.50 for SO-10012.",
        "Your order SO-10012 ($45.50) has been cancelled.",
    ],
)
def test_another_id_state_or_deed_or_a_denial_is_left_open(text: str):
    assert outcome(text) == "unscored"


def test_an_id_that_only_the_user_named_is_left_open():
    assert outcome("SO-99999 has shipped; $45.50.", query="Where is SO-99999?") == "unscored"


def test_values_prove_nothing_after_a_refused_write():
    bad = call("shop.refund", {"order_id": "SO-10012"}, "Error: refused", error=True)

    assert outcome("The refund of $45.50 for SO-10012 is on its way.", bad) == "unscored"


def test_a_deed_that_its_tool_did_passes():
    done = call("shop.cancel_order", {"order_id": "SO-10012"}, {"ok": True})

    assert outcome("SO-10012 has been cancelled, $45.50 go back.", done) == "pass"
