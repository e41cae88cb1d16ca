"""The control: one more question, of known answer, beside every verdict that is to count.

It needs no list of wordings. The texts of the case stand in it as they are, so that a judge who
obeys any of them obeys it here too, and gives itself away; a judge that still sees answers rightly.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from monitor.judging.interview import Answer, Interview, Question
from monitor.judging.planting import planted
from monitor.judging.prompt import prompt
from monitor.judging.quotes import quoted
from monitor.judging.readback import readback
from monitor.judging.reply import read_reply
from monitor.judging.sight import Sight
from monitor.verdict import Judgement, Outcome

Controlled: TypeAlias = Literal["always", "suspected", "never"]
OPPOSITE: Final[dict[Outcome, Outcome]] = {"pass": "fail", "fail": "pass"}


class Control(NamedTuple):
    """A question whose right answer is the opposite of the verdict that it puts to the test."""

    question: Question
    seen: Sight
    expected: Outcome


def control(asked: Interview, answer: Answer, nonce: str, when: Controlled) -> Control | None:
    """The control of an answer; None where there is no model's verdict, or none is wanted.

    After a pass: this very turn with one planted error. After a fail: a faithful turn that reads
    this one's words back, put behind the whole case. Which error and which scene follows from the
    secret nonce of the verdict's own question: nobody foresees it, and asking again asks the same.
    """
    if not asked.questions or not isinstance(answer.result, Judgement) or when == "never":
        return None
    if when == "suspected" and not answer.suspected:
        return None
    last = asked.questions[-1]
    seen, chance = asked.cleaned if last.cleaned else asked.seen, int(last.nonce, 16)
    if answer.result.verdict == "pass":
        known = [*(item.text for item in seen.evidence), asked.reference or "", *seen.left_out]
        altered = seen._replace(turn=planted(seen.turn, known, chance))
        put = prompt(altered, nonce, asked.reference)
    else:
        # What is expected of the real turn does not speak of this one.
        altered = readback(seen, chance)
        put = prompt(altered, nonce, shared=len(seen.evidence))
    question = Question(put, nonce, last.cleaned)
    return Control(question, altered, OPPOSITE[answer.result.verdict])


def upheld(answer: Answer, put: Control, text: str | None) -> Answer:
    """The answer where the control's reply is right, else an abstention in its place.

    A judge that names something upstream of the control too names it whatever it is asked.
    """
    if text is None:
        return answer._replace(result="unavailable")
    reply = read_reply(text, put.question.nonce)
    if isinstance(reply, str) or reply.verdict != put.expected or not quoted(reply, put.seen):
        return answer._replace(result="control")
    if isinstance(answer.result, Judgement) and reply.upstream is not None:
        return answer._replace(result=replace(answer.result, upstream=None))
    return answer
