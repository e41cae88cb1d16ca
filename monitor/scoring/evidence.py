"""A turn held against what the conversation itself shows, where no reference covers it.

Three answers are possible. A value from nowhere, a statement that the tool results deny, a
question left open: the turn fails. A reply all of whose values were said by tools, users or
instructions, and that nothing denies: it passes. All else stays unscored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, TypeGuard

from monitor.model import ActionTurn, Conversation, JsonValue, ResponseTurn
from monitor.references.contracts import ToolContracts
from monitor.scoring.answering import (
    asks,
    asks_for_marks,
    goes_on,
    has_no_value,
    leaves_open,
    may_answer,
    value_question,
    writes_a_call,
    writes_a_result,
)
from monitor.scoring.assertions import denied, fields_of, named_in
from monitor.scoring.counting import (
    LISTING_LIMIT,
    Listing,
    counts_in,
    listings,
    miscounted,
)
from monitor.scoring.deeds import deeds_in, undone, verb_of
from monitor.scoring.distance import reads
from monitor.scoring.grounding import ids_in, states_more
from monitor.scoring.judged import Judged, unscored
from monitor.scoring.known import Known, as_number, is_sum_of, runs_of, values_of
from monitor.scoring.spelling import digits_of, names_number, spells_numbers
from monitor.scoring.values import canonical, is_empty, leaves, unwrapped
from monitor.scoring.words import TEXT_LIMIT, is_typed, tokens
from monitor.verdict import Finding, SubMetric

VALUE_LIMIT: Final = 200
"""Values of one turn that are traced."""
SMALL: Final = 12
"""Numbers up to this one are met by chance, as in lists; they prove and deny nothing."""

_ID: Final = re.compile(r"[#A-Za-z_-]*\d[\w#-]*")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}:\d\d|\d{1,2}-\d{1,2}-\d{2,4}")
# What an agent may make up or know by itself: marks of its own requests, codes of the world.
_OWN_KEY: Final = re.compile(
    r"request|idempoten|correlation|trace|session|reference|ref$|zip|post|country|currency|airport"
    r"|iata|flight|lang|area|error|status|room|seat",
    re.I,
)
_ID_KEY: Final = re.compile(
    r"(?:^|_)(?:id|ids|number|no|code|email|account|reference|ref)$|(?:Id|Ids|Number|Code|Email)$"
)
_PASSING: Final = re.compile(
    r"time.?out|timed out|temporar|unavailable|rate.?limit|too many|try again|retry|connect"
    r"|\b(?:429|500|502|503|504)\b|busy|pending|progress|still|running|ready|not yet|wait|later"
    r"|queue|internal|server error|overload|unexpected",
    re.I,
)
_ABSENT: Final = re.compile(
    r"not found|no such|(?:does not|doesn't|do not|don't|did not) (?:exist|match)|unknown|invalid"
    r"|(?:could not|couldn't|cannot|can't) (?:find|locate)|not (?:exist|recogni|valid)"
    r"|no \w+ (?:with|found)",
    re.I,
)
_ALREADY: Final = re.compile(r"\balready\b", re.I)
_AGAIN: Final = re.compile(r"\b(?:again|retry|once more)\b", re.I)


class EvidenceJudge:
    """Judges the turns of one conversation; they are to be asked for in their order."""

    def __init__(self, conversation: Conversation, contracts: ToolContracts) -> None:
        """Nothing is read before the first question."""
        self._conversation = conversation
        self._contracts = contracts
        self._given = Known()
        """What tools gave."""
        self._said = Known()
        """What users said, and the instructions."""
        self._read = 0
        self._heard = 0
        self._asked: str | None = None
        """The last question of the user."""
        self._part: str | None = None
        """What the last message asks a number, date or time for."""
        self._results: list[JsonValue] = []
        self._recent: list[JsonValue] = []
        """The results behind the reply that is due."""
        self._refused: dict[JsonValue, tuple[int, str]] = {}
        """Refused calls, each with its exchange and what it was told."""
        self._refusing = False
        """Whether the last tool refused."""
        self._failed: set[str] = set()
        """Verbs of the writes that were refused."""
        self._done: set[str] = set()
        self._taken: set[str] = set()
        """Texts that calls which went right were given."""

    def action(self, index: int, turn: ActionTurn, judged: Judged) -> Judged:
        """The contract's judgement, and what the evidence adds to it.

        Where the contract finds a fault that is the turn's; where it finds none the evidence may.
        """
        self._learn(index)
        arguments = turn.call.arguments
        if judged.findings or turn.call.arguments_state != "parsed" or turn.truncated:
            return judged
        findings = (*self._repeated(turn), *self._invented(index, turn))
        if findings:
            scores: dict[SubMetric, float] = {**judged.scores, "truthfulness": 0.0}
            return Judged("evidence", findings, scores)
        if judged.basis is not None or turn.error_type is not None:
            return judged
        if isinstance(arguments, dict) and self._is_known(arguments):
            return Judged("evidence", scores={"truthfulness": 1.0})
        return judged

    def reply(self, index: int, turn: ResponseTurn) -> Judged:
        """What the results, the query and the reply itself say of a reply with a text."""
        self._learn(index)
        text = turn.text or ""
        machinery = tuple(_shown(text))
        if machinery and asks_for_marks(self._query(turn.exchange)):
            machinery = ()
        findings = (*machinery, *self._denied(text), *self._open(text, turn.exchange))
        if findings:
            named = {finding.reason for finding in findings}
            scores: dict[SubMetric, float] = {}
            if "incomplete_response" in named:
                scores["completeness"] = 0.0
            if "inconsistent_response" in named:
                scores["truthfulness"] = 0.0
            return Judged("evidence", findings, scores)
        if self._is_grounded(text):
            return Judged("evidence", scores={"truthfulness": 1.0})
        return unscored("no_reference")

    def _repeated(self, turn: ActionTurn) -> Iterator[Finding]:
        """A call that was refused before, made again although nothing has changed since.

        Whatever the user says, and any other answer, may be news.
        """
        if turn.error_type is None or not self._refused:
            return
        if self._refused.get(_key(turn)) != (turn.exchange, _told(turn)):
            return
        if not _AGAIN.search(self._query(turn.exchange)):
            yield Finding("action_mismatch", "evidence", detail="repeated", actual=turn.call.name)

    def _invented(self, index: int, turn: ActionTurn) -> Iterator[Finding]:
        """Ids that nobody had said, nor the parts that they are made of, and that do not exist.

        An id that the tool knows came from somewhere, seen here or not. Only a tool that says that
        there is no such thing refuses for its sake.
        """
        if turn.error_type is None or _ABSENT.search(_told(turn)) is None:
            return
        for path, leaf in islice(leaves(turn.call.arguments), VALUE_LIMIT):
            if not _is_id(path, leaf) or self._has_parts(leaf):
                continue
            if self._is_blind or self._is_spoken(leaf) or self._is_mended(index, turn):
                return
            yield Finding(
                "inconsistent_parameter_values",
                "evidence",
                field=path,
                detail="invented",
                actual=leaf,
            )

    def _is_mended(self, index: int, turn: ActionTurn) -> bool:
        """Whether the agent made the refused call rightly later on."""
        return any(
            isinstance(after, ActionTurn)
            and after.call.name == turn.call.name
            and after.error_type is None
            for after in self._conversation.turns[index + 1 :]
        )

    def _is_known(self, arguments: JsonValue) -> bool:
        """Whether every argument was said, and there is one that could have been another."""
        found = False
        for _, leaf in islice(leaves(arguments), VALUE_LIMIT):
            if leaf is None or isinstance(leaf, bool):
                return False
            for token in tokens(str(leaf), every=True):
                if not token.startswith("year:") and not self._holds(token):
                    return False
                found = found or is_typed(token)
        return found

    def _is_spoken(self, value: str) -> bool:
        """Whether users may have said an id in groups, figure by figure or in words."""
        said = " ".join(self._queries)
        return spells_numbers(said) or digits_of(value) in digits_of(said)

    @property
    def _queries(self) -> list[str]:
        """What users have said so far."""
        return [query for query in self._conversation.queries[: self._heard] if query]

    def _denied(self, text: str) -> Iterator[Finding]:
        """Deeds, counts and named values that the results contradict."""
        claimed = undone(text, self._failed, self._done)
        if claimed is not None:
            yield _contradicted(None, "refused", claimed)
        claims = counts_in(text) if self._results else ()
        for count in miscounted(claims, self._listings())[0] if claims else ():
            yield _contradicted(None, str(count.true), count.claim.text)
        named = named_in(text) if self._recent else ()
        if named:
            fields, recent = fields_of(self._results), fields_of(self._recent)
            for claim in denied(named, {words: fields[words] for words in recent}):
                if not self._may_differ(claim.said, text):
                    yield _contradicted(claim.field, claim.known, claim.said)

    def _may_differ(self, said: str, text: str) -> bool:
        """Whether a number need not be the field's: proposed, the user's, or reckoned."""
        number = as_number(said)
        if number is None:
            return False
        if "?" in text or self._said.holds(said):
            return True
        if any(names_number(query, number) for query in self._queries):
            return True
        return number > SMALL and self._given.derives(said)

    def _open(self, text: str, exchange: int) -> Iterator[Finding]:
        part = self._part
        if part is not None and not (
            has_no_value(self._query(exchange), text) and may_answer(part, fields_of(self._recent))
        ):
            part = None
        asked = None if self._refusing else self._asked
        if part is None and asked is not None and leaves_open(asked, text):
            # Where the last tool found nothing the agent may say so.
            is_open = not self._results or not is_empty(self._results[-1])
        else:
            is_open = part is not None
        if is_open:
            yield Finding("incomplete_response", "evidence", detail="unanswered", expected=part)

    def _is_grounded(self, text: str) -> bool:
        """Whether every value of the reply was said before, and something in it proves true.

        That is a value which is a field of a result, or a deed whose tool did it. After a write
        that was refused, values prove nothing.
        """
        if not self._results or self._failed:
            return False
        claims = counts_in(text)
        if claims and not miscounted(claims, self._listings())[1]:
            return False
        given = any(verb in self._done for verb, _ in deeds_in(text))
        strange: list[tuple[str, float]] = []
        numbers: list[float] = []
        for value in islice(dict.fromkeys(values_of(text[:TEXT_LIMIT])), VALUE_LIMIT):
            number = as_number(value)
            if number is not None and number <= SMALL:
                continue
            numbers += [] if number is None else [number]
            if self._given.holds(value):
                given = given or (self._given.has_field(value) and not self._said.holds(value))
            elif not self._said.holds(value):
                if number is None:
                    return False
                strange.append((value, number))
        follows = given and all(self._follows(*each, numbers) for each in strange)
        return follows and self._holds_beside(text)

    def _holds_beside(self, text: str) -> bool:
        """Whether the ids of a reply are a tool's, and it says nothing that values cannot prove."""
        known = self._given.has_word
        if not all(value in self._taken or known(value) for value in ids_in(text)):
            return False
        return not states_more(text, known, self._done)

    def _follows(self, value: str, number: float, numbers: Sequence[float]) -> bool:
        """Whether a number comes of known ones, or of the others in the same reply."""
        others = [other for other in numbers if other != number]
        return self._given.derives(value) or is_sum_of(number, others)

    def _holds(self, token: str) -> bool:
        return self._given.has_word(token) or self._said.has_word(token)

    def _has_parts(self, value: str) -> bool:
        return all(self._given.has_run(run) or self._said.has_run(run) for run in runs_of(value))

    @property
    def _is_blind(self) -> bool:
        """Whether something was said that is not seen here."""
        return self._conversation.unheard > 0 or any(
            known.veiled or known.cut for known in (self._given, self._said)
        )

    def _listings(self) -> list[Listing]:
        found = (listing for result in reversed(self._results) for listing in listings(result))
        return list(islice(found, LISTING_LIMIT))

    def _query(self, exchange: int) -> str:
        queries = self._conversation.queries
        return (queries[exchange] if exchange < len(queries) else None) or ""

    def _learn(self, index: int) -> None:
        """Take in all that was said before the turn."""
        turns = self._conversation.turns
        if not self._heard and self._conversation.system:
            self._said.learn_instructions(self._conversation.system)
        for turn in turns[self._read : index]:
            if isinstance(turn, ActionTurn):
                self._learn_call(turn)
            else:
                self._recent = []
                # A question stands until it was answered and the user speaks again.
                if turn.text and turn.exchange < turns[index].exchange and not goes_on(turn.text):
                    self._asked = None
        self._read = max(self._read, index)
        while self._heard <= turns[index].exchange:
            query = self._query(self._heard)
            self._said.learn(query)
            self._part = value_question(query)
            if asks(query):
                self._asked = query
            self._heard += 1

    def _learn_call(self, turn: ActionTurn) -> None:
        verb = verb_of(turn.call.name)
        if turn.error_type is not None:
            # What had been done before is refused, too, and is no less done.
            done = _ALREADY.search(_told(turn)) is not None
            if verb is not None and not done and not reads(turn.call.name, self._contracts):
                self._failed.add(verb)
            if not _PASSING.search(_told(turn)):
                self._refused[_key(turn)] = turn.exchange, _told(turn)
        else:
            given = islice(leaves(turn.call.arguments), VALUE_LIMIT)
            self._taken.update(leaf.casefold() for _, leaf in given if isinstance(leaf, str))
        if turn.error_type is None and not reads(turn.call.name, self._contracts):
            # A write may have changed what the refusals rested on, and done the same deed.
            self._refused.clear()
            self._failed.clear()
            self._done.update(() if verb is None else (verb,))
        if turn.has_result:
            result = unwrapped(turn.result)
            self._given.learn_value(turn.result)
            self._results.append(result)
            self._recent.append(result)
            self._refusing = turn.error_type is not None


def _shown(text: str) -> Iterator[Finding]:
    """Machinery in the reply: a tool's answer that no tool gave, a call that was not made."""
    if writes_a_result(text):
        yield Finding("inconsistent_response", "evidence", detail="invented")
    elif writes_a_call(text):
        yield Finding("incomplete_response", "evidence", detail="unanswered")


def _contradicted(field: str | None, known: JsonValue, said: str) -> Finding:
    return Finding(
        "inconsistent_response",
        "evidence",
        field=field,
        detail="contradicted",
        expected=known,
        actual=said,
    )


def _is_id(path: str, leaf: JsonValue) -> TypeGuard[str]:
    """Whether a value can only be known, not thought of: an id in a place for ids."""
    if not isinstance(leaf, str) or not _ID.fullmatch(leaf) or _DATE.search(leaf):
        return False
    name = next((part for part in reversed(path.split(".")) if not part.isdigit()), "")
    return _ID_KEY.search(name) is not None and _OWN_KEY.search(name) is None


def _told(turn: ActionTurn) -> str:
    return str(turn.result)[:500]


def _key(turn: ActionTurn) -> JsonValue:
    return (turn.call.name, canonical(turn.call.arguments))
