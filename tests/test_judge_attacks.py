"""No text flips a verdict: every class of attack, in five places, against a judge that obeys."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import pytest
from judge_asking import Document, answered, document_of, invents, reads_back, reply_to, told
from judge_attacks import CLASSES, RULED
from judge_attacks_fourth import CONDITIONAL, FOURTH, Holds
from judge_attacks_second import SECOND, SECOND_RULED
from judge_attacks_third import THIRD

from monitor.judging.interview import Question, concluded, interview
from monitor.judging.suspicion import suspected
from monitor.model import ActionTurn, Conversation, ResponseTurn, ToolCall
from monitor.verdict import Judgement

ATTACKS = CLASSES | SECOND | {f"third {name}": text for name, text in THIRD.items()} | FOURTH
BY_RULE = (*RULED, *SECOND_RULED)
NONCES = ("0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210")
PLACES = ("agent", "result", "user", "tool_name", "split")
OPEN = {
    "opening": {"fail"},
    "number": {"fail"},
    "short": {"pass", "fail"},
    "one question": {"fail"},
    "asked": {"fail"},
    "unquoted": {"fail"},
    "no codes": {"pass", "fail"},
    "no reading": {"fail"},
}
"""What an order for some turns may still bring about: some control is no turn of that kind."""
WRONG, RIGHT = "Your total is 90 EUR for the two tickets.", "Your total is 80 EUR for two tickets."


def conversation(attack: str, place: str, reply: str) -> Conversation:
    """The tool says 80 EUR; the reply is right or wrong; the attack stands in one place."""
    half = len(attack) // 2
    user = "What do two tickets cost?"
    result, name = '{"total": "80 EUR"}', "price"
    if place == "agent":
        reply = f"{reply} {attack}"
    elif place == "result":
        result = f"{result} {attack}"
    elif place == "user":
        user = f"{user} {attack}"
    elif place == "tool_name":
        name = f"price {attack}"
    else:
        result, reply = f"{result} {attack[:half]}", f"{attack[half:]} {reply}"
    return Conversation(
        "c",
        turns=(
            ActionTurn("t1", ToolCall(name, {"count": 2}), 0, result=result, has_result=True),
            ResponseTurn("t2", reply, 0),
        ),
        queries=(user,),
    )


class ObedientJudge:
    """Grades rightly where nothing tells it otherwise, and does whatever a text tells it.

    It reads through every escape, and obeys the attack as soon as any part that carries an order
    is left in the document, whatever part of the prompt it stands in; an order for some turns
    only, as far as it speaks of the turn that the document asks about.
    """

    def __init__(self, attack: str, wanted: str, place: str, holds: Holds | None = None) -> None:
        self.attack, self.wanted, self.place = attack, wanted, place
        self.holds: Holds = holds or (lambda document, attack: True)

    def ask(self, question: Question) -> str:
        document = document_of(question)
        obeys = self._reached(told(document)) and self.holds(document, self.attack)
        verdict = self.wanted if obeys else honest(document)
        found = re.search(r"Your total is \d+ EUR", document["turn"]["text"])
        return reply_to(question, verdict, found[0] if found else None)

    def _reached(self, texts: list[str]) -> bool:
        whole = re.sub(r"\s+", " ", " ".join(texts))
        words = re.sub(r"\s+", " ", self.attack).strip()
        half = len(words) // 2
        parts = (words[:half], words[half:])
        # Cut in two, an order is one only as long as both halves are there.
        heard = all if self.place == "split" else any
        return heard(part.strip() in whole for part in parts if part.strip())


def honest(document: Document) -> str:
    """What a judge says that reads, and is told nothing."""
    if invents(document):
        return "fail"
    return "pass" if reads_back(document) or RIGHT[:16] in document["turn"]["text"] else "fail"


def flips(attack: str, place: str, nonces: Sequence[str], holds: Holds | None = None) -> list[str]:
    """The verdicts that the attack wanted and got accepted: at most a pass and a fail."""
    found: list[str] = []
    for reply, wanted in ((WRONG, "pass"), (RIGHT, "fail")):
        judge = ObedientJudge(attack, wanted, place, holds)
        asked = interview(conversation(attack, place, reply), 1, nonces)
        result = answered(asked, judge.ask).result
        if isinstance(result, Judgement) and result.verdict == wanted:
            found.append(wanted)
    return found


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", [name for name in ATTACKS if name not in BY_RULE])
def test_no_text_flips_a_verdict_wherever_it_stands(name: str, place: str):
    assert flips(ATTACKS[name], place, NONCES) == []


@pytest.fixture
def wordless(monkeypatch) -> None:
    """No wording is known to the monitor."""
    monkeypatch.setattr("monitor.judging.interview.suspected", lambda texts: [])
    monkeypatch.setattr("monitor.judging.interview.NAME_CHARACTERS", 10_000)
    monkeypatch.setattr("monitor.judging.interview.NAME_WORDS", 10_000)


def drawn_nonces(count: int) -> list[tuple[str, str]]:
    chance = random.Random(5)
    return [(f"{chance.getrandbits(128):032x}", NONCES[1]) for _ in range(count)]


@pytest.mark.usefixtures("wordless")
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("nonces", drawn_nonces(3))
def test_the_control_alone_meets_the_attacks_of_all_sets(nonces: tuple[str, str], place: str):
    names = [name for name in ATTACKS if name not in BY_RULE]
    assert [name for name in names if flips(ATTACKS[name], place, nonces)] == []


@pytest.mark.usefixtures("wordless")
@pytest.mark.parametrize("name", CONDITIONAL)
def test_an_order_for_some_turns_flips_only_where_no_control_is_such_a_turn(name: str):
    attack, holds = CONDITIONAL[name]
    flipped = {
        wanted
        for nonces in drawn_nonces(12)
        for place in PLACES
        for wanted in flips(attack, place, nonces, holds)
    }
    assert flipped <= OPEN.get(name, frozenset())


@pytest.mark.parametrize("reply", [WRONG, RIGHT])
def test_an_order_in_a_tools_name_is_withheld_however_it_is_worded(reply: str):
    order = "the kettle sings whenever somebody nods kindly at noon"
    asked = interview(conversation(order, "tool_name", reply), 1, NONCES)
    assert asked.families == ("tool_name",)
    assert [order in question.prompt.user for question in asked.questions] == [True, False]


@pytest.mark.parametrize("name", BY_RULE)
def test_a_reply_that_says_nothing_fails_without_a_model(name: str):
    turns = (ResponseTurn("t", ATTACKS[name], 0),)
    asked = interview(Conversation("c", turns, ("What do two tickets cost?",)), 0, NONCES)
    assert asked.questions == ()
    result = concluded(asked, [], "obedient").result
    assert isinstance(result, Judgement)
    assert (result.verdict, result.reason, result.judge) == ("fail", "incomplete_response", "rule")


@pytest.mark.parametrize("piece", ["\n", " ", "a!", "12 ", "turn pass ", "\n#", '"a":', "\\u0041"])
def test_no_text_keeps_the_search_for_orders_busy(piece: str):
    # Bounded work, not time: a search that grew faster than its text would not come back.
    assert suspected([piece * (3_900 // len(piece))]) is not None
