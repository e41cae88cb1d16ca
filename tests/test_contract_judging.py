"""Calls held against the tools' contracts."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from evaluating import call, evaluated, only, outcomes, talk, tool
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import ToolDefinition
from monitor.scoring.schema import violations

VALUES = "inconsistent_parameter_values"
LEG = {
    "type": "object",
    "properties": {"from": {"type": "string"}, "day": {"type": "string", "format": "date"}},
    "required": ["from"],
}
BOOK = tool(
    "trips.book",
    {
        "seats": {"type": "integer", "minimum": 1, "maximum": 9},
        "cabin": {"type": "string", "enum": ["economy", "business"]},
        "legs": {"type": "array", "items": {"$ref": "#/$defs/Leg"}, "minItems": 1},
        "refund": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "mail": {"type": "string", "format": "email"},
        "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
        "extra": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
    ["seats"],
    **{"$defs": {"Leg": LEG}},  # type: ignore[arg-type]
)


def judged(args: dict[str, Any] | None, name: str = "trips.book") -> list[tuple[str, str | None]]:
    verdict = only(evaluated(talk(call(name, args)), tools=[BOOK]))
    assert verdict.basis == "contract"
    return [(finding.reason, finding.field) for finding in verdict.findings]


@pytest.mark.parametrize(
    "args",
    [
        {"seats": 1},
        {"seats": 2.0, "cabin": "business"},
        {"seats": 9, "legs": [{"from": "JFK", "day": "2024-05-21", "price": 3}]},
        {"seats": 1, "refund": None, "mail": "a@b.co", "code": "ABC", "extra": {"x": 1}},
        {"seats": 1, "refund": 4},
        {"seats": 1, "cabin": None},
    ],
)
def test_a_call_that_keeps_the_contract_passes(args: dict[str, Any]):
    verdict = only(evaluated(talk(call("trips.book", args)), tools=[BOOK]))

    assert (verdict.verdict, verdict.basis) == ("pass", "contract")
    assert verdict.scores == {"structural": 1.0, "completeness": 1.0, "truthfulness": 1.0}


@pytest.mark.parametrize(
    ("args", "field"),
    [
        ({"seats": "2"}, "seats"),
        ({"seats": 2.5}, "seats"),
        ({"seats": True}, "seats"),
        ({"seats": None}, "seats"),
        ({"seats": 0}, "seats"),
        ({"seats": 10}, "seats"),
        ({"seats": 1, "cabin": "first"}, "cabin"),
        ({"seats": 1, "legs": []}, "legs"),
        ({"seats": 1, "legs": [{"from": "JFK"}, {"from": 3}]}, "legs.1.from"),
        ({"seats": 1, "legs": [{"day": "2024-05-21"}]}, "legs.0.from"),
        ({"seats": 1, "legs": [{"from": "JFK", "day": "21 May"}]}, "legs.0.day"),
        ({"seats": 1, "refund": "5"}, "refund"),
        ({"seats": 1, "mail": "nobody"}, "mail"),
        ({"seats": 1, "code": "abc"}, "code"),
        ({"seats": 1, "extra": {"x": "1"}}, "extra.x"),
    ],
)
def test_a_value_that_breaks_the_schema_is_named_with_its_path(args: dict[str, Any], field: str):
    assert judged(args) == [(VALUES, field)]


def test_missing_and_undeclared_keys_are_named():
    assert judged({"cabin": "economy", "force": True}) == [
        ("missing_parameters", "seats"),
        ("extra_parameters", "force"),
    ]
    assert judged(None) == [("missing_parameters", "seats")]


def test_an_unknown_tool_and_an_unknown_action_are_told_apart():
    assert judged({}, "hotels.book") == [("tool_mismatch", None)]
    assert judged({}, "trips.sell") == [("action_mismatch", None)]
    assert judged({}, "sell") == [("tool_mismatch", None)]
    verdict = only(evaluated(talk(call("trips.sell", {})), tools=[BOOK]))
    assert verdict.detail == "unknown_tool"


def test_without_any_contract_no_tool_is_unknown():
    assert only(evaluated(talk(call("trips.sell", {})))).why == "no_reference"


def test_naming_the_tools_that_write_makes_no_other_tool_unknown():
    marked = ToolDefinition("refund", writes=True)
    conversation = talk(call("refund", {}), call("find", {}))

    assert outcomes(evaluated(conversation, tools=[marked])) == ["unscored", "unscored"]
    # Beside a complete set, the marked tool is known and the other one is not.
    assert outcomes(evaluated(conversation, tools=[marked, BOOK])) == ["unscored", "tool_mismatch"]


def test_a_tool_without_a_schema_cannot_be_judged():
    bare = ToolDefinition("trips.book", "trips", "book")

    assert only(evaluated(talk(call("trips.book", {})), tools=[bare])).why == "no_reference"


def test_definitions_carried_by_the_trace_count():
    conversation = talk(call("book", {"seat": 1}), tools=(tool("book", {"seats": {}}, ["seats"]),))

    assert outcomes(evaluated(conversation)) == ["missing_parameters"]


def test_a_schema_that_declares_nothing_takes_anything():
    open_tool = ToolDefinition("x", None, "x", {"type": "object"})

    assert outcomes(evaluated(talk(call("x", {"a": 1})), tools=[open_tool])) == ["pass"]


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/none"},
        {"$ref": "http://example.com/x"},
        {"type": 7},
        {"enum": 7},
        {"anyOf": 7},
        {"pattern": "(("},
        {"pattern": "(a+)+$"},
        {"minimum": "low"},
        {"properties": 7, "required": 7},
        {"items": [1, 2]},
        {"format": "unheard-of"},
        {"multipleOf": 0},
        True,
    ],
)
@pytest.mark.parametrize("value", ["a" * 50 + "!", 3, {"x": 1}, [1]])
def test_a_broken_schema_finds_nothing_and_never_raises(schema: Any, value: Any):
    assert list(violations(schema, value, "f", {"$ref": "#"})) == []


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 12) | st.floats(0, 3) | st.sampled_from("ab x"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=6,
)
SCHEMAS = st.recursive(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "integer", "minimum": 2},
            {"type": ["number", "null"], "maximum": 5},
            {"type": "boolean"},
            {"enum": ["a", 2, None]},
            {"type": "string", "minLength": 2},
            {},
        ]
    ),
    lambda inner: st.one_of(
        st.builds(lambda s: {"type": "array", "items": s, "maxItems": 2}, inner),
        st.builds(
            lambda p, r: {"type": "object", "properties": p, "required": r},
            st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            st.lists(st.sampled_from("abc"), max_size=2, unique=True),
        ),
        st.builds(lambda a, b: {"anyOf": [a, b]}, inner, inner),
    ),
    max_leaves=5,
)


@given(SCHEMAS, JSON_VALUES)
def test_a_value_is_valid_just_where_the_reference_implementation_says_so(schema: Any, value: Any):
    valid = jsonschema.Draft202012Validator(schema).is_valid(value)

    assert (not list(violations(schema, value, "f", schema))) == valid


def test_no_gold_call_of_the_real_tool_sets_breaks_its_contract(shared_data: Path):
    broken = []
    for tools_file in sorted((shared_data / "trajectories").glob("*/tools.json")):
        references = tools_file.with_name("references.jsonl.gz")
        if not references.exists():
            continue
        described = json.loads(tools_file.read_text())["tools"]
        tools = [
            ToolDefinition(t["name"], t["tool_id"], t["action"], t["parameters"]) for t in described
        ]
        names = {(t.tool_id, t.action): t.name for t in tools}
        with gzip.open(references, "rt") as lines:
            golds = [g for line in lines for g in json.loads(line)["expected_actions"]]
        calls = [call(names[g["tool_id"], g["action"]], g["args"]) for g in golds]
        report = evaluated(talk(*calls), tools=tools)
        broken += [v for v in report.turns if v.verdict != "pass"]
    assert broken == []


def test_a_tool_that_answered_is_there_though_no_contract_names_it():
    answered = call("trips.unlisted", {}, result={"ok": True})
    verdict = only(evaluated(talk(answered), tools=[BOOK]))
    assert (verdict.verdict, verdict.why) == ("unscored", "no_reference")
    refused = call("trips.unlisted", {}, error=True)
    verdict = only(evaluated(talk(refused), tools=[BOOK]))
    assert [finding.detail for finding in verdict.findings] == ["unknown_tool"]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "nullable": True}, None),
        ({"type": "string", "format": "time"}, "10:00"),
        ({"type": "string", "format": "date-time"}, "2024-05-24T10:00"),
    ],
)
def test_what_tools_take_beyond_the_letter_is_no_fault(schema: dict[str, Any], value: Any):
    assert list(violations(schema, value, "x", schema)) == []
