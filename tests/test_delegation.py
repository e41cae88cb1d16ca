"""Whom to suspect in a talk among agents, and when the suspect fails."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from evaluating import evaluated, paired, say
from talking import CODE, TRACE, account, conversation, ran, said

from monitor.codec import report_line
from monitor.model import Conversation, Turn
from monitor.scoring.delegation.suspects import inner_turns, suspicions


def test_the_author_of_the_code_that_failed_is_suspected():
    talk = conversation(
        said("Planner", "Please find the winner."),
        said("Coder", f"I wrote this. {CODE}"),
        ran("exitcode: 1 (execution failed)\nNameError", error=True),
        said("Checker", "It did not work, we stay with the old list."),
        said("Planner", "All right, let us go on with that."),
    )

    (suspicion,) = suspicions(talk).values()

    # Code 0.5 and the failed run 1.25, against three lines that nothing speaks against.
    assert suspicion.turn == 1
    assert suspicion.signals == {"wrote_code", "run_failed"}
    assert suspicion.probability == pytest.approx(math.exp(1.75) / (math.exp(1.75) + 3), abs=1e-4)


def test_a_call_that_an_agent_made_itself_is_its_own():
    failing = ran("no such table", error=True, args={"query": "winner"}, agent="Searcher")
    talk = conversation(
        said("Planner", "Please find the winner."),
        failing,
        said("Searcher", "I did not find a thing in the table."),
        said("Checker", "Then we stay with the old list."),
    )

    assert list(suspicions(talk)) == [2]


def test_an_assumption_in_place_of_a_look_is_suspected():
    talk = conversation(
        said("Planner", "Please find the price."),
        said("Seller", "We have no price, so let us assume that it is the usual one."),
        said("Checker", "That is verified."),
    )

    assert list(suspicions(talk)) == [1]


def test_what_opens_the_talk_may_hand_on_the_tasks_own_assumptions():
    talk = conversation(
        said("Planner", "Assume that nothing changed, and find the price of 1200 units."),
        said("Seller", "I shall ask."),
        said("Checker", "Good."),
    )

    (suspicion,) = suspicions(talk).values()

    assert suspicion.signals == frozenset()


def test_of_lines_that_nothing_tells_apart_the_first_with_two_neighbours_is_suspected():
    talk = conversation(*[said(agent, "One thing and another.") for agent in "ABCD"])

    (suspicion,) = suspicions(talk).values()

    assert (suspicion.turn, suspicion.ending) == (1, None)
    assert suspicion.probability == pytest.approx(1 / 4)


def led(*rounds: str, judged: str, end: str = "Request satisfied.") -> tuple[Turn, ...]:
    turns: list[Turn] = [said("Lead", "Plan: Surfer looks it up.")]
    for answer in rounds:
        turns += [said("Lead", "Next speaker Surfer"), said("Surfer", answer)]
        turns.append(said("Lead", judged))
    return (*turns, said("Lead", end))


def test_of_fruitless_rounds_the_first_answer_is_suspected():
    stalled = account(progress=False)
    talk = conversation(*led("Page one.", "Page two.", "Page three.", judged=stalled))

    (suspicion,) = suspicions(talk).values()

    assert (suspicion.turn, suspicion.signals) == (2, {"reported"})


def test_a_worker_whose_tool_failed_is_suspected_before_the_others():
    talk = conversation(
        said("Lead", "Plan: Surfer looks it up, then Writer writes it down."),
        said("Surfer", "The winner is Ann."),
        said("Lead", "Thank you. Now Writer, please write it down in the file."),
        ran("disk full", error=True, args={"path": "a.txt"}, agent="Writer"),
        said("Writer", "I have written what I could."),
        said("Lead", "Then we are done, I think."),
        said("Lead", "FINAL ANSWER: Ann"),
    )

    (suspicion,) = suspicions(talk).values()

    assert (suspicion.turn, suspicion.signals) == (4, {"reported", "run_failed"})
    assert suspicion.ending == "error_left"


def test_the_answer_that_the_leader_accepted_is_suspected_before_a_quiet_one():
    turns = [
        said("Lead", "Plan: Surfer looks it up."),
        said("Surfer", "The list is on the next page."),
        said("Lead", account(instruction="Please open the next page.")),
        said("Surfer", "The winner is Ann."),
        said("Lead", account(satisfied=True)),
        said("Lead", "FINAL ANSWER: Ann"),
    ]

    (suspicion,) = suspicions(conversation(*turns)).values()

    assert (suspicion.turn, suspicion.signals) == (3, {"reported", "accepted"})
    assert suspicion.ending is None


def test_a_crash_is_suspected_unless_the_work_had_stalled_before():
    def suspect(judged: str) -> int:
        talk = led("Page one.", judged=judged, end=f"Next speaker Surfer\n{TRACE}")
        return next(iter(suspicions(conversation(*talk))))

    assert suspect(account()) == 4
    assert suspect(account(progress=False)) == 2


def test_work_declared_done_while_an_instruction_stands_is_suspected():
    judged = account(satisfied=True, instruction="Please count the revisions before April.")
    talk = conversation(*led("Here is the history page.", judged=judged))

    (suspicion,) = suspicions(talk).values()

    assert (suspicion.turn, suspicion.ending) == (4, "open_work")


def test_a_suspicion_alone_fails_nobody_and_is_named_where_nothing_was_scored():
    talk = conversation(
        said("Planner", "Please find the price."),
        said("Seller", "Let us assume the usual price."),
        said("Checker", "Verified. TERMINATE"),
    )

    report = evaluated(talk)

    assert [turn.verdict for turn in report.turns] == ["unscored"] * 3
    assert [turn.suspicion is None for turn in report.turns] == [True, False, True]
    assert (report.first_failure_turn, report.test_pass, report.root_cause) == (2, None, None)


def test_a_suspect_fails_where_the_talk_itself_shows_a_failure():
    talk = conversation(
        said("Planner", "Please find the price."),
        said("Coder", f"This looks it up. {CODE}"),
        ran("exitcode: 1 (execution failed)\nTimeout", error=True),
        said("Checker", "Then it is 12 dollars, as everybody knows. TERMINATE"),
    )

    report = evaluated(talk)

    assert [turn.verdict for turn in report.turns] == ["unscored", "fail", "unscored", "unscored"]
    failed = report.turns[1]
    assert (failed.failure_reason, failed.detail) == ("incomplete_response", "unanswered")
    assert (failed.basis, failed.why, failed.findings[0].actual) == ("evidence", None, "error_left")
    assert failed.scores == {"completeness": pytest.approx(1 - (failed.suspicion or 0))}
    assert (report.first_failure_turn, report.root_cause_count, report.test_pass) == (2, 1, False)


def test_an_invention_fails_as_inconsistent():
    talk = conversation(
        said("Planner", "Please find the price."),
        said("Seller", "There is none, so I use mock data and assume 12 dollars."),
        said("Checker", "Verified. TERMINATE"),
    )

    failed = evaluated(talk).turns[1]

    assert (failed.failure_reason, failed.detail) == ("inconsistent_response", "invented")
    assert failed.findings[0].actual == "made_up_data"


def test_nobody_is_suspected_before_the_end_nor_where_a_reference_decides():
    talk = conversation(said("A", "One thing."), said("B", "Two things."), said("C", "A third."))

    assert evaluated(talk, closed=False).first_failure_turn is None
    whole = evaluated(talk, paired(*[say(turn.text or "") for turn in talk.turns]))
    assert [turn.verdict for turn in whole.turns] == ["pass"] * 3
    assert all(turn.suspicion is None for turn in whole.turns)


def test_a_single_agents_answers_are_no_talk():
    turns: list[Turn] = [
        said("Shop", "Which size?"),
        ran("ok", args={"size": 3}),
        said("Shop", "It is sent."),
    ]
    later = [said("Shop", "Anything else?", exchange=1), said("Shop", "Bye.", exchange=2)]

    report = evaluated(conversation(*turns, *later, queries=("A coat.", "No.", "Bye.")))

    assert report.first_failure_turn is None
    assert all(turn.suspicion is None for turn in report.turns)


def test_a_talk_that_was_not_wholly_captured_suspects_nobody():
    for dim in (said("B", None), said("B", "cut", truncated=True)):
        assert not suspicions(conversation(said("A", "One thing."), dim, said("C", "A third.")))


def test_each_talk_of_a_conversation_has_its_own_suspect():
    first = [said(agent, "A word of it.") for agent in "ABC"]
    second = [
        said("A", "Another word.", exchange=1),
        said("B", "I assume that it is so.", exchange=1),
        said("C", "Good.", exchange=1),
    ]

    assert list(suspicions(conversation(*first, *second, queries=("One?", "Two?")))) == [1, 4]


def test_rules_for_single_agents_leave_the_lines_of_a_talk_and_its_bare_runs_alone():
    talk: list[Turn] = [
        said("A", "Look."),
        ran("exit"),
        ran("12", args={"order": "x1"}),
        said("B", "Found."),
    ]
    alone = [said("A", "Hello.", exchange=1)]

    found = inner_turns(conversation(*talk, said("A", "Good."), *alone, queries=("?", "Hi")))

    assert found == {0, 1, 3, 4}


def test_names_of_agents_and_order_of_equal_ones_do_not_matter():
    lines = ("I assume so.", "A plain word.", "Another word.")
    chosen = set()
    for names in permutations(["A", "B", "C"]):
        talk = [said("Z", "Begin now.")]
        talk += [said(name, text) for name, text in zip(names, lines, strict=True)]
        chosen.add(next(iter(suspicions(conversation(*talk)))))

    assert chosen == {1}


def test_equal_talks_give_equal_reports():
    talk = conversation(*led("Page one.", "Page two.", judged=account(progress=False)))

    assert report_line(evaluated(talk)) == report_line(evaluated(talk))


HOSTILE = [
    "",
    " " * 3000,
    "```" * 999,
    '"is_request_satisfied"' * 500,
    '{"is_request_satisfied": {"answer": "' + '\\"' * 2000,
    "A" * 2000 + " Aa" * 1000,
    "1,." * 2000,
    "\n" * 2000 + "\t" * 2000 + "x",
    "exit code: " + "9" * 3000,
    "TERMINATE\x00\ud800 \u202e" * 100,
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_gives_a_verdict_like_any_other(text: str):
    talk = conversation(
        said("Lead", text), said("B", text), ran(text, error=True), said("Lead", f"B {text}")
    )

    for found in suspicions(talk).values():
        assert 0 <= found.probability <= 1


def test_the_work_grows_with_the_talk_not_with_its_square():
    words = "The page shows 12,345 rows of Some Long Name, please look at it again. "
    turns = [said(f"Agent {at % 7}", words * 3) for at in range(10_000)]

    (suspicion,) = suspicions(conversation(*turns)).values()

    assert 0 <= suspicion.probability <= 1
    assert suspicion.turn < 10_000


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt") as file:
        yield from map(json.loads, file)


def talk_of(dialog: dict[str, Any]) -> Conversation:
    turns: list[Turn] = []
    for turn in dialog["turns"]:
        if turn["turn"] == "Agent":
            turns.append(said(turn["agent"], turn["predict_turn"]["response"] or ""))
        else:
            turns.append(ran(turn["result"] or "", error=turn["is_error"]))
    return conversation(*turns, queries=(dialog["meta"].get("question"),))


@pytest.mark.parametrize(
    ("name", "exact", "agent"), [("whowhen", 0.34, 0.64), ("agentrx_magentic_one", 0.39, 0.67)]
)
def test_many_suspects_are_those_that_people_named(
    shared_data: Path, name: str, exact: float, agent: float
):
    """Floors under what was measured, so that only a broken rule falls through them."""
    folder = shared_data / "trajectories" / name
    labels = {label["dialog_id"]: label for label in lines(folder / "labels.jsonl.gz")}
    right = same = total = 0
    for dialog in lines(folder / "dialogs.jsonl.gz"):
        label = labels[dialog["dialog_id"]]
        named = (label.get("root_cause_turn") or label["first_failure_turn"]) - 1
        agents = [turn.get("agent") for turn in dialog["turns"]]
        total += 1
        for at in suspicions(talk_of(dialog)):
            right += at == named
            same += agents[at] == agents[named]

    assert right >= exact * total
    assert same >= agent * total
