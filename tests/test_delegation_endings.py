"""How a talk among agents shows that it ended badly, and what only looks like it."""

from __future__ import annotations

import msgspec
import pytest
from talking import CODE, TRACE, account, conversation, ran, said, transcript

from monitor.model import Turn
from monitor.scoring.delegation.endings import ending
from monitor.scoring.delegation.transcript import transcripts

OPENING = said("Planner", "Please find the winner of the year.")
GOOD = ran("exitcode: 0 (execution succeeded)\nCode output: Ann")
BAD = ran("exitcode: 1 (execution failed)\nNameError", error=True)
NOTHING_TO_RUN = ran("There is no code from the last message for me to execute.")
CODER = said("Coder", f"This will tell. {CODE}")
DONE = said("Checker", "The winner is Ann, as the run has shown. TERMINATE")


def led(*last: Turn, judged: str = "") -> list[Turn]:
    return [
        said("Lead", "Plan: Surfer looks it up."),
        said("Lead", "Please look it up."),
        said("Surfer", "The winner is Ann."),
        said("Lead", judged or account(satisfied=True)),
        *last,
    ]


@pytest.mark.parametrize(
    "turns",
    [
        [OPENING, CODER, GOOD, DONE],
        [OPENING, CODER, BAD, CODER, GOOD, DONE],
        [OPENING, CODER, GOOD, DONE, NOTHING_TO_RUN, said("Checker", "TERMINATE")],
        [OPENING, said("Poet", "Roses are red."), said("Critic", "A fine poem, well done.")],
        [OPENING, said("Critic", "Which language?"), CODER],
        [OPENING, said("Critic", "Go on please."), CODER, GOOD],
        [OPENING, CODER, GOOD, said("Analyst", "It printed this: ```\nweek,count\n46,11\n```")],
        [OPENING, CODER, GOOD, said("Coder", f"This is the function that you wanted. {CODE}")],
        [OPENING, said("Coder", f"The cause was this: ```{TRACE}```"), DONE],
        [OPENING, said("Coder", "A max of 3 rounds is played in boxing."), DONE],
        led(said("Lead", "Request satisfied."), said("Lead", "FINAL ANSWER: Ann")),
    ],
)
def test_a_talk_that_shows_no_failure_has_no_bad_ending(turns: list[Turn]):
    assert ending(transcript(*turns)) is None


@pytest.mark.parametrize(
    ("shown", "turns"),
    [
        ("crashed", [OPENING, CODER, said("Checker", f"Error processing\n{TRACE}")]),
        ("crashed", led(said("Lead", f"Next speaker Surfer\n{TRACE}\nFINAL ANSWER: Ann"))),
        ("limit_reached", led(said("Lead", "Max rounds (30) reached.\nFINAL ANSWER: Ann"))),
        ("limit_reached", [OPENING, CODER, said("Checker", "Recursion limit of 25 reached.")]),
        ("broke_off", [OPENING, CODER, GOOD, said("Checker", f"Once more. {CODE}"), GOOD]),
        ("broke_off", [OPENING, CODER, GOOD, said("Checker", f"Please run this again. {CODE}")]),
        ("broke_off", [OPENING, CODER, GOOD, said("Checker", "I will check it, please hold on.")]),
        ("broke_off", led(judged=account())[:3]),
        ("gave_up", [OPENING, CODER, GOOD, said("Coder", "I am unable to complete the task.")]),
        ("gave_up", [OPENING, CODER, GOOD, said("Coder", "The year could not be determined.")]),
        ("error_left", [OPENING, CODER, BAD, DONE]),
        ("error_left", [OPENING, CODER, GOOD, CODER, BAD, DONE]),
        ("error_left", [OPENING, CODER, BAD, DONE, NOTHING_TO_RUN, DONE]),
        ("made_up_data", [OPENING, said("Coder", "Let us use mock data then."), GOOD, DONE]),
        ("made_up_data", [OPENING, said("Coder", "We simulate the numbers."), DONE, DONE]),
    ],
)
def test_a_bad_ending_is_told_by_its_kind(shown: str, turns: list[Turn]):
    assert ending(transcript(*turns)) == shown


def test_what_a_trace_that_broke_off_lacks_is_not_held_against_the_talk():
    turns: list[Turn] = [
        *(OPENING, CODER, GOOD),
        said("Checker", "I will check it, please hold on."),
    ]
    cut = msgspec.structs.replace(conversation(*turns), broken_off=(0,))

    assert ending(transcript(*turns)) == "broke_off"
    assert [ending(talk) for talk in transcripts(cut)] == [None]


def test_an_agent_that_only_runs_code_speaks_through_its_runs():
    failed = said("Runner", "exitcode: 1 (execution failed)\nCode output: NameError")
    passed = said("Runner", "exitcode: 0 (execution succeeded)\nCode output: Ann")

    assert ending(transcript(OPENING, CODER, failed, DONE)) == "error_left"
    assert ending(transcript(OPENING, CODER, failed, CODER, passed, DONE)) is None
    assert [line.agent for line in transcript(OPENING, CODER, passed, DONE).lines] == [
        "Planner",
        "Coder",
        "Checker",
    ]


def test_a_planner_its_searcher_and_its_analyst_may_finish_in_peace():
    search = ran("Haslem: 844, Wade: 1397", args={"query": "points"}, agent="Searcher")
    change = ran("85.98", args={"start": 214, "end": 398}, agent="Analyst")
    talk = transcript(
        said("Planner", "1. Searcher: find the best player. 2. Analyst: compute the change."),
        search,
        said("Searcher", "The best was Wade with 1397. Next, I will search for his rebounds."),
        ran("214, then 398", args={"query": "rebounds of Wade"}, agent="Searcher"),
        said("Searcher", "He had 214, then 398."),
        change,
        said("Analyst", "85.98"),
        said("Planner", "It was Wade, and the change is 85.98 %. TERMINATE"),
    )

    assert ending(talk) is None


def test_work_is_left_open_where_the_last_account_still_gives_an_instruction():
    satisfied = account(satisfied=True, instruction="Please count the revisions until April.")
    answered = account(satisfied=True, instruction="The winner is Ann, who was there in April.")
    end = said("Lead", "Request satisfied.")

    assert ending(transcript(*led(end, judged=satisfied))) == "open_work"
    assert ending(transcript(*led(end, judged=answered))) is None
    later = [end, said("Lead", account(satisfied=True)), end]
    assert ending(transcript(*led(*later, judged=satisfied))) is None


def test_data_may_be_made_up_and_errors_shown_for_a_user_who_asks_for_them():
    made_up = [OPENING, said("Coder", "Here is mock data."), DONE]
    crash = [OPENING, said("Coder", "It comes from line one."), said("Checker", f"Yes:\n{TRACE}")]

    assert ending(transcript(*made_up, query="Give me some mock data.")) is None
    assert ending(transcript(*crash, query=f"What is this?\n{TRACE}")) is None
    assert ending(transcript(*crash, query="What is this?")) == "crashed"
