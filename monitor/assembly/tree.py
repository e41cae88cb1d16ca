"""Parents and children of one trace, robust against missing parents, loops and any depth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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

    def below(self) -> Iterator[Node]:
        """The descendants, parents before children, siblings by start."""
        stack = self.children[::-1]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))


def roots_of(spans: Sequence[AgentSpan]) -> list[Node]:
    """The trees of a trace; `spans` are ordered by start. A missing parent makes a local root."""
    nodes = {span.span_id: Node(span) for span in spans}
    roots = []
    for node in nodes.values():
        parent = nodes.get(node.span.parent_id) if node.span.parent_id else None
        if parent is None or parent is node:
            roots.append(node)
        else:
            node.parent = parent
            parent.children.append(node)
    _cut_loops(nodes, roots)
    for root in roots:
        for node in root.below():
            _place(node)
    return roots


def _place(node: Node) -> None:
    above = node.parent
    if above is None:
        return
    if above.span.kind in ("agent", "tool"):
        node.boss = above
    else:
        node.boss = above.boss
        node.caller = above if above.span.kind == "model" else above.caller


def _cut_loops(nodes: dict[str, Node], roots: list[Node]) -> None:
    reached = set()
    for root in roots:
        reached.add(root.span.span_id)
        reached.update(node.span.span_id for node in root.below())
    if len(reached) == len(nodes):
        return
    for span_id, node in nodes.items():
        if span_id in reached or node.parent is None:
            continue
        # The earliest span of a loop is its root; below it the loop is an ordinary tree.
        node.parent.children.remove(node)
        node.parent = None
        roots.append(node)
        reached.add(span_id)
        reached.update(below.span.span_id for below in node.below())
