"""Agents around the calls of several conversations: a server's one long-lived run, a harness's.

Several ids on the model calls of one agent are either its conversations', or ids that a library
draws anew for each call of one run. The content tells which: within one run, a call is given what
the calls before it were given and said, or the results of what they asked for; or all are asked
what the agent was. An id that comes back after another's call is no call's. What cannot be told
is kept apart: a run in pieces is a lesser harm than one user's words in another's conversation.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from monitor.assembly.blocks import (
    beginnings_of,
    continued,
    endings_of,
    history_of,
    is_strong,
    key_of,
)
from monitor.assembly.calls import canonical
from monitor.assembly.histories import last_query, tail_of
from monitor.assembly.tree import Node, Tree
from monitor.model import ToolCall

_WORDS: Final = 2
"""Fewer words may be equal by chance."""
_ALONE: Final = "\0"
"""Stands before the span id of a call without an id."""


class Shared(NamedTuple):
    """The ids of a trace, once those of agents that several conversations share are told."""

    own: Mapping[str, str]
    """By span id, each the id of a conversation."""
    agents: frozenset[Node]
    """The agents around several conversations."""


class _Call(NamedTuple):
    node: Node
    unit: str
    """The call's id; for a call without one a name that no other has."""
    made: tuple[ToolCall, ...]


def shared_agents(tree: Tree, own: Mapping[str, str]) -> Shared:
    """Tell the conversations of each such agent apart.

    The ids of one run count as the first of them; a tool's run without an id is given that of the
    call that asked for it.
    """
    teams: dict[Node, list[Node]] = {}
    for node in tree.nodes:
        if node.boss is not None and node.boss.span.kind == "agent":
            teams.setdefault(node.boss, []).append(node)
    told = dict(own)
    shared: set[Node] = set()
    for agent, team in teams.items():
        calls = [_call(node, agent, own) for node in team if node.span.kind == "model"]
        ids = {call.unit for call in calls if not call.unit.startswith(_ALONE)}
        users = {call.node.span.user_id for call in calls} - {None}
        # An id around them is the application's, unless those inside are several users'.
        if len(ids) < 2 or (agent.span.span_id in own and len(users) < 2):
            continue
        calls.sort(key=lambda call: (call.node.span.start_ns, call.node.span.span_id))
        names = _conversations(agent, calls)
        if len({names[unit] for unit in ids}) > 1:
            shared.add(agent)
            told.update(_named(agent, team, calls, names, own))
    told.update(_runs_of_clients(tree, own))
    return Shared(told, frozenset(shared))


def _call(node: Node, agent: Node | None, own: Mapping[str, str]) -> _Call:
    span = node.span
    made = tuple(call for message in span.messages_out or () for call in message.calls)
    return _Call(node, _id_of(node, agent, own) or _ALONE + span.span_id, made)


def _id_of(node: Node, agent: Node | None, own: Mapping[str, str]) -> str | None:
    """The nearest id above, up to the agent if there is one; else the only one of calls inside."""
    at: Node | None = node
    while at is not None and at is not agent:
        if found := own.get(at.span.span_id):
            return found
        at = at.parent
    inside = {own.get(child.span.span_id) for child in node.children if child.span.kind == "model"}
    return inside.pop() if len(inside) == 1 else None


def _conversations(agent: Node, calls: Sequence[_Call]) -> dict[str, str]:
    """The conversation of each id and of each call without one, named by its first id."""
    order = list(dict.fromkeys(call.unit for call in calls))
    if _is_one_run(agent, calls):
        return dict.fromkeys(order, order[0])
    runs = {unit: unit for unit in order}
    for unit, source in _links(calls):
        runs[unit] = runs[source]
    firsts: dict[str, str] = {}
    for unit in order:
        if not unit.startswith(_ALONE):
            firsts.setdefault(runs[unit], unit)
    return {unit: firsts.get(runs[unit], unit) for unit in order}


def _is_one_run(agent: Node, calls: Sequence[_Call]) -> bool:
    """Whether all were asked what the agent was; without content, whether no id is used twice."""
    spans = [call.node.span for call in calls]
    if len({span.user_id for span in spans} - {None}) > 1:
        return False
    if not any(span.messages_in or span.messages_out for span in spans):
        units = [call.unit for call in calls if call.node.caller is None]
        return len(units) == len(set(units))
    mine = last_query(agent.span.messages_in)
    asked = [query for span in spans if (query := last_query(span.messages_in)) is not None]
    return (
        mine is not None
        and len(mine.split()) >= _WORDS
        and bool(asked)
        and all(mine.strip() in query for query in asked)
    )


def _links(calls: Sequence[_Call]) -> Iterator[tuple[str, str]]:
    """Each id that goes on with what another began, and that other, which nothing uses again."""
    last = {call.unit: at for at, call in enumerate(calls)}
    offers: dict[bytes | str, dict[str, str | None]] = {}
    seen: set[str] = set()
    for at, call in enumerate(calls):
        user = call.node.span.user_id
        if call.unit not in seen:
            seen.add(call.unit)
            offered = next((offers[key] for key in _sought(call) if key in offers), {})
            if len(offered) == 1:
                ((source, other),) = offered.items()
                if last[source] < at and len({user, other} - {None}) < 2:
                    yield call.unit, source
        for key in _offered(call):
            offers.setdefault(key, {})[call.unit] = user


def _sought(call: _Call) -> Iterator[bytes | str]:
    """What a call before it may have ended with: the longest first, then by its calls' ids."""
    blocks = history_of(call.node.span.messages_in or ()).whole
    found: list[bytes] = []
    for length, key in enumerate(beginnings_of(blocks), 1):
        if found or is_strong(blocks[:length]):
            found.append(key)
    yield from reversed(found)
    for result in tail_of(call.node.span.messages_in).results:
        if result.call_id:
            yield result.call_id


def _offered(call: _Call) -> Iterator[bytes | str]:
    """What a call after it may begin with; one without an answer is asked again."""
    history = history_of(call.node.span.messages_in or ())
    for ending in endings_of(call.node.span.messages_out or ()) or [()]:
        yield key_of(continued(history, ending).whole)
    for made in call.made:
        if made.call_id:
            yield made.call_id


def _named(
    agent: Node,
    team: Sequence[Node],
    calls: Sequence[_Call],
    names: Mapping[str, str],
    own: Mapping[str, str],
) -> dict[str, str]:
    """The conversations of what is below the agent, by span id, where one is known."""
    found = {call.node.span.span_id: names[call.unit] for call in calls}
    askers = _Askers(calls, names)
    for node in team:
        name = own.get(node.span.span_id)
        if name is not None:
            found[node.span.span_id] = names.get(name, name)
        elif node.span.kind == "tool" and _id_of(node, agent, own) is None:
            found[node.span.span_id] = askers.conversation_of(node) or _ALONE
    return {span_id: name for span_id, name in found.items() if not name.startswith(_ALONE)}


def _runs_of_clients(tree: Tree, own: Mapping[str, str]) -> dict[str, str]:
    """The conversations of tools' runs with neither an id nor an agent, beside bare model calls."""
    bare = [node for node in tree.nodes if node.boss is None]
    calls = [_call(node, None, own) for node in bare if node.span.kind == "model"]
    calls = [call for call in calls if not call.unit.startswith(_ALONE)]
    calls.sort(key=lambda call: (call.node.span.start_ns, call.node.span.span_id))
    askers = _Askers(calls, {call.unit: call.unit for call in calls})
    found = {
        node.span.span_id: askers.conversation_of(node)
        for node in bare
        if node.span.kind == "tool" and _id_of(node, None, own) is None
    }
    return {span_id: name for span_id, name in found.items() if name is not None}


class _Askers:
    """Which conversation's call a tool's run was."""

    def __init__(self, calls: Sequence[_Call], names: Mapping[str, str]) -> None:
        self._asked: dict[str | tuple[str, bytes], set[str]] = {}
        self._starts = [call.node.span.start_ns for call in calls]
        self._names = [names[call.unit] for call in calls]
        for call, name in zip(calls, self._names, strict=True):
            for made in call.made:
                for key in _keys_of(made):
                    self._asked.setdefault(key, set()).add(name)

    def conversation_of(self, tool: Node) -> str | None:
        """By the call's id, by what it was, by the calls around it; None where several may be."""
        for key in _keys_of(tool.span.call) if tool.span.call is not None else ():
            found = self._asked.get(key)
            if found is not None and len(found) == 1:
                return next(iter(found))
        at = bisect_right(self._starts, tool.span.start_ns)
        around = set(self._names[at - 1 : at + 1]) if at else set()
        return around.pop() if len(around) == 1 else None


def _keys_of(call: ToolCall) -> Iterator[str | tuple[str, bytes]]:
    if call.call_id:
        yield call.call_id
    yield call.name, canonical(call.arguments)
