"""Where references come from: by id, carried by the trace, golden dialogs."""

from __future__ import annotations

import gzip

import msgspec
import pytest
from reference_source_conformance import ReferenceSourceConformance

from monitor.backends.wordllama import WordLlamaEncoder
from monitor.comparison import CachedEncoder, Ladder
from monitor.errors import BackendUnavailable, InvalidInput
from monitor.model import Conversation, ToolDefinition
from monitor.references import (
    CarriedReference,
    GoldenStore,
    ReferenceStore,
    ToolContracts,
    parse_golden,
    parse_reference,
)
from monitor.references.typed_values import typed_values
from monitor.verdict import ExpectedAction, ExpectedResponse, Reference

ENCODER = CachedEncoder(WordLlamaEncoder())
CANCEL = {"tool_id": "shop", "action": "cancel", "args": {"id": 12}}
SHOP = (ToolDefinition("shop.cancel"),)
LINE = {
    "conversation_id": "c1",
    "task_id": "9",
    "ordered": False,
    "scope": "write actions only",
    "expected_actions": [{**CANCEL, "result": '{"ok": true}', "required": ["id"]}],
    "expected_responses": ["Done."],
    "required_outputs": ["12", 3.5],
}
EXPECTED = Reference(
    "c1",
    match="conversation_id",
    turns=(
        ExpectedAction(
            "cancel", "shop", {"id": 12}, result={"ok": True}, has_result=True, required=("id",)
        ),
        ExpectedResponse("Done."),
    ),
    ordered=False,
    interleaved=False,
    scope="writes",
    required_outputs=("12", "3.5"),
)


def golden(query="Please cancel my order 12", golden_id="g1", action=None, **head):
    turns = [{"turn_no": 1, "turn": "Tool", "user": query, "gold_turn": action or CANCEL}]
    return parse_golden({"dialog_id": golden_id, "turns": turns, **head}, "golden")


def asked(query, tools=SHOP):
    return Conversation("live", queries=(query,), tools=tools)


class TestStore(ReferenceSourceConformance):
    source = ReferenceStore([EXPECTED])
    known = Conversation("c1")


class TestCarried(ReferenceSourceConformance):
    source = CarriedReference()
    known = Conversation("c1", expected=[{"response": "Done."}])


class TestGolden(ReferenceSourceConformance):
    source = GoldenStore([golden()], ENCODER, Ladder())
    known = asked("please cancel my order 12")


def test_a_reference_line_is_read_whole():
    assert parse_reference(msgspec.json.encode(LINE), "refs, line 1") == EXPECTED


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"conversation_id": ""}, "refs: no conversation_id"),
        ({"scope": "some"}, "refs: c1: scope must be one of"),
        ({"ordered": "yes"}, "refs: c1: ordered must be true or false, is text"),
        ({"expected_actions": {}}, "refs: c1: expected_actions: must be a list, is an object"),
        ({"expected_action": []}, "refs: c1: unknown key expected_action; known are"),
        ({"expected_actions": [{"args": {}}]}, "expected_actions 1: an expected call needs"),
        ({"expected_actions": [5]}, "refs: c1: expected_actions 1: must be an object"),
        ({"expected_actions": [{"response": "x"}]}, "belongs into the other list"),
        ({"expected_actions": [{"action": "x", "args": []}]}, "args: must be an object, is a list"),
        ({"expected_actions": [{"action": "x", "kinds": {"a": "odd"}}]}, "kinds: a must be one of"),
        ({"expected_actions": [{"action": "x", "weight": -1}]}, "weight must be zero or more"),
        ({"expected_responses": [None]}, "expected_responses 1: must be an object, is null"),
        ({"required_outputs": [None]}, "required_outputs must be texts or numbers"),
    ],
)
def test_a_broken_line_is_named_with_its_key(change, message):
    with pytest.raises(InvalidInput, match=message):
        parse_reference({**LINE, **change}, "refs")


@pytest.mark.parametrize("actions", [{}, {"expected_actions": None}])
def test_a_reference_that_does_not_list_calls_expects_none_to_be_absent_or_present(actions):
    silent = parse_reference({"conversation_id": "c1", "required_outputs": ["7"], **actions}, "r")
    empty = parse_reference({"conversation_id": "c1", "expected_actions": []}, "r")
    assert (silent.tells_actions, silent.turns) == (False, ())
    assert (empty.tells_actions, empty.turns) == (True, ())


def test_remarks_beside_a_reference_are_let_pass():
    remarks = {"license": "MIT", "source": "x", "domain": "shop", "meta": {"a": 1}, "note": "n"}
    assert parse_reference({**LINE, **remarks}, "refs") == EXPECTED


def test_two_references_of_one_id_must_expect_the_same():
    other = msgspec.structs.replace(EXPECTED, ordered=True)
    assert len(ReferenceStore([EXPECTED, EXPECTED])) == 1
    with pytest.raises(InvalidInput, match="conversation c1: two references that differ"):
        ReferenceStore([EXPECTED, other])


def test_an_id_in_an_error_is_one_printable_line():
    line = {"conversation_id": "a\n\x1b[31m\u00e9\ud800", "expected_actions": 5}
    with pytest.raises(InvalidInput) as caught:
        parse_reference(line, "refs")
    assert str(caught.value) == (
        r"refs: a\n\x1b[31mé\ud800: expected_actions: must be a list, is a number"
    )
    with pytest.raises(InvalidInput) as caught:
        parse_reference({"conversation_id": "a" * 5000, "expected_actions": 5}, "refs")
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "carried",
    [
        [CANCEL, {"response": "Done."}],
        '[{"action": "cancel", "tool_id": "shop", "args": {"id": 12}}, {"response": "Done."}]',
        {
            "turns": [
                {"turn": "Tool", "gold_turn": CANCEL},
                {"turn": "Agent", "gold_turn": None},
                {"turn": "Agent", "gold_turn": {"response": "Done."}},
            ]
        },
    ],
)
def test_a_carried_dialog_is_read_in_each_of_its_layouts(carried):
    found = CarriedReference().reference(Conversation("c1", expected=carried))
    assert found == Reference(
        "c1",
        match="carried",
        turns=(ExpectedAction("cancel", "shop", {"id": 12}), ExpectedResponse("Done.")),
    )


def test_a_carried_reference_object_is_read_like_a_line():
    found = CarriedReference().reference(Conversation("c1", expected=LINE))
    assert found == msgspec.structs.replace(EXPECTED, match="carried")


def test_malformed_carried_references_are_counted_not_raised():
    source = CarriedReference()
    hostile: tuple[object, ...] = (
        "{",
        5,
        [],
        {},
        [1],
        [{"turn": "Tool"}],
        {"expected_actions": [7]},
        [[[]]],
    )
    for expected in hostile:
        assert source.reference(Conversation("c1", expected=expected)) is None
    assert source.malformed == {"json": 1, "layout": 4, "turns": 3}


def test_a_golden_dialog_is_found_by_id():
    store = GoldenStore([golden(conversation_id="c9")])
    assert store.reference(Conversation("g1")).match == "conversation_id"
    assert store.reference(Conversation("c9")).reference_id == "g1"


def test_a_golden_dialog_is_found_by_equal_words():
    found = GoldenStore([golden()]).reference(asked("  please CANCEL my order 12! "))
    assert (found.reference_id, found.match) == ("g1", "query")


def test_a_golden_dialog_is_found_by_similar_words():
    store = GoldenStore([golden()], ENCODER, Ladder())
    assert store.reference(asked("could you cancel order 12 please")).match == "query"


@pytest.mark.parametrize(
    "query",
    [
        "Please cancel my order 34",
        "Please don't cancel my order 12",
        "Where is my order 12?",
        "Please cancel my order 12 and 13",
    ],
)
def test_another_request_finds_no_golden_dialog(query):
    assert GoldenStore([golden()], ENCODER, Ladder()).reference(asked(query)) is None


def test_a_golden_dialog_of_other_tools_does_not_match():
    store = GoldenStore([golden()], ENCODER)
    query = "Please cancel my order 12"
    assert store.reference(asked(query, (ToolDefinition("bank.pay"),))) is None
    assert GoldenStore([golden(tools=["a"])]).reference(asked(query)) is None
    assert GoldenStore([golden(tools=["shop.cancel"])]).reference(asked(query)) is not None


def test_similar_words_need_known_tools_and_equal_words_do_not():
    store = GoldenStore([golden()], ENCODER)
    assert store.reference(asked("cancel order 12, please", ())) is None
    assert store.reference(asked("please cancel my order 12", ())) is not None
    configured = GoldenStore([golden()], ENCODER, contracts=ToolContracts(SHOP))
    assert configured.reference(asked("could you cancel order 12 please", ())) is not None


def test_each_exchange_must_ask_the_same():
    turns = [
        {"turn_no": 1, "turn": "Agent", "user": "hello", "gold_turn": {"response": "hi"}},
        {"turn_no": 2, "turn": "Tool", "user": "cancel order 12", "gold_turn": CANCEL},
    ]
    store = GoldenStore([parse_golden(turns, "golden")])
    assert store.reference(Conversation("x", queries=("hello", "cancel order 12"))) is not None
    assert store.reference(Conversation("x", queries=("hello",))) is None
    assert store.reference(Conversation("x", queries=("hello", "cancel order 13"))) is None


def test_golden_dialogs_that_contradict_each_other_match_nothing():
    other = golden(golden_id="g2", action={"action": "refund"})
    store = GoldenStore([golden(), other])
    assert store.reference(asked("please cancel my order 12", ())) is None
    assert store.ambiguous == 1
    assert (
        GoldenStore([golden(), golden(golden_id="g2")])
        .reference(asked("please cancel my order 12"))
        .reference_id
        == "g1"
    )


def test_an_encoder_that_is_down_costs_the_similar_match_only():
    class Down:
        version = "down"
        dimensions = 2

        def encode(self, texts):
            raise BackendUnavailable("down")

    store = GoldenStore([golden()], Down())
    assert store.reference(asked("could you cancel order 12 please")) is None
    assert store.unavailable == 1
    assert store.reference(asked("please cancel my order 12")) is not None


def test_a_golden_dialog_must_expect_something():
    with pytest.raises(InvalidInput, match="nothing is expected"):
        parse_golden([{"turn": "Agent", "gold_turn": None}], "golden")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Cancel #W123, it's 3 items", ("id:#w123", "number:3")),
        ("mail bob@x.com on March 3rd, 2024", ("email:bob@x.com", "named:march 3 2024")),
        ("my 'blue shirt' costs $1,234.50", ("number:1234.50", "quoted:blue shirt")),
        ("two tickets to 5.0", ("number:2", "number:5")),
        ("<EMAIL:7f3a2c> wants 2024-05-01", ("date:2024-05-01", "placeholder:<email:7f3a2c>")),
        ("nothing typed here", ()),
    ],
)
def test_typed_values_tell_requests_apart(text, values):
    assert typed_values(text) == values


def test_every_reference_of_the_shared_data_is_read(shared_data):
    count = 0
    for path in sorted(shared_data.glob("trajectories/*/references.jsonl.gz")):
        with gzip.open(path) as lines:
            count += sum(1 for line in lines if parse_reference(line, path.name).reference_id)
    assert count == 1193


@pytest.mark.parametrize("part", ["a", "1", "a1", "_", "a-", "1,", "a@", "'", "<a", "mar 1 "])
def test_typed_values_of_hostile_texts_cost_no_more_than_their_length(part):
    assert len(typed_values(part * (20_000 // len(part)))) <= 20_000
