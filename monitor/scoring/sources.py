"""What a turn that went wrong hands on: wrong values, lost ones, and changed state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from monitor.model import ActionTurn, JsonValue
from monitor.references.contracts import ToolContracts
from monitor.scoring.distance import reads
from monitor.scoring.provenance import NOTHING, Content, content_of, merged
from monitor.scoring.structure import expected_name
from monitor.scoring.values import canonical, plain, same, unwrapped
from monitor.scoring.words import tokens
from monitor.verdict import ExpectedAction, Finding


class Place(NamedTuple):
    """Where a turn stands among the others."""

    exchange: int
    chain: int
    """Counts the replies before it: a reply and the calls since the reply before are one chain."""
    expected: int | None
    """Index of the expected turn."""


class Source(NamedTuple):
    """A turn whose output departs from what was expected of it."""

    origin: int | None
    """Position of the root behind it; None when the surroundings changed and nobody failed."""
    place: Place
    wrong: Content = NOTHING
    """What it passed or gave out that was not expected."""
    due: Content = NOTHING
    """What it was expected to give out."""
    given: Content = NOTHING
    """What it gave out."""
    told: bool = True
    """Whether its actual output is known."""
    foretold: bool = True
    """Whether its expected output is known."""
    errored: bool = False
    is_reply: bool = False
    owed: frozenset[str] = frozenset()
    """What a reply should have stated in place of what it did state."""
    carried: frozenset[tuple[str, str]] = frozenset()
    """Expected and actual value of each wrong argument."""
    tools: frozenset[str] | None = None
    """The tools whose state it may have left wrong; None: any."""
    changes_state: bool = False
    retry: tuple[str, JsonValue] | None = None
    """The call that would mend it: name, and arguments where they are known."""


def source_of_action(
    turn: ActionTurn | None,
    expected: ExpectedAction | None,
    findings: Sequence[Finding],
    origin: int | None,
    place: Place,
    contracts: ToolContracts,
) -> Source:
    """What a failed, omitted or drifted action hands on."""
    foretold = expected is not None and expected.has_result
    due = content_of(expected.result) if expected is not None and foretold else NOTHING
    given = content_of(turn.result) if turn is not None and turn.has_result else NOTHING
    wrong = merged((given.minus(due), _wrong_arguments(turn, expected, findings)))
    names = [turn.call.name] if turn is not None else []
    names += [expected_name(expected)] if expected is not None else []
    tool_ids = [contracts.split(name)[0] for name in names]
    return Source(
        origin,
        place,
        wrong=wrong,
        due=due,
        given=given,
        told=turn is None or turn.has_result,
        foretold=foretold,
        errored=turn is not None and turn.error_type is not None,
        carried=frozenset(
            _carried(finding)
            for finding in findings
            if finding.field is not None or finding.detail == "repeated"
        ),
        tools=None if None in tool_ids else frozenset(t for t in tool_ids if t is not None),
        changes_state=not all(reads(name, contracts) for name in names),
        retry=_retry(turn, expected),
    )


def source_of_reply(findings: Sequence[Finding], origin: int, place: Place) -> Source:
    """What a failed reply hands on: the words in which it departs."""
    wrong: set[str] = set()
    for finding in findings:
        expected = tokens(finding.expected) if isinstance(finding.expected, str) else ()
        actual = tokens(finding.actual) if isinstance(finding.actual, str) else ()
        wrong |= set(actual) - set(expected)
    words = frozenset(wrong)
    owed = frozenset(
        plain(finding.expected)
        for finding in findings
        if finding.reason == "inconsistent_response" and finding.expected is not None
    )
    return Source(origin, place, wrong=Content(words, words), is_reply=True, owed=owed)


def differs(turn: ActionTurn, expected: ExpectedAction) -> bool:
    """Whether the call's result is known to be another than the expected one."""
    if not expected.has_result:
        return False
    due = unwrapped(expected.result)
    if turn.error_type is not None and not _is_error(due):
        return True
    if not turn.has_result or turn.truncated:
        return False
    given = unwrapped(turn.result)
    return not same(due, given) and not _is_cut(due, given)


def same_tool(source: Source, turn: ActionTurn, contracts: ToolContracts) -> bool:
    """Whether the source's tools may be the turn's; what is not known may be."""
    tool_id = contracts.split(turn.call.name)[0]
    return source.tools is None or tool_id is None or tool_id in source.tools


def mends(turn: ActionTurn, source: Source, exchange: int) -> bool:
    """Whether a good call is the successful retry of a source that ended in an error."""
    if not source.errored or source.retry is None or source.place.exchange != exchange:
        return False
    name, arguments = source.retry
    if turn.call.name.rpartition(".")[2] != name.rpartition(".")[2]:
        return False
    return arguments is None or arguments == canonical(turn.call.arguments)


def _retry(
    turn: ActionTurn | None, expected: ExpectedAction | None
) -> tuple[str, JsonValue] | None:
    if expected is not None:
        return expected_name(expected), canonical(expected.args)
    return (turn.call.name, None) if turn is not None else None


def _wrong_arguments(
    turn: ActionTurn | None, expected: ExpectedAction | None, findings: Sequence[Finding]
) -> Content:
    if turn is None:
        return NOTHING
    wholly = any(finding.reason in ("tool_mismatch", "action_mismatch") for finding in findings)
    if wholly or expected is None:
        given: JsonValue = turn.call.arguments
    else:
        given = [finding.actual for finding in findings if finding.actual is not None]
    return content_of(given).minus(content_of(expected.args if expected is not None else None))


def _carried(finding: Finding) -> tuple[str, str]:
    # Without gold the field stands in for what was expected there.
    expected = plain(finding.expected) if finding.basis == "gold" else finding.field
    return expected or "", plain(finding.actual)


def _is_error(result: JsonValue) -> bool:
    return isinstance(result, dict) and any(key.casefold() == "error" for key in result)


def _is_cut(due: JsonValue, given: JsonValue) -> bool:
    """Whether one is the beginning of the other: long results are kept cut."""
    if not isinstance(due, str) or not isinstance(given, str):
        return False
    left, right = due.rstrip(" ….").strip(), given.rstrip(" ….").strip()
    return (
        len(left) != len(right)
        and min(len(left), len(right)) > 100
        and (left.startswith(right) or right.startswith(left))
    )
