"""Root or inherited: every failed turn's faults are explained by earlier ones, or are its own.

Turns are taken in order, each after its judgement. A fault is explained by a dependency only:
a value taken from a failed turn's result, the same wrong value carried on, state that a failed
write left behind, or a dependency that the reference declares. Position explains nothing. What
is left once the explained faults are taken away is what judging the turn with its inherited
values repaired would find.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from monitor.model import ActionTurn, Conversation, JsonValue, ResponseTurn
from monitor.references.contracts import ToolContracts
from monitor.scoring.causes import PROBABLE, Cause, asked_for
from monitor.scoring.departures import Evidence, explain_claim, is_supported, is_told, traced
from monitor.scoring.judged import Judged
from monitor.scoring.placement import Slot
from monitor.scoring.provenance import (
    NOTHING,
    Content,
    content_of,
    content_of_text,
    merged,
    weighs,
)
from monitor.scoring.sources import (
    Place,
    Source,
    differs,
    mends,
    same_tool,
    source_of_action,
    source_of_reply,
)
from monitor.scoring.values import leaves, plain
from monitor.scoring.words import tokens
from monitor.verdict import ExpectedAction, ExpectedResponse, ExpectedTurn, Finding


class Blame(NamedTuple):
    """A turn's findings once the inherited ones are told apart."""

    findings: tuple[Finding, ...]
    """Its own faults; when there are none, the inherited ones, as `prior_action_failed`."""
    origin: int | None = None
    """Position of the earliest root behind the inherited faults; None when there are none, and
    when the user decided what was done."""


class Attribution:
    """Lays blame along one conversation. Positions are those of the slots, from 0."""

    def __init__(
        self,
        conversation: Conversation,
        expected: Sequence[ExpectedTurn],
        contracts: ToolContracts,
    ) -> None:
        """Nothing is indexed before a turn fails."""
        self._conversation = conversation
        self._expected = expected
        self._contracts = contracts
        self._sources: list[Source] = []
        self._roots: dict[int, int] = {}
        self._positions: dict[str, int] = {}
        self._good: list[ActionTurn | ResponseTurn] = []
        self._values: set[str] = set()
        self._words: set[str] = set()
        self._instructed = False
        self._chain = 0
        self._results: dict[int, list[Content]] = {}
        self._read = 0
        self._indexed = 0
        self._queries = 0

    @property
    def changed(self) -> bool:
        """Whether a call that went wrong so far may have left the state wrong."""
        return any(s.origin is not None and s.changes_state for s in self._sources)

    def blame(
        self,
        position: int,
        slot: Slot,
        judged: Judged,
        exchange: int,
        cause: Cause | None = None,
    ) -> Blame:
        """The slot's blame. Slots are to be given in their order, each once.

        `cause`: what lies behind a call that was never made, where that is known.
        """
        turn = None if slot.turn is None else self._conversation.turns[slot.turn]
        expected = None if slot.expected is None else self._expected[slot.expected]
        place = Place(exchange, self._chain, slot.expected)
        if isinstance(turn, ResponseTurn) or isinstance(expected, ExpectedResponse):
            text = turn.text if isinstance(turn, ResponseTurn) else None
            blame = self._reply(position, judged, place, text or "")
            self._chain += 1
        else:
            blame = self._action(position, turn, expected, judged, place, cause)
        if not blame.findings and judged.upstream is not None:
            blame = self._passed_on(judged.upstream)
        if turn is not None:
            self._positions[turn.turn_id] = position
        if blame.findings:
            self._roots[position] = position if blame.origin is None else blame.origin
        if not blame.findings and turn is not None:
            self._good.append(turn)
            if isinstance(turn, ActionTurn) and turn.error_type is None and self._sources:
                self._sources = [s for s in self._sources if not mends(turn, s, exchange)]
        return blame

    def _passed_on(self, upstream: str) -> Blame:
        """The blame of a faithful turn, where a judge says what it was faithful to."""
        origin = self._roots.get(self._positions.get(upstream, -1))
        if origin is None:
            return Blame(())
        return Blame((Finding("prior_action_failed", "judge"),), origin)

    def _action(
        self,
        position: int,
        turn: ActionTurn | None,
        expected: ExpectedAction | None,
        judged: Judged,
        place: Place,
        cause: Cause | None,
    ) -> Blame:
        findings, origin, inherited = self._sorted(judged.findings, place, "")
        behind = (
            None if cause is None or cause.position is None else self._roots.get(cause.position)
        )
        users = not judged.own and self._is_users(findings, cause, place)
        if findings and (users or behind is not None):
            probable = [replace(finding, confidence=PROBABLE) for finding in findings]
            findings, inherited, origin = [], [*probable, *inherited], behind
        findings += judged.own
        if turn is not None and expected is not None and not judged.findings and not judged.why:
            changers = self._state(turn) if differs(turn, expected) else None
            if changers:
                origin = _earliest(changers)
                inherited = [_state_finding(turn, expected)]
            elif changers is not None:
                self._add(turn, expected, (), None, place)
        blame = _blame(findings, inherited, origin, users=users and not findings)
        if blame.findings:
            root = position if findings or origin is None else origin
            self._add(turn, expected, judged.findings, None if users else root, place)
        return blame

    def _reply(self, position: int, judged: Judged, place: Place, text: str) -> Blame:
        found = (*judged.findings, *self._surplus(judged, place))
        if not found and not judged.own and not judged.hinging:
            return Blame(())
        findings, origin, inherited = self._sorted(found, place, text)
        roots = [] if origin is None else [origin]
        for finding in (*judged.own, *judged.hinging):
            behind = self._behind(finding, hinging=finding in judged.hinging)
            if behind is None:
                findings.append(finding)
            else:
                inherited.append(finding)
                roots.append(behind)
        origin = min(roots, default=None)
        blame = _blame(findings, inherited, origin)
        if blame.findings:
            root = position if findings or origin is None else origin
            self._sources.append(source_of_reply((*findings, *inherited), root, place))
        return blame

    def _sorted(
        self, found: Sequence[Finding], place: Place, text: str
    ) -> tuple[list[Finding], int | None, list[Finding]]:
        """Own findings, the earliest root behind the others, and these others."""
        own: list[Finding] = []
        inherited: list[Finding] = []
        origins: list[int] = []
        for finding in found:
            sources = self._explaining(finding, place, text) if self._sources else ()
            roots = [source.origin for source in sources if source.origin is not None]
            if roots:
                inherited.append(finding)
                origins += roots
            elif not any(_moved(finding, source) for source in sources):
                own.append(finding)
        return own, min(origins, default=None), inherited

    def _behind(self, finding: Finding, *, hinging: bool) -> int | None:
        """The earliest root behind what a reply owes; None: nothing explains it.

        A reply that said something else in its place or, for what hinges on a call, one that
        left the state wrong.
        """
        owed = plain(finding.expected) if finding.reason == "incomplete_response" else None
        return min(
            (
                source.origin
                for source in self._sources
                if source.origin is not None
                and (owed in source.owed or (hinging and source.changes_state))
            ),
            default=None,
        )

    def _is_users(self, findings: Sequence[Finding], cause: Cause | None, place: Place) -> bool:
        """Whether the user decided it: said no to a call, or asked for all that is wrong."""
        if cause is not None or not findings:
            return cause is not None and cause.position is None
        if any(
            finding.reason != "inconsistent_parameter_values" or finding.basis != "gold"
            for finding in findings
        ):
            return False
        queries = self._conversation.queries[: place.exchange + 1]
        said = [query.casefold() for query in queries if query]
        return all(asked_for(finding.expected, finding.actual, said) for finding in findings)

    def _explaining(self, finding: Finding, place: Place, text: str) -> Sequence[Source]:
        declared = self._declared(place)
        if finding.reason == "missing_parameters" or finding.detail == "omitted":
            return declared
        if finding.reason in ("incomplete_response", "inconsistent_response"):
            return declared or explain_claim(finding, self._sources, self._evidence(place, text))
        if finding.reason == "inconsistent_parameter_values" or finding.detail == "repeated":
            return declared or self._value(finding, place.exchange)
        return ()

    def _declared(self, place: Place) -> list[Source]:
        """Failed turns whose output this one consumes by the reference's own word."""
        if place.expected is None:
            return []
        numbers = self._expected[place.expected].depends_on
        return [
            source
            for source in self._sources
            if source.origin is not None
            and source.place.expected is not None
            and source.place.expected + 1 in numbers
        ]

    def _value(self, finding: Finding, exchange: int) -> list[Source]:
        """Where a wrong argument value comes from: carried on, or taken from a wrong result."""
        carried = (
            plain(finding.expected) if finding.basis == "gold" else finding.field or "",
            plain(finding.actual),
        )
        found = [source for source in self._sources if carried in source.carried]
        if found:
            return found
        values = {text for _, leaf in leaves(finding.actual) if weighs(text := plain(leaf))}
        values -= {plain(leaf) for _, leaf in leaves(finding.expected)}
        if not values:
            return []
        known = self._known(exchange)
        taken = [source for source in self._sources if values & source.wrong.values]
        covered = merged(source.wrong for source in taken).values
        # Where the right result is known, a value that it lacks is traced there for sure.
        sure = any(source.foretold for source in taken)
        if taken and values <= covered and (sure or not values <= known.values):
            return taken
        return self._worded(finding, known)

    def _worded(self, finding: Finding, known: Content) -> list[Source]:
        """Sources of a text value that was written out of what failed turns gave."""
        if not isinstance(finding.actual, str):
            return []
        new = set(tokens(finding.actual)) - set(tokens(plain(finding.expected)))
        bringing = [source for source in self._sources if new & source.wrong.words]
        covered = merged(source.wrong for source in bringing).words
        return bringing if new and new <= covered and not new <= known.words else []

    def _state(self, turn: ActionTurn) -> list[Source]:
        """Failed turns that may have left the state wrong which this call met."""
        return [
            source
            for source in self._sources
            if source.origin is not None
            and source.changes_state
            and same_tool(source, turn, self._contracts)
        ]

    def _surplus(self, judged: Judged, place: Place) -> list[Finding]:
        """Surplus claims that are faults: out of failed results, or with values from nowhere."""
        if not judged.surplus:
            return []
        failed = [source for source in self._sources if source.origin is not None]
        expected = None if place.expected is None else self._expected[place.expected]
        due = content_of_text(expected.text) if isinstance(expected, ExpectedResponse) else NOTHING
        met = (due, self._known(place.exchange), *(source.given for source in self._sources))
        evidence = self._evidence(place, "")
        return [
            Finding("inconsistent_response", "gold", actual=claim)
            for claim in judged.surplus
            if (traced(claim, failed) and not is_told(claim, evidence))
            or not is_supported(claim, met)
        ]

    def _evidence(self, place: Place, text: str) -> Evidence:
        """What stood behind a reply when it was written."""
        good = partial(self._good_results, place.exchange)
        return Evidence(place.chain, good, frozenset(tokens(text)))

    def _good_results(self, exchange: int) -> list[Content]:
        """The results of the good calls of one exchange so far; each is read once."""
        for call in self._good[self._read :]:
            if isinstance(call, ActionTurn):
                self._results.setdefault(call.exchange, []).append(content_of(call.result))
        self._read = len(self._good)
        return self._results.get(exchange, [])

    def _known(self, exchange: int) -> Content:
        """What the agent had from its users, its instructions and turns that went right."""
        queries = self._conversation.queries
        if not self._instructed:
            self._instructed = True
            self._words |= content_of_text(self._conversation.system or "").words
        while self._queries <= exchange and self._queries < len(queries):
            self._learn(content_of_text(queries[self._queries] or ""))
            self._queries += 1
        for turn in self._good[self._indexed :]:
            if isinstance(turn, ActionTurn):
                self._learn(content_of(turn.result))
                self._learn(content_of(turn.call.arguments))
            else:
                self._learn(content_of_text(turn.text or ""))
        self._indexed = len(self._good)
        return Content(self._values, self._words)

    def _learn(self, content: Content) -> None:
        self._values |= content.values
        self._words |= content.words

    def _add(
        self,
        turn: ActionTurn | None,
        expected: ExpectedAction | None,
        findings: Sequence[Finding],
        origin: int | None,
        place: Place,
    ) -> None:
        self._sources.append(
            source_of_action(turn, expected, findings, origin, place, self._contracts)
        )


def _blame(
    own: Sequence[Finding],
    inherited: Sequence[Finding],
    origin: int | None,
    *,
    users: bool = False,
) -> Blame:
    if own:
        return Blame(tuple(own), origin)
    return Blame(tuple(_as_inherited(finding, users=users) for finding in inherited), origin)


def _as_inherited(finding: Finding, *, users: bool = False) -> Finding:
    detail = "users_choice" if users else finding.detail
    return replace(finding, reason="prior_action_failed", detail=detail)


def _state_finding(turn: ActionTurn, expected: ExpectedAction) -> Finding:
    actual: JsonValue = turn.result if turn.has_result else turn.error_type
    return Finding(
        "inconsistent_parameter_values",
        "gold",
        detail="result_differs",
        expected=expected.result,
        actual=actual,
    )


def _moved(finding: Finding, source: Source) -> bool:
    """Whether surroundings that changed took away the expected value, so that nobody failed."""
    due = {plain(leaf) for _, leaf in leaves(finding.expected)}
    if isinstance(finding.expected, str):
        said = tokens(finding.actual) if isinstance(finding.actual, str) else ()
        due = {token for token in tokens(finding.expected) if token not in said}
    return (
        source.origin is None
        and due <= source.due.values | source.due.words
        and not due & (source.given.values | source.given.words)
    )


def _earliest(sources: Sequence[Source]) -> int:
    return min(source.origin for source in sources if source.origin is not None)
