"""One turn asked about: which questions, and what their replies amount to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from monitor.judging.hidden import may_be_overturned
from monitor.judging.plain import says_nothing
from monitor.judging.prompt import prompt
from monitor.judging.quotes import argument_path, quoted
from monitor.judging.reply import Abstained, Reply, read_reply
from monitor.judging.rubric import RUBRIC_VERSION
from monitor.judging.sight import Item, Sight, sight
from monitor.judging.suspicion import REMOVED, Passage, suspected, without
from monitor.model import ActionTurn, Conversation, ResponseTurn
from monitor.ports import JudgePrompt
from monitor.verdict import Judgement

BY_RULE: Final = "rule"
"""The judge's name where no model was asked."""
NAME_CHARACTERS, NAME_WORDS = 64, 4
"""The longest name of a tool that is shown without suspicion."""
WITHHELD_SHARE: Final = 0.5
"""Of a turn's own text; with more withheld nobody can grade what is left."""


class Question(NamedTuple):
    """One call to make. Its reply must carry the nonce back."""

    prompt: JudgePrompt
    nonce: str
    cleaned: bool
    """Suspected passages are withheld from this one."""


class Interview(NamedTuple):
    """What is asked about one turn, and what is known before anybody answers."""

    turn_id: str
    seen: Sight
    cleaned: Sight
    passages: tuple[Passage, ...]
    questions: tuple[Question, ...]
    decided: Judgement | Abstained | None
    """Set when no model need, or may, be asked; then there are no questions."""
    reference: str | None = None

    @property
    def families(self) -> tuple[str, ...]:
        """The kinds of orders found in the text, for the metric of suspected injections."""
        return tuple(sorted({passage.family for passage in self.passages}))


class Answer(NamedTuple):
    """What one turn's interview came to."""

    result: Judgement | Abstained
    suspected: bool


def interview(
    conversation: Conversation, position: int, nonces: Sequence[str], reference: str | None = None
) -> Interview:
    """The interview about the turn at `position`; two nonces, of which one may stay unused.

    Where the text seems to address its grader, the question is put twice: as it is, and with the
    passages withheld. Only what both replies agree on counts.
    """
    turn = conversation.turns[position]
    seen = sight(conversation, position)
    if isinstance(turn, ResponseTurn) and turn.text is not None and says_nothing(turn.text):
        return Interview(turn.turn_id, seen, seen, (), (), _silent(turn.turn_id))
    if isinstance(turn, ResponseTurn) and turn.text is None:
        return Interview(turn.turn_id, seen, seen, (), (), "evidence_cut")
    items = (*seen.evidence, seen.turn)
    own = [item for item in items if item.role != "system"]
    passages = [*suspected([item.text for item in own]), *_spoken_names(conversation, own)]
    cleaned = _cleaned(seen, own, passages)
    if passages and _mostly_withheld(seen.turn, cleaned.turn):
        return Interview(turn.turn_id, seen, cleaned, tuple(passages), (), "injection")
    questions = [Question(prompt(seen, nonces[0], reference), nonces[0], cleaned=False)]
    if passages:
        questions.append(Question(prompt(cleaned, nonces[1], reference), nonces[1], cleaned=True))
    found = tuple(passages)
    return Interview(turn.turn_id, seen, cleaned, found, tuple(questions), None, reference)


def concluded(asked: Interview, texts: Sequence[str | None], judge: str) -> Answer:
    """The judgement from the replies' texts, one per question; None where no reply came.

    Anything that is not a strict, nonce-bearing reply with a quote in its place is an
    abstention, which is neither a pass nor a fail.
    """
    if asked.decided is not None:
        return Answer(asked.decided, bool(asked.passages))
    read = [
        _checked(asked, question, text)
        for question, text in zip(asked.questions, texts, strict=True)
    ]
    refused = [reply for reply in read if isinstance(reply, str)]
    replies = [reply for reply in read if isinstance(reply, Reply)]
    suspected = bool(asked.passages)
    if refused:
        return Answer("injection" if suspected and replies else refused[0], suspected)
    if len({reply.verdict for reply in replies}) > 1:
        return Answer("disagreement", suspected)
    last, named = replies[-1], {reply.upstream for reply in replies}
    judgement = Judgement(
        turn_id=asked.turn_id,
        verdict="pass" if last.verdict == "pass" else "fail",
        reason=last.reason,
        score=last.score,
        quote=last.quote,
        judge=f"{judge}/{RUBRIC_VERSION}",
        field=argument_path(last, asked.cleaned),
        upstream=_turn_of(asked.seen, last.upstream) if len(named) == 1 else None,
    )
    return Answer(judgement, suspected)


def _turn_of(seen: Sight, number: int | None) -> str | None:
    return next((item.turn_id for item in seen.evidence if item.number == number), None)


def _checked(asked: Interview, question: Question, text: str | None) -> Reply | Abstained:
    if text is None:
        return "unavailable"
    reply = read_reply(text, question.nonce)
    if isinstance(reply, str):
        return reply
    if reply.verdict == "abstain":
        return "abstained"
    if may_be_overturned(reply, asked.seen):
        return "evidence_cut"
    # A quote of the whole text may lie in what the cleaned one withholds; its own does not.
    seen = asked.cleaned if question.cleaned else asked.seen
    return reply if quoted(reply, seen, [REMOVED]) else "quote"


def _spoken_names(conversation: Conversation, own: Sequence[Item]) -> Iterator[Passage]:
    """Tools' names that are whole sentences: no interface allows those, whatever they say."""
    names = {t.turn_id: t.call.name for t in conversation.turns if isinstance(t, ActionTurn)}
    for number, item in enumerate(own):
        name = names.get(item.turn_id or "", "") if item.role == "call" else ""
        if len(name) > NAME_CHARACTERS or len(name.split()) > NAME_WORDS:
            yield Passage(number, 0, min(len(name), len(item.text)), "tool_name")


def _cleaned(seen: Sight, own: Sequence[Item], passages: Sequence[Passage]) -> Sight:
    by_number: dict[int, list[Passage]] = {}
    for passage in passages:
        by_number.setdefault(own[passage.text_no].number, []).append(passage)

    def clean(item: Item) -> Item:
        found = by_number.get(item.number)
        return item._replace(text=without(item.text, found)) if found else item

    return Sight(tuple(clean(item) for item in seen.evidence), clean(seen.turn), *seen[2:])


def _mostly_withheld(whole: Item, cleaned: Item) -> bool:
    left = cleaned.text.replace(REMOVED, "").strip()
    return len(left) < WITHHELD_SHARE * len(whole.text.strip())


def _silent(turn_id: str) -> Judgement:
    return Judgement(turn_id, "fail", "incomplete_response", 0.0, "", BY_RULE)
