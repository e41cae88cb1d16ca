"""Small boosted trees: from a row of features to the log-odds that two values are the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import msgspec

from monitor.errors import InvalidInput

Node: TypeAlias = Any
"""A leaf is its number; a fork is `[feature, threshold, low, high]`, `low` being taken up to it."""

NODES_LIMIT = 20_000
"""Forks of all trees together."""


class Trees(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sum of trees over named features."""

    features: tuple[str, ...]
    bias: float
    trees: tuple[Node, ...]

    def log_odds(self, row: Sequence[float]) -> float:
        """The sum over all trees; `row` is in the order of `features`."""
        total = self.bias
        for node in self.trees:
            while node.__class__ is list:
                node = node[2] if row[node[0]] <= node[1] else node[3]
            total += node
        return total

    def require_sound(self, features: Sequence[str]) -> None:
        """Raises InvalidInput unless the trees are such, and speak of these features."""
        if tuple(features) != self.features:
            raise InvalidInput(f"fitted on other features: {', '.join(self.features)}")
        left = list(self.trees)
        forks = 0
        while left:
            node = left.pop()
            if isinstance(node, list):
                forks += 1
                left += _branches(node, len(self.features))
            elif isinstance(node, bool) or not isinstance(node, int | float):
                raise InvalidInput(f"a tree ends in {node!r}, which is no number")
            if forks > NODES_LIMIT:
                raise InvalidInput(f"the trees have more than {NODES_LIMIT} forks")


def _branches(node: list[Node], features: int) -> list[Node]:
    if len(node) != 4:
        raise InvalidInput("a fork of a tree is [feature, threshold, low, high]")
    feature, threshold, low, high = node
    if type(feature) is not int or not 0 <= feature < features:
        raise InvalidInput(f"a tree asks for feature {feature!r} of {features}")
    if isinstance(threshold, bool) or not isinstance(threshold, int | float):
        raise InvalidInput(f"a tree has the threshold {threshold!r}, which is no number")
    return [low, high]
