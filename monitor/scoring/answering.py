"""Does a reply answer at all? Questions left open, and machinery shown in place of an answer."""

from __future__ import annotations

import re
from typing import Final

from monitor.model import JsonValue
from monitor.scoring.assertions import Fields
from monitor.scoring.known import values_of
from monitor.scoring.words import TEXT_LIMIT, tokens

QUERY_LIMIT: Final = 4_000
"""Characters at the end of a message that its questions are looked for in."""
QUESTION_LIMIT: Final = 600
"""Characters at the end of a message that the question is looked for in."""

_ANSWERS: Final = ("answer", "final_answer", "final")
_THOUGHTS: Final = ("think", "thinking", "thought")
_CALL: Final = re.compile(
    r"<(?:tool_call|function_call|function=)|<\|(?:tool_call|python_tag)", re.I
)
_ABOUT_MARKS: Final = re.compile(
    r"\b(?:explain|what (?:is|are|do|does)|how (?:do|does|to|is|are)|example|show|write|document)\b"
    r"[^.!?]{0,80}<\|?(?:tool|function)_",
    re.I,
)
_RESULT: Final = re.compile(r"<(?:tool_response|tool_result|function_results?)>", re.I)
_QUESTION: Final = re.compile(
    r"\b(?:which|who|whom|whose|what|where|when|how (?:many|much|old|long|far))\b.{2,400}\Z",
    re.I | re.S,
)
_SAYS: Final = re.compile(
    r"\b(?:say|says|said|mention\w*|state|states|specif\w+|contain\w*|includ\w+|cover\w*|miss\w*"
    r"|wrong|empty|left|late|not)\b|n't\b",
    re.I,
)
"""In a question for what a text says, or what is wanting, `none` and `it does not say` answer."""
_CHOICE: Final = re.compile(
    r"\b(?:which|who|what|whose)\b[^?]{2,300}[,:]?\s(\w[^,?:]{1,60}?)\s+or\s+(?:the\s)?(\w[^?,]{1,60})\??\s*\Z",
    re.I,
)
_UNKNOWN: Final = re.compile(
    r"\A\W{0,4}(?:(?:unknown|not (?:known|found|available|specified|clear)|n/?a|no answer)"
    r"\W*(?:\Z|[.;:,(\n])"
    r"|unable to (?:determine|find|answer|identify)\b|cannot be (?:determined|identified)"
    r"|(?:it is |it's )?(?:impossible|not possible) to (?:determine|tell|say))",
    re.I,
)
_NONE: Final = re.compile(r"\A\W{0,4}(?:none|neither)\b", re.I)
_NOBODY: Final = re.compile(r"\A\W{0,4}(?:no|no one|nobody|nothing|nowhere)\b", re.I)
_NOT_FOUND: Final = re.compile(
    r"\b(?:(?:do|does|did) not|don't|doesn't|didn't) (?:specify|mention|contain|provide|give|say"
    r"|state|include|yield)\b"
    r"|\b(?:could(?: not|n't)|was unable to|am unable to|been unable to|can(?:not|'t)) (?:find"
    r"|determine|identify|verify|locate)\b[^.!?]{0,80}\b(?:information|answer|evidence|details"
    r"|which|who|what|when|where)\b"
    r"|\bno (?:information|evidence|answer|record|data)\b[^.!?]{0,40}"
    r"\b(?:found|available|about|on|that)\b"
    r"|\bcannot be (?:determined|identified|established|answered)\b",
    re.I,
)
_UNDERWAY: Final = re.compile(
    r"\b(?:let me|let's|i(?:'ll| will| need to| should| am going to|'m going to))"
    r" (?:now |first |try to )?"
    r"(?:start|begin|help|search|look|check|try|find|query|dig|refine|conduct)",
    re.I,
)
_FOLDED: Final = "\u0130\u0131\u017f\u212a"
"""Letters beyond ASCII that a pattern takes for one of it where case does not count."""
_OPENINGS: Final = ("let me ", "let's ", "i'll ", "i will ", "i need", "i should", "i am", "i'm")
_VALUE_QUESTION: Final = re.compile(
    r"\b(?:how (?:many|much|long|old|far|often)"
    r"|what(?:'s| is| was| will be| are)? (?:the |my |your )?(?:\w{1,20} ){0,3}"
    r"(?:price|cost|total|amount|balance|number|date|time|age|year)\b"
    r"|(?:what|which) (?:time|date|year|day)"
    r"|when (?:is|was|will|did|does|do|can|are)\b)",
    re.I,
)
_KEY_WORD: Final = re.compile(r"[a-z]{3,}")
_END: Final = re.compile(r"[.!\n]")
_SPELLED_OUT: Final = re.compile(
    r"\b(?:no|none|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred"
    r"|thousand|once|twice|today|tomorrow|yesterday|tonight"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty"
    r"|seventy|eighty|ninety|million|dozens?|half|quarter|third|single|double|pair|couple|few|several"
    r"|many|much|plenty|all|every\w*|any\w*|each|nothing|nobody|instant\w*|moments?|seconds?|minutes?"
    r"|hours?|hourly|days?|daily|weeks?|weekly|weekends?|weekdays?|months?|monthly|years?|yearly"
    r"|overnight|soon|later|already|always|never|ever|eve|spring|summer|autumn|winter|new|old|empty"
    r"|full|sold|out|waived|complimentary|covered|included|unlimited|depends?|vary|varies|right"
    r"|shortly|unfortunately|sorry|afraid|unable|can't|won't|don't|doesn't"
    r"|immediately|free|same|unchanged|century|morning|afternoon|evening|noon|midnight|now|not)\b",
    re.I,
)
_MONEY_QUESTION: Final = re.compile(
    r"\bhow much\b.*\b(?:pay|paid|cost|owe|charged?|refunded|worth|spen[dt]|is (?:it|that|this))\b"
    r"|\b(?:price|cost|total|amount|balance)\b",
    re.I,
)
_MONEY_WORDS: Final = "price cost total amount balance fee charge paid due refund sum payment"
_MONEY: Final = frozenset(_MONEY_WORDS.split())
_PLAIN_WORDS: Final = "how many much long old far often what when is are was the my"
_PLAIN: Final = frozenset(_PLAIN_WORDS.split())
_RETRACTED: Final = re.compile(
    r"\b(?:if|never ?mind|forget|kidding|anyway|no need|thanks|bye)\b", re.I
)
_PASSED_ON: Final = re.compile(r"\btransfer|\bhuman agent|\bon hold\b|please hold", re.I)
_BOTH: Final = re.compile(
    r"\bneither\b|\bboth\b[^.!?]{0,80}\bsame\b|\bequally\b|\bcannot be\b", re.I
)


def answer_of(reply: str) -> str:
    """The part of a reply that answers: what it marks as its answer, else all but its thoughts."""
    text = reply[:TEXT_LIMIT]
    if "<" not in text:
        return text.strip()
    marked = _marked(text)
    return (_without_thoughts(text) if marked is None else marked).strip()


def _marked(text: str) -> str | None:
    """What stands in the last mark for an answer; an open one reaches to the end."""
    found = [(text.rfind(f"<{name}>"), name) for name in _ANSWERS]
    start, name = max(found)
    if start < 0:
        return None
    start += len(name) + 2
    end = text.find(f"</{name}>", start)
    return text[start:] if end < 0 else text[start:end]


def _without_thoughts(text: str) -> str:
    for name in _THOUGHTS:
        opening, closing = f"<{name}>", f"</{name}>"
        kept: list[str] = []
        at = 0
        # Thoughts that were opened before the reply began end with the first closing mark.
        if 0 <= text.find(closing) < (text.find(opening) if opening in text else len(text)):
            at = text.find(closing) + len(closing)
        while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start)) >= 0:
            kept.append(text[at:start])
            at = end + len(closing)
        text = "".join((*kept, text[at:]))
    return text


def writes_a_result(reply: str) -> bool:
    """Whether the reply contains a tool's answer in the agent's own hand: no tool gave it."""
    return "<" in reply and _RESULT.search(reply[:TEXT_LIMIT]) is not None


def writes_a_call(reply: str) -> bool:
    """Whether the reply writes out a call that was never made, where an answer was due."""
    if "<" not in reply:
        return False
    text = reply[:TEXT_LIMIT]
    return _CALL.search(text) is not None and _marked(text) is None


def asks_for_marks(query: str) -> bool:
    """Whether the user asks about calls and results in writing, so that a reply may show them."""
    return "<" in query and _ABOUT_MARKS.search(query[:QUERY_LIMIT]) is not None


def asks(query: str) -> bool:
    """Whether the end of a user's message asks for a thing, person, place, time or number."""
    questions = query[-QUESTION_LIMIT:].split("?")[:-1]
    return any(
        _QUESTION.search(part, max(part.rfind("."), part.rfind("!")) + 1) for part in questions
    )


def value_question(query: str) -> str | None:
    """The first question for a number, date or time at the end of a user's message."""
    text = query[-QUERY_LIMIT:]
    if "?" not in text:
        return None
    asked = (_END.split(part)[-1].strip() for part in text.split("?")[:-1])
    return next((f"{part}?" for part in asked if _VALUE_QUESTION.search(part)), None)


def has_no_value(query: str, reply: str) -> bool:
    """Whether a reply has no value that could answer a question for one.

    Values that the query itself has said are an echo, and no answer. A reply that asks back,
    passes the user on or goes on working may answer yet.
    """
    answer = answer_of(reply)
    if "?" in answer or not answer.isascii() or _RETRACTED.search(query[-QUERY_LIMIT:]):
        return False
    if _is_underway(answer) or _PASSED_ON.search(answer):
        return False
    if _SPELLED_OUT.search(answer):
        return False
    found = set(values_of(answer))
    return not found or found <= set(values_of(query[:TEXT_LIMIT]))


def may_answer(question: str, fields: Fields) -> bool:
    """Whether a tool gave what is asked for: a number or date named as the question names it."""
    asked = frozenset(_KEY_WORD.findall(question.casefold())) - _PLAIN
    asked |= {word.removesuffix("s") for word in asked}
    money = _MONEY_QUESTION.search(question) is not None
    return any(
        (bool(asked.intersection(words)) or (money and bool(_MONEY.intersection(words))))
        and any(map(_is_value, found))
        for words, found in fields.items()
    )


def _is_value(value: JsonValue) -> bool:
    if isinstance(value, bool) or value is None:
        return False
    return value != 0 if isinstance(value, int | float) else any(c.isdigit() for c in str(value))


def goes_on(reply: str) -> bool:
    """Whether a reply leaves the question standing: it works on, asks back, or calls in writing."""
    return "?" in reply or writes_a_call(reply) or _is_underway(answer_of(reply))


def _is_underway(answer: str) -> bool:
    """Whether the reply announces a step; one of few openings is in every announcement."""
    if not any(letter in answer for letter in _FOLDED):
        small = answer.lower()
        if not any(opening in small for opening in _OPENINGS):
            return False
    return _UNDERWAY.search(answer) is not None


def leaves_open(query: str, reply: str) -> bool:
    """Whether a question for a thing, person, place, time or number gets none for an answer.

    A reply that names what was asked for (a value, or a name that the question lacks) beside what
    it could not find is an answer. Questions for yes or no, and requests, are not looked at.
    """
    answer = answer_of(reply)
    if not asks(query) or _is_answer(query, answer):
        return False
    if _NONE.match(answer) is not None:
        # It may be so; the agent's own words tell when it only has not found out.
        return _NOT_FOUND.search(reply[:TEXT_LIMIT]) is not None
    asked = query[-QUESTION_LIMIT:].strip()
    if _BOTH.search(answer[:200]) is not None and _CHOICE.search(asked) is not None:
        return True
    if _UNKNOWN.match(answer) is not None:
        return True
    return _NOT_FOUND.search(answer[:600]) is not None and len(tokens(answer)) < 120


def _is_answer(query: str, answer: str) -> bool:
    """Whether an answer may be one all the same, or comes later."""
    if "?" in answer or _NOBODY.match(answer) is not None or _is_underway(answer):
        return True
    if _SAYS.search(_last_question(query[-QUESTION_LIMIT:].strip())) is not None:
        return True
    return bool(set(values_of(answer)) - set(values_of(query[:TEXT_LIMIT])))


def _last_question(text: str) -> str:
    return _END.split(text.rstrip("? \n"))[-1]
