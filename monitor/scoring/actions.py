"""An action held against the expected one: structure, then completeness, then truthfulness."""

from __future__ import annotations

from typing import NamedTuple

from monitor.model import ActionTurn, JsonValue
from monitor.ports import Comparator
from monitor.references.contracts import ToolContracts
from monitor.scoring.completeness import compared_keys, key_findings
from monitor.scoring.contract import content_lost
from monitor.scoring.idle import without_idle
from monitor.scoring.judged import Judged, unscored
from monitor.scoring.structure import Names, names_of, structural_finding
from monitor.scoring.thresholds import Thresholds
from monitor.scoring.truthfulness import ValueJudge
from monitor.verdict import ExpectedAction, SubMetric


class ActionJudge(NamedTuple):
    """What judging actions needs beside the calls."""

    contracts: ToolContracts
    comparator: Comparator
    thresholds: Thresholds

    def judge(self, expected: ExpectedAction, turn: ActionTurn) -> Judged:
        """Hold a call against the expected one and its variants; the best one counts."""
        actual = names_of(turn.call, self.contracts)
        mismatch = structural_finding(expected, actual)
        if mismatch is not None:
            return Judged("gold", (mismatch,), {"structural": 0.0})
        lost = content_lost(turn)
        arguments = turn.call.arguments
        if lost is None and arguments is not None and not isinstance(arguments, dict):
            lost = "content_missing"
        if lost is not None:
            accepted = (expected.args, *expected.variants)
            return unscored(lost) if any(accepted) else Judged("gold", (), {"structural": 1.0})
        return self._arguments(expected, actual, arguments or {})

    def _arguments(
        self, expected: ExpectedAction, actual: Names, arguments: dict[str, JsonValue]
    ) -> Judged:
        best = self._against(expected, expected.args, actual, arguments)
        for variant in expected.variants:
            if best.findings or best.why is not None:
                best = min(best, self._against(expected, variant, actual, arguments), key=_badness)
        if best.findings:
            due, given = without_idle(expected.args), without_idle(arguments)
            if due is not expected.args or given is not arguments:
                best = min(best, self._against(expected, due, actual, given), key=_badness)
        return best

    def _against(
        self,
        expected: ExpectedAction,
        args: dict[str, JsonValue],
        actual: Names,
        arguments: dict[str, JsonValue],
    ) -> Judged:
        definition = self.contracts.find(actual.name, expected.tool_id, expected.action)
        schema = definition.parameters if definition is not None else None
        keys = compared_keys(expected, args, arguments, schema)
        judge = ValueJudge(self.comparator, self.thresholds, actual.name, expected.kinds)
        values = judge.compare(args, arguments, schema)
        scores: dict[SubMetric, float] = {"structural": 1.0, "completeness": keys.score}
        if values.score is not None:
            scores["truthfulness"] = values.score
        findings = (*key_findings(keys, arguments, "gold"), *values.findings)
        return Judged("gold", findings, scores, "unsure" if values.open else None)


def _badness(judged: Judged) -> tuple[int, bool]:
    return len(judged.findings), judged.why is not None
