"""Do the argument values that are present mean what was expected? Leaf by leaf."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from monitor.model import JsonValue
from monitor.ports import Comparator, Hint
from monitor.scoring.completeness import properties_of
from monitor.scoring.thresholds import Thresholds
from monitor.scoring.values import same
from monitor.verdict import Finding


class Values(NamedTuple):
    """The outcome of the value comparison."""

    findings: tuple[Finding, ...]
    score: float | None
    """Mean similarity of the leaves that could be compared; None when there were none."""
    open: bool
    """Some comparison could not be decided."""


class ValueJudge(NamedTuple):
    """What a comparison of values needs beside the values."""

    comparator: Comparator
    thresholds: Thresholds
    tool: str
    kinds: Mapping[str, str]

    def compare(
        self,
        args: Mapping[str, JsonValue],
        actual: Mapping[str, JsonValue],
        schema: Mapping[str, JsonValue] | None,
    ) -> Values:
        """Compare every expected key that is present, nested objects on the expected keys."""
        findings: list[Finding] = []
        scores: list[float] = []
        undecided = False
        properties = properties_of(schema)
        for key, value in args.items():
            if key not in actual:
                continue
            declared = properties.get(key)
            part = declared if isinstance(declared, dict) else None
            for path, left, right, at in _leaf_pairs(key, value, actual[key], part):
                score, finding = self._leaf(path, left, right, at)
                if score is None:
                    undecided = True
                    continue
                scores.append(score)
                if finding is not None:
                    findings.append(finding)
        mean = sum(scores) / len(scores) if scores else None
        return Values(tuple(findings), mean, undecided)

    def _leaf(
        self,
        path: str,
        expected: JsonValue,
        actual: JsonValue,
        schema: Mapping[str, JsonValue] | None,
    ) -> tuple[float | None, Finding | None]:
        if same(expected, actual):
            return 1.0, None
        kind = self.kinds.get(path) or self.kinds.get(path.partition(".")[0])
        score = self.comparator.compare(expected, actual, Hint(path, kind, schema)).score
        if score is None or score >= self.thresholds.of("truthfulness", self.tool, path):
            return score, None
        return score, Finding(
            "inconsistent_parameter_values",
            "gold",
            field=path,
            expected=expected,
            actual=actual,
            score=score,
        )


_Leaf = tuple[str, JsonValue, JsonValue, Mapping[str, JsonValue] | None]


def _leaf_pairs(
    path: str, expected: JsonValue, actual: JsonValue, schema: Mapping[str, JsonValue] | None
) -> Iterator[_Leaf]:
    """Paths with both values, as deep as both sides have the same shape."""
    if same(expected, actual):
        yield path, expected, actual, schema
    elif isinstance(expected, dict) and isinstance(actual, dict) and expected:
        properties = properties_of(schema)
        for key, value in expected.items():
            part = properties.get(key)
            yield from _leaf_pairs(
                f"{path}.{key}", value, actual.get(key), part if isinstance(part, dict) else None
            )
    elif _pairwise(expected, actual):
        items = schema.get("items") if schema else None
        part = items if isinstance(items, dict) else None
        for index, (left, right) in enumerate(zip(expected, actual, strict=True)):
            yield from _leaf_pairs(f"{path}.{index}", left, right, part)
    else:
        yield path, expected, actual, schema


def _pairwise(expected: JsonValue, actual: JsonValue) -> bool:
    """Lists of objects go item by item; lists of scalars are the comparator's, order and all."""
    return (
        isinstance(expected, list)
        and isinstance(actual, list)
        and len(expected) == len(actual) > 0
        and all(isinstance(item, dict | list) for item in expected)
    )
