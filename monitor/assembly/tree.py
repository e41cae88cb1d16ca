"""Parents and children of one trace, robust against missing parents, loops and any depth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from monitor.model import AgentSpan


class Node:
    """A span in its tree."""

    __slots__ = ("boss", "caller", "children", "parent", "span")

    def __init__(self, span: AgentSpan) -> None:
        self.span = span
        self.parent: Node | None = None
        self.children: list[Node] = []
        self.boss: Node | None = None
        """The nearest agent or tool above."""
        self.caller: Node | None = None
        """The nearest model call above, when no agent or tool stands between."""


class Tree:
    """The spans of a trace as one or several trees; a missing parent makes a local root."""

    __slots__ = ("nodes", "roots")

    def __init__(self, spans: Sequence[AgentSpan]) -> None:
        """`spans` are ordered by start, and siblings keep that order."""
        self.roots: list[Node] = []
        self.nodes: list[Node] = []
        """All nodes: parents before children, siblings in order."""
        by_id = {span.span_id: Node(span) for span in spans}
        for node in by_id.values():
            parent = by_id.get(node.span.parent_id or "")
            if parent is None or parent is node:
                self.roots.append(node)
            else:
                node.parent = parent
                parent.children.append(node)
        for root in self.roots:
            self._walk(root)
        if len(self.nodes) < len(by_id):
            self._cut_loops(by_id.values())

    def _walk(self, root: Node) -> None:
        stack = [root]
        while stack:
            node = stack.pop()
            above = node.parent
            if above is not None:
                kind = above.span.kind
                if kind == "agent" or kind == "tool":
                    node.boss = above
                else:
                    node.boss = above.boss
                    node.caller = above if kind == "model" else above.caller
            self.nodes.append(node)
            if node.children:
                stack.extend(node.children[::-1])

    def _cut_loops(self, nodes: Iterable[Node]) -> None:
        reached = {id(node) for node in self.nodes}
        for node in nodes:
            if id(node) in reached or node.parent is None:
                continue
            # The earliest span of a loop is its root; below it the loop is an ordinary tree.
            node.parent.children.remove(node)
            node.parent = None
            self.roots.append(node)
            before = len(self.nodes)
            self._walk(node)
            reached.update(id(found) for found in self.nodes[before:])
