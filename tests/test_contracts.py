"""Tool contracts: files in every layout, look-up, and a trace's definitions laid over them."""

from __future__ import annotations

import pytest

from monitor.errors import InvalidInput
from monitor.model import ToolDefinition
from monitor.references import ToolContracts, parse_tools

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
BOOK = ToolDefinition("book", "airline", "book", SCHEMA, "Books.", writes=True)
CD = ToolDefinition("files.cd", "files", "cd", SCHEMA)


@pytest.mark.parametrize(
    "entry",
    [
        {"name": "book", "parameters": SCHEMA},
        {"type": "function", "function": {"name": "book", "parameters": SCHEMA}},
        {"name": "book", "input_schema": SCHEMA},
        {"name": "book", "inputSchema": SCHEMA},
        {"name": "book", "inputSchema": {"json": SCHEMA}},
        {"toolSpec": {"name": "book", "inputSchema": {"json": SCHEMA}}},
    ],
)
def test_every_layout_gives_the_same_definition(entry):
    assert parse_tools([entry], "t") == [ToolDefinition("book", parameters=SCHEMA)]
    assert parse_tools({"tools": [entry], "license": "x"}, "t") == parse_tools([entry], "t")


def test_the_own_layout_tells_tool_action_and_writes():
    text = (
        '{"tools": [{"name": "book", "tool_id": "airline", "action": "book", "writes": true,'
        ' "description": "Books.", "parameters": null}]}'
    )
    assert parse_tools(text, "t") == [
        ToolDefinition("book", "airline", "book", None, "Books.", writes=True)
    ]


def test_a_read_only_hint_says_that_a_tool_does_not_write():
    tools = parse_tools([{"name": "look", "annotations": {"readOnlyHint": True}}], "t")
    assert tools[0].writes is False


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("{", "t: not valid JSON"),
        ({}, "t: no `tools` list"),
        ([5], "t: tool 1: must be an object, is a number"),
        ([{"name": "a"}, {}], "t: tool 2: no name"),
        ([{"name": 5}], "t: tool 1: name must be text"),
        ([{"name": "a", "parameters": []}], r"t: tool 1 \(a\): parameters: must be an object"),
        ([{"name": "a", "parameters": {"required": "x"}}], "required must be a list"),
        ([{"name": "a", "parameters": {"properties": []}}], "properties: must be an object"),
        ([{"name": "a", "writes": "no"}], "writes must be true or false, is text"),
        ([{"name": "a"}, {"name": "a", "writes": True}], "tool 2: 'a' is defined twice"),
    ],
)
def test_a_broken_file_is_named_with_its_entry(document, message):
    with pytest.raises(InvalidInput, match=message):
        parse_tools(document, "t")


def test_a_tool_is_found_by_name_by_parts_and_by_a_unique_action():
    contracts = ToolContracts([BOOK, CD])
    assert contracts.find("book") is BOOK
    assert contracts.find("airline.book") is BOOK
    assert contracts.find("", "airline", "book") is BOOK
    assert contracts.find("files.cd") is CD
    assert contracts.find("cd") is CD
    assert contracts.find("hotel.book") is None
    assert contracts.find("nothing") is None


def test_an_action_of_several_tools_names_none():
    contracts = ToolContracts([CD, ToolDefinition("disk.cd", "disk", "cd")])
    assert contracts.find("cd") is None


def test_names_are_split_as_the_contract_says_else_at_the_last_dot():
    contracts = ToolContracts([BOOK])
    assert contracts.split("book") == ("airline", "book")
    assert contracts.split("a.b.c") == ("a.b", "c")
    assert contracts.split("plain") == (None, "plain")
    assert contracts.split(".x") == (None, ".x")
    assert contracts.split("x.") == (None, "x.")


def test_writes_is_unknown_where_nothing_says_so():
    contracts = ToolContracts([BOOK, CD])
    assert (contracts.writes("book"), contracts.writes("files.cd")) == (True, None)
    assert contracts.writes("nothing") is None


def test_a_trace_wins_for_the_schema_and_the_file_for_what_the_trace_leaves_out():
    told = ToolDefinition("book", parameters={"type": "object", "properties": {}})
    merged = ToolContracts([BOOK, CD]).with_definitions((told,))
    assert merged.find("book") == ToolDefinition(
        "book", "airline", "book", told.parameters, "Books.", writes=True
    )
    assert merged.find("files.cd") is CD


def test_a_trace_without_a_schema_leaves_the_configured_one():
    merged = ToolContracts([BOOK]).with_definitions((ToolDefinition("airline.book"),))
    assert merged.find("airline.book").parameters == SCHEMA


def test_overlaying_nothing_or_the_same_again_costs_nothing():
    contracts = ToolContracts([BOOK])
    told = (ToolDefinition("look", parameters=SCHEMA),)
    assert contracts.with_definitions(()) is contracts
    first = contracts.with_definitions(told)
    assert contracts.with_definitions(told) is first
    assert contracts.with_definitions((ToolDefinition("look", parameters=SCHEMA),)) is first


def test_remembered_overlays_are_bounded():
    contracts = ToolContracts([BOOK])
    for number in range(500):
        told = (ToolDefinition(f"tool{number}"),)
        assert contracts.with_definitions(told).find(f"tool{number}") == told[0]
    assert len(contracts._overlays) <= 64


def test_a_name_that_is_only_marked_as_writing_is_no_contract():
    contracts = ToolContracts([ToolDefinition("refund", writes=True)])
    assert contracts.empty
    assert (contracts.find("refund"), contracts.definitions) == (None, ())
    assert (contracts.marks("refund"), contracts.marks("look")) == (True, False)
    assert (contracts.writes("refund"), contracts.writes("look")) == (True, None)


def test_a_mark_completes_what_a_trace_tells_and_a_traces_bare_name_is_a_contract():
    contracts = ToolContracts([ToolDefinition("refund", writes=True)])
    merged = contracts.with_definitions((ToolDefinition("refund"), ToolDefinition("look")))
    assert merged.find("refund") == ToolDefinition("refund", writes=True)
    assert merged.find("look") == ToolDefinition("look")
    other = contracts.with_definitions((ToolDefinition("look"),))
    assert (other.writes("refund"), other.find("refund")) == (True, None)


def test_no_tools_means_empty():
    assert ToolContracts().empty
    assert not ToolContracts([BOOK]).empty
    assert ToolContracts().find("x") is None


def test_every_tools_file_of_the_shared_data_is_read(shared_data):
    paths = sorted(shared_data.glob("trajectories/*/tools.json"))
    tools = [parse_tools(path.read_bytes(), path.name) for path in paths]
    assert (len(tools), sum(map(len, tools))) == (16, 328)
