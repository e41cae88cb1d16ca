"""Numbers that no double holds are unknown values, and never wrong ones."""

from __future__ import annotations

from typing import Any

import pytest
from monitored import QUERY, agent, asks, chat, monitored, said, sent, tool, user

from monitor.scoring.schema import violations
from monitor.scoring.values import is_no_double

BROKEN = ("1e400", "-1E+999", "123.5e309", "NaN", "Infinity", "-Infinity")
NUMBER: dict[str, Any] = {"type": "number", "minimum": 0, "maximum": 10}


@pytest.mark.parametrize("value", BROKEN)
def test_such_a_number_breaks_no_contract(value: str) -> None:
    for schema in (NUMBER, {"type": ["integer", "null"]}, {"anyOf": [NUMBER, {"type": "null"}]}):
        assert list(violations(schema, value, "x", schema)) == []


@pytest.mark.parametrize("value", ["1e4", "5", "nan", "many", "", "1e400x", "1e-400"])
def test_any_other_text_is_no_number(value: str) -> None:
    assert not is_no_double(value)
    (found,) = violations(NUMBER, value, "x", NUMBER)
    assert found.rule == "type"


def test_such_a_number_is_no_object_either() -> None:
    for kind in ("object", "boolean", "array"):
        (found,) = violations({"type": kind}, "NaN", "x", {})
        assert found.rule == "type"


@pytest.mark.parametrize("number", ["1e400", "NaN", "-Infinity"])
def test_it_is_so_from_the_wire_on(number: str) -> None:
    arguments = f'{{"amount": {number}}}'
    schema = {"type": "object", "properties": {"amount": NUMBER}, "required": ["amount"]}
    tools = f'[{{"type": "function", "name": "pay", "parameters": {schema}}}]'.replace("'", '"')
    spans = [
        agent(expected=None),
        chat(
            2,
            [user(QUERY)],
            said(asks("pay", arguments)),
            more={"gen_ai.tool.definitions": tools},
        ),
        tool(3, "pay", arguments, "paid"),
    ]
    (action, *_) = monitored(sent(*spans)).reports[0].turns
    assert action.verdict != "fail"
