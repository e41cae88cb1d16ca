"""Spans that are no agents and yet hold one run: the roots of graphs and chains."""

from __future__ import annotations

from monitor.assembly.histories import last_query, tail_of
from monitor.assembly.tree import Node, Tree


class Frames:
    """Which spans of a trace frame a run, so that the steps and agents below are parts of it.

    A frame was asked what the first model below it heard. A span that was asked anything else,
    such as a script of several questions, leaves its runs to themselves.
    """

    __slots__ = ("_first",)

    def __init__(self, tree: Tree) -> None:
        self._first: dict[Node, Node | None] = {}
        """The first model call at or below a node; None where only tools or agents are."""
        if any(node.span.kind == "other" and node.span.messages_in for node in tree.nodes):
            self._look_below(tree)

    def holds_run(self, node: Node) -> bool:
        """Whether the span frames a run."""
        span = node.span
        if span.kind != "other" or node not in self._first:
            return False
        asked = last_query(span.messages_in)
        if asked is None:
            return False
        model = self._first[node]
        heard = model.span.messages_in if model is not None else None
        query = tail_of(heard).query or last_query(heard)
        return query is None or asked in query or query in asked

    def _look_below(self, tree: Tree) -> None:
        first = self._first
        # Children come before their parents, and of siblings the earliest comes last.
        for node in reversed(tree.nodes):
            kind = node.span.kind
            if kind == "model":
                first[node] = node
            elif kind != "other":
                first.setdefault(node, None)
            above = node.parent
            if above is not None and node in first:
                first[above] = first[node] or first.get(above)
