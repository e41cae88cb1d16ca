"""Do the argument values that are present mean what was expected? Leaf by leaf."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from monitor.model import JsonValue
from monitor.ports import Comparator, Hint
from monitor.scoring.completeness import properties_of
from monitor.scoring.thresholds import ANY, FieldPolicy, Thresholds
from monitor.scoring.values import plain, same
from monitor.verdict import Finding


class Values(NamedTuple):
    """The outcome of the value comparison."""

    findings: tuple[Finding, ...]
    score: float | None
    """Mean similarity of the leaves that could be compared; None when there were none."""
    open: bool
    """Some comparison could not be decided."""


class _Argument(NamedTuple):
    """What was found for one argument."""

    findings: list[Finding]
    scores: list[float]
    open: bool


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
            found = self._argument(key, value, actual[key], part)
            findings += found.findings
            scores += found.scores
            undecided = undecided or found.open
        if not findings:
            findings += _crossed(args, actual)
        mean = sum(scores) / len(scores) if scores else None
        return Values(tuple(findings), mean, undecided)

    def _argument(
        self,
        key: str,
        expected: JsonValue,
        actual: JsonValue,
        schema: Mapping[str, JsonValue] | None,
    ) -> _Argument:
        """One argument, leaf by leaf; a list of objects may pass as a whole in another order."""
        found = _Argument([], [], False)
        for path, left, right, part in _leaf_pairs(key, expected, actual, schema):
            score, finding = self._leaf(path, left, right, part)
            if score is None:
                found = found._replace(open=True)
                continue
            found.scores.append(score)
            if finding is not None:
                found.findings.append(finding)
        # What was declared for one field of the items does not reach the list as a whole.
        bound = any(self._policy(finding.field) is not ANY for finding in found.findings)
        if (
            found.findings
            and not bound
            and isinstance(expected, list)
            and _pairwise(expected, actual)
        ):
            score, finding = self._leaf(key, expected, actual, schema)
            if score is not None and finding is None:
                return _Argument([], [score], False)
        return found

    def _policy(self, path: str | None) -> FieldPolicy:
        return self.thresholds.policy(self.tool, path or "")

    def _leaf(
        self,
        path: str,
        expected: JsonValue,
        actual: JsonValue,
        schema: Mapping[str, JsonValue] | None,
    ) -> tuple[float | None, Finding | None]:
        if same(expected, actual):
            return 1.0, None
        policy = self._policy(path)
        kind = self.kinds.get(path) or self.kinds.get(path.partition(".")[0]) or policy.kind
        hint = Hint(path, kind, schema, tolerance=policy.tolerance)
        score = self.comparator.compare(expected, actual, hint).score
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


def _crossed(args: Mapping[str, JsonValue], actual: Mapping[str, JsonValue]) -> Iterator[Finding]:
    """Lists that belong together, such as `item_ids` and `new_item_ids`, paired another way."""
    lists = [
        key
        for key, value in args.items()
        if isinstance(value, list) and isinstance(actual.get(key), list) and len(value) > 1
    ]
    for key in lists:
        for other in lists:
            if not other.endswith(f"_{key}"):
                continue
            due = sorted(zip(map(plain, args[key]), map(plain, args[other]), strict=False))
            given = sorted(zip(map(plain, actual[key]), map(plain, actual[other]), strict=False))
            if due != given and all(_same_members(args[k], actual[k]) for k in (key, other)):
                yield Finding(
                    "inconsistent_parameter_values",
                    "gold",
                    field=other,
                    expected=args[other],
                    actual=actual[other],
                    score=0.0,
                )


def _same_members(expected: list[JsonValue], actual: list[JsonValue]) -> bool:
    return sorted(map(plain, expected)) == sorted(map(plain, actual))


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
