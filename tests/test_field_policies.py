"""How values of one field are compared, from the configuration to the verdict."""

from __future__ import annotations

import pytest

from monitor import chosen
from monitor.config import load
from monitor.errors import ConfigurationError
from monitor.references.dialogs import parse_dialog


def settings(tmp_path, fields):
    path = tmp_path / "monitor.toml"
    path.write_text(f"[comparison.fields]\n{fields}\n")
    return load(path)


def verdict(found, expected, actual):
    """What the product says of one call, argument against argument."""
    turn = {
        "turn_no": 1,
        "turn": "Tool",
        "gold_turn": {"tool_id": "shop", "action": "book", "args": expected},
        "predict_turn": {"tool_id": "shop", "action": "book", "args": actual},
    }
    dialog = parse_dialog({"dialog_id": "d", "turns": [turn]}, "here")
    said = chosen.dialog_evaluation(found)(dialog).turns[0]
    return said.verdict, tuple(finding.field for finding in said.findings)


def test_a_literal_field_forgives_nothing(tmp_path):
    values = {"note": "Round Trip"}, {"note": "round_trip"}
    assert verdict(load(None), *values) == ("pass", ())
    assert verdict(settings(tmp_path, 'note = "literal"'), *values) == ("fail", ("note",))


def test_a_typed_field_is_left_open_where_no_rule_decides(tmp_path):
    found = settings(tmp_path, 'note = "typed"')
    assert verdict(found, {"note": "5 kg"}, {"note": "5000 g"}) == ("pass", ())
    assert verdict(found, {"note": "5 kg"}, {"note": "6 kg"}) == ("fail", ("note",))
    assert verdict(found, {"note": "red shoes"}, {"note": "some boots"}) == ("unscored", ())
    assert verdict(load(None), {"note": "red shoes"}, {"note": "some boots"})[0] == "fail"


def test_a_semantic_field_is_weighed_whatever_it_is_called(tmp_path):
    values = {"file_name": "the quarterly report"}, {"file_name": "The Quarterly Report"}
    assert verdict(load(None), *values)[0] == "fail"
    assert verdict(settings(tmp_path, 'file_name = "semantic"'), *values)[0] == "pass"


def test_a_tolerance_is_in_the_expected_values_unit(tmp_path):
    found = settings(tmp_path, "weight = { tolerance = 0.5 }")
    assert verdict(found, {"weight": 10}, {"weight": 10.5})[0] == "pass"
    assert verdict(found, {"weight": 10}, {"weight": 10.6})[0] == "fail"
    assert verdict(found, {"weight": "10 kg"}, {"weight": "10,400 g"})[0] == "pass"
    assert verdict(found, {"weight": "10 kg"}, {"weight": "10,600 g"})[0] == "fail"
    assert verdict(load(None), {"weight": 10}, {"weight": 10.4})[0] == "fail"


def test_a_threshold_alone_is_a_number(tmp_path):
    values = {"title": "red shoes"}, {"title": "red shoes new"}
    assert verdict(settings(tmp_path, "title = 0.01"), *values)[0] == "pass"
    strict = settings(tmp_path, "title = { threshold = 1.0, compare = 'text' }")
    assert verdict(strict, *values)[0] != "pass"


def test_a_policy_may_be_for_one_tool_and_for_values_in_lists(tmp_path):
    found = settings(tmp_path, '"shop.book:items.name" = "literal"\n"other.tool:note" = "literal"')
    nested = {"items": [{"name": "Round Trip"}]}, {"items": [{"name": "round_trip"}]}
    assert verdict(found, *nested) == ("fail", ("items.0.name",))
    assert verdict(found, {"note": "Round Trip"}, {"note": "round_trip"})[0] == "pass"


@pytest.mark.parametrize(
    "wrong", ['note = "fuzzy"', "note = 2.0", "note = { tolerance = -1 }", "note = { why = 1 }"]
)
def test_a_policy_that_cannot_be_is_named(tmp_path, wrong):
    with pytest.raises(ConfigurationError, match="note"):
        settings(tmp_path, wrong)


def test_any_of_several_accepted_argument_objects_is_enough(tmp_path):
    turn = {
        "turn_no": 1,
        "turn": "Tool",
        "gold_turn": {
            "tool_id": "shop",
            "action": "book",
            "args": {"city": "Rome"},
            "variants": [{"city": "Milan"}],
        },
        "predict_turn": {"tool_id": "shop", "action": "book", "args": {"city": "Milan"}},
    }
    dialog = parse_dialog({"dialog_id": "d", "turns": [turn]}, "here")
    assert chosen.dialog_evaluation(load(None))(dialog).turns[0].verdict == "pass"
