"""Wrapped arguments are unwrapped where it is sure that they are, and nowhere else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from monitored import QUERY, agent, asks, chat, monitored, said, sent, tool, user

PLAIN = {"city": "Paris", "days": 3}


def called(asked: Any, ran: Any, properties: Any = None, **more_of_schema: Any) -> Any:
    """The arguments of the one call: as the model asked, as the tool's span tells, and declared."""
    more: dict[str, Any] = {}
    if properties is not None:
        parameters = {"type": "object", "properties": properties, **more_of_schema}
        tools = [{"type": "function", "name": "weather", "parameters": parameters}]
        more["gen_ai.tool.definitions"] = json.dumps(tools)
    spans = [agent(expected=None, more=more), tool(3, "weather", ran, "sunny")]
    if asked is not None:
        spans.append(chat(2, [user(QUERY)], said(asks("weather", asked))))
    (action,) = monitored(sent(*spans)).actions
    return action.call.arguments


WRAPPED = [
    {"input": PLAIN},
    {"input_str": json.dumps(PLAIN)},
    {"args": [], "kwargs": PLAIN},
    {"args": [], "kwargs": PLAIN, "sanitize_inputs_outputs": False},
]


@pytest.mark.parametrize("wrapped", WRAPPED)
def test_the_models_own_call_shows_what_is_a_wrapper(wrapped: Any) -> None:
    assert called(PLAIN, wrapped) == PLAIN


def test_arguments_without_names_get_those_of_the_models_call() -> None:
    for args, kwargs in ((["Paris", 3], {}), (["Paris"], {"days": 3})):
        assert called(PLAIN, {"args": args, "kwargs": kwargs}) == PLAIN


@pytest.mark.parametrize("wrapped", WRAPPED)
def test_the_tools_schema_shows_what_is_a_wrapper(wrapped: Any) -> None:
    assert called(None, wrapped, {"city": {}, "days": {}}) == PLAIN


@pytest.mark.parametrize("wrapped", WRAPPED)
def test_where_nothing_shows_it_arguments_stay_as_they_came(wrapped: Any) -> None:
    assert called(None, wrapped) == wrapped
    declared: dict[str, Any] = {key: {} for key in wrapped}
    assert called(None, wrapped, {**declared, "city": {}, "days": {}}) == wrapped
    assert called(None, wrapped, {"city": {}}) == wrapped
    assert called(None, wrapped, {}) == wrapped


def test_what_the_model_wrapped_itself_stays_wrapped() -> None:
    assert called({"input": PLAIN}, {"input": PLAIN}) == {"input": PLAIN}


def test_other_arguments_than_the_asked_ones_are_what_ran() -> None:
    other = {"input": {"city": "London", "days": 3}}
    assert called(PLAIN, other) == other
    swapped = {"args": [3, "Paris"], "kwargs": {}}
    assert called(PLAIN, swapped) == swapped


def test_a_tool_that_takes_nothing_was_given_nothing() -> None:
    assert called(None, None, {}, additionalProperties=False) == {}
    assert called(None, None, {}) is None
    assert called(None, None, {"city": {}}, additionalProperties=False) is None
