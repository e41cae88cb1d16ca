"""What a message of one agent to the others says about itself."""

from __future__ import annotations

import pytest
from talking import CODE, TRACE, account

from monitor.scoring.delegation.texts import (
    Ledger,
    exit_code,
    is_nothing,
    ledger,
    saying,
    specifics,
)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("assumes", "Let us assume a price of 12 dollars."),
        ("assumes", "This is a simulation, with values for demonstration."),
        ("assumes", "From general knowledge it is 0.10 dollars."),
        ("makes_up", f"It reads this file. {CODE[:-3]}# placeholder values\n```"),
        ("crashes", f"Error processing message\n{TRACE}"),
        ("meets_limit", "Max rounds (30) reached."),
        ("meets_limit", "The recursion limit of 25 was reached."),
        ("gives_up", "Unfortunately I can\u2019t complete this."),
        ("promises", "I will now visit the website."),
        ("closes", "TERMINATE"),
        ("closes", "Done."),
        ("closes", "It is 12. FINAL ANSWER: 12"),
        ("declares", "Request satisfied."),
        ("cites", "See https://example.org for it."),
        ("has_code", CODE),
        ("asks_to_run", f"Let us run the script below. {CODE}"),
    ],
)
def test_a_message_says_it(said: str, text: str):
    assert getattr(saying(text), said)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("assumes", "We resumed the consumption of mockingbird data."),
        ("assumes", "```python\n# assume that it is there\n```"),
        ("makes_up", "The data were simulated by nobody."),
        ("crashes", f"It failed with this: ```\n{TRACE}\n```"),
        ("crashes", "A traceback would help here."),
        ("meets_limit", "We reached the second round, with a limit of four."),
        ("gives_up", "It cannot be denied that this is complete."),
        ("promises", "You will now visit the website."),
        ("closes", "The final score was told by the determined coach."),
        ("declares", "I doubt that the request is satisfied."),
        ("cites", "The http protocol is old."),
        ("has_code", "Use `print` for it."),
        ("asks_to_run", "Please run to the shop."),
        ("asks_to_run", f"This is what was wanted. {CODE}"),
    ],
)
def test_a_message_that_only_sounds_like_it_does_not_say_it(said: str, text: str):
    assert not getattr(saying(text), said)


def test_a_leaders_account_is_read_whole_or_broken():
    whole = account(satisfied=True, instruction="Please scroll down.")
    broken = whole[:-3] + " UserWarning: model mismatch"

    assert ledger(whole) == ledger(broken) == Ledger(True, stalled=False, open_work=True)
    assert ledger(account(loop=True)) == Ledger(False, stalled=True, open_work=False)
    assert ledger(account(progress=False)) == Ledger(False, stalled=True, open_work=False)


@pytest.mark.parametrize("text", ["", "Next speaker Surfer", '"is_request_satisfied": ', "{}"])
def test_what_is_no_account_is_none(text: str):
    assert ledger(text) is None


def test_specifics_are_the_numbers_and_names_of_the_prose():
    text = "By 2020 the town of Saint Denis had 1,234.5 people.\n```python\nx = 9876\n```"

    assert specifics(text) == {"2020", "saint denis", "1234.5"}
    assert specifics("Of 7 towns <PHONE:123456> is one.") == {"<PHONE:123456>"}


@pytest.mark.parametrize(
    "printed", ["", "exitcode: 0 (execution succeeded)\nCode output: \n", "[]", " None\n", "{}"]
)
def test_a_run_may_print_nothing(printed: str):
    assert is_nothing(printed)


@pytest.mark.parametrize("printed", ["0", "exitcode: 0 (execution succeeded)\nCode output: 4"])
def test_a_run_that_prints_something_says_it(printed: str):
    assert not is_nothing(printed)


def test_a_report_of_a_run_tells_its_exit_code():
    assert exit_code("exitcode: 0 (execution succeeded)\nCode output: 4") == 0
    assert exit_code("exitcode: 124 (execution failed)") == 124
    assert exit_code("The exitcode: 0 came as a surprise.") is None
    assert exit_code("exitcode: " + "9" * 5000) == 255
