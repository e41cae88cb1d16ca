"""Dialog files become a conversation and the reference that is paired with it."""

from __future__ import annotations

import gzip
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.errors import InvalidInput
from monitor.model import (
    ActionTurn,
    Conversation,
    ResponseTurn,
    ToolCall,
    omitted_turn_id,
    turn_id,
)
from monitor.references import parse_dialog
from monitor.verdict import ExpectedAction, ExpectedResponse, Reference

SEED: list[dict[str, Any]] = [
    {
        "turn_no": 1,
        "turn": "Agent",
        "gold_turn": {"response": "Which region should the report cover?"},
        "predict_turn": {"response": "Sure, which region would you like the report for?"},
    },
    {
        "turn_no": 2,
        "turn": "Tool",
        "gold_turn": {
            "tool_id": "reports",
            "action": "FilterData",
            "args": {"metric": "revenue", "region": "EU"},
        },
        "predict_turn": {
            "tool_id": "reports",
            "action": "FilterData",
            "args": {"metric": "profit", "region": "EU"},
        },
        "tags": ["OrderInvariant_filter"],
    },
]


def reply(gold="yes", predicted="yes", **more):
    return {
        "turn": "Agent",
        "gold_turn": None if gold is None else {"response": gold},
        "predict_turn": None if predicted is None else {"response": predicted},
        **more,
    }


def call(gold=None, predicted=None, **more):
    return {"turn": "Tool", "gold_turn": gold, "predict_turn": predicted, **more}


def test_the_seed_example_is_read_whole():
    conversation, reference = parse_dialog(msgspec.json.encode(SEED), "seed", default_id="s")
    assert conversation == Conversation(
        "s",
        turns=(
            ResponseTurn(turn_id("s", "turn 1"), SEED[0]["predict_turn"]["response"]),
            ActionTurn(
                turn_id("s", "turn 2"),
                ToolCall("reports.FilterData", {"metric": "profit", "region": "EU"}),
            ),
        ),
        queries=(None,),
        synthetic_id=True,
    )
    assert reference == Reference(
        "s",
        match="pairs",
        turns=(
            ExpectedResponse("Which region should the report cover?"),
            ExpectedAction(
                "FilterData", "reports", {"metric": "revenue", "region": "EU"}, group="filter"
            ),
        ),
        pairs=(0, 1),
    )


def test_a_dialog_without_an_id_is_named_by_its_content():
    first, again = parse_dialog(SEED, "a"), parse_dialog(list(SEED), "b")
    assert first.conversation.conversation_id == again.conversation.conversation_id
    assert (
        first.conversation.conversation_id
        != parse_dialog(SEED[:1], "a").conversation.conversation_id
    )


def test_an_omitted_turn_is_expected_but_named_by_no_pair():
    dialog = [reply(), call({"action": "pay", "args": {}}), reply("bye", "bye")]
    conversation, reference = parse_dialog(dialog, "d", "c")
    assert [type(turn) for turn in conversation.turns] == [ResponseTurn, ResponseTurn]
    assert len(reference.turns) == 3
    assert reference.pairs == (0, 2)


def test_a_turn_without_gold_has_no_reference():
    dialog = [reply(gold=None), call(None, {"action": "look"}), reply()]
    _, reference = parse_dialog(dialog, "d", "c")
    assert reference.turns == (ExpectedResponse("yes"),)
    assert reference.pairs == (None, None, 0)


def test_a_reply_in_place_of_a_call_leaves_the_call_omitted():
    dialog = [call({"action": "pay", "args": {}}, {"response": "I cannot."})]
    conversation, reference = parse_dialog(dialog, "d", "c")
    assert isinstance(conversation.turns[0], ResponseTurn)
    assert (len(reference.turns), reference.pairs) == (1, (None,))


def test_user_words_open_exchanges():
    dialog = [reply(), reply(user="hello"), call(None, {"action": "x"}), reply(user="more")]
    conversation, _ = parse_dialog(dialog, "d", "c")
    assert conversation.queries == (None, "hello", "more")
    assert [turn.exchange for turn in conversation.turns] == [0, 1, 1, 2]


def test_results_and_errors_of_a_call_are_kept():
    dialog = [
        call(None, {"action": "x", "args": {}}, result='{"id": 7}', is_error=False),
        call(None, {"action": "x"}, result="not found", is_error=True, agent="clerk"),
        call(None, {"tool_id": "t", "args": "{bad"}),
    ]
    first, second, third = parse_dialog(dialog, "d", "c").conversation.turns
    assert (first.result, first.has_result, first.error_type) == ({"id": 7}, True, None)
    assert (second.result, second.error_type, second.agent) == ("not found", "error", "clerk")
    assert (second.call.arguments, second.call.arguments_state) == (None, "absent")
    assert (third.call, third.has_result) == (ToolCall("t", "{bad", None, "raw"), False)


def test_optional_additions_stand_beside_gold_or_within_it():
    gold = {
        "tool_id": "shop",
        "action": "pay",
        "args": {"sum": 5, "note": "x"},
        "result": None,
        "required": ["sum"],
        "weight": 3,
    }
    dialog = [
        reply(),
        call(
            gold,
            {"tool_id": "shop", "action": "pay", "args": {}},
            optional=["note"],
            depends_on=[1],
            kinds={"sum": "number"},
            critical=True,
            variants=[{"sum": 6}, {"args": {"sum": 7}}],
            weight=1,
        ),
    ]
    assert parse_dialog(dialog, "d", "c").reference.turns[1] == ExpectedAction(
        "pay",
        "shop",
        {"sum": 5, "note": "x"},
        has_result=True,
        required=("sum",),
        optional=("note",),
        depends_on=(1,),
        kinds={"sum": "number"},
        variants=({"sum": 6}, {"sum": 7}),
        weight=3.0,
        critical=True,
    )


def test_dependencies_count_expected_turns_only():
    dialog = [
        reply(gold=None),
        reply(turn_no=2),
        call({"action": "x", "depends_on": [1, 2]}, {"action": "x"}),
    ]
    assert parse_dialog(dialog, "d", "c").reference.turns[1].depends_on == (1,)


@pytest.mark.parametrize(
    ("dialog", "message"),
    [
        (b"{", "d: not valid JSON"),
        (b"[" * 100_000, "d: not valid JSON"),
        ("5", "dialog .*: turns: must be a list, is a number"),
        ({"dialog_id": "q"}, "d: dialog q: turns: must be a list, is null"),
        ({"dialog_id": 7, "turns": []}, "d: dialog_id must be text, is a number"),
        ([7], "turn 1: must be an object"),
        ([{"turn": "Agent", "gold_turn": None}], "turn 1: no predict_turn"),
        ([reply(turn="User")], "turn 1: turn must be 'Agent' or 'Tool'"),
        ([reply(turn_no=0)], "turn_no must be a whole number from 1"),
        ([reply(turn_no=4, gold=5)], "turn 4: gold_turn: response must be text, is a number"),
        ([call({"tool": "x"})], "gold_turn: neither a `response` nor an `action`"),
        ([call(None, {"tool": "x"})], "predict_turn: neither a `response` nor an `action`"),
        ([call({"tool_id": None, "action": None})], "turn 1: gold_turn: an expected call needs"),
        ([call({"tool_id": "", "args": {}})], "turn 1: gold_turn: an expected call needs"),
        ([call("book")], "turn 1: gold_turn: must be an object, is text"),
        ({"dialog_id": "a\x00\tb", "turns": 5}, r"dialog a\\x00\\tb: turns: must be a list"),
        ([{"dialog_id": "a", "turns": []}], "d: a list of dialogs; write one dialog per line"),
        ([call({"action": "x", "args": 5}, None)], "args: must be an object, is a number"),
        ([reply(depends_on=[9])], "turn 1: depends_on names turn 9, which does not exist"),
        ([reply(depends_on=["1"])], "depends_on must be a list of turn numbers"),
        ([reply(tags="OrderInvariant_x")], "tags must be a list of texts"),
        ([reply(weight=float("inf"))], "weight must be zero or more"),
        ([reply(critical=1)], "critical must be true or false"),
        ([reply(variants=[5])], "variants of a response must be texts"),
    ],
)
def test_a_broken_dialog_is_named_with_turn_and_key(dialog, message):
    with pytest.raises(InvalidInput, match=message):
        parse_dialog(dialog, "d")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["turn", "turns", "gold_turn", "predict_turn", "action", "args"]),
                inner,
                max_size=4,
            )
        ),
    )
)
def test_arbitrary_json_gives_a_dialog_or_invalid_input(value):
    with suppress(InvalidInput):
        assert parse_dialog(value, "d").reference.match == "pairs"


def test_every_dialog_of_the_shared_data_is_read(shared_data):
    count = omitted = 0
    for path in sorted(shared_data.glob("trajectories/*/dialogs.jsonl.gz")):
        with gzip.open(path) as lines:
            for line in lines:
                conversation, reference = parse_dialog(line, path.name)
                count += 1
                assert reference.pairs is not None
                assert len(reference.pairs) == len(conversation.turns)
                omitted += len(set(range(len(reference.turns))) - set(reference.pairs))
    assert (count, omitted) == (1394, 167)


def test_turn_ids_are_told_apart_by_conversation_part_and_kind():
    ids = {turn_id("a", "bc"), turn_id("ab", "c"), omitted_turn_id("a", 0), turn_id("a", "0")}
    assert len(ids) == 4
    assert all(len(one) == 16 for one in ids)
    assert turn_id("\ud800", "x") == turn_id("\ud800", "x")
