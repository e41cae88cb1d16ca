"""Which actual turn answers which expected turn, and where an unanswered one stands."""

from __future__ import annotations

import random
from itertools import pairwise, permutations

import numpy as np
import pytest
from evaluating import call, evaluated, listed, outcomes, paired, reply, say, talk, tool, want
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import Turn
from monitor.scoring.assignment import assign
from monitor.scoring.distance import GAP
from monitor.scoring.sequence import crossing_free
from monitor.verdict import Report

COSTS = st.integers(1, 5).flatmap(
    lambda columns: st.lists(
        st.lists(st.integers(0, 9), min_size=columns, max_size=columns), min_size=1, max_size=5
    )
)


@given(COSTS)
def test_the_assignment_is_as_cheap_as_the_best_of_all(rows: list[list[int]]):
    costs = np.array(rows, dtype=float)
    count, columns = costs.shape
    smaller = min(count, columns)

    pairs = assign(costs)

    wide = costs if count <= columns else costs.T
    best = min(
        sum(wide[row, column] for row, column in enumerate(choice))
        for choice in permutations(range(wide.shape[1]), smaller)
    )
    assert len(pairs) == smaller
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == smaller
    assert sum(costs[row, column] for row, column in pairs) == best


@given(COSTS, st.booleans(), st.integers(0, 2**16))
def test_the_crossing_free_alignment_is_as_cheap_as_the_best_of_all(
    rows: list[list[int]], closed: bool, seed: int
):
    costs = np.array(rows, dtype=float) / 10
    gaps = np.array(
        [random.Random(seed + i).choice([0.05, 0.45, 0.5]) for i in range(len(rows[0]))]
    )

    def cheapest(row: int, column: int) -> float:
        """By trying every way to go on from a row and a column."""
        if column == costs.shape[1]:
            return (costs.shape[0] - row) * GAP * closed
        ways = [gaps[column] + cheapest(row, column + 1)]
        if row < costs.shape[0]:
            ways.append(costs[row, column] + cheapest(row + 1, column + 1))
            ways.append(GAP + cheapest(row + 1, column))
        return min(ways)

    pairs = crossing_free(costs, gaps, closed=closed)

    last = costs.shape[0] if closed else max((row + 1 for row, _ in pairs), default=0)
    spent = (
        sum(costs[row, column] for row, column in pairs)
        + GAP * (last - len(pairs))
        + sum(gap for i, gap in enumerate(gaps) if i not in {column for _, column in pairs})
    )
    assert all(a < b and c < d for (b, d), (a, c) in pairwise(pairs))
    assert spent == pytest.approx(cheapest(0, 0))


def test_an_empty_matrix_assigns_nothing():
    assert assign(np.empty((0, 3))) == []
    assert assign(np.empty((3, 0))) == []


def test_an_ordered_reference_is_aligned_without_crossings():
    report = evaluated(
        talk(call("a.x", {"k": 1}), call("a.z", {"k": 3}), call("a.w", {"k": 4})),
        listed(want("a.x", {"k": 1}), want("a.y", {"k": 2}), want("a.z", {"k": 3})),
    )

    assert [(v.verdict, v.detail) for v in report.turns] == [
        ("pass", None),
        ("fail", "omitted"),
        ("pass", None),
        ("fail", "uninvited"),
    ]


def test_another_action_in_the_same_place_is_a_replacement_not_two_faults():
    report = evaluated(
        talk(call("a.x"), call("a.other", {"k": 5}), call("a.z")),
        listed(want("a.x"), want("a.y", {"k": 5}), want("a.z")),
    )

    assert [v.detail for v in report.turns] == [None, "replaced", None]


def test_without_an_order_calls_pair_by_what_they_say():
    report = evaluated(
        talk(call("a.pay", {"to": "Ann", "amount": 5}), call("a.pay", {"to": "Bob", "amount": 9})),
        listed(
            want("a.pay", {"to": "Bob", "amount": 7}),
            want("a.pay", {"to": "Ann", "amount": 5}),
            ordered=False,
        ),
    )

    assert outcomes(report) == ["pass", "inconsistent_parameter_values"]
    assert report.turns[1].field == "amount"


def test_without_an_order_unlike_actions_are_no_replacement_and_omissions_come_last():
    report = evaluated(
        talk(call("a.cancel", {"order": 1}), reply("Cancelled.")),
        listed(want("a.refund", {"user": "Ann"}), ordered=False),
    )

    assert [(v.turn_no, v.detail) for v in report.turns] == [
        (1, "uninvited"),
        (2, None),
        (3, "omitted"),
    ]


GROUP = (
    want("a.x", {"k": 1}, group="g"),
    want("a.x", {"k": 2}, group="g"),
    want("b.y", {"k": 3}, group="g"),
)


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("in_pairs", [True, False])
@pytest.mark.parametrize("wrong", [{}, {1: 7}, {2: 9, 0: 8}])
def test_permuting_an_order_free_group_changes_no_verdict(
    order: tuple[int, ...], in_pairs: bool, wrong: dict[int, int]
):
    members = [
        call(f"{turn.tool_id}.{turn.action}", {"k": wrong.get(i, turn.args["k"])}, turn_id=f"{i}")
        for i, turn in enumerate(GROUP)
    ]
    gold = (want("a.start"), *GROUP, say("Done: 3."))

    def report(turns: list[Turn]) -> Report:
        reference = paired(*gold) if in_pairs else listed(*gold)
        return evaluated(talk(call("a.start"), *turns, reply("Done: 3.")), reference)

    straight, mixed = report(list(members)), report([members[index] for index in order])

    def by_id(found: Report) -> dict[str, tuple[str, str | None, str | None]]:
        return {v.turn_id: (v.verdict, v.failure_reason, v.field) for v in found.turns}

    assert by_id(mixed) == by_id(straight)
    assert mixed.success_rate == straight.success_rate


def test_order_counts_outside_the_group():
    gold = (want("a.x", {"k": 1}), want("b.y", {"k": 2}))
    swapped = talk(call("b.y", {"k": 2}), call("a.x", {"k": 1}))

    assert evaluated(swapped, listed(*gold)).test_pass is False
    assert evaluated(swapped, listed(*gold, ordered=False)).test_pass is True


class TestPlacement:
    """Calls and replies listed apart: an omitted call goes where it was due."""

    GOLD = (
        want("a.open", {"file": "one"}, {"state": "open"}),
        want("a.read", {"file": "one"}, {"text": "alpha"}),
        want("a.open", {"file": "two"}, {"state": "open"}),
        say("State: open; text: alpha."),
        say("State: open."),
    )
    FIRST = call("a.open", {"file": "one"}, {"state": "open"}, exchange=0)
    SECOND = call("a.open", {"file": "two"}, {"state": "open"}, exchange=1)

    def test_the_expected_reply_that_tells_its_result_shows_the_place(self):
        report = evaluated(
            talk(
                self.FIRST,
                reply("State: open.", exchange=0),
                self.SECOND,
                reply("State: open.", exchange=1),
            ),
            listed(*self.GOLD, interleaved=False),
        )

        assert outcomes(report) == [
            "pass",
            "action_mismatch",
            "prior_action_failed",
            "pass",
            "pass",
        ]

    def test_the_query_that_names_its_arguments_shows_the_place(self):
        gold = (want("a.open", {"file": "one"}), want("a.drop", {"file": "two"}), want("a.end"))
        turns = (
            call("a.open", {"file": "one"}, exchange=0),
            reply("Opened.", exchange=0),
            reply("Dropped.", exchange=1),
            call("a.end", exchange=2),
        )
        replies = (say("Opened."), say("Dropped."))

        report = evaluated(
            talk(*turns, queries=["open one", "drop two", "end"]),
            listed(*gold, *replies, interleaved=False),
        )

        assert [v.detail for v in report.turns] == [None, None, "omitted", None, None]


def test_replies_pair_in_sequence_and_further_ones_are_free():
    report = evaluated(
        talk(reply("Which one?"), reply("Total: 5."), reply("Bye.")),
        listed(say("Total: 5."), interleaved=False),
    )

    assert outcomes(report) == ["unscored", "pass", "unscored"]


def test_each_exchange_has_its_own_expected_reply_however_near_another_one_is():
    gold = (say("Saved: report."), say("Last line: 7."), say("Count: 3."))
    turns = (
        reply("Error: nothing there.", exchange=0),
        reply("Saved: report.", exchange=1),
        reply("Count: 3.", exchange=2),
    )

    report = evaluated(talk(*turns), listed(*gold, interleaved=False))

    assert [v.turn_type for v in report.turns] == ["response"] * 3
    assert [v.verdict for v in report.turns] == ["fail", "fail", "pass"]
    assert {v.detail for v in report.turns} == {None}


def test_of_several_replies_to_one_message_the_nearest_is_held_against_the_expected_one():
    turns = (reply("One moment.", exchange=0), reply("Total: 5.", exchange=0), reply("Bye."))

    report = evaluated(talk(*turns), listed(say("Total: 5."), interleaved=False))

    assert outcomes(report) == ["unscored", "pass", "unscored"]


def test_an_exchange_without_a_reply_lacks_its_own():
    gold = (want("a.x"), want("a.y"), want("a.z"), say("One."), say("Two."), say("Three."))
    turns = (
        call("a.x", exchange=0),
        reply("One.", exchange=0),
        call("a.y", exchange=1),
        call("a.z", exchange=2),
        reply("Three.", exchange=2),
    )

    report = evaluated(talk(*turns), listed(*gold, interleaved=False))

    assert [(v.turn_type, v.verdict, v.exchange) for v in report.turns] == [
        ("action", "pass", 0),
        ("response", "pass", 0),
        ("action", "pass", 1),
        ("response", "fail", 1),
        ("action", "pass", 2),
        ("response", "pass", 2),
    ]
    assert report.turns[3].detail == "omitted"


def test_an_omitted_call_belongs_to_the_exchange_of_the_reply_that_it_was_due_for():
    gold = (want("a.open", {"file": "one"}), want("a.drop", {"file": "two"}))
    turns = (
        call("a.open", {"file": "one"}, exchange=0),
        reply("Opened.", exchange=0),
        reply("Dropped.", exchange=1),
    )

    report = evaluated(
        talk(*turns, queries=["open one", "drop two"]),
        listed(*gold, say("Opened."), say("Dropped."), interleaved=False),
    )

    assert [(v.detail, v.exchange) for v in report.turns] == [
        (None, 0),
        (None, 0),
        ("omitted", 1),
        (None, 1),
    ]


def test_a_sub_agents_calls_need_no_partner():
    report = evaluated(
        talk(call("a.ask", {"q": 1}), call("b.inner", {"k": 1}, depth=1)),
        listed(want("a.ask", {"q": 1})),
    )

    assert outcomes(report) == ["pass", "unscored"]


def test_an_unknown_write_counts_as_one_where_its_name_is_expected():
    gold = listed(want("shop.buy", {"item": 7}), scope="writes", ordered=False)

    report = evaluated(
        talk(
            call("shop.find", {"q": 1}),
            call("shop.buy", {"item": 7}),
            call("shop.buy", {"item": 8}),
        ),
        gold,
    )

    assert outcomes(report) == ["unscored", "pass", "action_mismatch"]


def test_a_contract_that_says_it_reads_keeps_a_call_out_of_a_list_of_writes():
    gold = listed(want("shop.buy", {"item": 7}), scope="writes", ordered=False)
    tools = [tool("shop.buy", {"item": {}}, writes=False)]

    assert outcomes(evaluated(talk(call("shop.buy", {"item": 7})), gold, tools=tools)) == [
        "pass",
        "action_mismatch",
    ]


@given(st.integers(0, 2**32), st.integers(1, 12))
def test_turns_keep_their_order_and_every_turn_stands_once(seed: int, count: int):
    rng = random.Random(seed)
    names = ["a.x", "a.y", "b.z"]

    def args() -> dict[str, int]:
        return {"k": rng.randrange(3)}

    turns = [
        reply(f"Total: {rng.randrange(3)}.", exchange=i)
        if rng.random() < 0.3
        else call(rng.choice(names), args(), exchange=i, turn_id=f"t{i}")
        for i in range(count)
    ]
    gold = [
        say(f"Total: {rng.randrange(3)}.")
        if rng.random() < 0.3
        else want(rng.choice(names), args(), group=rng.choice([None, None, "g"]))
        for _ in range(rng.randrange(8))
    ]
    reference = listed(*gold, ordered=rng.random() < 0.6, interleaved=rng.random() < 0.5)

    report = evaluated(talk(*turns), reference)

    real = [v.turn_id for v in report.turns if v.detail != "omitted"]
    assert real == [turn.turn_id for turn in turns]
    assert len({v.turn_id for v in report.turns if v.detail == "omitted"}) == sum(
        v.detail == "omitted" for v in report.turns
    )
    answered = [v for v in report.turns if v.detail != "omitted" and v.basis == "gold"]
    assert len(gold) <= len(answered) + sum(v.detail == "omitted" for v in report.turns)


def test_while_more_may_come_a_wrong_call_stands_for_the_next_expected_one():
    gold = (want("a.x"), want("a.y"), want("a.z"), want("b.w", {"k": 1}))
    conversation = talk(call("a.x"), call("b.w", {"k": 1}))

    still_open = evaluated(conversation, listed(*gold), closed=False)
    skipped_one = evaluated(talk(call("a.x"), call("a.z")), listed(*gold), closed=False)

    assert [v.detail for v in still_open.turns] == [None, "replaced"]
    assert outcomes(skipped_one) == ["pass", "pass"]
