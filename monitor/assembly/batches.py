"""Whether a span around several conversations is a batch's: a harness's root, a worker's job.

An id below another id is a conversation of its own, or what a library calls one run of a
sub-agent. The structure tells which. Sub-agents run below a tool's run, or below an agent that
asks a model itself, and what they are asked is made of that agent's words. The cases of a batch
stand side by side below a span that asks no model, each with a user of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from monitor.assembly.histories import last_query, reply_of
from monitor.assembly.shared_agents import Shared
from monitor.assembly.tree import Node, Tree

_WORDS = 2
"""Fewer words may be equal by chance."""


class Below(NamedTuple):
    """The conversation ids below a span."""

    every: frozenset[str]
    nearest: tuple[Node, ...]
    """The topmost spans with an id, none of them inside a tool's run or among an agent's calls."""


class Batches:
    """What must be known of a trace's ids before its spans' owners can be told."""

    def __init__(self, tree: Tree, shared: Shared) -> None:
        self._own: Mapping[str, str] = shared.own
        self._shared = shared.agents
        self._leading = {
            node.boss for node in tree.nodes if node.span.kind == "model" and node.boss is not None
        } - self._shared
        self._below: dict[Node, Below] = {}
        for node in reversed(tree.nodes):
            self._below[node] = self._gathered(node)

    def below(self, node: Node) -> Below:
        """The ids below the span, its own not among them."""
        return self._below[node]

    def names(self, nodes: Sequence[Node]) -> set[str]:
        """The spans' own ids."""
        return {self._own[node.span.span_id] for node in nodes}

    def holds(self, node: Node) -> bool:
        """Whether the span is around several conversations, and in none of them."""
        if node in self._shared:
            return True
        if node.span.kind in ("tool", "model") or node in self._leading:
            return False
        name, below = self._own.get(node.span.span_id), self._below[node]
        if name in below.every or len(self.names(below.nearest) - {name}) < 2:
            return False
        return node.span.kind == "other" or not _is_one_turn(node, below.nearest)

    def _gathered(self, node: Node) -> Below:
        every: set[str] = set()
        nearest: list[Node] = []
        for child in node.children:
            every |= self._below[child].every
            if child.span.span_id in self._own:
                every.add(self._own[child.span.span_id])
                nearest.append(child)
            elif child.span.kind != "tool":
                nearest += self._shown(child)
        return Below(frozenset(every), tuple(nearest))

    def _shown(self, node: Node) -> tuple[Node, ...]:
        """The ids below a span without one, as the spans above it see them."""
        nearest = self._below[node].nearest
        # Several ids below an agent at work are ids of its calls, unless it is a shared one.
        return () if node in self._leading and len(self.names(nearest)) > 1 else nearest


def _is_one_turn(node: Node, cases: Sequence[Node]) -> bool:
    """Whether an agent's own words went to the agents below it, or theirs to each other."""
    asked = [_query(case) for case in cases]
    replies = [reply_of(case.span.messages_out) for case in cases]
    mine, reply = last_query(node.span.messages_in), reply_of(node.span.messages_out)
    if _told(mine) and any(_has(words, mine) for words in asked):
        return True
    if len(set(asked)) == 1 and _has(mine, asked[0]):
        return True
    if any(_has(words, said) for at, words in enumerate(asked) for said in replies[:at]):
        return True
    # A batch sums all its cases up; a turn ends with what one agent said.
    return not all(_has(reply, said) for said in replies) and any(
        _has(said, reply) or _has(reply, said) for said in replies
    )


def _query(case: Node) -> str | None:
    """What the agent was asked: as its own span says, else its first model call."""
    stack = [case]
    while stack:
        node = stack.pop()
        if found := last_query(node.span.messages_in):
            return found
        stack.extend(reversed(node.children))
    return None


def _told(words: str | None) -> bool:
    return words is not None and len(words.split()) >= _WORDS


def _has(words: str | None, part: str | None) -> bool:
    """Whether a text holds another, which is long enough for this to be no coincidence."""
    return words is not None and part is not None and _told(part) and part.strip() in words
