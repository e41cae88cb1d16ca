"""A whole interview put to a scripted judge, its control with it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from monitor.judging.control import Controlled, control, upheld
from monitor.judging.interview import Answer, Interview, Question, concluded
from monitor.judging.sight import CUT
from monitor.judging.suspicion import REMOVED

Document = dict[str, Any]
PLANTED = re.compile(r"[A-Z]{2}-\d{5}|\b\d{4}\.\d{2}\b")


def answered(
    asked: Interview,
    ask: Callable[[Question], str],
    nonce: str = "00112233445566778899aabbccddeeff",
    when: Controlled = "always",
) -> Answer:
    """What the interview comes to when `ask` answers every question of it."""
    answer = concluded(asked, [ask(question) for question in asked.questions], "scripted")
    put = control(asked, answer, nonce, when)
    return answer if put is None else upheld(answer, put, ask(put.question))


def document_of(question: Question) -> Document:
    document: Document = json.loads(question.prompt.user.partition("\n\nnonce: ")[0])
    return document


def told(document: Document) -> list[str]:
    """All that stands in the document, in order."""
    return [item["text"] for item in (*document["evidence"], document["turn"])]


def invents(document: Document) -> bool:
    """Whether the turn names a code or an amount that its evidence does not hold."""
    held = " ".join(item["text"] for item in document["evidence"])
    return any(found not in held for found in PLANTED.findall(document["turn"]["text"]))


def reads_back(document: Document) -> bool:
    """Whether the turn is what the item before it holds, word for word."""
    if not document["evidence"]:
        return False
    before, turn = document["evidence"][-1], document["turn"]
    if turn["role"] == "call":
        given = json.loads(turn["text"].partition(" ")[2] or "{}")
        return before["role"] == "user" and all(
            isinstance(value, str) and value in before["text"] for value in given.values()
        )
    if before["role"] != "result" or not before["text"].startswith("{"):
        return False
    try:
        values = json.loads(before["text"]).values()
    except ValueError:
        return False
    return all(isinstance(value, str) and value in turn["text"] for value in values)


def reply_to(question: Question, verdict: str, quote: str | None = None) -> str:
    """A reply in the right form; it quotes the longest piece of the turn that nothing cut."""
    turn = document_of(question)["turn"]
    if quote is None:
        parts = re.split(f"{re.escape(REMOVED)}|{re.escape(CUT)}", turn["text"])
        quote = max((part.strip() for part in parts), key=len)[:100]
    return json.dumps(
        {
            "nonce": question.nonce,
            "verdict": verdict,
            "reason": "inconsistent_response" if verdict == "fail" else None,
            "field": None,
            "score": 0.9 if verdict == "pass" else 0.1,
            "quote": quote,
            "source": turn["number"],
            "upstream": None,
        }
    )
